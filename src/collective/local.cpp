#include "collective/local.hpp"

#include <vector>

#include "collective/failure.hpp"
#include "collective/lifter.hpp"

namespace steadfold::collective {

void reduce_locally(const Call& given, const std::byte* first, const std::byte* second, std::byte* result) {
  Call call = given;
  call.root = all_ranks;
  const order::Interval all{0, call.rows};
  if (call.layout != LayoutKind::intervals) call.intervals = {&all, 1};
  validate(call, 1);
  require_data(call, first, second);
  if (result == nullptr)
    throw Failure(Status::invalid_argument, "nowhere to put the result (its address is null), give an address");

  const Description description = describe(call);
  const auto kind = make_kind(description, operator_of(call), call.columns);
  order::IntervalSet rows;
  for (const auto interval : call.intervals) {
    if (!rows.add(interval)) throw Failure(Status::overlap, text_of(Status::overlap));
  }
  if (rows.intervals().size() > 1 || (!rows.empty() && rows.intervals().front().begin != 0))
    throw Failure(Status::gap, text_of(Status::gap));
  std::vector<std::byte> partial(kind->working_capacity(rows));
  std::vector<std::byte> spare(kind->value_bytes());
  const Placed placed{.intervals = call.intervals,
                      .data = {.first = first, .second = second},
                      .row_bytes = description.columns * description.element_bytes};
  Crew crew;
  crew.resize(call.threads);
  const Bytes size = Lifter(*kind).lift(placed, crew, call.threads, partial);
  const Status status = kind->finish(std::span(partial).first(size), call.element_count, result, spare.data());
  if (status != Status::ok) throw Failure(status, text_of(status));
}

}  // namespace steadfold::collective
