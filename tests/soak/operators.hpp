// User operators: functions of two elements, and the function that the C interface takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steadfold::soak {

struct UserOperator {
  const char* name;
  std::size_t bytes;  // bytes of an element
  bool commutative;
  bool associative;  // bit for bit: every bracketing that keeps the order gives the same result
  void (*combine)(const std::byte* left, const std::byte* right, std::byte* result);  // `result` is neither operand
};

inline constexpr int user_count = 6;
const UserOperator& user_operator(int which);

/// An element that operators refuse to combine, if they are told to.
inline constexpr std::byte poison{0xFD};

/// The context of an operator. It lives as long as the call or plan.
struct UserContext {
  int which = 0;
  bool fails_on_poison = false;
  bool writes_right = false;
  int fails_at = 0;  // the number of the call that fails, from 1; 0: none
  std::atomic<int> calls = 0;
};

/// Applies the operator of a UserContext to arrays, as sf_operation functions do. The result may be the left operand.
/// It may be the right operand only if the context says so; otherwise the call fails.
int apply_user(const void* left, const void* right, void* result, std::size_t count, void* context);

}  // namespace steadfold::soak
