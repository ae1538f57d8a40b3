// Runs the golden cases and computes their digest: FNV-1a, 64 bits, over the lines "CASE METHOD=BITS".
#include "program/doctor/examination.hpp"

#include <initializer_list>
#include <sstream>
#include <string_view>
#include <utility>

#include "program/doctor/rows.hpp"

namespace steadfold {
namespace {

constexpr const char* golden_cases =
#include "program/doctor/golden_cases.inc"
    ;

golden::Rows rows_of(const golden::Record& record, std::vector<sf_interval> intervals) {
  const auto append_row = [&](golden::Bytes& to, std::uint64_t row, bool is_second) {
    record.append_row(to, row, is_second);
  };
  return golden::rows_of(std::move(intervals), record.has_second(), append_row);
}

/// Counts results, compares them with the recorded results, and computes the digest.
class Examiner {
 public:
  void begin_case() { found_.cases += 1; }

  /// Compares a result with its record. `name` is the case and the method. `ways` has the same result, computed in
  /// several ways. The digest gets the first wrong result, or the common result if all are right.
  void take(const std::string& name, const std::string& wanted,
            std::initializer_list<std::pair<std::string_view, std::string>> ways) {
    const std::string* bits = &wanted;
    for (const auto& [way, found] : ways) {
      if (found == wanted) continue;
      found_.wrong.push_back(name + " " + std::string(way) + ": found " + found + ", recorded " + wanted);
      if (bits == &wanted) bits = &found;
    }
    add_to_digest(name + "=" + *bits + "\n");
    found_.checked += 1;
  }

  Examination result() {
    static constexpr const char* digits = "0123456789ABCDEF";
    for (int shift = 60; shift >= 0; shift -= 4) found_.digest += digits[digest_ >> shift & 15];
    return std::move(found_);
  }

 private:
  void add_to_digest(const std::string& text) {
    for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }

  Examination found_;
  std::uint64_t digest_ = 0xCBF29CE484222325;
};

/// Runs every case with `take_case(examiner, record, name)`. The name of a result is `name` and its method.
template <class TakeCase>
Examination examined(const TakeCase& take_case) {
  Examiner examiner;
  std::istringstream lines(golden_cases);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    examiner.begin_case();
    take_case(examiner, golden::record_of(line), line.substr(0, line.rfind(' ', line.find('=')) + 1));
  }
  return examiner.result();
}

}  // namespace

Examination examine_alone() {
  return examined([](Examiner& examiner, const golden::Record& record, const std::string& name) {
    const std::uint64_t middle = record.rows / 2;
    const golden::Rows in_order = rows_of(record, {{0, record.rows}});
    const golden::Rows out_of_order = rows_of(record, {{middle, record.rows}, {0, middle}});
    for (const auto& [method, wanted] : record.values) {
      const sf_call call = golden::call_of(record, method);
      sf_call other = call;
      other.threads = 3;
      other.sweep = SF_DOUBLE_SWEEP;  // only methods with a sweep read it
      examiner.take(name + method.name, wanted,
                    {{"by one thread", result_of(record, in_order, call, nullptr)},
                     {"by three threads, with rows out of order", result_of(record, out_of_order, other, nullptr)}});
    }
  });
}

Examination examine_over(sf_group& group) {
  const auto rank = static_cast<std::uint64_t>(sf_group_rank(&group));
  const auto ranks = static_cast<std::uint64_t>(sf_group_size(&group));
  return examined([&](Examiner& examiner, const golden::Record& record, const std::string& name) {
    const golden::Rows share = rows_of(record, {{rank * record.rows / ranks, (rank + 1) * record.rows / ranks}});
    for (const auto& [method, wanted] : record.values)
      examiner.take(name + method.name, wanted,
                    {{"by all ranks", result_of(record, share, golden::call_of(record, method), &group)}});
  });
}

}  // namespace steadfold
