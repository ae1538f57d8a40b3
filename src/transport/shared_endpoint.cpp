#include "transport/shared_endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace steadfold::transport {

SharedEndpoint::SharedEndpoint(std::uint32_t tag, Rank worker, Rank workers, std::span<const Bytes> capacities,
                               Ticket tickets, bool shares_cores, std::vector<SharedEndpoint*>& waiting) try
    : tag_(tag),
      worker_(worker),
      waiting_(&waiting),
      slots_(capacities),
      own_(std::make_shared<Mail>(workers)),
      peers_(static_cast<std::size_t>(workers)),
      operations_(tickets),
      words_(own_->words),
      added_(own_->added),
      patience_(shares_cores, Patience::Sleeps::after_long) {
  busy_.reserve(static_cast<std::size_t>(workers));
  completed_.reserve(tickets);
  to_add_.reserve(tickets);
  waiting.push_back(this);
} catch (const std::bad_alloc&) {
  throw std::runtime_error("no memory for mailboxes (each of " + std::to_string(workers) +
                           " workers has one for every other), use fewer workers");
}

SharedEndpoint::~SharedEndpoint() { std::erase(*waiting_, this); }

void SharedEndpoint::connect(std::vector<std::shared_ptr<Mail>> all) {
  all_ = std::move(all);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    peers_[i].sender.emplace(all_[i]->from[static_cast<std::size_t>(worker_)]);
    peers_[i].receiver.emplace(own_->from[i]);
  }
}

SharedEndpoint::Peer& SharedEndpoint::busy(Rank rank) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  if (!std::exchange(peer.is_busy, true)) busy_.push_back(&peer);
  return peer;
}

void SharedEndpoint::append(Queue& queue, Ticket ticket) noexcept {
  operations_[ticket].next = none;
  (queue.is_empty() ? queue.first : operations_[queue.last].next) = ticket;
  queue.last = ticket;
}

Ticket SharedEndpoint::remove_first(Queue& queue) noexcept {
  return std::exchange(queue.first, operations_[queue.first].next);
}

void SharedEndpoint::put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
                         std::optional<std::span<const std::byte>> second) noexcept {
  traffic_.messages += 1;
  traffic_.bytes += bytes.size() + (second ? second->size() : 0);
  operations_[ticket] = {.slot = slot, .bytes = bytes, .second = second, .room = {}};
  Peer& peer = busy(target);
  append(peer.unsent, ticket);
  send_unsent(peer);
}

void SharedEndpoint::release(Ticket ticket, Rank source, SlotNumber slot,
                             const std::optional<SecondRoom>& second) noexcept {
  operations_[ticket] = {.slot = slot, .bytes = {}, .second = {}, .room = second};
  append(busy(source).expected, ticket);
}

bool SharedEndpoint::needs_taking(const Operation& operation) const noexcept {
  return operation.second.has_value() || operation.bytes.size() > Letter::most;
}

void SharedEndpoint::write(Sender& sender, Operation& operation) noexcept {
  Letter& letter = sender.next();
  letter.slot = operation.slot;
  letter.is_elsewhere = needs_taking(operation);
  letter.has_second = operation.second.has_value();
  if (letter.is_elsewhere) {
    const std::span<const std::byte> second = operation.second.value_or(std::span<const std::byte>());
    letter.place = {operation.bytes.data(), operation.bytes.size(), second.data(), second.size()};
  } else {
    letter.size = static_cast<std::uint16_t>(operation.bytes.size());
    if (letter.size > 0) std::memcpy(letter.bytes, operation.bytes.data(), letter.size);
  }
  sender.send();
  operation.number = sender.sent();
}

void SharedEndpoint::complete(const Completion& completion) noexcept { completed_.push_back(completion); }

/// Letters that carry their bytes are done when they are sent.
void SharedEndpoint::send_unsent(Peer& peer) noexcept {
  while (!peer.unsent.is_empty() && peer.sender->has_room()) {
    const Ticket ticket = remove_first(peer.unsent);
    write(*peer.sender, operations_[ticket]);
    if (needs_taking(operations_[ticket]))
      append(peer.untaken, ticket);
    else
      complete({.ticket = ticket});
  }
}

void SharedEndpoint::end_taken(Peer& peer) noexcept {
  if (peer.untaken.is_empty()) return;
  const std::uint64_t taken = peer.sender->taken();
  while (!peer.untaken.is_empty() && operations_[peer.untaken.first].number <= taken)
    complete({.ticket = remove_first(peer.untaken)});
}

