// Runs the golden cases, and makes the digest: FNV-1a, 64 bits, over the lines "CASE METHOD=BITS".
#include "program/doctor/examination.hpp"

#include <sstream>

#include "program/doctor/golden.hpp"

namespace steadfold {
namespace {

constexpr const char* golden_cases =
#include "program/doctor/golden_cases.inc"
    ;

/// The rows of a case that a rank has, in the order of memory.
struct Rows {
  std::vector<sf_interval> intervals;
  golden::Bytes first;
  golden::Bytes second;
  std::uint64_t count = 0;
};

Rows rows_of(const golden::Record& record, std::vector<sf_interval> intervals) {
  Rows rows{.intervals = std::move(intervals), .first = {}, .second = {}};
  for (const sf_interval interval : rows.intervals) {
    for (std::uint64_t row = interval.begin; row < interval.end; ++row) {
      record.append_row(rows.first, row);
      if (record.has_second()) record.append_row(rows.second, row, true);
      rows.count += 1;
    }
  }
  return rows;
}

/// By this process where the group is null. The result's bits, or why there is none.
std::string result_of(const golden::Record& record, const Rows& rows, sf_call call, sf_group* group) {
  call.layout = SF_INTERVALS;
  call.intervals = rows.intervals.data();
  call.interval_count = rows.intervals.size();
  call.rows = rows.count;
  golden::Bytes result(record.columns * record.value_bytes());
  const void* const second = record.has_second() ? rows.second.data() : nullptr;
  const sf_status status = group == nullptr ? sf_reduce_local(&call, rows.first.data(), second, result.data())
                                            : sf_group_reduce(&call, rows.first.data(), second, result.data(), group);
  if (status != SF_OK) return sf_error_text();
  return golden::text_of(record, result);
}

class Examiner {
 public:
  explicit Examiner(sf_group* group) : group_(group) {}

  void examine(const std::string& line) {
    const golden::Record record = golden::record_of(line);
    const std::string key = line.substr(0, line.rfind(' ', line.find('=')) + 1);
    const std::uint64_t middle = record.rows / 2;
    const Rows in_order = rows_of(record, {{0, record.rows}});
    const Rows out_of_order = rows_of(record, {{middle, record.rows}, {0, middle}});
    Rows share;
    if (group_ != nullptr) {
      const auto rank = static_cast<std::uint64_t>(sf_group_rank(group_));
      const auto ranks = static_cast<std::uint64_t>(sf_group_size(group_));
      share = rows_of(record, {{rank * record.rows / ranks, (rank + 1) * record.rows / ranks}});
    }
    found_.cases += 1;
    for (const auto& [method, wanted] : record.values) {
      sf_call call = golden::call_of(record, method);
      name_ = key + method.name;
      std::string bits = wanted;
      compare(result_of(record, in_order, call, nullptr), wanted, "by one thread", bits);
      if (group_ != nullptr)
        compare(result_of(record, share, call, group_), wanted,
                "by " + std::to_string(sf_group_size(group_)) + " ranks", bits);
      call.threads = 3;
      if (method.method == SF_BINNED) call.sweep = SF_DOUBLE_SWEEP;
      compare(result_of(record, out_of_order, call, nullptr), wanted, "by three threads, rows out of order", bits);
      add_to_digest(name_ + "=" + bits + "\n");
      found_.checked += 1;
    }
  }

  Examination result() {
    static constexpr const char* digits = "0123456789ABCDEF";
    for (int shift = 60; shift >= 0; shift -= 4) found_.digest += digits[digest_ >> shift & 15];
    return std::move(found_);
  }

 private:
  void compare(const std::string& found, const std::string& wanted, const std::string& way, std::string& bits) {
    if (found == wanted) return;
    bits = found;
    found_.wrong.push_back(name_ + " " + way + ": found " + found + ", recorded " + wanted);
  }

  void add_to_digest(const std::string& text) {
    for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }

  sf_group* group_;
  Examination found_;
  std::string name_;  // of what is compared
  std::uint64_t digest_ = 0xCBF29CE484222325;
};

}  // namespace

Examination examine(sf_group* group) {
  Examiner examiner(group);
  std::istringstream lines(golden_cases);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) examiner.examine(line);
  return examiner.result();
}

}  // namespace steadfold
