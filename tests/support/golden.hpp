// Reads the golden files, and helps tests to compare their records.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "program/doctor/golden.hpp"
#include "support/directory.hpp"

namespace steadfold::golden {

/// All files except large.txt, whose vectors are long.
inline const std::vector<std::string> files = {"double",   "float",     "half",       "complex",     "extended",
                                               "integers", "locations", "statistics", "covariances", "users"};

inline const Record* find(const std::vector<Record>& all, const Record& like, std::uint64_t rows) {
  for (const Record& record : all)
    if (record.rows == rows && record.key() == like.key()) return &record;
  return nullptr;
}

inline std::vector<Record> records(const std::string& file) {
  const std::string path = tests::directory() + "/golden/" + file + ".txt";
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path << " cannot be read";
  std::vector<Record> all;
  for (std::string line; std::getline(stream, line);) {
    Record record = record_of(line);
    EXPECT_FALSE(record.values.empty()) << line;
    record.where = file + ".txt:" + std::to_string(all.size() + 1) + " " + record.where;
    all.push_back(std::move(record));
  }
  EXPECT_GE(all.size(), 30u) << path;
  return all;
}

/// The values of some columns.
inline std::string columns_of(const Record& record, const std::string& values, std::uint64_t begin,
                              std::uint64_t count) {
  if (values == "empty") return values;
  const std::vector<std::string> all = split(values, ',');
  const std::size_t parts = all.size() / record.columns;
  std::string some;
  for (std::size_t i = begin * parts; i < (begin + count) * parts; ++i) some += (some.empty() ? "" : ",") + all[i];
  return some;
}

/// Counts the pairs of record and method that were compared, and the records left out, and prints both.
class Tally {
 public:
  explicit Tally(std::string what) : what_(std::move(what)) {}
  ~Tally() {
    std::printf("%s: %llu results compared", what_.c_str(), static_cast<unsigned long long>(compared_));
    if (left_out_ > 0)
      std::printf(", %llu records are not of this machine (a long double has %d digits here, binary128 is %s)",
                  static_cast<unsigned long long>(left_out_), long_double_digits, binary128() ? "known" : "not known");
    std::printf("\n");
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  void compared() { ++compared_; }
  void left_out() { ++left_out_; }
  std::uint64_t count() const { return compared_; }

 private:
  std::string what_;
  std::uint64_t compared_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace steadfold::golden
