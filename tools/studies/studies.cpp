// The table of studies.
#include <array>

#include "study.hpp"
#include "thesis.hpp"

namespace steadfold::command::studies {
namespace {

const std::array studies = {
    Study{"thesis", "S0", "Core-count independent reproducible reduce: messages, run times, reproducibility",
          thesis::parts},
};

}  // namespace

std::span<const Study> all() { return studies; }

}  // namespace steadfold::command::studies
