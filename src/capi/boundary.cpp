// Calls of C as the library's own type.
// Cost: some 10 ns. Source: ours.
#include "capi/boundary.hpp"

#include <algorithm>

namespace steadfold::capi {
namespace {

constexpr sf_method last_method = SF_BINNED;
static_assert(SF_INTERNAL == static_cast<int>(Status::internal));
static_assert(SF_MASKED_SUM == static_cast<int>(arithmetic::Operation::masked_sum));
static_assert(SF_BYTES == static_cast<int>(arithmetic::Type::bytes));
static_assert(SF_FLOAT128 == static_cast<int>(arithmetic::Type::f128));
static_assert(last_method == static_cast<int>(agreement::Method::binned));
static_assert(SF_DOUBLE_SWEEP == static_cast<int>(agreement::Sweep::double_sweep));
static_assert(SF_EXSCAN == static_cast<int>(agreement::ResultPart::prefix_before));
static_assert(SF_ROW_A_RANK == static_cast<int>(agreement::LayoutKind::row_per_rank));
static_assert(SF_ALL_RANKS == agreement::all_ranks);
static_assert((SF_RANKS | SF_THREADS | SF_LAYOUT | SF_SCHEDULE | SF_LIBRARY | SF_TARGET | SF_RELEASE) ==
              agreement::guarantee::all);
static_assert(SF_RANKS == agreement::guarantee::ranks && SF_LAYOUT == agreement::guarantee::layout &&
              SF_TARGET == agreement::guarantee::target);
static_assert(SF_UNKNOWN == arithmetic::unknown_count);
static_assert(sizeof(sf_interval) == sizeof(order::Interval));

using agreement::Failure;

std::optional<Failure> fault(const sf_call* call) {
  if (call == nullptr)
    return Failure(Status::invalid_argument, "no call (the pointer is null), start from sf_call_default()");
  const struct {
    const char* what;
    unsigned value, last;
  } words[] = {{"operation", number(call->operation), SF_MASKED_SUM},
               {"method", number(call->method), last_method},
               {"type", number(call->type), SF_FLOAT128},
               {"result type", number(call->result_type), SF_FLOAT128},
               {"layout", number(call->layout), SF_ROW_A_RANK},
               {"sweep", number(call->sweep), SF_DOUBLE_SWEEP},
               {"collective", number(call->collective), SF_EXSCAN}};
  for (const auto& word : words)
    if (word.value > word.last)
      return Failure(Status::invalid_argument, std::string(word.what) + " " + std::to_string(word.value) +
                                                   " is unknown (the last is " + std::to_string(word.last) +
                                                   "), start from sf_call_default()");
  return std::nullopt;
}

}  // namespace

Translated translated(const sf_call* call) {
  Translated result{.call = {}, .failure = fault(call)};
  if (result.failure) return result;
  const auto text = [](const char* s) { return s == nullptr ? std::string_view() : std::string_view(s); };
  result.call = {.operation = static_cast<arithmetic::Operation>(call->operation),
                 .method = static_cast<agreement::Method>(call->method),
                 .type = static_cast<arithmetic::Type>(call->type),
                 .result_type = static_cast<arithmetic::Type>(call->result_type),
                 .columns = call->columns,
                 .root = call->root,
                 .result_part = static_cast<agreement::ResultPart>(call->collective),
                 .blocks = {call->blocks, call->blocks == nullptr ? 0 : call->block_count},
                 .schedule = text(call->schedule),
                 .element_count = call->element_count,
                 .user = {.apply = call->user,
                          .context = call->context,
                          .element_bytes = call->element_bytes,
                          .commutative = call->commutative != 0,
                          .is_users = true},
                 .operator_name = text(call->operator_name),
                 .user_may_fail = call->never_fails == 0,
                 .layout = static_cast<agreement::LayoutKind>(call->layout),
                 .rows = call->rows,
                 .intervals = {reinterpret_cast<const order::Interval*>(call->intervals),
                               call->intervals == nullptr ? 0 : call->interval_count},
                 .bin_count = call->bins,
                 .sweep = static_cast<agreement::Sweep>(call->sweep),
                 .require = call->require,
                 .threads = std::max(call->threads, 1u)};
  return result;
}

}  // namespace steadfold::capi
