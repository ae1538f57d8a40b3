#include "program/doctor/vectors.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "program/doctor/method_text.hpp"
#include "program/doctor/rows.hpp"

namespace steadfold {
namespace {

using golden::Bytes;

[[noreturn]] void refuse(const std::string& problem, const std::string& why) {
  throw std::invalid_argument(problem + " (" + why + "), use a file that tests/golden/make.py wrote");
}

golden::Shape shape_named(const std::string& type) {
  try {
    return golden::shape_of(type);
  } catch (const std::out_of_range&) {
    refuse("vectors of the type '" + type + "' cannot be checked", "no type has this name");
  }
}

/// Sets the method of a call, with its parameters.
void set_method(sf_call& call, const std::string& text) {
  const auto [name, parameters] = split_method(text);
  bool is_known = sf_call_set(&call, "method", name.c_str()) == SF_OK && call.method != SF_AUTOMATIC;
  std::set<std::string> given;
  for (const std::string& each : parameters) {
    const std::string parameter = set_parameter(call, each);
    is_known = is_known && !parameter.empty() && given.insert(parameter).second;
  }
  if (!is_known)
    refuse("vectors of the method '" + text + "' cannot be checked",
           "no method has this name and these parameters, each given once");
}

/// Appends the element, or the result, whose bits a text has.
void append_text(Bytes& to, std::string text, const golden::Shape& shape) {
  const std::string given = text;
  const std::size_t digits = 2 * shape.used;
  const bool is_complex = shape.parts == 2;
  if (is_complex && text.size() > digits && text[digits] == ',') text.erase(digits, 1);
  const bool is_hexadecimal = text.find_first_not_of("0123456789ABCDEF") == std::string::npos;
  if (!is_hexadecimal || text.size() != digits * shape.parts || (is_complex && text == given))
    refuse("'" + given + "' is no element", std::to_string(digits * shape.parts) + " digits 0-9 and A-F are needed" +
                                                (is_complex ? ", with a comma between the parts" : ""));
  for (std::size_t part = 0; part < shape.parts; ++part)
    golden::append(to, golden::bits_of(text.substr(part * digits, digits)), shape);
}

/// The elements of an input in memory.
struct Elements {
  std::vector<Bytes> x;
  std::vector<Bytes> y;  // second factors, weights or mask bytes; empty without them

