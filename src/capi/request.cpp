// The C functions that start calls, and the functions that end them.
// Rank order: that of the call. Cost: that of the call. A test is one poll, or two if other work is under way.
// Source: timeouts are as in End et al.
#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "steadfold/steadfold_fortran.h"

using steadfold::Status;
using steadfold::call::Call;
using steadfold::call::Failure;
using steadfold::call::HeldArguments;
using steadfold::capi::converted_call;
using steadfold::capi::converted_calls;
using steadfold::capi::GroupInUse;
using steadfold::capi::guarded;
using steadfold::capi::require_address;
using steadfold::group::Group;

struct sf_request {
  explicit sf_request(sf_group* of) noexcept : group(of) {
    if (group != nullptr) group->owners.fetch_add(1, std::memory_order_relaxed);
  }
  ~sf_request() {
    call.reset();
    if (group != nullptr) steadfold::capi::release(group);
  }
  sf_request(const sf_request&) = delete;
  sf_request& operator=(const sf_request&) = delete;

  sf_group* group;
  Group::Started call;
  sf_plan** plan = nullptr;
  std::unique_ptr<sf_plan> made;  // the plan that a bind makes for the caller
  sf_interval* mine = nullptr;
  uint64_t* element_count = nullptr;
  bool has_ended = false;
  std::exception_ptr failure;
};

namespace {

sf_request& required(sf_request* request) {
  if (request == nullptr)
    throw Failure(Status::invalid_argument, "no request (the pointer is null), start a call to get one");
  return *request;
}

/// Takes over the result of a call that has ended.
void end(sf_request& request, Group& group) {
  request.has_ended = true;
  try {
    request.call->require_success();
    if (request.plan != nullptr) {
      request.made->plan = request.call->take_plan();
      *request.plan = request.made.release();
    }
    const auto& found = request.call->rank_order();
    if (request.mine != nullptr) *request.mine = {found.mine.begin, found.mine.end};
    if (request.element_count != nullptr) *request.element_count = found.element_count;
  } catch (...) {
    request.failure = std::current_exception();
  }
  group.take_back(std::move(request.call));
}

/// Polls the call at most once, and returns whether it has ended.
bool test(sf_request& request, const GroupInUse& group) {
  if (!group->advance(*request.call)) return false;
  end(request, *group);
  return true;
}

/// Polls until the call has ended, the deadline has passed or `ends()` returns true. Returns whether the call has
/// ended.
template <class Ends>
bool wait_until(sf_request& request, std::chrono::steady_clock::time_point deadline, Ends ends) {
  if (request.has_ended) return true;
  request.group->group.require_usable();
  const GroupInUse group(request.group);
  steadfold::capi::wait_until(request.group->watched, deadline, [&] { return ends() || test(request, group); });
  return request.has_ended;
}
bool wait_until(sf_request& request, std::chrono::steady_clock::time_point deadline) {
  return wait_until(request, deadline, [] { return false; });
}

void require_success(const sf_request& request) {
  if (request.failure) std::rethrow_exception(request.failure);
}

/// Makes a request. `start(group, request)` starts its call.
template <class Start>
sf_status started(sf_group* group, sf_request** request, const Start& start) {
  return guarded([&] {
    const GroupInUse own(group);
    std::unique_ptr<sf_request> made;
    Group::Started call = own->start_in_turn([&] {
      require_address(request, "the request");
      made = std::make_unique<sf_request>(group);
      return start(*own, *made);
    });
    require_address(request, "the request");
    if (made == nullptr) made = std::make_unique<sf_request>(group);
    made->call = std::move(call);
    *request = made.release();
  });
}

}  // namespace

sf_status steadfold::capi::start_reduce(const sf_call* call, const call::Data& data, bool may_postpone, sf_group* group,
                                        sf_request** request) noexcept {
  return started(group, request, [&](Group& own, sf_request&) {
    HeldArguments arguments;
    Call converted = converted_call(call, arguments, own.rank_count());
    converted.user.may_postpone = may_postpone;
    return own.start_reduce(converted, data);
  });
}

sf_status steadfold::capi::wait_for(sf_request* request, uint64_t timeout, const std::function<bool()>& ends,
                                    int* done) noexcept {
  return guarded([&] {
    *done = ::wait_until(required(request), deadline_after(timeout), ends) ? 1 : 0;
    if (*done != 0) require_success(*request);
  });
}

extern "C" {

sf_status sf_group_start_reduce(const sf_call* call, const void* first, const void* second, void* result,
                                sf_group* group, sf_request** request) {
  return steadfold::capi::start_reduce(call, steadfold::capi::data_of(first, second, result), false, group, request);
}

sf_status sf_group_start_refuse(sf_group* group, sf_status status, const char* text, sf_request** request) {
  return started(group, request,
                 [&](Group& own, sf_request&) { return own.start_refusal(steadfold::capi::failure_of(status, text)); });
}

sf_status sf_group_start_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan,
                              sf_request** request) {
  return started(group, request, [&](Group& own, sf_request& made) {
    std::deque<HeldArguments> arguments;
    const std::vector<Call> converted = converted_calls(calls, count, arguments, own.rank_count());
    require_address(plan, "the plan");
    made.plan = plan;
    made.made = std::make_unique<sf_plan>(group);
    return own.start_bind(converted);
  });
}

sf_status sf_group_start_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count,
                                    sf_request** request) {
  return started(group, request, [&](Group& own, sf_request& made) {
    made.mine = mine;
    made.element_count = element_count;
    return own.start_rank_order(rows);
  });
}

sf_status sf_group_start_barrier(sf_group* group, sf_request** request) {
  return started(group, request, [](Group& own, sf_request&) { return own.start_barrier(); });
}

sf_status sf_request_test(sf_request* request, int* done) {
  return guarded([&] {
    require_address(done, "the answer");
    *done = wait_until(required(request), steadfold::capi::at_once) ? 1 : 0;
    if (*done != 0) require_success(*request);
  });
}

sf_status sf_request_wait(sf_request* request) {
  return guarded([&] {
    wait_until(required(request), std::chrono::steady_clock::time_point::max());
    require_success(*request);
  });
}

sf_status sf_request_wait_for(sf_request* request, uint64_t timeout, int* done) {
  return guarded([&] {
    require_address(done, "the answer");
    *done = wait_until(required(request), steadfold::capi::deadline_after(timeout)) ? 1 : 0;
    if (*done != 0) require_success(*request);
  });
}

void sf_request_free(sf_request* request) { delete request; }
}
