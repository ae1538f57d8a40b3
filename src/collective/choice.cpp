#include "collective/choice.hpp"

#include <algorithm>
#include <stdexcept>

#include "collective/failure.hpp"

namespace steadfold::collective {

std::string chosen_schedule(const Description& description, Rank /*rank_count*/) {
  if (collective_of(description) == schedule::Collective::allreduce) return "recursive_doubling";
  const bool needs_order = static_cast<Method>(description.method) == Method::plain && description.commutes == 0;
  return needs_order && description.root != 0 ? "linear" : "binomial";
}

schedule::Spec checked_schedule(const std::string& text, const Description& description) {
  schedule::Spec spec;
  try {
    spec = schedule::parse(text);
  } catch (const std::invalid_argument& error) {
    throw Failure(Status::invalid_argument, error.what());
  }
  // What is called plain is as good as tree where no order can change a bit.
  const auto method = static_cast<Method>(description.method);
  const bool order_free = method == Method::plain && description.operation <= 3 &&
                          arithmetic::built_in(static_cast<arithmetic::Operation>(description.operation),
                                               static_cast<arithmetic::Type>(description.type))
                              .order_free;
  const Rank root = std::max(root_of(description), 0);
  const auto reason = schedule::refusal(*spec.row, collective_of(description), root,
                                        name_of(order_free ? Method::tree : method), operator_kind(description));
  if (reason) throw Failure(Status::unsupported, *reason);
  return spec;
}

}  // namespace steadfold::collective