  void append_row(Bytes& to, std::uint64_t row, bool is_second) const {
    const Bytes& element = (is_second ? y : x)[row];
    to.insert(to.end(), element.begin(), element.end());
  }
};

std::vector<Bytes> elements_of(const std::vector<std::string>& texts, const golden::Shape& shape) {
  std::vector<Bytes> elements(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) append_text(elements[i], texts[i], shape);
  return elements;
}

/// Everything that the results of one vector have in common.
struct Prepared {
  golden::Record record;
  Elements elements;
  std::optional<Bytes> initial;
};

Prepared prepared(const VectorFile& file, const TestVector& vector) {
  const auto input = file.inputs.find(vector.input);
  if (!golden::operation_named(vector.operation))
    refuse("vectors of the operation '" + vector.operation + "' cannot be checked", "no operation has this name");
  if (input == file.inputs.end())
    refuse("a vector of the operation '" + vector.operation + "' cannot be checked",
           "there is no input '" + vector.input + "'");
  const golden::Shape shape = shape_named(file.type);
  const golden::Shape result = shape_named(vector.result);
  const bool has_own_operator = shape.type == SF_BYTES;
  if ((vector.operation == "user" || has_own_operator) && (!has_own_operator || vector.result != file.type))
    refuse("a vector of the operation '" + vector.operation + "' over " + file.type + " to " + vector.result +
               " cannot be checked",
           "only mix, matrix and halves have operators of a caller, and the result has the type of the elements");
  Prepared all;
  all.record.operation = vector.operation;
  all.record.type = file.type;
  all.record.result = vector.result;
  all.record.rows = input->second.x.size();
  all.record.columns = 1;
  all.elements.x = elements_of(input->second.x, shape);
  if (all.record.has_factors()) all.elements.y = elements_of(input->second.y, shape);
  if (all.record.is_masked())
    for (const int selects : input->second.mask) all.elements.y.push_back({selects == 0 ? std::byte{0} : std::byte{1}});
  if (all.record.has_second() && all.elements.y.size() != all.record.rows)
    refuse("the input '" + vector.input + "' cannot be used for the operation '" + vector.operation + "'",
           "x has " + std::to_string(all.record.rows) + " elements, and " + (all.record.is_masked() ? "mask" : "y") +
               " has " + std::to_string(all.elements.y.size()));
  if (!vector.initial.empty()) append_text(all.initial.emplace(), vector.initial, result);
  return all;
}

std::string name_of(const VectorFile& file, const TestVector& vector, const std::string& method) {
  const std::string initial = vector.initial.empty() ? "" : " from " + vector.initial;
  return vector.operation + " " + file.type + " to " + vector.result + ", " + vector.input + initial + ", " + method;
}

/// Ways in which a result was computed, and its bits.
using Ways = std::vector<std::pair<std::string, std::string>>;

/// Returns what `compute` returns. If the library refuses the call, the error begins with the name of the result.
Ways results_of(const std::string& name, const std::function<Ways()>& compute) {
  try {
    return compute();
  } catch (const std::runtime_error& refused) {
    throw std::runtime_error(name + ": " + refused.what());
  }
}

/// Checks every result with `results_by(prepared, call)`.
template <class ResultsBy>
VectorsChecked checked(const VectorFile& file, const ResultsBy& results_by) {
  VectorsChecked found;
  for (const TestVector& vector : file.vectors) {
    const Prepared all = prepared(file, vector);
    if (!all.record.runs_here()) {
      found.not_run_here += vector.bits.size();
      continue;
    }
    for (const auto& [method, wanted] : vector.bits) {
      sf_call call = golden::call_of(all.record, {});
      set_method(call, method);
      call.initial = all.initial ? all.initial->data() : nullptr;
      found.checked += 1;
      const std::string name = name_of(file, vector, method);
      for (const auto& [way, bits] : results_of(name, [&] { return results_by(all, call); }))
        if (bits != wanted) found.wrong.push_back(name + " " + way + ": found " + bits + ", recorded " + wanted);
    }
  }
  return found;
}

std::string result_of(const Prepared& all, std::vector<sf_interval> intervals, const sf_call& call, sf_group* group) {
  const auto append_row = [&](Bytes& to, std::uint64_t row, bool is_second) {
    all.elements.append_row(to, row, is_second);
  };
  const golden::Rows rows = golden::rows_of(std::move(intervals), all.record.has_second(), append_row);
  return golden::result_of(all.record, rows, call, group);
}

}  // namespace

std::string list_of(const VectorFile& file) {
  std::string lines;
  for (const TestVector& vector : file.vectors)
    for (const auto& [method, bits] : vector.bits) lines += name_of(file, vector, method) + ": " + bits + "\n";
  return lines;
}

VectorsChecked check_vectors_alone(const VectorFile& file) {
  return checked(file, [](const Prepared& all, const sf_call& call) {
    const std::uint64_t rows = all.record.rows;
    sf_call other = call;
    other.threads = 3;
    other.sweep = SF_DOUBLE_SWEEP;  // only methods with a sweep read it
    return Ways{{"by one thread", result_of(all, {{0, rows}}, call, nullptr)},
                {"by three threads, with rows out of order",
                 result_of(all, {{rows / 2, rows}, {0, rows / 2}}, other, nullptr)}};
  });
}

VectorsChecked check_vectors_over(sf_group& group, const VectorFile& file) {
  const auto rank = static_cast<std::uint64_t>(sf_group_rank(&group));
  const auto ranks = static_cast<std::uint64_t>(sf_group_size(&group));
  return checked(file, [&](const Prepared& all, const sf_call& call) {
    const std::uint64_t rows = all.record.rows;
    return Ways{{"by all ranks", result_of(all, {{rank * rows / ranks, (rank + 1) * rows / ranks}}, call, &group)}};
  });
}

}  // namespace steadfold
