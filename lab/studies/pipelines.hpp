// The study of [S1]: allreduce by its algorithms and ours, one file per part.
// Source: [S1] table 2 and sections 2.3, 2.5 and 4.3. Floats, maximum, vectors of 1 to 10^7, up to 36 nodes of 32
// processes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "predicted.hpp"
#include "study.hpp"

namespace steadfold::command::studies::pipelines {

Findings sizes(const Asked& asked);
Findings blocks(const Asked& asked);
Findings duplex(const Asked& asked);
Findings measured(const Asked& asked);

inline constexpr std::array<Part, 4> parts = {{
    {"sizes", "predicted times of all algorithms on 1152 ranks or --configurations, the lemma's block and the best one",
     sizes},
    {"blocks", "predicted times of the linear pipeline over 10^7 floats by block, for nodes x processes", blocks},
    {"duplex", "predicted times with ports that send and receive at once, and with ports that do either", duplex},
    {"measured", "allreduce by all algorithms on ranks that are started here, as ratios to MPI_Allreduce", measured},
}};

/// The blocks that [S1] tried, table 2.
enum class BlockSizes : std::uint8_t { none, powers_of_ten, down_to_a_quarter };

struct Algorithm {
  const char* schedule;
  const char* of;  // where it comes from
  BlockSizes tried;
  double vectors;  // how many vectors' time on a port a long one costs by sections 2.5 and 4.3; 0: not stated
};
inline constexpr Algorithm algorithms[] = {
    {"reduce_broadcast", "S1, exercise 1", BlockSizes::none, 0},
    {"pipelined_linear", "S1, exercise 2", BlockSizes::powers_of_ten, 2},
    {"doubly_pipelined_linear:roots=1", "S1, exercise 3", BlockSizes::down_to_a_quarter, 0},
    {"doubly_pipelined_linear", "exercise 3, two roots", BlockSizes::down_to_a_quarter, 0},
    {"pipelined_tree", "S1, exercise 4", BlockSizes::down_to_a_quarter, 4},
    {"doubly_pipelined_tree:roots=1", "S1, exercise 5", BlockSizes::down_to_a_quarter, 3},
    {"doubly_pipelined_tree", "Träff, two roots", BlockSizes::down_to_a_quarter, 3},
    {"transpose", "ours", BlockSizes::none, 0},
    {"ring", "ours", BlockSizes::none, 0},
    {"halving_doubling", "ours", BlockSizes::none, 0},
    {"circulant", "ours", BlockSizes::none, 0},
};

inline constexpr order::Count counts[] = {1, 2, 100, 512, 4096, 10000, 65536, 524288, 1000000, 10000000};

inline Vectors floats(order::Rank ranks, order::Count count) {
  return {.ranks = ranks, .columns = count, .type = arithmetic::Type::f32, .operation = arithmetic::Operation::max};
}

/// Nodes of a job and processes on each.
struct Configuration {
  int nodes;
  int processes;

  order::Rank ranks() const { return nodes * processes; }
};

/// As [S1] writes it: "36 x 32".
std::string text_of(const Configuration& configuration);
/// Those that were asked for. Throws Failure if one cannot be read.
std::vector<Configuration> configurations_in(const Asked& asked);

/// Turns the link into that of the linear cost model, in which a message keeps its ports for all of its time.
inline Asked linear(Asked asked) {
  asked.link = {.latency = 0, .gap = asked.link.latency + asked.link.gap, .per_byte = asked.link.per_byte};
  return asked;
}

/// A predicted time: by simulation if that takes less than some seconds and a GiB, else by the model.
struct Time {
  double seconds;
  const char* by;
};
Time time_of(const Vectors& vectors, const std::string& schedule, const Asked& asked);

/// How many columns a segment has.
inline order::Count block_of(order::Count count, std::uint32_t segments) { return (count - 1) / segments + 1; }

}  // namespace steadfold::command::studies::pipelines
