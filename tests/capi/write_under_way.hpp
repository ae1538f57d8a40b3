// A call under way that writes memory which other calls may read.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "steadfold/started.hpp"
#include "support/on_team.hpp"

namespace steadfold::test {

/// Returns part i of a vector of four parts. A part has ten elements, and all elements are 1.
using Part = std::function<std::span<double>(std::size_t)>;

/// Calls body(member, part) on three workers while a call of another team, whose results are in part 1, is under way on
/// two of them. Calls of one team all begin in the same order, so a call of the same team would be of no use.
inline void while_part_1_is_written(const std::function<void(const Team::Member& member, const Part& part)>& body) {
  const Team writers(3);
  on_team(3, [&](const Team::Member& member) {
    std::vector<double> memory(40, 1.0);
    const auto part = [&](std::size_t i) { return std::span(memory).subspan(10 * i, 10); };
    const auto start_writing = [&] { return start_allreduce(part(1), plus, writers[member.worker()]); };
    EXPECT_EQ(sum(part(0), writers[member.worker()]), 30.0);  // a team begins when all its workers do
    std::optional<Pending<>> writing;
    if (member.worker() != 2) writing = start_writing();
    body(member, part);
    if (!writing) writing = start_writing();
    writing->wait();
  });
}

}  // namespace steadfold::test
