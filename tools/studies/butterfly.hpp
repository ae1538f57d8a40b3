// The study of [S4]: butterfly-like allreduces. One file per part.
// Source: [S4] section III.
#pragma once

#include <array>

#include "study.hpp"

namespace steadfold::command::studies::butterfly {

Findings adaptable(const Asked& asked);

inline constexpr std::array<Part, 1> parts = {{
    {"adaptable", "for which ranks and ports n-way dissemination can be adapted by boundaries alone, and what it sends",
     adaptable},
}};

}  // namespace steadfold::command::studies::butterfly
