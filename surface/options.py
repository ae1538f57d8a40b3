"""Generates from options.toml the struct sf_call, the options of sf_call_set, the parameters of methods, and C++'s options."""

from types import SimpleNamespace

from tables import ROOT, enumerations, load, plural, wrapped

MOST = {"uint32_t": "UINT32_MAX", "int32_t": "INT32_MAX", "int": "INT32_MAX", "uint64_t": "UINT64_MAX", "size_t": "UINT64_MAX"}
KNOWN = ("name", "c", "note", "gap", "default", "count", "cxx_type", "cxx_default", "cxx_doc", "about", "values", "kind", "list",
         "least", "most", "word", "arguments", "python", "method", "by_default")
DEFAULTS = {"note": "", "gap": False, "default": "", "count": 0, "cxx_type": "", "cxx_doc": "", "kind": "", "list": "", "least": "0",
            "word": None, "arguments": "", "python": "", "method": "", "by_default": 0}


def fields():
    """The fields of sf_call, in the order in memory."""
    rows = []
    for given in load("options.toml")["field"]:
        unknown = [key for key in given if key not in KNOWN]
        if unknown:
            raise ValueError(f"field {given['name']} has the key {unknown[0]} (there is no such key), use one of {KNOWN}")
        rows.append(SimpleNamespace(**{**DEFAULTS, "most": MOST.get(given["c"], "0"), **given}))
    return rows


def options():
    """The fields that sf_call_set sets by name."""
    return [each for each in fields() if each.kind]


def parameters(method=None):
    """The parameters of a method, or of all methods."""
    return [each for each in fields() if each.method and method in (None, each.method)]


def entries_of(name):
    return next(each.entries for each in enumerations() if each.name == name)


def commented(rows):
    """Lines of code, whose comments are aligned in every run of lines that have comments, as by clang-format."""
    lines = []
    for i, (code, note) in enumerate(rows):
        if not note:
            lines.append(code)
            continue
        first = next((k for k in range(i, -1, -1) if k == 0 or not rows[k - 1][1]))
        last = next((k for k in range(i, len(rows)) if k + 1 == len(rows) or not rows[k + 1][1]))
        width = max(len(code) for code, _ in rows[first:last + 1])
        lines.append(wrapped(note, f"{code:{width}} /* ", " " * (width + 4), " */"))
    return "\n".join(lines)


def declaration(field):
    return f"  {field.c} {field.name}{f'[{field.count}]' if field.count else ''};"


def struct():
    """The fields of sf_call, with a blank line between groups."""
    groups = [[]]
    for each in fields():
        if each.gap:
            groups.append([])
        groups[-1].append((declaration(each), each.note))
    return "\n\n".join(commented(group) for group in groups) + "\n"


def header(_):
    """steadfold.h, with the current fields of sf_call."""
    text = (ROOT / "include/steadfold/steadfold.h").read_text()
    before, begin, rest = text.partition("typedef struct sf_call {\n")
    return before + begin + struct() + rest[rest.index("} sf_call;"):]


def option_entry(option):
    facts = [f'"{option.name}"', f'"{option.about}"', f'"{option.values}"', f"Option::Kind::{option.kind}"]
    facts += [f"offsetof(sf_call, {option.name})", f"sizeof(sf_call::{option.name})"]
    if option.kind == "enumerator":
        facts.append(f".list = SF_LIST_{plural(SimpleNamespace(name=option.list)).upper()}")
    if option.kind == "number":
        facts += [f".least = {option.least}", f".most = {option.most}"]
    if option.kind == "number" and option.word:
        facts += [f'.word = "{option.word[0]}"', f".word_number = static_cast<std::uint64_t>({option.word[1]})"]
    if option.arguments:
        facts.append(f'.arguments = "{option.arguments}"')
    names = (".name = ", ".about = ", ".values = ", ".kind = ", ".offset = ", ".bytes = ")
    facts = [name + fact for name, fact in zip(names, facts)] + facts[len(names):]
    return "    {" + ",\n     ".join(facts) + "},"


def option_table(made):
    checks = [f"static_assert(sizeof(sf_{each.list}) == sizeof(arithmetic::{each.list.capitalize()}) &&\n"
              f"              SF_{entries_of(each.list)[-1].name.upper()} == static_cast<int>(arithmetic::{each.list.capitalize()}::{entries_of(each.list)[-1].name}));"
              for each in parameters() if each.list]
    return "\n".join([f"// {made}\n//", "// The options of a call, in the order of the fields of sf_call.", "#pragma once\n", "#include <cstddef>",
                      "#include <cstdint>\n", '#include "arithmetic/operator.hpp"', '#include "capi/names.hpp"\n', "namespace steadfold::capi {\n",
                      *checks, "",
                      "inline constexpr Option option_table[] = {", *map(option_entry, options()), "};\n",
                      "}  // namespace steadfold::capi\n"])


