// The guarantees of a call: the facts on which its bits do not depend. This is the table of docs/guarantees.md.
// Cost: O(1).
#pragma once

#include <cstdint>

namespace steadfold::call {

struct Call;
struct Description;

/// Facts on which a call's bits must not depend, as a set of bits. The numbers are equal to the numbers of sf_guarantee
/// in steadfold.h.
using Guarantees = std::uint32_t;
namespace guarantee {
inline constexpr Guarantees none = 0;
inline constexpr Guarantees ranks = 1;
inline constexpr Guarantees threads = 2;
inline constexpr Guarantees layout = 4;
inline constexpr Guarantees schedule = 8;
inline constexpr Guarantees library = 16;
inline constexpr Guarantees target = 32;
inline constexpr Guarantees release = 64;
inline constexpr Guarantees all = 127;
}  // namespace guarantee

/// Returns all guarantees that a call with this description keeps.
Guarantees kept(const Description& description) noexcept;

/// Throws Failure if a call requires a guarantee that it cannot keep.
void require_kept(const Call& call);

}  // namespace steadfold::call
