#include "collective/choice.hpp"

#include <algorithm>
#include <stdexcept>

#include "collective/failure.hpp"

namespace steadfold::collective {

namespace {

void require_served(const schedule::Spec& spec, const Description& call) {
  // What is called plain is as good as tree where no order can change a bit.
  const auto method = static_cast<Method>(call.method);
  const bool as_tree = method == Method::plain && order_free(call);
  const Rank root = std::max(root_of(call), 0);
  const auto reason =
      schedule::refusal(spec, collective_of(call), root, name_of(as_tree ? Method::tree : method), operator_kind(call));
  if (reason) throw Failure(Status::unsupported, *reason);
}

}  // namespace

std::string chosen_schedule(std::span<const Description> calls) {
  const Description& any = calls.front();
  if (collective_of(any) == schedule::Collective::allreduce) return "recursive_doubling";
  const bool needs_order = std::ranges::any_of(calls, [](const Description& call) {
    return static_cast<Method>(call.method) == Method::plain && call.commutes == 0;
  });
  return needs_order && any.root != 0 ? "linear" : "binomial";
}

schedule::Spec checked_schedule(const std::string& text, std::span<const Description> calls) {
  schedule::Spec spec;
  try {
    spec = schedule::parse(text);
  } catch (const std::invalid_argument& error) {
    throw Failure(Status::invalid_argument, error.what());
  }
  for (const Description& call : calls) require_served(spec, call);
  return spec;
}

}  // namespace steadfold::collective
