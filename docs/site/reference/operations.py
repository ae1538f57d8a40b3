"""Makes the part of an operation's entry that is the same in every language, from the tables in surface/. The comment of the
operation comes before this part."""

from tables import METHODS, calls_of, listing, operations

RESULTS = {
    "own": "a value of the elements' type",
    "real": "a real number, of complex elements too",
    "located": "the value, and its index in the whole job",
    "statistics": "ten numbers",
}
# {status in C, C++ and Fortran: exception in Python}. SF_EMPTY is missing: Python's docstrings describe empty input.
PYTHON = {
    "SF_INVALID_ARGUMENT": "InvalidArgumentError",
    "SF_OPERATOR_FAILED": "OperatorError",
    "SF_UNSUPPORTED": "UnsupportedError",
    "SF_MISMATCH": "MismatchError",
}


def made_by(language):
    """{name of a function: the operation that it makes}."""
    return {call: each for each in operations() for call in calls_of(each)[language]}


def facts(each, names=None):
    """The facts of an operation as a list: elements, result, methods, bits and errors. `names`: {status: name of the error in
    this language}."""
    others = listing([f"`{method}`" for method in METHODS if method in each.methods and method != each.default])
    unlike = [
        *(["`plain` for integers"] if each.default != "plain" and "integer" in each.takes else []),
        *([f"`{each.vectors}` for one vector per rank"] if each.vectors != each.default else []),
    ]
    errors = {
        "SF_EMPTY": each.empty == "SF_EMPTY" and "there are no elements",
        "SF_INVALID_ARGUMENT": each.operands in ("factors", "mask") and "the second vector has another size than the first",
        "SF_OPERATOR_FAILED": each.operands == "operator" and "the operator failed",
        "SF_UNSUPPORTED": "the type or the method does not serve this operation",
        "SF_MISMATCH": "the ranks made different calls",
    }
    names = names or {status: status for status in errors}
    said = "; ".join(f"`{names[status]}`: {why}" for status, why in errors.items() if why and status in names)
    result = RESULTS[each.result] + ("; a float of narrow elements" if "narrow" in each.takes else "")
    if each.empty != "SF_EMPTY":
        result += f". No elements: {each.empty}"
    method = f"`{each.default}` by default"
    method += f" ({listing(unlike)})" if unlike else ""
    method += f"; also {others}" if others else ""
    takes = f"{listing(each.takes)} ([which types these are](../../guarantees.md#types))" if each.takes else "any"
    rows = [
        f"Elements: {takes}.",
        f"Result: {result}.",
        f"Method: {method}.",
        f"Bits with the default method: {each.bits}.",
        f"Errors, [on all ranks](../../guarantees.md#errors): {said}.",
    ]
    if each.result == "located" and "SF_EMPTY" not in names:  # Python returns only the index
        del rows[1]
    return "\n".join(f"- {row}" for row in rows)