def parameter_entry(field):
    facts = [f'.name = "{field.name}"', f".method = Method::{field.method}"]
    if field.list:
        facts += [f".most = std::size({field.name}_names) - 1", f".names = {field.name}_names"]
    else:
        facts += [f".least = {field.least}", f".most = {field.most}", f".by_default = {field.by_default}"]
    return f"    {{{', '.join(facts)}}},"


def enumeration_of(field):
    """The library's type of a parameter: its enumeration, or a count."""
    return f"WholeWord<arithmetic::{field.list.capitalize()}>" if field.list else "order::Count"


def read(field):
    return f"static_cast<arithmetic::{field.list.capitalize()}>(number(given.{field.name}))" if field.list else f"given.{field.name}"


def with_defaults():
    """The function that describes a call's parameters: a branch for each method, as every call runs it."""
    lines = []
    for method in dict.fromkeys(each.method for each in parameters()):
        own = [f"    filled.{each.name} = given.{each.name}" + (f" == 0 ? {each.by_default} : given.{each.name};" if each.by_default else ";")
               for each in parameters(method)]
        lines += [f"  if (method == Method::{method}) {{", *own, "  }"]
    return ["/// Returns the parameters of one method, with defaults in place of 0. The parameters of other methods are 0.",
            "constexpr MethodParameters with_defaults(const MethodParameters& given, Method method) noexcept {", "  MethodParameters filled;",
            *lines, "  return filled;", "}\n"]


def method_parameters(made):
    members = [(f"  {enumeration_of(each)} {each.name}{'' if each.list else ' = 0'};", each.about) for each in parameters()]
    width = max(len(code) for code, _ in members)
    names = [f"inline constexpr std::string_view {each.name}_names[] = {{"
             + ", ".join(f'"{entry.name}"' for entry in entries_of(each.list)) + "};" for each in parameters() if each.list]
    values = ", ".join(f".{each.name} = {read(each)}" for each in parameters())
    return "\n".join([
        f"// {made}\n//", "// The parameters of methods.", "#pragma once\n", "#include <array>", "#include <bit>", "#include <cstdint>", "#include <iterator>",
        "#include <span>", "#include <string_view>\n", '#include "arithmetic/operator.hpp"',
        '#include "call/methods.hpp"', '#include "call/whole_word.hpp"\n', "namespace steadfold::call {\n",
        "/// The parameters of methods, one word each. In a call, 0 stands for the default. In a description, the parameters of",
        "/// other methods are 0.", "struct MethodParameters {", *(f"{code:{width}}  // {about}" for code, about in members),
        "\n  friend bool operator==(const MethodParameters&, const MethodParameters&) = default;", "};\n",
        "/// A parameter of a method.", "struct MethodParameter {", "  std::string_view name;", "  Method method;", "  order::Count least = 0;",
        "  order::Count most = 0;", "  order::Count by_default = 0;", "  std::span<const std::string_view> names = {};  // the names of the values, if they have names", "};",
        *names, "inline constexpr MethodParameter parameter_table[] = {", *map(parameter_entry, parameters()), "};",
        "/// The parameters as numbers, in the order of the table.",
        "using ParameterWords = std::array<std::uint64_t, std::size(parameter_table)>;",
        "constexpr ParameterWords words_of(const MethodParameters& given) noexcept {", "  return std::bit_cast<ParameterWords>(given);", "}\n",
        *with_defaults(), "/// Returns the parameters that a public struct has. `number` reads an enumerator as a number.",
        "template <class Given, class Number>", "constexpr MethodParameters parameters_of(const Given& given, Number number) {",
        f"  return {{{values}}};", "}\n", "}  // namespace steadfold::call\n"])


# --- C++ -------------------------------------------------------------------------------------------------------------


def default_of(field):
    if not field.list:
        return str(field.by_default)
    return f"SF_{entries_of(field.list)[0].name.upper()}"


def cxx_type(field):
    return f"sf_{field.list}" if field.list else f"std::{field.c}"


def member(field, default):
    return f"  {cxx_type(field)} {field.name} = {default};"


def method_class():
    """The class of methods. `bins` and the like are 0 if the library chooses."""
    rows = [(member(each, default_of(each) if each.list else "0"), f"only for {each.method}") for each in parameters()]
    width = max(len(code) for code, _ in rows)
    copies = [f"    call.{each.name} = {each.name};" for each in parameters()]
    return [wrapped("A method, which fixes the bits of a result; see docs/guarantees.md. A default-constructed Method is the default method of the "
                    "call. Every call takes a Method in place of its options: sf::sum(x, comm, sf::tree()).", "/// "),
            "struct Method {", "  sf_method id = SF_AUTOMATIC;", *(f"{code:{width}}  // {about}" for code, about in rows),
            "\n  void describe(sf_call& call) const noexcept {", "    call.method = id;", *copies, "  }\n", "  template <class Options,",
            "            class = std::enable_if_t<std::is_aggregate_v<Options> && std::is_same_v<decltype(Options::method), Method>>>",
            "  constexpr operator Options() const {", "    Options options;", "    options.method = *this;", "    return options;", "  }", "};"]


