// Every function without MPI that takes an sf_call or an sf_arrays, on a group of one rank or more, and what each says.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "capi/on_groups.hpp"
#include "steadfold/steadfold_accumulator.h"

namespace steadfold::test {

inline constexpr std::array<double, 4> four_elements = {1, 2, 4, 8};
inline constexpr double sum_of_four = 15;

inline void be_four_elements(sf_call& call) {
  call.method = SF_EXACT;
  call.rows = four_elements.size();
}
inline void be_four_elements(sf_arrays& arrays) {
  arrays.x.data = four_elements.data();
  arrays.x.axis_count = 1;
  arrays.x.shape[0] = four_elements.size();
  arrays.x.strides[0] = sizeof(double);
}

/// A function that takes a call, and what it, or the request that it starts, comes to.
struct CallEntry {
  const char* name;
  sf_status (*ask)(const sf_call* call, const double* first, double* result, sf_group* group);
};

namespace call_entries {

inline sf_status waited_for(sf_status status, sf_request* request) {
  if (status == SF_OK) status = sf_request_wait(request);
  sf_request_free(request);
  return status;
}

inline sf_status freed(sf_status status, sf_plan* plan) {
  EXPECT_EQ(plan != nullptr, status == SF_OK);
  sf_plan_free(plan);
  return status;
}

inline sf_status reduce_here(const sf_call* call, const double* first, double* result, sf_group* /*group*/) {
  return sf_reduce_local(call, first, nullptr, result);
}
inline sf_status reduce(const sf_call* call, const double* first, double* result, sf_group* group) {
  return sf_group_reduce(call, first, nullptr, result, group);
}
inline sf_status bind(const sf_call* call, const double* /*first*/, double* /*result*/, sf_group* group) {
  sf_plan* plan = nullptr;
  const sf_status status = sf_group_bind(call, 1, group, &plan);
  return freed(status, plan);
}
inline sf_status start_reduce(const sf_call* call, const double* first, double* result, sf_group* group) {
  sf_request* request = nullptr;
  const sf_status status = sf_group_start_reduce(call, first, nullptr, result, group, &request);
  return waited_for(status, request);
}
inline sf_status start_bind(const sf_call* call, const double* /*first*/, double* /*result*/, sf_group* group) {
  sf_request* request = nullptr;
  sf_plan* plan = nullptr;
  const sf_status started = sf_group_start_bind(call, 1, group, &plan, &request);
  const sf_status status = waited_for(started, request);
  return freed(status, plan);
}

}  // namespace call_entries

inline constexpr std::array<CallEntry, 5> all_call_entries = {{
    {"sf_reduce_local", call_entries::reduce_here},
    {"sf_group_reduce", call_entries::reduce},
    {"sf_group_bind", call_entries::bind},
    {"sf_group_start_reduce", call_entries::start_reduce},
    {"sf_group_start_bind", call_entries::start_bind},
}};
/// Those between ranks.
inline constexpr std::span<const CallEntry> group_entries = std::span(all_call_entries).subspan(1);

/// Asks all functions that take arrays, as the elements of a call or for an accumulator, and calls check(name, status)
/// with what each came to. None but the calls may keep anything of the arrays.
inline void ask_all(sf_operation operation, const sf_arrays* arrays, sf_group* group,
                    const std::function<void(const std::string& name, sf_status status)>& check) {
  sf_call call = sf_call_default();
  call.operation = operation;
  call.arrays = arrays;
  for (const CallEntry& each : all_call_entries) {
    std::array<double, 4> results{};
    check(std::string(each.name), each.ask(&call, nullptr, results.data(), group));
  }
  sf_accumulator* accumulator = nullptr;
  EXPECT_EQ(sf_accumulator_create(SF_F64, SF_PRODUCTS, 1, &accumulator), SF_OK) << sf_error_text();
  check("sf_accumulator_add_arrays", sf_accumulator_add_arrays(accumulator, arrays, 1));
  check("sf_accumulator_subtract_arrays", sf_accumulator_subtract_arrays(accumulator, arrays, 1));
  std::int64_t rows = -1;
  EXPECT_EQ(sf_accumulator_describe(accumulator, nullptr, &rows), SF_OK);
  EXPECT_EQ(rows, 0);
  sf_accumulator_free(accumulator);
}

inline void expect_refusal(const std::string& name, sf_status status, sf_status due, const std::string& part) {
  const std::string said = sf_error_text();
  EXPECT_EQ(status, due) << name << ": " << said;
  EXPECT_NE(said.find(part), std::string::npos) << name << ": " << said;
}

/// The call is refused by each of these functions. There are data, and there is room for one result.
inline void expect_refused(const sf_call& call, sf_group* group, sf_status due, const std::string& part,
                           std::span<const CallEntry> entries = all_call_entries) {
  for (const CallEntry& each : entries) {
    double result = 0;
    expect_refusal(each.name, each.ask(&call, four_elements.data(), &result, group), due, part);
  }
}

/// The group, after whatever was refused.
inline void expect_usable(sf_group* group) {
  sf_call call = sf_call_default();
  be_four_elements(call);
  for (const CallEntry& each : all_call_entries) {
    double result = sum_of_four;
    EXPECT_EQ(each.ask(&call, four_elements.data(), &result, group), SF_OK) << each.name << ": " << sf_error_text();
    EXPECT_EQ(result, sum_of_four) << each.name;
  }
}

/// Runs body(group) on a group of one rank, of both kinds.
inline void on_one_rank(const std::function<void(sf_group* group)>& body) {
  on_groups(1, 1, [&](const Group& group) { body(group.handle()); });
}

}  // namespace steadfold::test
