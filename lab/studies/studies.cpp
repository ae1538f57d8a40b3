// The table of studies.
#include <array>

#include "butterfly.hpp"
#include "node.hpp"
#include "pipelines.hpp"
#include "study.hpp"
#include "thesis.hpp"
#include "topology.hpp"

namespace steadfold::command::studies {
namespace {

const std::array studies = {
    Study{"thesis", "S0", "Core-count independent reproducible reduce: messages, run times, reproducibility",
          thesis::parts, true},
    Study{"pipelines", "S1", "Pipelined allreduce: run times and blocks over the length of the vector",
          pipelines::parts},
    Study{"node", "S2",
          "Bitwise reproducible sum: reductions between the threads of a node, and sums by double and single sweep",
          node::parts, true},
    Study{"topology", "S3",
          "On the reproducibility of MPI reduction operations: what groups of ranks do to bits and time",
          topology::parts},
    Study{"butterfly", "S4", "Butterfly-like allreduces: ranks, ports, rounds, messages and times", butterfly::parts},
};

}  // namespace

std::span<const Study> all() { return studies; }

}  // namespace steadfold::command::studies
