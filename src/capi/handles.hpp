// What the C interface's handles point to, and who may use it when.
// Source: ours.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "agreement/failure.hpp"
#include "capi/boundary.hpp"
#include "session/group.hpp"
#include "steadfold/steadfold_group.h"

struct sf_group {
  steadfold::session::Group group;
  std::atomic<bool> busy = false;
};

struct sf_plan {
  std::unique_ptr<steadfold::execution::Plan> plan;
  std::string schedule;
  mutable std::atomic<bool> busy = false;
  sf_plan* given_up_before = nullptr;
};

namespace steadfold::capi {

/// Marks a plan or group as in use during a call; a second call meanwhile is refused.
class Turn {
 public:
  Turn(std::atomic<bool>& busy, const char* what, const char* suggestion) : busy_(busy) {
    if (busy.exchange(true, std::memory_order_acquire))
      throw agreement::Failure(
          Status::invalid_argument,
          std::string(what) + " is in use by another thread (or by an operator that calls back), " + suggestion);
  }
  ~Turn() { busy_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

inline agreement::Failure nowhere(const char* what) {
  return {Status::invalid_argument, std::string(what) + " has nowhere to go (its address is null), give one"};
}
inline void require_place(const void* place, const char* what) {
  if (place == nullptr) throw nowhere(what);
}

}  // namespace steadfold::capi
