#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

MergedHeader merge_headers(std::span<const std::byte> left, std::span<const std::byte> right) noexcept {
  const Header a = header_of(left);
  const Header b = header_of(right);
  Header merged = a;
  merged.status = worse(a.status, b.status);
  if (a.digest != b.digest) merged.status = worse(merged.status, Status::mismatch);
  return {merged, merged.status == Status::ok};
}

Bytes write_failure(std::span<std::byte> out, Header header, Status status) noexcept {
  header.status = worse(header.status, status);
  set_header(out, header);
  return sizeof header;
}

}  // namespace steadfold::arithmetic
