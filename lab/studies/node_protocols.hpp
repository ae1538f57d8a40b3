// The protocols of src/transport as the study uses them: on the memory of a process, for vectors of doubles.
#pragma once

#include <array>
#include <functional>

#include "lab/protocols/counted.hpp"
#include "lab/protocols/dissemination.hpp"
#include "lab/protocols/tree_allreduce.hpp"
#include "lab/protocols/tree_reduce.hpp"

namespace steadfold::command::studies::node {

/// The protocols for vectors of that length. A lane has so many boxes: two are [S2]'s odd and even, more its "modulo
/// N".
template <std::size_t doubles, std::size_t boxes = 2, class Operation = std::plus<double>>
struct Protocols {
  static constexpr std::size_t depth = boxes;
  using Memory = transport::MachineMemory;
  using Content = std::array<double, doubles>;
  using TreeLane = transport::Lane<Memory, Content, depth>;
  using Sender = transport::LaneSender<Memory, Content, depth>;
  using Receiver = transport::LaneReceiver<Memory, Content, depth>;
  using Place = transport::TreePlace<Memory, Content, depth>;
  using Node = transport::TreeNode<Memory, Content, depth>;
  using CountedNode = transport::CountedNode<Memory, Content, depth>;
  using Feed = transport::Feed<Memory, Content, depth>;

  struct Sum {
    Content values{};
    void merge(const Content& other) {
      for (std::size_t i = 0; i < doubles; ++i) values[i] = Operation{}(values[i], other[i]);
    }
    void write(Content& other) const { other = values; }
    void read(const Content& other) { values = other; }
  };
  using Single = transport::SingleNotify<Memory, Content, depth, Sum>;
  using Multi = transport::MultiNotify<Memory, Content, depth, Sum>;
  using Broadcast = transport::TreeAllreduce<Memory, Content, depth, Sum>;
  using Round = transport::Dissemination<Memory, Content, Sum>;
  using Counted = transport::CountedNotify<Memory, Content, depth, Sum>;
  using CountedBroadcast = transport::CountedBroadcast<Memory, Content, depth, Sum>;
};

struct Larger {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

}  // namespace steadfold::command::studies::node
