// Whether a sanitizer watches, under which everything takes several times as long.
#pragma once

namespace steadfold::test {

#ifdef STEADFOLD_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace steadfold::test
