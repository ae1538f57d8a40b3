#include "plan/bundle.hpp"

#include <algorithm>
#include <cstring>

#include "transport/packing.hpp"

namespace steadfold::plan {

using transport::on_boundary;

namespace {

constexpr std::uint32_t only_segment = 0;

std::uint64_t size_at(std::span<const std::byte> partial, std::size_t member) noexcept {
  std::uint64_t size = 0;
  std::memcpy(&size, partial.data() + sizeof(Header) + member * sizeof size, sizeof size);
  return size;
}

/// Writes zeros from `size` to the next 16-byte boundary. The stores have a fixed size, so a few more zeros may be
/// written; the partial of the next member overwrites them.
void clear_to_boundary(std::span<std::byte> out, Bytes size) noexcept {
  constexpr Bytes boundary = on_boundary(1);
  if (out.size() - size >= boundary)
    std::memset(out.data() + size, 0, boundary);
  else
    std::memset(out.data() + size, 0, std::min(on_boundary(size), out.size()) - size);
}

/// Iterates over the members' partials in a well-formed partial of a bundle.
class Members {
 public:
  Members(std::span<const std::byte> partial, Bytes prefix) : partial_(partial), at_(prefix) {}
  std::span<const std::byte> next() noexcept {
    const Bytes size = size_at(partial_, next_++);
    const auto member = partial_.subspan(at_, size);
    at_ += on_boundary(size);
    return member;
  }

 private:
  std::span<const std::byte> partial_;
  Bytes at_;
  std::size_t next_ = 0;
};

}  // namespace

Bundle::Bundle(std::span<const std::unique_ptr<RowsPayload>> members, std::uint64_t digest)
    : members_(members),
      digest_(digest),
      prefix_(on_boundary(sizeof(Header) + members.size() * sizeof(std::uint64_t))),
      value_bytes_(sizeof(Header)) {
  for (const auto& each : members) {
    values_.push_back({.at = value_bytes_, .bytes = each->value_capacity(only_segment)});
    value_bytes_ += on_boundary(values_.back().bytes);
  }
}

Bytes Bundle::partial_capacity(const Covers& covers, std::uint32_t /*segment*/) const {
  Bytes bytes = prefix_;
  for (const auto& each : members_) bytes += on_boundary(each->partial_capacity(covers, only_segment));
  return bytes;
}

Bytes Bundle::working_capacity(const Covers& covers, std::uint32_t /*segment*/) const {
  Bytes bytes = prefix_;
  for (const auto& each : members_) bytes += on_boundary(each->working_capacity(covers, only_segment));
  return bytes;
}

Bytes Bundle::working_capacity_of_any(std::span<const Covers> parts, std::uint32_t /*segment*/) const {
  Bytes bytes = prefix_;
  for (const auto& each : members_) bytes += on_boundary(each->working_capacity_of_any(parts, only_segment));
  return bytes;
}

Bytes Bundle::value_capacity(std::uint32_t /*segment*/) const { return value_bytes_; }

/// Writes a partial of the bundle. `write_member(i, room)` must write member i's partial into `room` and return its
/// size.
template <class WriteMember>
Bytes Bundle::write(Header header, std::span<std::byte> out, const WriteMember& write_member) const {
  Bytes at = prefix_;
  if (out.size() >= at) std::memset(out.data() + sizeof header, 0, at - sizeof header);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (out.size() < at + sizeof(Header)) return arithmetic::write_failure(out, header, Status::transport_failed);
    const std::uint64_t size = write_member(i, out.subspan(at));
    std::memcpy(out.data() + sizeof header + i * sizeof size, &size, sizeof size);
    header.status = worse(header.status, arithmetic::status_of(out.subspan(at, size)));
    clear_to_boundary(out.subspan(at), size);
    at = std::min(at + on_boundary(size), out.size());
  }
  arithmetic::set_header(out, header);
  return at;
}

/// Whether the partials of all members lie within the bytes. A header by itself is not a bundle.
bool Bundle::well_formed(std::span<const std::byte> partial) const noexcept {
  if (partial.size() < prefix_) return false;
  Bytes left = partial.size() - prefix_;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::uint64_t size = size_at(partial, i);
    if (size > left) return false;
    left -= std::min<Bytes>(on_boundary(size), left);
  }
  return true;
}

Partial Bundle::lift(std::uint32_t /*segment*/, const Covers& covers, std::span<std::byte> out) {
  return out.first(write({.digest = digest_}, out, [&](std::size_t i, std::span<std::byte> room) {
    return members_[i]->lift(only_segment, covers, room).head.size();
  }));
}

Partial Bundle::merge_piece(std::uint32_t /*segment*/, const Partial& left, const Partial& right, const Room& out,
                            Pieces& /*pieces*/) {
  const Header header = arithmetic::merge_headers(left.head, right.head).header;
  if (!well_formed(left.head) || !well_formed(right.head) || header.status == Status::mismatch)
    return arithmetic::failed(out, header, worse(header.status, Status::transport_failed));
  Members lefts(left.head, prefix_);
  Members rights(right.head, prefix_);
  return out.head.first(write(header, out.head, [&](std::size_t i, std::span<std::byte> room) {
    return members_[i]->merge(only_segment, lefts.next(), rights.next(), {room}).head.size();
  }));
}

