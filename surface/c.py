"""Generates the C files: the enumerations, and their lists of names."""

from tables import classes, enumerations, listing, plural, wrapped


def said_of(entry):
    text = entry.about + (f"; {entry.note}" if entry.note else "")
    if getattr(entry, "takes", []):
        text += f". Types: {listing(entry.takes)}. No rows: {entry.empty}"
    return text


def enumerators(enumeration):
    """The lines of the enumerators, each with its number and its comment."""
    rows = [(entry.name, 1 << number if enumeration.are_bits else number, said_of(entry))
            for number, entry in enumerate(enumeration.entries)]
    rows += [(entry["name"], entry["number"], entry["note"]) for entry in enumeration.unlisted]
    rows += [(entry.alias, f"SF_{entry.name.upper()}", "another name of the enumerator to which it is equal") for entry in enumeration.entries if entry.alias]
    codes = [f"  SF_{name.upper()} = {value}," for name, value, _ in rows]
    codes[-1] = codes[-1].removesuffix(",")
    width = max(map(len, codes)) + 1
    return "\n".join(wrapped(said, f"{code:{width}}/* ", " " * (width + 3), " */") for code, (*_, said) in zip(codes, rows))


def header(made):
    kinds = "; ".join(f"{name}: {listing(['SF_' + each.upper() for each in types])}" for name, types in classes().items())
    text = [f"/* The enumerations of the C interface. {made} */",
            "#ifndef STEADFOLD_STEADFOLD_ENUMERATIONS_H\n#define STEADFOLD_STEADFOLD_ENUMERATIONS_H\n"]
    for each in enumerations():
        doc = each.doc + (f" Classes of types: {kinds}." if each.name == "operation" else "")
        text += [wrapped(doc, "/* ", " * ", " */"),
                 f"typedef enum sf_{each.name} {{\n{enumerators(each)}\n}} sf_{each.name};\n"]
    lists = [f"  SF_LIST_{plural(each).upper()}," for each in enumerations()]
    text += ["/* The lists of sf_list_name, sf_list_text and sf_list_find. */",
             "\n".join(["typedef enum sf_list {", *lists, "  SF_LIST_SCHEDULES,", "  SF_LIST_OPTIONS /* the options of sf_call_set */",
                        "} sf_list;\n"]),
             "/* Checks that enumerations have the size of an int, as in the library: a compiler that was told to make them shorter\n"
             " * reports an error here, in any standard of C and C++. */\n"
             "typedef char sf_compile_without_short_enums[sizeof(sf_status) == sizeof(int) ? 1 : -1];\n", "#endif\n"]
    return "\n".join(text)


def lists(made):
    text = [f"// {made}\n//\n// The lists of names of the C interface, in the order of the enumerators.",
            "#pragma once\n", '#include "capi/names.hpp"\n', "namespace steadfold::capi::lists {\n",
            *(f"inline constexpr sf_{each.name} last_{each.name} = SF_{each.entries[-1].name.upper()};"
              for each in enumerations() if each.name in ("operation", "method")), ""]
    for each in enumerations():
        text.append(f"inline constexpr ListEntry {plural(each)}[] = {{")
        text += [f'    {{"{entry.name}", "{entry.about}"}},' for entry in each.entries]
        text.append("};\n")
    older = [f'    {{SF_LIST_{plural(each).upper()}, "{entry.alias}", "{entry.name}"}},'
             for each in enumerations() for entry in each.entries if entry.alias and each.name != "operation"]
    text += ["/// Older names of entries. sf_list_find finds them; they are not listed.", "struct Older {",
             "  sf_list list;", "  const char* name;", "  const char* now;", "};", "inline constexpr Older older[] = {", *older,
             "};\n", "}  // namespace steadfold::capi::lists\n"]
    return "\n".join(text)


FILES = {"include/steadfold/steadfold_enumerations.h": header, "src/capi/lists.hpp": lists}
