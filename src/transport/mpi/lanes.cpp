#include "transport/mpi/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "transport/mpi/endpoint.hpp"

namespace steadfold::transport {
namespace {

constexpr SlotNumber numbered_slots = 64;

constexpr Word word_of(std::uint32_t data, std::uint32_t number) noexcept { return Word{number} << 32 | data; }
constexpr std::uint32_t data_of(Word word) noexcept { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t number_in(Word word) noexcept { return static_cast<std::uint32_t>(word >> 32); }

enum class RequestState : std::uint8_t { pending, done, failed };

RequestState state_of(MPI_Request& request) noexcept {
  if (request == MPI_REQUEST_NULL) return RequestState::done;
  int done = 0;
  if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    request = MPI_REQUEST_NULL;
    return RequestState::failed;
  }
  return done != 0 ? RequestState::done : RequestState::pending;
}

}  // namespace

Lanes::Lanes(std::shared_ptr<Window> window, Rank rank, Rank rank_count, std::span<const Bytes> capacities,
             const RmaSettings& settings)
    : window_(std::move(window)),
      rank_(rank),
      ranks_(static_cast<std::uint64_t>(rank_count)),
      first_message_(settings.first) {
  Bytes largest = 0;
  for (SlotNumber slot = 0; slot < std::min<std::size_t>(capacities.size(), numbered_slots); ++slot) {
    if (capacities[slot] > settings.largest) continue;
    slots_ |= std::uint64_t{1} << slot;
    largest = std::max(largest, capacities[slot]);
  }
  if (slots_ != 0) mailbox_words_ = words_for(largest);
  window_->enter();
  first_ = window_->take(word_count());
  if (!first_) return;
  copy_words_ = words_for(settings.largest);
  notices_.resize(ranks_);
  sent_.resize(ranks_);
  incoming_.resize(ranks_);
  memory_.resize(copies * copy_words_ + mailbox_words_ + 3 * ranks_);
}

Lanes::~Lanes() {
  const bool is_used = !window_->has_ended() && !finalized() && has_open_requests();
  window_->keep(is_used ? std::move(memory_) : std::vector<Word>());
}

LaneNotice Lanes::notice(std::uint32_t tag) const noexcept {
  return {.tag = tag,
          .mailbox_words = static_cast<std::uint32_t>(mailbox_words_),
          .first = first_.value_or(LaneNotice::no_words),
          .slots = slots_};
}

void Lanes::connect(std::uint64_t serial) noexcept {
  are_connected_ = true;
  serial_ = serial;
}

void Lanes::refuse() noexcept {
  if (first_) window_->give_back(*first_, word_count());
  first_.reset();
}

bool Lanes::lead_to(Rank target, SlotNumber slot) const noexcept {
  return are_connected() && target >= 0 && static_cast<std::uint64_t>(target) < ranks_ && slot < numbered_slots &&
         (notices_[static_cast<std::size_t>(target)].slots >> slot & 1) != 0;
}

bool Lanes::lead_from(Rank source, SlotNumber slot) const noexcept {
  return are_connected() && source >= 0 && static_cast<std::uint64_t>(source) < ranks_ && slot < numbered_slots &&
         (slots_ >> slot & 1) != 0;
}

/// Returns the position of a message from `source` among the words of the rank that gave the notice. The words of
/// credits come before the lanes.
std::uint64_t Lanes::first_word_of(const LaneNotice& notice, Rank source, std::uint64_t message) const noexcept {
  const std::uint64_t mailbox = static_cast<std::uint64_t>(source) * mailboxes + message % mailboxes;
  return notice.first + ranks_ + mailbox * notice.mailbox_words;
}

/// Returns the number in the words of a message: how many messages its mailbox has had, modulo 2^32.
std::uint32_t Lanes::number_of(std::uint64_t message) const noexcept {
  return static_cast<std::uint32_t>((first_message_ + message) / mailboxes + 1);
}

std::span<Word> Lanes::copy_words(std::size_t copy) noexcept {
  return std::span(memory_).subspan(copy * copy_words_, copy_words_);
}

std::span<Word> Lanes::arrived_words() noexcept {
  return std::span(memory_).subspan(copies * copy_words_, mailbox_words_);
}

/// Returns, for each target, the number of messages that it has taken, while this number is being read. Valid only
/// after the read has ended.
std::span<Word> Lanes::credits_read() noexcept { return std::span(memory_).last(3 * ranks_).first(ranks_); }
/// Returns, for each target, the number of messages that it had taken when this rank last read it.
std::span<Word> Lanes::credits_seen() noexcept { return std::span(memory_).last(2 * ranks_).first(ranks_); }
/// Returns, for each source, the number of messages that this rank has taken from it.
std::span<Word> Lanes::credits_given() noexcept { return std::span(memory_).last(ranks_); }

/// Writes a message to `words`; returns the number of words. If the message is too large for the mailbox, writes only
/// the first word, which says so.
std::size_t Lanes::pack(std::span<Word> words, std::uint32_t number, std::span<const std::byte> bytes) const noexcept {
  constexpr Bytes most = std::numeric_limits<std::uint32_t>::max();
  words[0] = word_of(static_cast<std::uint32_t>(std::min<Bytes>(bytes.size(), most)), number);
  std::size_t count = words_for(bytes.size());
  if (count > words.size()) count = 1;
  for (std::size_t i = 1; i < count; ++i) {
    std::uint32_t data = 0;
    const Bytes at = 4 * (i - 1);
    std::memcpy(&data, bytes.data() + at, std::min<Bytes>(4, bytes.size() - at));
    words[i] = word_of(data, number);
  }
  if (number % period != 0) return count;
  std::ranges::fill(words.subspan(count), word_of(0, number));
  return words.size();
}

Lanes::Sending Lanes::send(Ticket ticket, Rank target, std::span<const std::byte> bytes) noexcept {
  const auto to = static_cast<std::size_t>(target);
  if (sent_[to] - credits_seen()[to] >= mailboxes) return Sending::waits;
  const auto copy = std::ranges::find(copies_, false, &Copy::is_used);
  if (copy == copies_.end()) return Sending::waits;
  const LaneNotice& notice = notices_[to];
  const std::uint64_t message = sent_[to];
  const auto words = copy_words(static_cast<std::size_t>(copy - copies_.begin())).first(notice.mailbox_words);
  const std::size_t count = pack(words, number_of(message), bytes);
  if (window_->write(words.first(count), target, first_word_of(notice, rank_, message), copy->writing) != MPI_SUCCESS) {
    copy->writing = MPI_REQUEST_NULL;
    return Sending::failed;
  }
  sent_[to] += 1;
  copy->ticket = ticket;
  copy->is_used = true;
  return Sending::started;
}

void Lanes::look_for_credits() noexcept {
  if (!reads_credits_) {
    if (window_->read(credits_read(), *first_, reading_credits_) != MPI_SUCCESS) return;
    reads_credits_ = true;
  }
  take_credits();
}

/// Takes over the credits that are being read, if the read has ended.
void Lanes::take_credits() noexcept {
  const RequestState state = state_of(reading_credits_);
  reads_credits_ = state == RequestState::pending;
  if (state == RequestState::done) std::ranges::copy(credits_read(), credits_seen().begin());
}

std::optional<Lanes::Sent> Lanes::take_sent() noexcept {
  for (Copy& copy : copies_) {
    if (!copy.is_used) continue;
    const RequestState state = state_of(copy.writing);
    if (state == RequestState::pending) continue;
    copy.is_used = false;
    return Sent{.ticket = copy.ticket, .failed = state == RequestState::failed};
  }
  return std::nullopt;
}

bool Lanes::start_reading(Rank source, std::size_t words) noexcept {
  const LaneNotice& own = notices_[static_cast<std::size_t>(rank_)];
  const std::uint64_t first_word = first_word_of(own, source, incoming_[static_cast<std::size_t>(source)].received);
  if (window_->read(arrived_words().first(words), first_word, reading_) != MPI_SUCCESS) return false;
  reads_from_ = source;
  asked_ = words;
  return true;
}

/// Returns the number of words of the message that was being read, if its first word has arrived; else 0.
std::size_t Lanes::words_there(Rank source) noexcept {
  const std::uint32_t number = number_of(incoming_[static_cast<std::size_t>(source)].received);
  const std::span<const Word> words = arrived_words();
  if (number_in(words[0]) != number) return 0;
  if (number % period == 0) return words.size();
  const std::size_t count = words_for(data_of(words[0]));
  return count > words.size() ? 1 : count;
}

std::optional<Lanes::Arrival> Lanes::look(Rank source) noexcept {
  if (incoming_[static_cast<std::size_t>(source)].owes) pay(source);
  if (reads_from_ >= 0 && reads_from_ != source) return std::nullopt;  // only one read may be open at a time
  const std::span<const Word> words = arrived_words();
  if (reads_from_ < 0 && !start_reading(source, std::min(first_look, words.size()))) return Arrival{.failed = true};
  for (;;) {
    const RequestState state = state_of(reading_);
    if (state == RequestState::pending) return std::nullopt;
    reads_from_ = -1;
    if (state == RequestState::failed) return Arrival{.failed = true};
    const std::size_t count = words_there(source);
    if (count == 0) return std::nullopt;
    if (count > asked_) {
      if (!start_reading(source, count)) return Arrival{.failed = true};
      continue;
    }
    const std::uint32_t number = number_in(words[0]);
    const auto carries_it = [number](Word word) { return number_in(word) == number; };
    if (!std::ranges::all_of(words.first(count), carries_it)) return std::nullopt;
    const Bytes size = data_of(words[0]);
    const bool fits = words_for(size) <= words.size();
    return Arrival{.size = size, .words = fits ? words.subspan(1, words_for(size) - 1) : std::span<const Word>()};
  }
}

void Lanes::accept(Rank source) noexcept {
  incoming_[static_cast<std::size_t>(source)].received += 1;
  pay(source);
}

/// Writes to a source how many of its messages this rank has taken.
void Lanes::pay(Rank source) noexcept {
  const auto from = static_cast<std::size_t>(source);
  Incoming& incoming = incoming_[from];
  incoming.owes = state_of(incoming.crediting) == RequestState::pending;
  if (incoming.owes) return;
  Word& credit = credits_given()[from];
  credit = incoming.received;
  const std::uint64_t first_word = notices_[from].first + static_cast<std::uint64_t>(rank_);
  incoming.owes = window_->write({&credit, 1}, source, first_word, incoming.crediting) != MPI_SUCCESS;
  if (incoming.owes) incoming.crediting = MPI_REQUEST_NULL;
}

bool Lanes::has_open_requests() noexcept {
  if (reads_credits_) take_credits();
  bool is_open = state_of(reading_) == RequestState::pending || reads_credits_;
  for (Copy& copy : copies_) is_open = state_of(copy.writing) == RequestState::pending || is_open;
  for (Incoming& incoming : incoming_) is_open = state_of(incoming.crediting) == RequestState::pending || is_open;
  return is_open;
}

void Lanes::rest(bool is_idle) noexcept {
  is_at_rest_ = true;
  was_given_up_ = !is_idle;
  window_->leave();
}

/// Whether all sent messages have been taken and their credits have arrived. After that no more credits can arrive.
bool Lanes::have_settled() noexcept {
  if (!is_at_rest_ || was_given_up_ || !are_connected()) return false;
  for (Rank source = 0; source < static_cast<Rank>(ranks_); ++source)
    if (incoming_[static_cast<std::size_t>(source)].owes) pay(source);
  if (has_open_requests()) return false;
  look_for_credits();
  return !reads_credits_ && std::ranges::equal(sent_, credits_seen());
}

}  // namespace steadfold::transport
