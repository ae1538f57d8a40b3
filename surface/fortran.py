"""Generates the Fortran files: the enumerations, and the functions that return values, in Fortran and in C."""

from tables import enumerations, operations, plural, wrapped

# The kinds of each class of types: suffix, declaration, constant of iso_c_binding, type in C, enumerator of sf_type.
KINDS = {
    "real": [("f64", "real", "c_double", "double", "SF_F64"), ("f32", "real", "c_float", "float", "SF_F32")],
    "complex": [("c64", "complex", "c_double_complex", "double _Complex", "SF_COMPLEX_F64"),
                ("c32", "complex", "c_float_complex", "float _Complex", "SF_COMPLEX_F32")],
    "integer": [("i32", "integer", "c_int32_t", "int32_t", "SF_I32"), ("i64", "integer", "c_int64_t", "int64_t", "SF_I64")],
}


def functions():
    """The operations that are functions, with the kinds of their elements and of their results."""
    for each in operations():
        if each.fortran is None:
            continue
        given = each.fortran
        kinds = [pair for name in given.get("kinds", [name for name in each.takes if name in ("real", "complex")])
                 for pair in zip(KINDS[name], KINDS["real"] if each.result == "real" and name == "complex" else KINDS[name])]
        yield each, given, kinds


def interface(operation, given, kinds):
    name, has_weight = given["name"], given.get("weight", False)
    arrays = "x, y" if operation.operands == "factors" else "array"
    arguments = f"{arrays}, comm, {'weight, ' if has_weight else ''}where, options, ierr, layout"
    text = [wrapped(given.get("doc", operation.doc), "  ! "), f"  interface sf_{name}"]
    for (suffix, declared, constant, *_), (_, result, result_constant, *_) in kinds:
        imported = ", ".join(sorted({"c_char", "c_int", constant, result_constant}))
        text += [f"    function sf_{name}_{suffix}({arguments}) &",
                 f'      bind(c, name="sf_fortran_{name}_{suffix}") result(value)',
                 f"      import :: {imported}, sf_layout", f"      {declared}({constant}), dimension(..), intent(in) :: {arrays}",
                 "      type(*), dimension(..), intent(in), optional :: comm, where",
                 *([f"      {declared}({constant}), dimension(..), intent(in), optional :: weight"] if has_weight else []),
                 "      character(kind=c_char, len=*), intent(in), optional :: options",
                 "      integer(c_int), intent(out), optional :: ierr", "      type(sf_layout), intent(in), optional :: layout",
                 f"      {result}({result_constant}) :: value", "    end function"]
    return [*text, "  end interface\n"]


def lines_of(names):
    return [", ".join(names[i:i + 4]) for i in range(0, len(names), 4)]


def enumerator_block(comment, names):
    lines = lines_of(names)
    body = ", &\n                  ".join(lines)
    listed = ", &\n            ".join(lines)
    return [f"  ! {comment}", f"  enum, bind(c)\n    enumerator :: {body}\n  end enum", f"  public :: {listed}\n"]


def module(made):
    lists = [f"SF_LIST_{plural(each).upper()}" for each in enumerations()] + ["SF_LIST_SCHEDULES", "SF_LIST_OPTIONS"]
    statuses = [f"SF_{each.name.upper()}" for each in enumerations()[0].entries]
    text = [f"! {made}\n!\n! The part of steadfold.f90 that is generated: constants, and reductions that return values.\n",
            *enumerator_block("The lists of sf_list_name, sf_list_text and sf_list_find.", lists),
            *enumerator_block("The values of `ierr`: the numbers of sf_status.", statuses),
            *wrapped_public([given["name"] for _, given, _ in functions()])]
    for each in functions():
        text += interface(*each)
    return "\n".join(text)


def wrapped_public(names):
    return ["  public :: " + ", &\n            ".join(lines_of([f"sf_{name}" for name in names])) + "\n"]


def definitions(made):
    text = [f"/* {made}\n *\n * The functions that values.c defines: of one array, of one array with weights, or of two arrays. */"]
    for operation, given, kinds in functions():
        macro = "OF_PRODUCTS" if operation.operands == "factors" else "OF_WEIGHTED" if given.get("weight") else "OF_ARRAY"
        for (suffix, *_), (*_, value, number) in kinds:
            text.append(f"{macro}({given['name']}, {suffix}, {value}, {number}, {operation.c})")
    return "\n".join(text) + "\n"


FILES = {"fortran/steadfold_operations.inc": module, "fortran/values.inc": definitions}
