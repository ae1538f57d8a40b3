// What the checker's slots hold in place of bytes, and what it keeps of communications.
// Rank order: a tree of merges names its operands from left to right.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/checker/row_set.hpp"

namespace steadfold::schedule {

/// What a slot holds: which rows, merged in which order, ready in which round. `tree` stands for the bracketing: equal
/// trees merge equal operands in equal order.
struct Cell {
  RowSet rows;
  bool filled = false;
  bool in_flight = false;  // a communication may still change it
  bool unread = false;     // a message has landed that nothing has read
  int being_sent = 0;      // communications under way that read it
  std::uint64_t tree = 0;
  Count ready = 0;
};

/// Whether a communication has started, and what became of it.
struct Started {
  bool yes = false;
  bool arrived = false;  // the message of a receive that has not ended
  Count round = 0;       // in which a send starts
};

/// One add_words of all ranks.
struct Addition {
  std::vector<std::uint32_t> started;  // by their numbers
  std::uint32_t segment = 0;
};

/// How many messages of a segment carry what.
struct Carried {
  Count partials = 0;
  Count values = 0;
};

/// The tree of two.
inline std::uint64_t joined_tree(std::uint64_t left, std::uint64_t right) {
  std::uint64_t mixed = (left ^ (right * 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
  mixed ^= mixed >> 29;
  return mixed * 0x94D049BB133111EBu + left;
}

}  // namespace steadfold::schedule
