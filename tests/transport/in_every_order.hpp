// What tests of protocols under the model of memory share: the orders, one of them weakened, and what a search may say.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>

#include "transport/memory_model.hpp"

namespace steadfold::transport {

using model::await;
using model::Plain;
using model::Report;
using model::require;
using model::Search;

using Right = model::Memory<>;
using WeakAnnounce = model::Memory<std::memory_order_relaxed>;
using WeakExpect = model::Memory<MachineMemory::announce, std::memory_order_relaxed>;
using WeakGiveBack = model::Memory<MachineMemory::announce, MachineMemory::expect, std::memory_order_relaxed>;
using WeakTakeBack =
    model::Memory<MachineMemory::announce, MachineMemory::expect, MachineMemory::give_back, std::memory_order_relaxed>;

inline constexpr const char* race_on_writing = "race: a write over what may still be read";
inline constexpr const char* race_with_a_write = "race: with a write that is not known to have ended";

inline void expect_right(const std::string& what, const Report& report) {
  std::cout << "  " << what << ": " << report << '\n';
  EXPECT_EQ(report.fault, "") << what << ": " << report;
  EXPECT_GE(report.executions, 1) << what;
}

/// Between a reader and a writer of the same content; which of them is caught depends on who is tried first.
inline void expect_race(const Report& report) {
  EXPECT_TRUE(report.fault == race_on_writing || report.fault == race_with_a_write) << report;
}

/// What a worker brings to a reduction: no two sums of some of them are equal.
inline std::uint64_t contribution(std::size_t worker, std::uint64_t reduction) {
  return (reduction + 1) << (8 * worker);
}
inline std::uint64_t sum_of_all(std::size_t workers, std::uint64_t reduction) {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < workers; ++worker) sum += contribution(worker, reduction);
  return sum;
}

/// A worker's sum so far.
struct Sum {
  std::uint64_t value = 0;
  template <class Content>
  void merge(const Content& content) {
    value += content;
  }
  template <class Content>
  void write(Content& content) const {
    content = value;
  }
  template <class Content>
  void read(const Content& content) {
    value = content;
  }
};

}  // namespace steadfold::transport
