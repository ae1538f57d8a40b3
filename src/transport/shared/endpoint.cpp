#include "transport/shared/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace steadfold::transport {
namespace {

/// Returns the size of the memory beside each box of a lane, for messages that do not fit in the box itself. The
/// largest slot that receives messages through common memory determines the size. Between threads 0.
Bytes room_for(const CommonMemory& memory, std::span<const Bytes> capacities) noexcept {
  Bytes largest = 0;
  if (memory.is_one_process()) return 0;
  for (const Bytes capacity : capacities)
    if (capacity <= largest_letter) largest = std::max(largest, capacity);
  return largest <= Letter::most ? 0 : (largest + cache_line - 1) / cache_line * cache_line;
}

}  // namespace

SharedEndpoint::SharedEndpoint(std::uint32_t tag, const Neighbourhood& among, std::unique_ptr<Endpoint> inner,
                               Rank rank_count, std::span<const Bytes> capacities, Ticket tickets,
                               std::vector<SharedEndpoint*>& waiting) try
    : tag_(tag),
      among_waiting_(&waiting),
      inner_(std::move(inner)),
      moves_others_(inner_ && inner_->moves_others()),
      blocks_(among.memory, Mail::bytes(among.ranks.size(), room_for(*among.memory, capacities), capacities.size())),
      neighbour_(among.own),
      peers_(among.ranks.size()),
      by_rank_(static_cast<std::size_t>(rank_count)),
      transfers_(tickets),
      waiting_(among) {
  if (!inner_) slots_.emplace(capacities);
  busy_.reserve(peers_.size());
  completed_.reserve(tickets);
  to_add_.reserve(tickets);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    peers_[i].number = i;
    by_rank_[static_cast<std::size_t>(among.ranks[i])] = &peers_[i];
  }
  if ((!inner_ || is_one_process()) && blocks_.own() == nullptr) throw std::bad_alloc();
  waiting.push_back(this);
  if (blocks_.own() == nullptr) return;
  own_ = Mail::make(blocks_.own(), peers_.size(), room_for(*among.memory, capacities));
  for (SlotNumber slot = 0; slot < capacities.size(); ++slot)
    own_->takes_letters(slot) = std::byte{is_one_process() || capacities[slot] <= largest_letter};
  words_.emplace(own_->words);
  added_.emplace(own_->added);
} catch (const std::bad_alloc&) {
  throw std::runtime_error("no memory for mailboxes (each of " + std::to_string(among.ranks.size()) +
                           " ranks has a mailbox for every other rank), use fewer ranks");
}

SharedEndpoint::~SharedEndpoint() { std::erase(*among_waiting_, this); }

void SharedEndpoint::connect(std::span<const CommonMemory::BlockId> blocks) noexcept {
  blocks_.connect(blocks);
  for (Peer& peer : peers_) {
    peer.mail = reinterpret_cast<Mail*>(blocks_.of(peer.number));
    peer.sender.emplace(peer.mail->from(neighbour_));
    peer.receiver.emplace(own_->from(peer.number));
  }
}

/// Returns the peer with which a rank exchanges letters (messages through common memory); null if its messages go
/// through the inner endpoint. Between processes, messages in two parts always do. The inner endpoint reports ranks
/// that do not exist.
SharedEndpoint::Peer* SharedEndpoint::peer_for(Rank rank, bool has_second) noexcept {
  const auto index = static_cast<std::size_t>(rank);
  if (inner_ && (!blocks_.are_connected() || index >= by_rank_.size())) return nullptr;
  if (has_second && !is_one_process()) return nullptr;
  return by_rank_[index];
}

void SharedEndpoint::make_busy(Peer& peer) noexcept {
  if (!std::exchange(peer.is_busy, true)) busy_.push_back(&peer);
}

void SharedEndpoint::append(TicketQueue& queue, Ticket ticket) noexcept {
  transfers_[ticket].next = none;
  (queue.is_empty() ? queue.first : transfers_[queue.last].next) = ticket;
  queue.last = ticket;
}

Ticket SharedEndpoint::remove_first(TicketQueue& queue) noexcept {
  return std::exchange(queue.first, transfers_[queue.first].next);
}