void SharedEndpoint::receive(Peer& peer) noexcept {
  while (!peer.expected.is_empty()) {
    const Letter* const letter = peer.receiver->look();
    if (letter == nullptr) return;
    const Ticket ticket = remove_first(peer.expected);
    complete(land(ticket, operations_[ticket], *letter));
    peer.receiver->take();
  }
}

/// Copies a message to where it was released to.
Completion SharedEndpoint::land(Ticket ticket, const Operation& operation, const Letter& letter) noexcept {
  const std::span<std::byte> slot = landing(operation.slot);
  const Completion failed = {.ticket = ticket, .failed = true};
  if (letter.slot != operation.slot || letter.has_second != operation.room.has_value()) return failed;
  if (!letter.is_elsewhere) {
    if (letter.size > slot.size()) return failed;
    if (letter.size > 0) std::memcpy(slot.data(), letter.bytes, letter.size);
    return {.ticket = ticket, .size = letter.size, .data = slot.data()};
  }
  const Letter::Place& from = letter.place;
  const Bytes most = operation.room ? std::min<Bytes>(operation.room->head, slot.size()) : slot.size();
  if (from.size > most || (operation.room && from.second_size > operation.room->room.size())) return failed;
  if (from.size > 0) std::memcpy(slot.data(), from.data, from.size);
  if (from.second_size > 0) std::memcpy(operation.room->room.data(), from.second, from.second_size);
  return {.ticket = ticket, .size = from.size + from.second_size, .data = slot.data()};
}

void SharedEndpoint::add_words(Ticket ticket, std::span<std::int64_t> words) noexcept {
  traffic_.messages += 1;
  traffic_.bytes += words.size_bytes();
  to_add_.push_back({ticket, words});
  if (adding_ == AddState::idle) begin_adding();
}

void SharedEndpoint::begin_adding() noexcept {
  words_.own() = to_add_.front().words;
  words_.post();
  adding_ = AddState::posted;
  seen_ = 0;
}

/// Once all workers have posted their words, each adds its share of them, for all; then they wait for each other.
void SharedEndpoint::go_on_adding() noexcept {
  if (adding_ == AddState::posted) {
    while (seen_ < all_.size() && words_.look(all_[seen_]->words) != nullptr) seen_ += 1;
    if (seen_ < all_.size()) return;
    add_own_share();
    words_.done();
    added_.own() = true;
    added_.post();
    adding_ = AddState::added;
    seen_ = 0;
  }
  while (seen_ < all_.size() && added_.look(all_[seen_]->added) != nullptr) seen_ += 1;
  if (seen_ < all_.size()) return;
  added_.done();
  complete({.ticket = to_add_.front().ticket});
  to_add_.erase(to_add_.begin());
  adding_ = AddState::idle;
  if (!to_add_.empty()) begin_adding();
}

void SharedEndpoint::add_own_share() noexcept {
  const std::size_t count = to_add_.front().words.size();
  const std::size_t workers = all_.size();
  const std::size_t first = count * static_cast<std::size_t>(worker_) / workers;
  const std::size_t end = count * static_cast<std::size_t>(worker_ + 1) / workers;
  for (std::size_t i = first; i < end; ++i) {
    std::uint64_t sum = 0;  // modulo 2^64
    for (const auto& mail : all_) sum += static_cast<std::uint64_t>((*words_.look(mail->words))[i]);
    for (const auto& mail : all_) (*words_.look(mail->words))[i] = static_cast<std::int64_t>(sum);
  }
}

std::size_t SharedEndpoint::poll(std::span<Completion> completions) noexcept {
  for (std::size_t i = 0; i < busy_.size();) {
    Peer& peer = *busy_[i];
    send_unsent(peer);
    end_taken(peer);
    receive(peer);
    peer.is_busy = !peer.is_idle();
    if (peer.is_busy) {
      i += 1;
    } else {
      busy_[i] = busy_.back();
      busy_.pop_back();
    }
  }
  if (adding_ != AddState::idle) go_on_adding();
  const std::size_t count = std::min(completions.size(), completed_.size());
  std::copy_n(completed_.begin(), count, completions.begin());
  completed_.erase(completed_.begin(), completed_.begin() + static_cast<std::ptrdiff_t>(count));
  if (count > 0)
    patience_.found_something();
  else
    patience_.found_nothing();
  return count;
}

}  // namespace steadfold::transport
