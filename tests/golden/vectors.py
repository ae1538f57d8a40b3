"""The test vectors of share/steadfold/vectors: one JSON file for each element type. They are the golden records of one
column and few rows, with `tree` by several numbers of lanes and with initial values. docs/how_to/vectors.md defines the
format of a file."""
import json

from cases import USERS, Vector, as_signed, fold_by_tree, hexadecimal, part_of, text_of, user_elements, user_text, values_of
from data import COMPLEX, INTEGERS, element, selected
from formats import FORMATS, bias, decode, mantissa_bits, pack, size
from methods import BITS_VERSIONS, adding, greatest, least, multiplying, multiplying_complex, tree

FORMAT = 1
SIZES = {
    "near": [0, 1, 2, 3, 8, 65],
    "wide": [33, 500],
    "full": [65],
    "tiny": [33],
    "huge": [3],
    "ties": [17],
    "bins": [127],
    "breaks": [4],
    "squares": [5],
    "few": [17],
    "zeros": [9],
    "minus": [9],
    "infinite": [5],
    "both": [15],
    "nan": [5],
    "any": [0, 1, 2, 3, 8, 65, 300],
}
LANES = [2, 3, 16, 128]
OF_PAIRS = {"dot", "dotc", "weighted_mean", "covariance", "sample_covariance", "correlation"}
WITH_INITIAL = {"near": [0, 8], "huge": [3], "minus": [9], "nan": [5], "any": [0, 8]}
INITIAL_ROW = 1000  # initial values of integers and of the caller's operators are elements of this row


def as_the_command_names_them(values):
    """The bits of a golden record by method, with the names of the option --method."""
    return {f"binned:bins={name[-1]}" if name.startswith("binned") else name: bits for name, bits in values.items()}


def element_text(type, row, family, second=False):
    bits = element(type, family, row, 0, second)
    if type in COMPLEX:
        width = size(FORMATS[COMPLEX[type]])
        return ",".join(hexadecimal(part, width) for part in bits)
    return hexadecimal(bits, INTEGERS[type] if type in INTEGERS else size(FORMATS[type]))


def input_of(type, family, rows, operations):
    if type in USERS:
        return {"x": [user_text(type, value) for value in user_elements(type, Vector(type, family, rows, 1), 0)]}
    found = {"x": [element_text(type, row, family) for row in range(rows)]}
    if operations & OF_PAIRS:
        found["y"] = [element_text(type, row, family, second=True) for row in range(rows)]
    if "masked_sum" in operations:
        found["mask"] = [int(selected(row)) for row in range(rows)]
    return found


# --- lanes ------------------------------------------------------------------------------------------------------------


def lanes_for(rows):
    """All numbers of lanes below that of the rows, and the first that is not."""
    below = [lanes for lanes in LANES if lanes < rows]
    return LANES[: len(below) + 1] if rows > 0 else []


def add_lanes(operation, type, result, vector, values):
    """Adds the bits of `tree` with lanes. The caller's operators are not commutative and have none."""
    if "tree" not in values or type in USERS:
        return values
    for lanes in lanes_for(vector.rows):
        bits = values["tree"]  # of integers, whose operators are associative
        if type not in INTEGERS:
            bits = text_of(fold_by_tree(operation, vector, result, 0, lanes), part_of(result))
        values[f"tree:lanes={lanes}"] = bits
    return values


# --- initial values ---------------------------------------------------------------------------------------------------


def initial_number(f, family, rows):
    """Bits: a signalling NaN where there are no elements, the largest number for huge ones, -0.0 for -0.0, else 1.5."""
    fraction = mantissa_bits(f)
    if rows == 0:
        return pack(f, 0, 2 * bias(f) + 1, 1)
    if family == "huge":
        return pack(f, 0, 2 * bias(f), (1 << fraction) - 1)
    return pack(f, 1, 0, 0) if family == "minus" else pack(f, 0, bias(f), 1 << (fraction - 1))


def combine_numbers(operation, f, initial, value):
    """op(initial, value) of one number each, or of the parts of complex numbers."""
    if operation == "product" and len(value) == 2:
        return multiplying_complex(f)(initial, value)
    combine = {"product": multiplying(f), "min": least, "max": greatest}.get(operation, adding(f))
    return tuple(combine(a, b) for a, b in zip(initial, value))


