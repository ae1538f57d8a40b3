// Sums of one vector whose elements are dealt to pinned threads, by ways that are measured in turn.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study.hpp"

namespace steadfold::command::studies::node {

/// A plan of a team, by this method and schedule.
struct Way {
  const char* method;
  const char* schedule;  // "auto": the library's choice
};
/// `fastmath` is a loop that may add in any order, then `plain` over one number per thread. Plans that are left to the
/// library read each other's rows or partials on a board (`together`); both sweeps are raced by messages, too, over the
/// trees of [S2] among others.
inline constexpr Way ways[] = {{"fastmath", "auto"},
                               {"plain", "auto"},
                               {"binned:sweep=single", "auto"},
                               {"binned:sweep=single", "recursive_doubling"},
                               {"binned:sweep=single", "single_notify"},
                               {"binned:sweep=single", "multi_notify"},
                               {"binned:sweep=double", "auto"},
                               {"binned:sweep=double", "recursive_doubling"},
                               {"binned:sweep=double", "single_notify"},
                               {"binned:sweep=double", "multi_notify"},
                               {"tree", "auto"},
                               {"exact", "auto"}};
inline constexpr std::size_t plain_way = 1;

/// What came of a way: one time per round, the mean of some calls on the slowest thread.
struct Raced {
  std::string chosen;  // "together", or the schedule
  std::string bits;
  std::vector<double> seconds;
};

/// The `elements` doubles that are added up, a power of two. Large ones cancel in pairs, of which one is in either
/// half; small ones remain. So every method but `exact` and `binned` returns rounding errors, and these two differ.
std::vector<double> numbers_to_add(std::size_t elements);

/// Races all ways. After every sample each thread compares the result's bits with what one thread computes without a
/// team, if the method promises that; else how far off it may be. Throws Failure if one is wrong.
std::vector<Raced> race_sums(unsigned threads, std::span<const double> numbers, int rounds);

/// The fields by which rows say what was raced.
Json row_of(const char* part, unsigned threads, std::size_t elements, std::size_t way, const Raced& raced);

}  // namespace steadfold::command::studies::node
