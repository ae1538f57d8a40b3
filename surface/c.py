"""C: the enumerations, and their lists of names."""

from tables import classes, enumerations, listing, plural, wrapped


def said_of(entry):
    text = entry.about + (f"; {entry.note}" if entry.note else "")
    if getattr(entry, "takes", []):
        text += f". Of {listing(entry.takes)} numbers" + ("; no rows: SF_EMPTY" if entry.empty == "SF_EMPTY" else "")
    return text


def enumerators(enumeration):
    lines = []
    for number, entry in enumerate(enumeration.entries):
        lines.append(wrapped(said_of(entry), "  /* ", "   * ", " */"))
        value = f" = {1 << number}" if enumeration.are_bits else " = 0" if number == 0 else ""
        lines.append(f"  SF_{entry.name.upper()}{value},")
    for entry in enumeration.unlisted:
        lines += [wrapped(entry["note"], "  /* ", "   * ", " */"), f"  SF_{entry['name'].upper()} = {entry['number']},"]
    for entry in enumeration.entries:
        if entry.alias:
            lines.append(f"  SF_{entry.alias.upper()} = SF_{entry.name.upper()},")
    lines[-1] = lines[-1].removesuffix(",")
    return "\n".join(lines)


def header(made):
    kinds = "; ".join(f"{name}: {listing(['SF_' + each.upper() for each in types])}" for name, types in classes().items())
    text = [f"/* {made}\n *\n * What calls are made of: operations, types of elements, methods and their like. */",
            "#ifndef STEADFOLD_STEADFOLD_ENUMERATIONS_H\n#define STEADFOLD_STEADFOLD_ENUMERATIONS_H\n"]
    for each in enumerations():
        doc = each.doc + (f" Classes of types: {kinds}." if each.name == "operation" else "")
        text += [wrapped(doc, "/* ", " * ", " */"),
                 f"typedef enum sf_{each.name} {{\n{enumerators(each)}\n}} sf_{each.name};\n"]
    lists = [f"  SF_LIST_{plural(each).upper()}," for each in enumerations()]
    text += ["/* What sf_list_name and its like list. */",
             "\n".join(["typedef enum sf_list {", *lists, "  SF_LIST_SCHEDULES,", "  /* those of sf_call_set */", "  SF_LIST_OPTIONS",
                        "} sf_list;\n"]), "#endif\n"]
    return "\n".join(text)


def lists(made):
    text = [f"// {made}\n//\n// The lists of names that the C interface gives out, in the order of the enumerators.",
            "#pragma once\n", '#include "capi/names.hpp"\n', "namespace steadfold::capi::lists {\n"]
    for each in enumerations():
        text.append(f"inline constexpr Named {plural(each)}[] = {{")
        text += [f'    {{"{entry.name}", "{entry.about}"}},' for entry in each.entries]
        text.append("};\n")
    older = [f'    {{SF_LIST_{plural(each).upper()}, "{entry.alias}", "{entry.name}"}},'
             for each in enumerations() for entry in each.entries if entry.alias and each.name != "operation"]
    text += ["/// Names that entries had before. They are found as well, and not listed.", "struct Older {",
             "  sf_list list;", "  const char* name;", "  const char* now;", "};", "inline constexpr Older older[] = {", *older,
             "};\n", "}  // namespace steadfold::capi::lists\n"]
    return "\n".join(text)


FILES = {"include/steadfold/steadfold_enumerations.h": header, "src/capi/lists.hpp": lists}
