// Operators of users: functions of two elements, and what the C interface takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steadfold::soak {

struct UserOperator {
  const char* name;
  std::size_t bytes;  // of an element
  bool commutative;
  bool associative;  // in bits, so that any bracketing that keeps the order will do
  void (*combine)(const std::byte* left, const std::byte* right, std::byte* result);  // which may be neither of them
};

inline constexpr int user_count = 6;
const UserOperator& user_operator(int which);

/// An element that operators refuse to combine, where told to.
inline constexpr std::byte poison{0xFD};

/// What an operator is called with; lives as long as the call or plan.
struct UserContext {
  int which = 0;
  bool fails_on_poison = false;
  bool writes_right = false;
  int fails_at = 0;  // this call of it, from 1 on; 0: none
  std::atomic<int> calls = 0;
};

/// The operator of a UserContext on arrays, as sf_operator. The result may be the left one, and
/// the right one if it was said so: else it fails.
int apply_user(const void* left, const void* right, void* result, std::size_t count, void* context);

}  // namespace steadfold::soak
