// Whether the tests run under a sanitizer, which makes them several times slower.
#pragma once

namespace steadfold::test {

#ifdef STEADFOLD_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace steadfold::test
