// Steadfold on one rank, as programs use it. It is implemented over MPI, for teams, and for ranks in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steadfold/steadfold.h"
#include "steadfold/steadfold_accumulator.h"

namespace steadfold::soak {

struct Data {
  const void* first = nullptr;
  const void* second = nullptr;
  void* result = nullptr;
  const void* mask = nullptr;  // for arrays, in runs of plans
  const void* label = nullptr;
};

class Library {
 public:
  struct Plan;
  struct Request;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  virtual sf_status reduce(const sf_call* call, const Data& data) = 0;
  virtual sf_status start_reduce(const sf_call* call, const Data& data, Request*& request) = 0;
  virtual sf_status test(Request* request, bool& done) = 0;
  virtual sf_status wait(Request* request) = 0;
  virtual sf_status wait_for(Request* request, std::uint64_t nanoseconds, bool& done) = 0;
  virtual void free(Request* request) = 0;
  /// Binds a plan; a bundle if `count` is not 1.
  virtual sf_status bind(const sf_call* calls, std::size_t count, Plan*& plan) = 0;
  virtual sf_status run(Plan* plan, const Data* data, std::size_t count) = 0;
  virtual sf_status start(Plan* plan, const Data* data, std::size_t count) = 0;
  virtual sf_status test(Plan* plan, bool& done) = 0;
  virtual sf_status wait(Plan* plan) = 0;
  virtual sf_status wait_for(Plan* plan, std::uint64_t nanoseconds, bool& done) = 0;
  virtual sf_status status(Plan* plan, std::size_t member) = 0;
  virtual void free(Plan* plan) = 0;
  virtual sf_status merge_ranks(sf_accumulator* accumulator) = 0;
  virtual std::string error_text() { return sf_error_text(); }
  /// Lets other ranks run.
  virtual void pause() = 0;
};

}  // namespace steadfold::soak