void SharedEndpoint::put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
                         std::optional<std::span<const std::byte>> second) noexcept {
  Peer* const peer = peer_for(target, second.has_value());
  if (peer == nullptr || peer->mail->takes_letters(slot) == std::byte{0}) {
    open_inside_ += 1;
    return inner_->put(ticket, target, slot, bytes, second);
  }
  traffic_.messages += 1;
  traffic_.bytes += bytes.size() + (second ? second->size() : 0);
  transfers_[ticket] = {.slot = slot, .bytes = bytes, .second = second, .room = {}};
  make_busy(*peer);
  append(peer->unsent, ticket);
  send_unsent(*peer);
}

void SharedEndpoint::release(Ticket ticket, Rank source, SlotNumber slot,
                             const std::optional<SecondRoom>& second) noexcept {
  Peer* const peer = peer_for(source, second.has_value());
  if (peer == nullptr || own_->takes_letters(slot) == std::byte{0}) {
    open_inside_ += 1;
    return inner_->release(ticket, source, slot, second);
  }
  transfers_[ticket] = {.slot = slot, .bytes = {}, .second = {}, .room = second};
  make_busy(*peer);
  append(peer->expected, ticket);
}

void SharedEndpoint::write(Peer& peer, QueuedTransfer& transfer) noexcept {
  const std::size_t box = peer.sender->sent() % Mail::depth;
  Letter& letter = peer.sender->next();
  letter.slot = transfer.slot;
  letter.has_second = transfer.second.has_value();
  letter.size = static_cast<std::uint16_t>(transfer.bytes.size());
  if (!transfer.second && transfer.bytes.size() <= Letter::most) {
    letter.bears = Letter::Bears::bytes;
    if (letter.size > 0) std::memcpy(letter.bytes, transfer.bytes.data(), letter.size);
  } else if (is_one_process()) {
    letter.bears = Letter::Bears::pointers;
    const std::span<const std::byte> second = transfer.second.value_or(std::span<const std::byte>());
    letter.pointers = {transfer.bytes.data(), transfer.bytes.size(), second.data(), second.size()};
  } else if (transfer.bytes.size() <= peer.mail->room()) {
    letter.bears = Letter::Bears::enclosure;
    std::memcpy(peer.mail->room(neighbour_, box), transfer.bytes.data(), transfer.bytes.size());
  } else {
    letter.bears = Letter::Bears::nothing;
  }
  peer.sender->send();
  transfer.number = letter.bears == Letter::Bears::pointers ? peer.sender->sent() : 0;
}

/// Sends small messages (letters) that waited for a free box of the lane. A message whose bytes are copied into the
/// lane completes at once.
void SharedEndpoint::send_unsent(Peer& peer) noexcept {
  while (!peer.unsent.is_empty() && peer.sender->has_room()) {
    const Ticket ticket = remove_first(peer.unsent);
    write(peer, transfers_[ticket]);
    if (transfers_[ticket].number > 0)
      append(peer.untaken, ticket);
    else
      complete({.ticket = ticket});
  }
}

void SharedEndpoint::end_taken(Peer& peer) noexcept {
  if (peer.untaken.is_empty()) return;
  const std::uint64_t taken = peer.sender->taken();
  while (!peer.untaken.is_empty() && transfers_[peer.untaken.first].number <= taken)
    complete({.ticket = remove_first(peer.untaken)});
}

void SharedEndpoint::receive(Peer& peer) noexcept {
  while (!peer.expected.is_empty()) {
    const Letter* const letter = peer.receiver->look();
    if (letter == nullptr) return;
    const Ticket ticket = remove_first(peer.expected);
    complete(land(ticket, transfers_[ticket], peer, *letter));
    peer.receiver->take();
  }
}

/// Copies a message to its slot and, if it has two parts, to the memory for its second part.
Completion SharedEndpoint::land(Ticket ticket, const QueuedTransfer& transfer, const Peer& peer,
                                const Letter& letter) noexcept {
  const std::span<std::byte> slot = landing(transfer.slot);
  const Completion failed = {.ticket = ticket, .failed = true};
  if (letter.slot != transfer.slot || letter.has_second != transfer.room.has_value()) return failed;
  if (letter.bears == Letter::Bears::nothing) return failed;
  if (letter.bears != Letter::Bears::pointers) {
    const bool is_enclosed = letter.bears == Letter::Bears::enclosure;
    if (letter.size > slot.size()) return failed;
    if (letter.size > 0)
      std::memcpy(slot.data(),
                  is_enclosed ? own_->room(peer.number, peer.receiver->taken() % Mail::depth) : letter.bytes,
                  letter.size);
    return {.ticket = ticket, .size = letter.size, .data = slot.data()};
  }
  const Letter::Pointers& from = letter.pointers;
  const Bytes most = transfer.room ? std::min<Bytes>(transfer.room->head, slot.size()) : slot.size();
  if (from.size > most || (transfer.room && from.second_size > transfer.room->room.size())) return failed;
  if (from.size > 0) std::memcpy(slot.data(), from.data, from.size);
  if (from.second_size > 0) std::memcpy(transfer.room->room.data(), from.second, from.second_size);
  return {.ticket = ticket, .size = from.size + from.second_size, .data = slot.data()};
}

