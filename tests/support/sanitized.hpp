// Whether a sanitizer watches, under which everything takes several times as long.
#pragma once

namespace steadfold::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace steadfold::test
