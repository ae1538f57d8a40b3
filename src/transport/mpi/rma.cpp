#include "transport/mpi/rma.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "transport/mpi/endpoint.hpp"
#include "transport/mpi/rma_endpoint.hpp"

namespace steadfold::transport {

RmaTransport::RmaTransport(std::shared_ptr<MpiTransport> inner, std::shared_ptr<Window> window,
                           const RmaSettings& settings)
    : ForwardingTransport(inner),
      two_sided_(std::move(inner)),
      window_(std::move(window)),
      settings_(settings),
      notices_(static_cast<std::size_t>(rank_count())) {}

std::unique_ptr<Endpoint> RmaTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                                WordOrder order) {
  return prepare_over(two_sided_->prepare(tag, capacities, tickets, order), tag, capacities, tickets);
}

std::unique_ptr<Endpoint> RmaTransport::prepare_over(std::unique_ptr<Endpoint> inner, std::uint32_t tag,
                                                     std::span<const Bytes> capacities, Ticket tickets) {
  try {
    auto lanes = std::make_shared<Lanes>(window_, rank(), rank_count(), capacities, settings_);
    prepared_.emplace_back(tag, lanes);
    {
      const std::lock_guard lock(mutex_);
      lanes_.push_back(lanes);
    }
    return make_rma_endpoint(std::move(inner), *this, window_, std::move(lanes), tickets, two_sided_->shares_cores());
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for messages (a run needs " + std::to_string(tickets) +
                             " messages on this rank), use fewer segments");
  }
}

void RmaTransport::connect(bool is_prepared) {
  two_sided_->end_apart();
  mine_ = {.is_prepared = is_prepared ? 1u : 0u};
  for (std::size_t i = 0; i < std::min(prepared_.size(), most_ends); ++i)
    mine_.ends[i] = prepared_[i].second->notice(prepared_[i].first);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& lanes : lanes_) {
      if (mine_.settled_count == most_settled || lanes->is_reported || !lanes->have_settled()) continue;
      lanes->is_reported = true;
      mine_.settled[mine_.settled_count++] = lanes->serial();
    }
  }
  if (PMPI_Iallgather(&mine_, sizeof mine_, MPI_BYTE, notices_.data(), sizeof mine_, MPI_BYTE, window_->comm(),
                      &connecting_) != MPI_SUCCESS)
    throw std::runtime_error(
        "the endpoints cannot be connected (the ranks cannot exchange the addresses of their windows), see the "
        "messages of the MPI library");
}

Connection RmaTransport::connected() {
  int done = 0;
  if (PMPI_Test(&connecting_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    throw std::runtime_error(
        "the endpoints cannot be connected (the ranks cannot exchange the addresses of their windows), see the "
        "messages of the MPI library");
  if (done == 0) {
    if (two_sided_->shares_cores()) sched_yield();  // the core is yielded, because the awaited rank may not be running
    return Connection::pending;
  }
  const bool are_prepared =
      std::ranges::all_of(notices_, [](const ConnectNotice& each) { return each.is_prepared != 0; });
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    if (are_prepared && i < most_ends)
      connect_lanes(i);
    else
      prepared_[i].second->refuse();
  }
  prepared_.clear();
  connections_ += 1;
  take_back_settled();
  return are_prepared ? Connection::connected : Connection::failed;
}

/// Connects the lanes (mailboxes for small messages) of an endpoint if all ranks have memory for them.
void RmaTransport::connect_lanes(std::size_t end) {
  const auto& [tag, lanes] = prepared_[end];
  const auto fits = [&](const ConnectNotice& each) {
    return each.ends[end].first != LaneNotice::no_words && each.ends[end].tag == tag;
  };
  if (!std::ranges::all_of(notices_, fits)) return lanes->refuse();
  for (Rank i = 0; i < rank_count(); ++i) lanes->learn(i, notices_[static_cast<std::size_t>(i)].ends[end]);
  lanes->connect(connections_ * most_ends + end);
}

/// Frees the words of lanes that have settled on all ranks: no rank can write them any more. If memory runs out, the
/// words stay taken.
void RmaTransport::take_back_settled() try {
  const std::lock_guard lock(mutex_);
  for (const ConnectNotice& each : notices_) {
    for (std::uint32_t i = 0; i < each.settled_count; ++i) {
      const std::uint64_t serial = each.settled[i];
      if (++settled_[serial] < rank_count()) continue;
      settled_.erase(serial);
      const auto has_settled = [serial](const auto& lanes) { return lanes->is_reported && lanes->serial() == serial; };
      const auto found = std::ranges::find_if(lanes_, has_settled);
      (*found)->refuse();
      lanes_.erase(found);
    }
  }
  std::erase_if(lanes_, [](const auto& lanes) { return lanes->are_at_rest() && !lanes->are_connected(); });
} catch (const std::bad_alloc&) {
}

void RmaTransport::rest(Lanes& lanes, bool is_idle) noexcept {
  const std::lock_guard lock(mutex_);
  lanes.rest(is_idle);
}

AskedTransport asked_transport(const MpiTransport& transport) {
  constexpr std::size_t most = 64;
  std::array<char, most> text = {};
  const char* const mine = std::getenv("STEADFOLD_TRANSPORT");
  if (mine != nullptr) std::strncpy(text.data(), mine, most - 1);
  if (PMPI_Bcast(text.data(), most, MPI_CHAR, 0, transport.comm()) != MPI_SUCCESS)
    throw std::runtime_error(
        "the transport is unknown (rank 0 cannot broadcast its setting), see the messages of the MPI library");
  const std::string_view asked = text.data();
  if (asked.empty() || asked == "auto") return {};
  if (asked == "mpi") return {.way = TransportChoice::messages};
  if (asked == "shared") return {.way = TransportChoice::shared};
  if (asked == "rma") return {.way = TransportChoice::rma};
  if (asked == "rma:loads") return {.way = TransportChoice::rma, .reads = Reads::by_loads};
  throw std::runtime_error("unknown transport '" + std::string(asked) +
                           "' (STEADFOLD_TRANSPORT of rank 0 names it), set it to auto, mpi, shared, rma or rma:loads");
}

}  // namespace steadfold::transport
