#include "collective/opening.hpp"

#include <cstring>

namespace steadfold::collective {
namespace {

void set_route(std::span<std::byte> bytes, Route route) {
  std::memcpy(bytes.data() + sizeof(Header), &route, sizeof route);
}

}  // namespace

void Opening::take(const Header& mine, Route route, const arithmetic::PartialKind* kind, Bytes partial_bytes) noexcept {
  arithmetic::set_header(mine_, mine);
  set_route(mine_, route);
  size_ = prefix + (route == Route::here ? partial_bytes : 0);
  kind_ = kind;
}

Route Opening::route_of(std::span<const std::byte> bytes) noexcept {
  Route route = Route::bind;
  if (bytes.size() >= prefix) std::memcpy(&route, bytes.data() + sizeof(Header), sizeof route);
  return route;
}

Bytes Opening::lift(std::uint32_t /*segment*/, std::span<std::byte> out) {
  std::memcpy(out.data(), mine_.data(), size_);
  return size_;
}

Bytes Opening::merge(std::uint32_t /*segment*/, std::span<const std::byte> left, std::span<const std::byte> right,
                     std::span<std::byte> out) {
  auto [header, ok] = arithmetic::merge_headers(left, right);
  Route route = route_of(left) == route_of(right) ? route_of(left) : Route::bind;
  Bytes size = prefix;
  if (ok && route == Route::here) {
    const Bytes merged = kind_->merge(partial_of(left), partial_of(right), out.subspan(prefix));
    const Status status = arithmetic::header_of(out.subspan(prefix)).status;
    if (status == Status::transport_failed)
      route = Route::bind;  // it grew beyond the opening
    else if (status != Status::ok)
      header.status = status;
    else
      size += merged;
  }
  arithmetic::set_header(out, header);
  set_route(out, route);
  return size;
}

Bytes Opening::finish(std::uint32_t /*segment*/, std::span<const std::byte> partial, std::span<std::byte> out) {
  if (partial.size() < prefix) return arithmetic::write_failure(out, {}, Status::transport_failed);
  std::memcpy(out.data(), partial.data(), partial.size());
  return partial.size();
}

}  // namespace steadfold::collective
