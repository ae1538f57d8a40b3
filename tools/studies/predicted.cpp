#include "predicted.hpp"

#include "collective/choice.hpp"
#include "collective/model.hpp"

namespace steadfold::command::studies {
namespace {

collective::Call call_for(const Vectors& vectors) {
  return {.operation = vectors.operation,
          .method = collective::Method::plain,
          .type = vectors.type,
          .result_type = vectors.type,
          .columns = vectors.columns,
          .root = vectors.rooted ? 0 : collective::all_ranks};
}

std::vector<order::Count> one_each(order::Rank ranks) {
  return std::vector<order::Count>(static_cast<std::size_t>(ranks), 1);
}

}  // namespace

collective::Scenario scenario_of(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  const collective::Description description = describe(call_for(vectors));
  const schedule::Spec spec = collective::checked_schedule(schedule, std::span(&description, 1));
  const auto context = collective::context_of(description, 0, vectors.ranks, 1);
  return {.description = description,
          .schedule = spec,
          .counts = one_each(vectors.ranks),
          .segments = collective::segments_of(spec, context, vectors.columns, vectors.element_bytes(), asked.link),
          .seconds_per_operation = collective::assumed_merge_per_byte * static_cast<double>(vectors.element_bytes())};
}

double predicted_seconds(const collective::Scenario& scenario, transport::Topology& topology) {
  return predict(scenario, topology).seconds.value();
}

std::optional<double> modelled_seconds(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  const collective::Call call = call_for(vectors);
  const collective::Description description = describe(call);
  const auto layout = order::Layout::contiguous(one_each(vectors.ranks));
  schedule::Context context = collective::context_of(description, 0, vectors.ranks, 1);
  context.layout = &layout;
  const auto kind = make_kind(description, collective::operator_of(call), vectors.columns);
  return collective::modelled_seconds(collective::checked_schedule(schedule, std::span(&description, 1)), context,
                                      *kind, vectors.columns, asked.link);
}

std::string mpich_schedule(const Vectors& vectors) {
  const collective::Description description = describe(call_for(vectors));
  return collective::chosen_schedule("mpich", std::span(&description, 1),
                                     order::Layout::contiguous(one_each(vectors.ranks)), {});
}

}  // namespace steadfold::command::studies