Partial Bundle::finish_piece(std::uint32_t /*segment*/, const Covers& covers, const Partial& partial, const Room& room,
                             Pieces& /*pieces*/) {
  const std::span<std::byte> out = room.head;
  Header header = arithmetic::header_of(partial.head);
  if (!well_formed(partial.head)) return arithmetic::failed(room, header, Status::transport_failed);
  Members partials(partial.head, prefix_);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto part = out.subspan(values_[i].at, on_boundary(values_[i].bytes));
    const Bytes size = members_[i]->finish(only_segment, covers, partials.next(), {part}).head.size();
    if (size == values_[i].bytes)
      clear_to_boundary(out.subspan(values_[i].at), size);
    else
      std::memset(part.data() + size, 0, part.size() - size);
    header.status = worse(header.status, arithmetic::status_of(part));
  }
  arithmetic::set_header(out, header);
  return out.first(value_bytes_);
}

/// The prepared merges of all members, which run one after the other.
class Bundle::Merge final : public arithmetic::PreparedMerge {
 public:
  Merge(const Bundle& bundle, std::vector<std::unique_ptr<PreparedMerge>> members)
      : bundle_(bundle), members_(std::move(members)) {}

  Bytes merge(const Partial& left, const Partial& right, std::span<std::byte> out) override {
    const auto [header, ok] = arithmetic::merge_headers(left.head, right.head);
    if (!ok || !bundle_.well_formed(left.head) || !bundle_.well_formed(right.head)) return 0;
    Members lefts(left.head, bundle_.prefix_);
    Members rights(right.head, bundle_.prefix_);
    bool all_merged = true;
    const Bytes size = bundle_.write(header, out, [&](std::size_t i, std::span<std::byte> room) {
      const Bytes merged = members_[i]->merge(lefts.next(), rights.next(), room);
      all_merged = all_merged && merged > 0;
      return merged;
    });
    return all_merged ? size : 0;
  }

  Bytes finish(const Partial& left, const Partial& right, const Room& out) override {
    const auto [header, ok] = arithmetic::merge_headers(left.head, right.head);
    if (!ok || !bundle_.well_formed(left.head) || !bundle_.well_formed(right.head)) return 0;
    Members lefts(left.head, bundle_.prefix_);
    Members rights(right.head, bundle_.prefix_);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto part = out.head.subspan(bundle_.values_[i].at);
      const Bytes size = members_[i]->finish(lefts.next(), rights.next(), {part});
      if (size == 0) return 0;
      clear_to_boundary(part, size);
    }
    arithmetic::set_header(out.head, header);
    return bundle_.value_bytes_;
  }

 private:
  const Bundle& bundle_;
  std::vector<std::unique_ptr<PreparedMerge>> members_;
};

Preparation Bundle::prepare_merge(std::uint32_t segment, const Covers& left, const Covers& right,
                                  const Covers* finish) {
  std::vector<std::unique_ptr<arithmetic::PreparedMerge>> merges;
  bool all_finish = true;
  for (const auto& each : members_) {
    Preparation made = each->prepare_merge(segment, left, right, finish);
    if (made.merge == nullptr) return {};
    merges.push_back(std::move(made.merge));
    all_finish = all_finish && made.finishes;
  }
  return {.merge = std::make_unique<Merge>(*this, std::move(merges)), .finishes = all_finish};
}

std::span<const std::byte> Bundle::value_of(std::size_t member, std::span<const std::byte> value) const noexcept {
  if (value.size() != value_bytes_) return value.first(std::min(value.size(), sizeof(Header)));
  return value.subspan(values_[member].at, values_[member].bytes);
}

WordPayload* Bundle::words() noexcept {
  return std::ranges::all_of(members_, [](const auto& each) { return each->words() != nullptr; }) ? this : nullptr;
}

std::size_t Bundle::word_count(std::uint32_t segment) const {
  std::size_t sum = 0;
  for (const auto& each : members_) sum += each->words()->word_count(segment);
  return sum;
}

void Bundle::to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) {
  const bool is_readable = well_formed(partial);
  Members partials(partial, prefix_);
  std::size_t at = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    WordPayload& member = *members_[i]->words();
    const std::size_t count = member.word_count(segment);
    member.to_words(segment, is_readable ? partials.next() : partial, words.subspan(at, count));
    at += count;
  }
}

Bytes Bundle::from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) {
  std::size_t at = 0;
  return write({.digest = digest_}, out, [&](std::size_t i, std::span<std::byte> room) {
    WordPayload& member = *members_[i]->words();
    const std::size_t count = member.word_count(segment);
    const auto part = sums.subspan(at, count);
    at += count;
    return member.from_words(segment, part, room);
  });
}

}  // namespace steadfold::plan
