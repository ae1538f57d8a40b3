#include "plan/first_sweep.hpp"

#include <algorithm>

namespace steadfold::plan {
namespace {

int maximum(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  std::transform(a, a + count, b, static_cast<unsigned char*>(result), [](auto x, auto y) { return std::max(x, y); });
  return 0;
}

}  // namespace

call::Call first_sweep(Bytes bytes) noexcept {
  return {.operation = arithmetic::Operation::user,
          .method = call::Method::plain,
          .type = arithmetic::Type::bytes,
          .result_type = arithmetic::Type::bytes,
          .columns = bytes,
          .user = {.apply = maximum, .element_bytes = 1, .commutative = true, .order_free = true},
          .user_may_fail = false,
          .layout = call::LayoutKind::row_per_rank,
          .rows = 1};
}

Agreement agreed_first_sweep(const call::Call& call, Rank rank_count,
                             const std::shared_ptr<const order::Nodes>& nodes) {
  const call::Description description = call::describe(call);
  const auto ranks = static_cast<Count>(rank_count);
  const std::vector<Count> counts(ranks, 1);
  const schedule::Algorithm& algorithm = schedule::algorithm_for_questions(nodes.get());
  return {.members = {{.description = description,
                       .digest = call::digest_of(description),
                       .layout = std::make_shared<const order::Layout>(order::Layout::contiguous(counts)),
                       .element_count = ranks}},
          .digest = call::digest_of(description),
          .schedule = schedule::parse(algorithm.name),
          .chosen = {.schedule = std::string(algorithm.name)},
          .nodes = algorithm.has_groups ? nodes : nullptr};
}

}  // namespace steadfold::plan
