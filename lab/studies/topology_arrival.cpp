// The control of [S3]: rank 0 merges the other ranks' partials in order of arrival. No schedule in the registry does
// so. Here one message per rank crosses the simulated network, which shuffles deliveries.
// Source: [S3] section I (the order in which messages are received).
#include <array>
#include <bit>
#include <set>

#include "plan/agreement.hpp"
#include "simulated_sum.hpp"
#include "topology.hpp"

namespace steadfold::command::studies::topology {
namespace {

using arithmetic::PartialKind;
using call::Method;
using order::Rank;
using transport::SimulatedNetwork;

constexpr int ranks = 48;
constexpr int shuffles = 32;
constexpr std::uint64_t lengths[] = {1, 32, 1024};

using Bytes = std::vector<std::byte>;

struct Way {
  const char* name;
  Method method;
};
constexpr Way ways[] = {
    {"plain", Method::plain}, {"tree", Method::tree}, {"exact", Method::exact}, {"binned", Method::binned}};

order::IntervalSet row_of(std::size_t rank) { return order::IntervalSet({rank, rank + 1}); }

std::vector<Bytes> partials_of(const PartialKind& kind, const std::vector<double>& elements) {
  std::vector<Bytes> partials;
  const std::size_t columns = elements.size() / ranks;
  const auto builder = kind.builder();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto* const first = reinterpret_cast<const std::byte*>(elements.data() + rank * columns);
    builder->clear();
    builder->push(rank, {.first = first, .rows = 1, .row_stride = columns * sizeof(double)});
    partials.emplace_back(kind.working_capacity(row_of(rank)));
    partials.back().resize(builder->write(partials.back()));
  }
  return partials;
}

/// Merges partials at rank 0 as they arrive, message by message.
class Root {
 public:
  Root(const PartialKind& kind, transport::Endpoint& endpoint, Bytes own)
      : kind_(kind), endpoint_(endpoint), sum_(std::move(own)) {
    for (Rank source = 1; source < ranks; ++source) endpoint_.release(ticket_of(source), source, ticket_of(source));
  }

  /// Merges what is new; returns whether anything was.
  bool take_in() {
    std::array<transport::Completion, ranks> arrived;
    const std::size_t count = endpoint_.poll(arrived);
    for (const transport::Completion& each : std::span(arrived).first(count)) {
      rows_.add({each.ticket + 1, each.ticket + 2});
      Bytes merged(kind_.working_capacity(rows_));
      merged.resize(arithmetic::merge(kind_, sum_, {each.data, each.size}, merged));
      sum_ = std::move(merged);
    }
    merged_ += count;
    return count > 0;
  }
  bool done() const { return merged_ == ranks - 1; }
  const Bytes& sum() const { return sum_; }

 private:
  static transport::Ticket ticket_of(Rank source) { return static_cast<transport::Ticket>(source - 1); }

