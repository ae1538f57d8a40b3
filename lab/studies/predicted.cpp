#include "predicted.hpp"

#include "call/kinds.hpp"
#include "plan/choice.hpp"
#include "plan/model.hpp"

namespace steadfold::command::studies {
namespace {

/// Seconds to add a byte of vectors that come from memory; finishing is nothing to what the studies compare.
constexpr double merge_per_byte = 1e-10;

call::Call call_for(const Vectors& vectors) {
  return {.operation = vectors.operation,
          .method = call::Method::plain,
          .type = vectors.type,
          .result_type = vectors.type,
          .columns = vectors.columns,
          .root = vectors.rooted ? 0 : call::all_ranks,
          .collective = vectors.rooted ? schedule::Collective::reduce : schedule::Collective::allreduce};
}

std::vector<order::Count> one_each(order::Rank ranks) {
  return std::vector<order::Count>(static_cast<std::size_t>(ranks), 1);
}

}  // namespace

prediction::Scenario scenario_of(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  const call::Description description = describe(call_for(vectors));
  const schedule::Spec spec = plan::checked_schedule(schedule, std::span(&description, 1));
  const auto context = call::context_of(description, spec, vectors.ranks);
  return {.description = description,
          .schedule = spec,
          .counts = one_each(vectors.ranks),
          .segments = plan::segments_of(context, vectors.columns, vectors.element_bytes(), asked.link),
          .seconds_per_operation = merge_per_byte * static_cast<double>(vectors.element_bytes())};
}

double predicted_seconds(const prediction::Scenario& scenario, transport::Topology& topology) {
  return predict(scenario, topology).seconds.value();
}

std::optional<double> modelled_seconds(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  const call::Call call = call_for(vectors);
  const call::Description description = describe(call);
  const auto layout = order::Layout::contiguous(one_each(vectors.ranks));
  const schedule::Spec spec = plan::checked_schedule(schedule, std::span(&description, 1));
  const auto kind = make_kind(description, call::operator_of(description, call.user), vectors.columns);
  return plan::modelled_seconds(call::context_of(description, spec, vectors.ranks, &layout), *kind, vectors.columns,
                                plan::Network{.link = asked.link, .rates = {{{.merge_per_byte = merge_per_byte}}}});
}

std::string mpich_schedule(const Vectors& vectors) {
  const call::Description description = describe(call_for(vectors));
  return plan::chosen_schedule("mpich", std::span(&description, 1), order::Layout::contiguous(one_each(vectors.ranks)),
                               {})
      .schedule;
}

}  // namespace steadfold::command::studies
