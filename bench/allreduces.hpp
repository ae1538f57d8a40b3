// Functions of the benchmarks of allreduces: the schedules that serve each method, and a contest (a comparison with
// rivals) for each task. Rows say whether all ranks get the same bits: plain sums with cyclic schedules may differ
// between ranks, and only benchmarks may make these plans. Source: End et al. for cyclic schedules.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checked_task.hpp"

namespace steadfold::bench {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // pairs of a method and a schedule

/// Returns the possible pairs of a method and a schedule. Throws Failure if a named schedule serves none of the
/// methods.
Pairs pairs_for(const Operator& op, const std::string& type, const AllreduceOptions& options);

/// A function that measures one comparison for elements of a type, which is f64, f32 or i32.
using MeasureOne = std::function<Contest(const std::string& type, const Task& task)>;

/// Measures one comparison for every operator, type and count that the options name. Throws Failure for unknown names.
Measurement measure_all(const AllreduceOptions& options, const MeasureOne& measure_one);

}  // namespace steadfold::bench
