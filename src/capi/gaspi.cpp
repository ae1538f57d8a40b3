// GASPI's collectives, made of started calls.
// Rank order: kept. Cost: that of the call. Source: End et al.; the GASPI standard for names, arguments and results.
#include "steadfold/steadfold_gaspi.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "steadfold/steadfold_fortran.h"

namespace {

using steadfold::Status;
using steadfold::call::Failure;
using Clock = std::chrono::steady_clock;

enum class GaspiCollective : std::uint8_t { allreduce, allreduce_user, barrier };

/// The arguments that identify a call when it is made again to continue.
struct Arguments {
  GaspiCollective collective = GaspiCollective::barrier;
  const void* send = nullptr;
  void* receive = nullptr;
  uint32_t num = 0;
  sf_gaspi_operation operation = SF_GASPI_OP_SUM;
  sf_gaspi_datatype datatype = SF_GASPI_TYPE_INT;
  size_t element_size = 0;
  sf_gaspi_reduce_operation apply = nullptr;
  void* state = nullptr;

  friend bool operator==(const Arguments&, const Arguments&) = default;
};

/// When a test may call the user's operation. In a call with a timeout the operation is not called again after it has
/// asked to be called later, because this ends the call. In a call without a timeout, and while other calls advance the
/// collective, every test calls it.
enum class Asking : std::uint8_t { always, until_timeout, not_now };

/// The collective of a group that has not ended.
struct Unfinished {
  explicit Unfinished(const Arguments& given) : arguments(given) {}
  ~Unfinished() { sf_request_free(request); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  Arguments arguments;
  std::atomic<Clock::time_point> deadline;  // atomic, because progress threads read it too
  std::atomic<Asking> asking = Asking::always;
  sf_request* request = nullptr;
};

constexpr uint64_t nanoseconds_per_millisecond = 1000000;

uint64_t nanoseconds_of(sf_gaspi_timeout timeout_ms) {
  return timeout_ms > SF_FOREVER / nanoseconds_per_millisecond ? SF_FOREVER : timeout_ms * nanoseconds_per_millisecond;
}

sf_gaspi_timeout left_until(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return SF_GASPI_BLOCK;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<sf_gaspi_timeout>(left) : SF_GASPI_TEST;
}

/// Calls the user's operation as an operator that may ask to be called later.
int apply_users(const void* left, const void* right, void* result, size_t count, void* context) {
  auto& own = *static_cast<Unfinished*>(context);
  const Arguments& call = own.arguments;
  const auto num = static_cast<uint32_t>(count);  // the number of elements is at most the call's `num`
  if (own.asking == Asking::not_now) return steadfold::arithmetic::postponed;
  const sf_gaspi_return done =
      call.apply(left, right, result, call.state, num, call.element_size, left_until(own.deadline));
  if (done != SF_GASPI_TIMEOUT) return done == SF_GASPI_SUCCESS ? 0 : 1;
  Asking ends_call = Asking::until_timeout;
  own.asking.compare_exchange_strong(ends_call, Asking::not_now);
  return steadfold::arithmetic::postponed;
}

sf_type type_of(sf_gaspi_datatype datatype) {
  static_assert(sizeof(int) == 4 && sizeof(long) == 8);
  switch (steadfold::capi::number(datatype)) {
    case SF_GASPI_TYPE_INT: return SF_I32;
    case SF_GASPI_TYPE_UINT: return SF_U32;
    case SF_GASPI_TYPE_LONG: return SF_I64;
    case SF_GASPI_TYPE_ULONG: return SF_U64;
    case SF_GASPI_TYPE_FLOAT: return SF_F32;
    default: return SF_F64;
  }
}

sf_operation operation_of(sf_gaspi_operation operation) {
  switch (steadfold::capi::number(operation)) {
    case SF_GASPI_OP_MIN: return SF_MIN;
    case SF_GASPI_OP_MAX: return SF_MAX;
    default: return SF_SUM;
  }
}

/// Returns the error if a number is not a constant of GASPI; otherwise an empty text.
std::string unknown_constant(const Arguments& arguments) {
  const unsigned operation = steadfold::capi::number(arguments.operation);
  const unsigned datatype = steadfold::capi::number(arguments.datatype);
  if (operation > SF_GASPI_OP_SUM)
    return "operation " + std::to_string(operation) + " is unknown (the last value is " +
           std::to_string(SF_GASPI_OP_SUM) + "), use a value that GASPI defines";
  if (datatype > SF_GASPI_TYPE_DOUBLE)
    return "type " + std::to_string(datatype) + " is unknown (the last value is " +
           std::to_string(SF_GASPI_TYPE_DOUBLE) + "), use a value that GASPI defines";
  return "";
}

sf_call call_of(const Arguments& arguments, Unfinished& own) {
  sf_call call = sf_call_default();
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  call.columns = arguments.num;
  if (arguments.collective == GaspiCollective::allreduce_user) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = arguments.element_size;
    call.user = arguments.apply == nullptr ? nullptr : apply_users;
    call.context = &own;
    call.operator_name = "sf_gaspi_allreduce_user";
    return call;
  }
  call.operation = operation_of(arguments.operation);
  call.type = call.result_type = type_of(arguments.datatype);
  return call;
}

sf_status start(Unfinished& own, sf_group* group) {
  if (own.arguments.collective == GaspiCollective::barrier) return sf_group_start_barrier(group, &own.request);
  const std::string unknown = unknown_constant(own.arguments);
  if (!unknown.empty()) return sf_group_start_refuse(group, SF_INVALID_ARGUMENT, unknown.c_str(), &own.request);
  const sf_call call = call_of(own.arguments, own);
  const auto data = steadfold::capi::data_of(own.arguments.send, nullptr, own.arguments.receive);
  return steadfold::capi::start_reduce(&call, data, true, group, &own.request);
}

/// Starts the call, or continues it.
sf_gaspi_return make(const Arguments& arguments, sf_group* group, sf_gaspi_timeout timeout_ms) noexcept {
  int done = 0;
  sf_status outcome = SF_OK;
  const sf_status status = steadfold::capi::caught([&] {
    if (group == nullptr)
      throw Failure(Status::invalid_argument,
                    "no group (the pointer is null), get the group of a communicator with sf_group_of");
    auto own = std::static_pointer_cast<Unfinished>(group->gaspi);
    if (own != nullptr && !(own->arguments == arguments))
      throw Failure(Status::invalid_argument,
                    "another collective of the group is unfinished (its call returned SF_GASPI_TIMEOUT), repeat the "
                    "same call until it returns another value");
    const bool is_new = own == nullptr;
    if (is_new) own = std::make_shared<Unfinished>(arguments);
    const uint64_t timeout = nanoseconds_of(timeout_ms);
    own->deadline = steadfold::capi::deadline_after(timeout);
    own->asking = timeout == SF_FOREVER ? Asking::always : Asking::until_timeout;
    if (is_new) outcome = start(*own, group);
    if (outcome != SF_OK) return;
    group->gaspi = own;  // also stored after a timeout, so that the next call can continue
    outcome = steadfold::capi::wait_for(
        own->request, timeout, [&] { return own->asking == Asking::not_now; }, &done);
    own->asking = Asking::always;
    if (done != 0) group->gaspi.reset();
  });
  if (status != SF_OK || outcome != SF_OK) return SF_GASPI_ERROR;
  return done != 0 ? SF_GASPI_SUCCESS : SF_GASPI_TIMEOUT;
}

}  // namespace

extern "C" {

sf_gaspi_return sf_gaspi_allreduce(const void* send, void* receive, uint32_t num, sf_gaspi_operation operation,
                                   sf_gaspi_datatype datatype, sf_group* group, sf_gaspi_timeout timeout_ms) {
  return make({.collective = GaspiCollective::allreduce,
               .send = send,
               .receive = receive,
               .num = num,
               .operation = operation,
               .datatype = datatype},
              group, timeout_ms);
}

sf_gaspi_return sf_gaspi_allreduce_user(const void* send, void* receive, uint32_t num, size_t element_size,
                                        sf_gaspi_reduce_operation operation, void* state, sf_group* group,
                                        sf_gaspi_timeout timeout_ms) {
  return make({.collective = GaspiCollective::allreduce_user,
               .send = send,
               .receive = receive,
               .num = num,
               .element_size = element_size,
               .apply = operation,
               .state = state},
              group, timeout_ms);
}

sf_gaspi_return sf_gaspi_barrier(sf_group* group, sf_gaspi_timeout timeout_ms) {
  return make({.collective = GaspiCollective::barrier}, group, timeout_ms);
}
}
