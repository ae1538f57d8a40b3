// Base classes for endpoints and transports that pass most calls on to an inner object. Cost: a virtual call.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "transport/transport.hpp"

namespace steadfold::transport {

class ForwardingEndpoint : public Endpoint {
 public:
  explicit ForwardingEndpoint(std::unique_ptr<Endpoint> inner) : inner_(std::move(inner)) {}

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return inner_->landing(slot); }
  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    inner_->put(ticket, target, slot, bytes, second);
  }
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    inner_->release(ticket, source, slot, second);
  }
  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override { inner_->add_words(ticket, words); }
  std::size_t poll(std::span<Completion> completions) noexcept override { return inner_->poll(completions); }
  bool asks_to_leave() const noexcept override { return inner_->asks_to_leave(); }
  bool may_leave() noexcept override { return inner_->may_leave(); }
  bool moves_others() const noexcept override { return inner_->moves_others(); }
  Traffic traffic() const noexcept override { return inner_->traffic(); }

 protected:
  Endpoint& inner() noexcept { return *inner_; }
  /// Destroys the inner endpoint before this endpoint is destroyed.
  void end_inner() noexcept { inner_.reset(); }

 private:
  std::unique_ptr<Endpoint> inner_;
};

class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}

  Rank rank() const noexcept override { return inner_->rank(); }
  Rank rank_count() const noexcept override { return inner_->rank_count(); }
  const char* name() const noexcept override { return inner_->name(); }
  std::string library() const override { return inner_->library(); }
  std::span<const Rank> node_labels() const noexcept override { return inner_->node_labels(); }
  bool are_on_one_node() const noexcept override { return inner_->are_on_one_node(); }
  bool nodes_are_far() const noexcept override { return inner_->nodes_are_far(); }
  std::optional<std::uint32_t> new_tags(std::uint32_t count) override { return inner_->new_tags(count); }
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override {
    return inner_->prepare(tag, capacities, tickets, order);
  }
  void open_apart() override { inner_->open_apart(); }
  bool opened_apart() override { return inner_->opened_apart(); }
  bool adds_words() const noexcept override { return inner_->adds_words(); }
  bool has_boards() const noexcept override { return inner_->has_boards(); }
  bool sees_all_memory() const noexcept override { return inner_->sees_all_memory(); }
  std::shared_ptr<Board> prepare_board(std::uint32_t tag, Bytes longest) override {
    return inner_->prepare_board(tag, longest);
  }
  void connect(bool is_prepared) override { inner_->connect(is_prepared); }
  Connection connected() override { return inner_->connected(); }
  void gather(std::span<const std::byte> bytes) override { inner_->gather(bytes); }
  std::optional<Gathered> gathered() override { return inner_->gathered(); }
  void require_usable() const override { inner_->require_usable(); }
  void require_threads() const override { inner_->require_threads(); }

 protected:
  Transport& inner() noexcept { return *inner_; }

 private:
  std::shared_ptr<Transport> inner_;
};

}  // namespace steadfold::transport
