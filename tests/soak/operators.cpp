#include "operators.hpp"

#include <array>

#include "types.hpp"

namespace steadfold::soak {
namespace {

std::uint64_t scrambled(std::uint64_t x) { return (x ^ x >> 29) * 0xD6E8FEB86659FD93u; }

/// A hash: every other order or bracketing gives a different number.
void hash(const std::byte* left, const std::byte* right, std::byte* result) {
  write(result, scrambled(5 * read<std::uint64_t>(left) + 3 * read<std::uint64_t>(right) + 1));
}

/// A commutative hash: every other bracketing gives a different number.
void hash_of_pair(const std::byte* left, const std::byte* right, std::byte* result) {
  write(result, scrambled(read<std::uint64_t>(left) + read<std::uint64_t>(right)));
}

/// Multiplies 2 x 2 matrices of doubles. Products are rounded, so they are not associative bit for bit.
void matrix_product(const std::byte* left, const std::byte* right, std::byte* result) {
  const auto l = read<std::array<double, 4>>(left);
  const auto r = read<std::array<double, 4>>(right);
  write(result, std::array<double, 4>{l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],  //
                                      l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3]});
}

/// Composes functions x -> a x + b modulo 2^64: associative, but not commutative.
void affine(const std::byte* left, const std::byte* right, std::byte* result) {
  const auto l = read<std::array<std::uint64_t, 2>>(left);
  const auto r = read<std::array<std::uint64_t, 2>>(right);
  write(result, std::array<std::uint64_t, 2>{l[0] * r[0], r[0] * l[1] + r[1]});
}

/// Combines five bytes, each separately.
void bytes_of_five(const std::byte* left, const std::byte* right, std::byte* result) {
  for (int i = 0; i < 5; ++i) {
    const auto l = static_cast<unsigned>(left[i]);
    const auto r = static_cast<unsigned>(right[i]);
    result[i] = static_cast<std::byte>((7 * l + 3 * r + l * r) % 251);
  }
}

/// Sums: commutative and associative.
void sums_of_three(const std::byte* left, const std::byte* right, std::byte* result) {
  for (int i = 0; i < 3; ++i)
    result[i] = static_cast<std::byte>(static_cast<unsigned>(left[i]) + static_cast<unsigned>(right[i]));
}

constexpr std::array<UserOperator, user_count> operators = {{
    {"hash", 8, false, false, hash},
    {"hash of pair", 8, true, false, hash_of_pair},
    {"matrix product", 32, false, false, matrix_product},
    {"affine", 16, false, true, affine},
    {"five bytes", 5, false, false, bytes_of_five},
    {"three sums", 3, true, true, sums_of_three},
}};

bool is_poison(const std::byte* element, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (element[i] != poison) return false;
  return true;
}

}  // namespace

const UserOperator& user_operator(int which) { return operators[static_cast<std::size_t>(which)]; }

int apply_user(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto& user = *static_cast<UserContext*>(context);
  const UserOperator& op = user_operator(user.which);
  std::array<std::byte, 32> combined;
  if (++user.calls == user.fails_at) return 1;
  if (result == right && !user.writes_right) return 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const l = static_cast<const std::byte*>(left) + i * op.bytes;
    const auto* const r = static_cast<const std::byte*>(right) + i * op.bytes;
    if (user.fails_on_poison && (is_poison(l, op.bytes) || is_poison(r, op.bytes))) return 1;
    op.combine(l, r, combined.data());
    std::memcpy(static_cast<std::byte*>(result) + i * op.bytes, combined.data(), op.bytes);
  }
  return 0;
}

}  // namespace steadfold::soak