void SharedEndpoint::add_words(Ticket ticket, std::span<std::int64_t> words) noexcept {
  if (inner_) {
    open_inside_ += 1;
    return inner_->add_words(ticket, words);
  }
  traffic_.messages += 1;
  traffic_.bytes += words.size_bytes();
  to_add_.push_back({ticket, words});
  if (adding_ == AddState::idle) begin_adding();
}

void SharedEndpoint::begin_adding() noexcept {
  words_->own() = to_add_.front().words;
  words_->post();
  adding_ = AddState::posted;
  seen_ = 0;
}

/// Goes on with an addition of words. After all threads have posted their words, each thread adds its share of the
/// words for all threads. After that the threads wait for each other.
void SharedEndpoint::go_on_adding() noexcept {
  if (adding_ == AddState::posted) {
    while (seen_ < peers_.size() && words_->look(peers_[seen_].mail->words) != nullptr) seen_ += 1;
    if (seen_ < peers_.size()) return;
    add_own_share();
    words_->done();
    added_->own() = true;
    added_->post();
    adding_ = AddState::added;
    seen_ = 0;
  }
  while (seen_ < peers_.size() && added_->look(peers_[seen_].mail->added) != nullptr) seen_ += 1;
  if (seen_ < peers_.size()) return;
  added_->done();
  complete({.ticket = to_add_.front().ticket});
  to_add_.erase(to_add_.begin());
  adding_ = AddState::idle;
  if (!to_add_.empty()) begin_adding();
}

void SharedEndpoint::add_own_share() noexcept {
  const std::size_t count = to_add_.front().words.size();
  const std::size_t first = count * neighbour_ / peers_.size();
  const std::size_t end = count * (neighbour_ + 1) / peers_.size();
  for (std::size_t i = first; i < end; ++i) {
    std::uint64_t sum = 0;  // unsigned: the sum is modulo 2^64
    for (const Peer& peer : peers_) sum += static_cast<std::uint64_t>((*words_->look(peer.mail->words))[i]);
    for (const Peer& peer : peers_) (*words_->look(peer.mail->words))[i] = static_cast<std::int64_t>(sum);
  }
}

void SharedEndpoint::move_letters() noexcept {
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
}

std::size_t SharedEndpoint::poll(std::span<Completion> completions) noexcept {
  move_letters();
  if (adding_ != AddState::idle) go_on_adding();
  std::size_t count = std::min(completions.size(), completed_.size());
  std::copy_n(completed_.begin(), count, completions.begin());
  completed_.erase(completed_.begin(), completed_.begin() + static_cast<std::ptrdiff_t>(count));
  if ((open_inside_ > 0 || moves_others_) && count < completions.size()) {
    const std::size_t inside = inner_->poll(completions.subspan(count));
    open_inside_ -= inside;
    return count + inside;
  }
  if (count > 0)
    waiting_.found_something();
  else
    waiting_.found_nothing();
  return count;
}

/// Whether this thread may leave the run. Tells the threads that move this thread's messages that this thread has
/// finished the run.
bool SharedEndpoint::may_leave() noexcept {
  if (!is_one_process()) return inner_->may_leave();
  if (!std::exchange(is_leaving_, true)) own_->runs_ended.store(++runs_ended_, std::memory_order_release);
  const auto has_left = [this](const Peer& peer) {
    return peer.mail->runs_ended.load(std::memory_order_acquire) >= runs_ended_;
  };
  if (moves_others_ && !std::ranges::all_of(peers_, has_left)) {
    inner_->poll({});
    return false;
  }
  is_leaving_ = false;
  return true;
}

Traffic SharedEndpoint::traffic() const noexcept {
  const Traffic inside = inner_ ? inner_->traffic() : Traffic{};
  return {.messages = inside.messages + traffic_.messages, .bytes = inside.bytes + traffic_.bytes};
}

}  // namespace steadfold::transport
