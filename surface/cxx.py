"""Generates the C++ files: the tables for the library and for the headers, the constants, and the members of bundles."""

from options import parameters
from tables import METHODS, NUMBERED_METHODS, TERMS, WIDTH, classes, operations, wrapped


def name_of(text):
    return text.replace(" ", "_")


def operation_table(made):
    every = operations()
    text = [f"// {made}\n//", "// The methods, and the operations with their properties, one entry for each.",
            "// Cost: an entry is found by its index.", "#pragma once\n", "#include <cstdint>", "#include <string_view>\n",
            "namespace steadfold::arithmetic {\n",
            "/// The methods that a call may name. The numbers are equal to those of sf_method in steadfold.h.",
            f"enum class Method : std::uint32_t {{ {', '.join(NUMBERED_METHODS)} }};",
            f"inline constexpr Method last_method = Method::{NUMBERED_METHODS[-1]};\n",
            "/// The numbers are equal to those of sf_operation in steadfold.h.", "enum class Operation : std::uint32_t {"]
    text += [f"  {each.name}," for each in every]
    text[-1] = text[-1].removesuffix(",")
    text += ["};", f"inline constexpr Operation last_operation = Operation::{every[-1].name};\n",
             "/// The operands of an operation.", "enum class OperandForm : std::uint8_t { elements, factors, mask, user };",
             "/// The terms that an operation combines.", f"enum class Terms : std::uint8_t {{ {', '.join(map(name_of, TERMS))} }};",
             "/// The form of a result: of the elements' type, real even for complex elements, a value and its index, or Statistics.",
             "enum class ResultForm : std::uint8_t { own, real, located, statistics };",
             "/// A set of methods: one bit for each, at the method's number.", "using Methods = std::uint32_t;",
             "template <class... Each>", "constexpr Methods set_of(Each... each) noexcept {",
             "  return (0u | ... | (1u << static_cast<std::uint32_t>(each)));", "}\n",
             "struct OperationProperties {", "  std::string_view words;  // name of the operation in error texts",
             "  Operation combined_by;   // operator that merges partial results",
             "  Methods served_by;       // methods that compute the operation",
             "  // The method that is used if the caller names none. Integers take plain, whatever the entry says.",
             "  Method by_default;", "  Method of_vectors;  // the same for calls in MPI's shape", "  OperandForm operands = OperandForm::elements;",
             "  Terms terms = Terms::elements;", "  ResultForm result = ResultForm::own;",
             "  bool has_several_sums = false;  // the result is computed from several exact sums",
             "  bool needs_rows = false;        // without rows there is no result\n",
             "  constexpr bool is_served_by(Method method) const noexcept { return (served_by & set_of(method)) != 0; }", "};",
             "inline constexpr OperationProperties operation_table[] = {"]
    for each in every:
        fields = [f'.words = "{each.words}"', f".combined_by = Operation::{each.combines}",
                  f".served_by = set_of({', '.join(f'Method::{method}' for method in METHODS if method in each.methods)})",
                  f".by_default = Method::{each.default}", f".of_vectors = Method::{each.vectors}"]
        if each.operands != "elements":
            fields.append(f".operands = OperandForm::{'user' if each.operands == 'operator' else each.operands}")
        if each.terms != "elements":
            fields.append(f".terms = Terms::{name_of(each.terms)}")
        if each.result != "own":
            fields.append(f".result = ResultForm::{each.result}")
        if each.sums == "several":
            fields.append(".has_several_sums = true")
        if each.empty == "SF_EMPTY":
            fields.append(".needs_rows = true")
        line = f"    {{{', '.join(fields)}}},"
        text.append(line if len(line) <= WIDTH else "    {" + ",\n     ".join(fields) + "},")
    text += ["};\n", "constexpr const OperationProperties& properties_of(Operation operation) noexcept {",
             "  return operation_table[static_cast<std::uint32_t>(operation)];", "}\n", "}  // namespace steadfold::arithmetic\n"]
    return "\n".join(text)


