// A small value that fills a whole word.
#pragma once

#include <cstdint>
#include <type_traits>

namespace steadfold::call {

/// A value of an enumeration or of a small type, stored in a whole word, so that there is no padding after it.
template <class T>
class WholeWord {
 public:
  constexpr WholeWord() = default;
  constexpr WholeWord(T value) noexcept {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_signed_v<T>)
      word_ = static_cast<std::make_unsigned_t<T>>(value);  // avoids a sign extension
    else
      word_ = static_cast<std::uint64_t>(value);
  }
  constexpr operator T() const noexcept { return static_cast<T>(word_); }  // NOLINT(google-explicit-constructor)

 private:
  std::uint64_t word_ = 0;
};

}  // namespace steadfold::call
