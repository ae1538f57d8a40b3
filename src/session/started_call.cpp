#include "session/started_call.hpp"

namespace steadfold::session {

void StartedCall::hold() {
  held_calls_.assign(calls_.begin(), calls_.end());
  held_.resize(std::max(held_.size(), calls_.size()));
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Call& call = held_calls_[i];
    Held& held = held_[i];
    held.intervals.assign(call.intervals.begin(), call.intervals.end());
    held.blocks.assign(call.blocks.begin(), call.blocks.end());
    held.initial.assign(call.initial.begin(), call.initial.end());
    held.schedule = call.schedule;
    held.operator_name = call.operator_name;
    call.intervals = held.intervals;
    call.blocks = held.blocks;
    call.initial = held.initial;
    call.schedule = held.schedule;
    call.operator_name = held.operator_name;
    if (call.array != nullptr) call.array = &(held.array = *call.array);
    if (call.grid != nullptr) call.grid = &(held.grid = *call.grid);
  }
  calls_ = held_calls_;
}

void StartedCall::begin(Asked asked, std::span<const Call> calls) {
  asked_ = asked;
  calls_ = calls;
  data_ = {};
  footprint_ = {};
  failure_.reset();
  caller_stays_ = false;
  offered_.clear();
  plan_.reset();
  is_done_ = false;
  thrown_ = nullptr;
}

}  // namespace steadfold::session