def public_table(made):
    text = [f"// {made}\n//",
            "// The operations and methods as the C++ headers know them: their names, and the types, results or parameters.", "#pragma once\n",
            "#if __cplusplus < 201703L",
            '#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"', "#else\n",
            "#include <cstddef>", "#include <cstdint>\n", '#include "steadfold/steadfold.h"\n',
            "namespace steadfold::detail {\n",
            "/// The second operand of an operation.", "enum class Second { none, factors, mask };",
            "/// The form of a result: of the elements' type, real even for complex elements, a Located, or Statistics.",
            "enum class ResultForm { own, real, located, statistics };\n",
            "/// The types of a class, one bit for each.", "namespace types {"]
    for name, types in classes().items():
        text.append(f"inline constexpr std::uint32_t {name} = {' | '.join(f'1u << SF_{each.upper()}' for each in types)};")
    every = " | ".join(classes())
    text += [f"inline constexpr std::uint32_t every = {every};", "}  // namespace types\n", "struct OperationProperties {", "  const char* name;", "  std::uint32_t types;", "  Second second;", "  ResultForm result;",
             "};", "inline constexpr OperationProperties operation_table[] = {"]
    for each in operations():
        taken = " | ".join(f"types::{name}" for name in each.takes) or "0"
        if set(each.takes) == set(classes()):
            taken = "types::every"
        second = each.operands if each.operands in ("factors", "mask") else "none"
        text += [f'    {{"{each.name}", {taken}, Second::{second}, ResultForm::{each.result}}},']
    text += ["};\n", "constexpr const OperationProperties& properties_of(sf_operation operation) {",
             "  return operation_table[static_cast<std::size_t>(operation)];", "}",
             "/// Returns whether a built-in operator takes elements of a type.",
             "constexpr bool takes(sf_operation operation, sf_type type) {",
             "  return type < SF_AS_TYPE && (properties_of(operation).types >> type & 1) != 0;", "}",
             "constexpr Second second_of(sf_operation operation) { return properties_of(operation).second; }\n",
             "/// The methods without SF_AUTOMATIC, in the order in which they are shown.",
             "struct NamedMethod {", "  const char* name;", "  sf_method method;", "};",
             "inline constexpr NamedMethod named_methods[] = {",
             *(f'    {{"{each}", SF_{each.upper()}}},' for each in METHODS), "};",
             "/// The parameters of methods.", "inline constexpr NamedMethod method_parameters[] = {",
             *(f'    {{"{each.name}", SF_{each.method.upper()}}},' for each in parameters()), "};\n",
             "}  // namespace steadfold::detail\n", "#endif\n"]
    return "\n".join(text)


def constants(made):
    text = [f"// {made}\n//",
            "// The built-in operators. Each is a function: dot(x, y), dot(x, y, comm), dot(x, y, comm, options). Each is also an",
            "// operator for `reduce` and for plans. Included by steadfold.hpp.", "#pragma once\n",
            '#include "steadfold/built_in.hpp"\n', "#if __cplusplus >= 201703L\n", "namespace steadfold {\n"]
    for each in operations():
        if each.cxx:
            names = ", ".join(f"{name}{{}}" for name in each.cxx)
            text += [wrapped(each.doc, "/// "), f"inline constexpr BuiltIn<{each.c}> {names};"]
    text += ["\n}  // namespace steadfold\n", "#endif\n"]
    return "\n".join(text)


def members(operation):
    text = []
    is_pair = operation.operands in ("factors", "mask")
    parameters, given = ("class R, class S", "R&& x, S&& y") if is_pair else ("class R", "R&& x")
    parameters += ", class = detail::if_no_array<R>"
    add = "add_ranges(std::forward<R>(x), std::forward<S>(y)" if is_pair else "add_range(std::forward<R>(x)"
    for name in operation.bundle:
        doc = operation.doc if name == operation.bundle[0] else f"Another name for {operation.bundle[0]}."
        text += [wrapped(doc, "  /// "), f"  template <{parameters}>", f"  auto {name}({given}, const MemberOptions& options = {{}}) {{",
                 f"    return {add}, BuiltIn<{operation.c}>{{}}, options);", "  }"]
        if operation.operands == "mask":
            continue
        arrays, factors = ("const Array<T>& x, const Array<T>& y", "y") if is_pair else ("const Array<T>& x", "axes.weights")
        text += ["  template <class T>", f"  auto {name}({arrays}, const Axes& axes, const MemberOptions& options = {{}}) {{",
                 f"    return add_array(x, {factors}, BuiltIn<{operation.c}>{{}}, axes, options);", "  }"]
    return text


def bundle(made):
    text = [f"// {made}\n//", "// The operations as member functions of bundles. Included by bundle.hpp.", "#pragma once\n",
            '#include "steadfold/bundle_members.hpp"\n', "#if __cplusplus >= 201703L\n", "namespace steadfold {\n",
            wrapped("The base class of Bundle: one member function per operation. `x` and `y` are ranges (see Bundle), whose elements "
                    "on all ranks are reduced; or arrays, which give one result for every index of the kept axes, in C order. A second "
                    "vector must have the size of the first; otherwise the run fails on all ranks.", "/// "),
            "class BundleOperations : public detail::BundleMembers {", " public:"]
    for each in operations():
        text += members(each)
    text += ["};\n", "}  // namespace steadfold\n", "#endif\n"]
    return "\n".join(text)


FILES = {
    "src/arithmetic/operations.hpp": operation_table,
    "include/steadfold/operations.hpp": public_table,
    "include/steadfold/constants.hpp": constants,
    "include/steadfold/bundle_operations.hpp": bundle,
}