def method_functions():
    text = []
    for each in entries_of("method"):
        own = parameters(each.name)
        if not hasattr(each, "cxx"):
            continue
        c, name = f"SF_{each.name.upper()}", each.name.capitalize()
        if not own:
            text += [wrapped(each.cxx, "/// "), f"constexpr Method {each.name}() {{ return {{{c}}}; }}"]
            continue
        text += [wrapped(each.parameters, "/// "), f"struct {name} {{", *(member(field, default_of(field)) for field in own), "};",
                 wrapped(each.cxx, "/// "), f"constexpr Method {each.name}({name} how = {{}}) {{", f"  Method method{{{c}}};",
                 *(f"  method.{field.name} = how.{field.name};" for field in own), "  return method;", "}"]
    return text


def guarantees():
    rows = [(f"inline constexpr Guarantees {each.name}{{SF_{each.name.upper()}}};", each.about) for each in entries_of("guarantee")]
    width = max(len(code) for code, _ in rows)
    return [wrapped("Guarantees: properties on which the bits of a call must not depend, for instance `sf::ranks | sf::layout`. A call that "
                    "cannot give the guarantees is refused. docs/guarantees.md has the table of methods and guarantees.", "/// "),
            "struct Guarantees {", "  std::uint32_t bits = 0;", "  /// Combines two sets of guarantees: the call must give both.",
            "  friend constexpr Guarantees operator|(Guarantees a, Guarantees b) { return {a.bits | b.bits}; }", "};", "namespace guarantees {",
            *(f"{code:{width}}  ///< {about}" for code, about in rows), "}  // namespace guarantees"]


# How a member of C++'s option structs is written into a call; a member of the same type is copied.
WRITTEN = {"Method": "{0}.describe(call)", "Layout": "{0}.describe(call)", "Guarantees": "call.{0} = {0}.bits",
           "std::optional<int>": "call.{0} = detail::root_of({0})", "std::string": "call.{0} = {0}.empty() ? nullptr : {0}.c_str()"}


def option_struct(given):
    """A struct of options, with a function that writes them into a call."""
    members = [each for name in given["members"] for each in fields() if each.name == name]
    width = max(len(f"  {each.cxx_type} {each.name} = {each.cxx_default};") for each in members if each.cxx_doc)
    lines = []
    for each in members:
        code = f"  {each.cxx_type} {each.name} = {each.cxx_default};"
        lines.append(wrapped(each.cxx_doc, f"{code:{width}}  ///< ", " " * (width + 2) + "///< ") if each.cxx_doc else code)
    written = [f"    {WRITTEN.get(each.cxx_type, 'call.{0} = {0}').format(each.name)};" for each in members]
    return [wrapped(given["doc"], "/// "), f"struct {given['name']} {{", *lines, "",
            "  /// Writes the options into a call, which then points to them.", "  void describe(sf_call& call) const noexcept {", *written, "  }", "};"]


def call_of_defaults():
    defaults = [f"  call.{each.name} = {each.default};" for each in fields() if each.default]
    copies = [f"  method.{each.name} = call.{each.name};" for each in parameters()]
    return ["namespace detail {", "/// Returns the value of sf_call_default(), as a constant that the compiler can evaluate.",
            "constexpr sf_call call_of_defaults() {", "  sf_call call{};", "  call.size = sizeof call;", *defaults, "  return call;", "}",
            "/// Returns the method of a call, with its parameters.", "constexpr Method method_of(const sf_call& call) {",
            "  Method method{call.method};", *copies, "  return method;", "}",
            "}  // namespace detail\n"]


def cxx_options(made):
    structs = [line for given in load("options.toml")["struct"] for line in [*option_struct(given), ""]]
    return "\n".join([
        f"// {made}\n//", "// Methods, guarantees, and the options of calls. Included by types.hpp.", "#pragma once\n", "#if __cplusplus < 201703L",
        '#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"', "#else\n",
        "#include <cstdint>", "#include <optional>", "#include <string>", "#include <type_traits>\n", '#include "steadfold/layout.hpp"\n',
        "namespace steadfold {\n", *method_class(), *method_functions(), "", *guarantees(), "", *structs, *call_of_defaults(),
        "}  // namespace steadfold\n", "#endif\n"])


FILES = {"include/steadfold/steadfold.h": header, "include/steadfold/options.hpp": cxx_options, "src/capi/option_table.hpp": option_table,
         "src/call/parameters.hpp": method_parameters}
