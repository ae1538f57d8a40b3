// The contents of the checker's slots in place of bytes, and its records of communications.
// Rank order: a tree of merges names its operands from left to right.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/checker/row_set.hpp"

namespace steadfold::schedule {

/// The contents of a slot: which rows, merged in which order, ready in which round. `tree` identifies the order of
/// merges: equal trees merge equal operands in the same order.
struct Cell {
  RowSet rows;
  bool filled = false;
  bool in_flight = false;  // whether a communication may still change the slot
  bool unread = false;     // whether a message has arrived that no step has read
  int being_sent = 0;      // number of open communications that read the slot
  std::uint64_t tree = 0;
  Count ready = 0;
};

/// Whether a communication has started, and its state.
struct Started {
  bool yes = false;
  bool arrived = false;  // whether the message of a receive that has not ended has arrived
  Count round = 0;       // round in which a send starts
};

/// One add_words step of all ranks.
struct Addition {
  std::vector<std::uint32_t> started;  // numbers of the communications that have started
  std::uint32_t segment = 0;
};

/// How many messages of a segment carry partials, and how many carry values.
struct Carried {
  Count partials = 0;
  Count values = 0;
};

/// Returns the tree of a merge of two trees.
inline std::uint64_t joined_tree(std::uint64_t left, std::uint64_t right) {
  std::uint64_t mixed = (left ^ (right * 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
  mixed ^= mixed >> 29;
  return mixed * 0x94D049BB133111EBu + left;
}

}  // namespace steadfold::schedule
