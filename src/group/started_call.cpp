#include "group/started_call.hpp"

namespace steadfold::group {

StartedCall::StartedCall() : arguments_(1) { calls_.reserve(1); }

void StartedCall::begin(Asked asked, std::span<const Call> calls, bool caller_stays) {
  asked_ = asked;
  calls_.assign(calls.begin(), calls.end());
  if (arguments_.size() < calls.size()) arguments_.resize(calls.size());
  for (std::size_t i = 0; i < calls.size() && !caller_stays; ++i) hold(calls_[i], arguments_[i]);
  data_ = {};
  footprint_ = {};
  failure_.reset();
  caller_stays_ = caller_stays;
  offered_.clear();
  plan_.reset();
  is_done_ = false;
  thrown_ = nullptr;
}

}  // namespace steadfold::group