  const PartialKind& kind_;
  transport::Endpoint& endpoint_;
  Bytes sum_;
  order::IntervalSet rows_ = row_of(0);  // the rows in the sum
  std::size_t merged_ = 0;
};

Bytes merged_by_arrival(const PartialKind& kind, const std::vector<Bytes>& partials, std::uint64_t seed) {
  SimulatedNetwork network(ranks, {.seed = seed});
  std::vector<std::unique_ptr<transport::Endpoint>> ends;
  const std::vector<order::Bytes> slots(ranks - 1, kind.capacity(row_of(0)));
  for (Rank rank = 0; rank < ranks; ++rank)
    ends.push_back(network.rank(rank).prepare(1, rank == 0 ? slots : std::vector<order::Bytes>(), ranks,
                                              transport::WordOrder::of_endpoints));
  network.connect();
  Root root(kind, *ends.front(), partials.front());
  for (std::size_t rank = 1; rank < ranks; ++rank)
    ends[rank]->put(0, 0, static_cast<transport::SlotNumber>(rank - 1), partials[rank]);
  // A delivery takes at most max_polls polls on either side.
  for (int sweep = 0; sweep < 2 * SimulatedNetwork::max_polls + 2 && !root.done(); ++sweep) {
    transport::Completion sent;
    for (std::size_t rank = 1; rank < ranks; ++rank) ends[rank]->poll({&sent, 1});
    root.take_in();
  }
  if (!root.done()) throw Failure("messages do not arrive (a simulated one is missing), report it", check_failed);
  return root.sum();
}

std::vector<double> finished(const PartialKind& kind, const Bytes& partial, std::uint64_t columns) {
  std::vector<double> values(columns);
  std::vector<double> spare(columns);
  const Status status = kind.finish(partial, ranks, reinterpret_cast<std::byte*>(values.data()),
                                    reinterpret_cast<std::byte*>(spare.data()));
  if (status != Status::ok)
    throw Failure("a sum by arrival failed (" + call::text_of(status) + "), report it with this command line",
                  check_failed);
  return values;
}

std::size_t number_of(const std::vector<std::vector<double>>& results) {
  std::set<std::vector<std::uint64_t>> different;
  for (const auto& each : results) {
    std::vector<std::uint64_t> bits;
    for (const double value : each) bits.push_back(std::bit_cast<std::uint64_t>(value));
    different.insert(bits);
  }
  return different.size();
}

/// The row of several results that should be equal.
Json json_of(const Way& way, const char* order, std::uint64_t columns,
             const std::vector<std::vector<double>>& results) {
  double largest = 0;
  std::uint64_t different = 0;  // how many columns differ
  for (std::uint64_t i = 0; i < columns; ++i) {
    double least = results.front()[i];
    double most = least;
    for (const auto& each : results) {
      least = std::min(least, each[i]);
      most = std::max(most, each[i]);
    }
    different += least != most ? 1 : 0;
    largest = std::max(largest, (most - least) / std::fabs(least));
  }
  return {{"part", "arrival"},
          {"ranks", ranks},
          {"doubles", columns},
          {"method", way.name},
          {"order", order},
          {"runs", results.size()},
          {"results", number_of(results)},
          {"different", different},
          {"largest_difference", largest}};
}

std::vector<std::vector<double>> by_arrival(const Way& way, const std::vector<double>& elements) {
  const std::uint64_t columns = elements.size() / ranks;
  const call::Call call{.method = way.method, .columns = columns};
  const call::Description description = describe(call);
  const auto kind = make_kind(description, operator_of(description, call.user), columns);
  const std::vector<Bytes> partials = partials_of(*kind, elements);
  std::vector<std::vector<double>> results;
  for (int seed = 1; seed <= shuffles; ++seed) {
    results.push_back(finished(*kind, merged_by_arrival(*kind, partials, static_cast<std::uint64_t>(seed)), columns));
  }
  return results;
}

/// Results by the schedule with the same messages, under the same shuffles.
std::vector<std::vector<double>> by_rank(const Way& way, const std::vector<double>& elements) {
  std::vector<std::vector<double>> results;
  for (int seed = 1; seed <= shuffles; ++seed) {
    SimulatedJob job(order::TwoShares(ranks, ranks, 1, 0), {.method = way.method,
                                                            .schedule = "flat",
                                                            .rooted = true,
                                                            .columns = elements.size() / ranks,
                                                            .network = {.seed = static_cast<std::uint64_t>(seed)}});
    results.push_back(job.run(elements));
  }
  return results;
}

}  // namespace

Findings arrival(const Asked& asked) {
  Findings found;
  for (const std::uint64_t length : lengths) {
    if (length > asked.largest) continue;
    const std::vector<double> elements = vectors(ranks, 0, length);
    for (const Way& way : ways) found.rows.push_back(json_of(way, "of arrival", length, by_arrival(way, elements)));
    found.rows.push_back(json_of(ways[0], "of ranks (flat)", length, by_rank(ways[0], elements)));
  }
  return found;
}

}  // namespace steadfold::command::studies::topology
