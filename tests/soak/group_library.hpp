// The interface Library over the public C interface of a group: the group of a communicator, or of a team's worker.
#pragma once

#include <sched.h>

#include <vector>

#include "library.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::soak {

class GroupLibrary final : public Library {
 public:
  explicit GroupLibrary(sf_group* group) : group_(group) {}

  sf_status reduce(const sf_call* call, const Data& data) override {
    return sf_group_reduce(call, data.first, data.second, data.result, group_);
  }
  sf_status start_reduce(const sf_call* call, const Data& data, Request*& request) override {
    sf_request* started = nullptr;
    const sf_status status = sf_group_start_reduce(call, data.first, data.second, data.result, group_, &started);
    request = reinterpret_cast<Request*>(started);
    return status;
  }
  sf_status test(Request* request, bool& done) override {
    int answer = 0;
    const sf_status status = sf_request_test(c_request(request), &answer);
    done = answer != 0;
    return status;
  }
  sf_status wait(Request* request) override { return sf_request_wait(c_request(request)); }
  sf_status wait_for(Request* request, std::uint64_t nanoseconds, bool& done) override {
    int answer = 0;
    const sf_status status = sf_request_wait_for(c_request(request), nanoseconds, &answer);
    done = answer != 0;
    return status;
  }
  void free(Request* request) override { sf_request_free(c_request(request)); }
  sf_status bind(const sf_call* calls, std::size_t count, Plan*& plan) override {
    sf_plan* bound = nullptr;
    const sf_status status = sf_group_bind(calls, count, group_, &bound);
    plan = reinterpret_cast<Plan*>(bound);
    return status;
  }
  sf_status run(Plan* plan, const Data* data, std::size_t count) override {
    if (count == 1 && !is_of_arrays(*data)) return sf_plan_run(c_plan(plan), data->first, data->second, data->result);
    return sf_bundle_run(c_plan(plan), given(data, count), count);
  }
  sf_status start(Plan* plan, const Data* data, std::size_t count) override {
    if (count == 1 && !is_of_arrays(*data)) return sf_plan_start(c_plan(plan), data->first, data->second, data->result);
    return sf_bundle_start(c_plan(plan), given(data, count), count);
  }
  sf_status test(Plan* plan, bool& done) override {
    int answer = 0;
    const sf_status status = sf_plan_test(c_plan(plan), &answer);
    done = answer != 0;
    return status;
  }
  sf_status wait(Plan* plan) override { return sf_plan_wait(c_plan(plan)); }
  sf_status wait_for(Plan* plan, std::uint64_t nanoseconds, bool& done) override {
    int answer = 0;
    const sf_status status = sf_plan_wait_for(c_plan(plan), nanoseconds, &answer);
    done = answer != 0;
    return status;
  }
  sf_status status(Plan* plan, std::size_t member) override { return sf_bundle_status(c_plan(plan), member); }
  void free(Plan* plan) override { sf_plan_free(c_plan(plan)); }
  sf_status merge_ranks(sf_accumulator* accumulator) override {
    return sf_accumulator_merge_ranks(accumulator, group_);
  }
  void pause() override { sched_yield(); }

 private:
  static sf_request* c_request(Request* request) { return reinterpret_cast<sf_request*>(request); }
  static sf_plan* c_plan(Plan* plan) { return reinterpret_cast<sf_plan*>(plan); }
  /// Masks and labels can be given only to the functions of bundles.
  static bool is_of_arrays(const Data& data) { return data.mask != nullptr || data.label != nullptr; }
  const sf_data* given(const Data* data, std::size_t count) {
    given_.clear();
    for (std::size_t i = 0; i < count; ++i)
      given_.push_back({data[i].first, data[i].second, data[i].result, data[i].mask, data[i].label});
    return given_.data();
  }

  sf_group* group_;
  std::vector<sf_data> given_;
};

}  // namespace steadfold::soak
