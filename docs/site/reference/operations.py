"""What the entry of an operation says in every language, from the tables in surface/; its comment stands before it."""

from tables import METHODS, calls_of, listing, operations

RESULTS = {
    "own": "a value of the elements' type",
    "real": "a real number, of complex elements too",
    "located": "the value, and its index in the whole job",
    "statistics": "ten numbers",
}


# Errors by the status that C, C++ and Fortran have of them: what Python raises.
PYTHON = {"SF_INVALID_ARGUMENT": "InvalidArgumentError", "SF_OPERATOR_FAILED": "OperatorError", "SF_UNSUPPORTED":
          "UnsupportedError", "SF_MISMATCH": "MismatchError"}


def made_by(language):
    """Name of a function -> the operation that it makes."""
    return {call: each for each in operations() for call in calls_of(each)[language]}


def facts(each, names=None):
    """Elements, result, methods, bits and errors of an operation, as a list. `names`: of the errors, by status."""
    others = listing([f"`{method}`" for method in METHODS if method in each.methods and method != each.default])
    unlike = [
        *(["`plain` for integers"] if each.default != "plain" and "integer" in each.takes else []),
        *([f"`{each.vectors}` in MPI's shape"] if each.vectors != each.default else []),
    ]
    errors = {
        "SF_EMPTY": each.empty == "SF_EMPTY" and "there are no elements",
        "SF_INVALID_ARGUMENT": each.operands in ("factors", "mask") and "the second vector has another size than the first",
        "SF_OPERATOR_FAILED": each.operands == "operator" and "the operator failed",
        "SF_UNSUPPORTED": "the type or the method does not serve this operation",
        "SF_MISMATCH": "the ranks made different calls",
    }
    said = [
        f"`{names[status] if names else status}`: {why}" for status, why in errors.items() if why and (not names or status in names)
    ]
    result = RESULTS[each.result] + ("; a float of narrow elements" if "narrow" in each.takes else "")
    if each.empty != "SF_EMPTY":
        result += f". No elements: {each.empty}"
    rows = [
        f"Elements: {listing(each.takes)} ([which types these are](../../guarantees.md#types))." if each.takes else "Elements: any.",
        f"Result: {result}.",
        f"Method: `{each.default}` by default{f' ({listing(unlike)})' if unlike else ''}" + (f"; also {others}." if others else "."),
        f"Bits by the default method: {each.bits}.",
        f"Errors, [on all ranks](../../guarantees.md#what-happens-when-something-is-wrong): {'; '.join(said)}.",
    ]
    return "\n".join(f"- {row}" for row in rows)