def integers_from_initial(operation, result, initial, bits):
    a, b = as_signed(result, initial), as_signed(result, int(bits, 16))
    value = {"sum": a + b, "product": a * b, "min": min(a, b), "max": max(a, b)}[operation]
    return hexadecimal(value % (1 << INTEGERS[result]), INTEGERS[result])


def from_initial(operation, type, result, vector, methods):
    """Returns the bits of the initial value, and the bits of the results by method. The methods are `tree` with lanes."""
    if type in USERS:
        elements = user_elements(type, Vector(type, vector.family, INITIAL_ROW + 1, 1), 0)
        initial, x = elements[-1], elements[: vector.rows]
        value = USERS[type](initial, tree(x, USERS[type])) if x else initial
        return user_text(type, initial), {"tree": user_text(type, value)}
    if type in INTEGERS:
        initial = element(result, "any", INITIAL_ROW, 0)
        text = hexadecimal(initial, INTEGERS[result])
        return text, {m: integers_from_initial(operation, result, initial, bits) if vector.rows else text
                      for m, bits in methods.items()}
    f = part_of(result)
    bits = initial_number(f, vector.family, vector.rows)
    parts = 2 if result in COMPLEX else 1
    initial = (decode(f, bits),) * parts
    found = {}
    for method in methods:
        lanes = int(method.partition("=")[2] or 1)
        value = fold_by_tree(operation, vector, result, 0, lanes) if vector.rows else None
        found[method] = text_of(combine_numbers(operation, f, initial, value) if value else initial, f)
    return ",".join([hexadecimal(bits, size(f))] * parts), found


def has_initial(operation, type, vector, values):
    is_taken = operation in ("sum", "product", "min", "max", "dot", "dotc") or type in USERS
    return is_taken and "tree" in values and vector.rows in WITH_INITIAL.get(vector.family, [])


# --- files ------------------------------------------------------------------------------------------------------------


def vectors_of(record):
    """The vectors of a golden record: one, and a second one with an initial value if the operation has initial values."""
    operation, type, result, family, shape, *fields = record.split()
    vector = Vector(type, family, int(shape.split("x")[0]), 1)
    values = add_lanes(operation, type, result, vector, as_the_command_names_them(values_of(fields)))
    head = {"operation": operation, "result": result, "input": f"{family}-{vector.rows}"}
    yield {**head, "bits": values}
    if has_initial(operation, type, vector, values):
        methods = {name: bits for name, bits in values.items() if name.startswith("tree")}
        initial, bits = from_initial(operation, type, result, vector, methods)
        yield {**head, "initial": initial, "bits": bits}


def is_chosen(record):
    """Whether a record is of one column and of the sizes above."""
    _, type, result, family, shape, *_ = record.split()
    rows, columns = map(int, shape.split("x"))
    if {type, result} & {"x87", "b128"} and type != result:
        return False  # of another type's elements, which another processor's long double has not
    return columns == 1 and rows in SIZES.get(family, [])


def lines_of(type, records):
    """A file, line by line."""
    operations = {record.split()[0] for record in records}
    inputs = {}
    for record in records:
        family, rows = record.split()[3], int(record.split()[4].split("x")[0])
        inputs.setdefault(f"{family}-{rows}", (family, rows))
    vectors = [vector for record in records for vector in vectors_of(record)]
    yield f'{{"format": {FORMAT}, "type": "{type}", "bits_versions": {json.dumps(BITS_VERSIONS)},'
    yield ' "inputs": {'
    for number, (name, data) in enumerate(inputs.items(), 1):
        yield f'  "{name}": {json.dumps(input_of(type, *data, operations))}' + ("," if number < len(inputs) else "")
    yield ' }, "vectors": ['
    for number, vector in enumerate(vectors, 1):
        yield "  " + json.dumps(vector) + ("," if number < len(vectors) else "")
    yield " ]}"


def vector_files(records):
    """The lines of each file by its name, from all golden records."""
    of_type = {}
    for record in filter(is_chosen, records):
        of_type.setdefault(record.split()[1], []).append(record)
    return {f"{type}.json": lambda type=type, chosen=chosen: lines_of(type, chosen) for type, chosen in of_type.items()}
