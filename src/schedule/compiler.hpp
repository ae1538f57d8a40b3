// Makes programs from steps. A compiler that makes many programs reuses its tables, and a program that is made again
// reuses its memory.
// Rank order: the order of the steps. Cost: O(steps). Allocates only if a program is larger than all before it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program.hpp"
#include "schedule/slot_table.hpp"

namespace steadfold::schedule {

/// Assigns indices to slots and tickets to communications, and finds the completions for which each step must wait. To
/// this end it tracks, for every slot, the communications that still read or write it. Use the object from one thread
/// at a time.
class Compiler {
 public:
  /// Takes all steps out of the generator, as the constructor of Program does. Replaces the contents of `program`.
  void compile(Steps steps, std::uint32_t segments, Program& program);

 private:
  static constexpr std::uint32_t none = Program::no_slot;

  struct SlotUsers {
    std::uint32_t writer = none;   // ticket of the last communication that writes the slot
    std::uint32_t readers = none;  // index in reads_ of the last communication that reads the slot after its last write
  };
  struct OpenRead {
    std::uint32_t ticket;
    std::uint32_t before;  // index in reads_ of the read before
  };

  void start(std::uint32_t segments, Program& program);
  void add(const Step& step);
  void require_number(Slot slot) const;
  std::uint32_t read(Slot slot);
  std::uint32_t write(Slot slot);
  void open(const Step& step, const Program::SlotIndices& indices);
  void add_to_wave(std::uint32_t ticket);
  void wait_for_readers(std::uint32_t last);
  void wait_for(std::uint32_t ticket);
  std::uint32_t index_of(Slot slot);

  Program* program_ = nullptr;
  SlotTable table_{1};
  std::vector<Slot> slots_;               // the slots, by index
  std::vector<SlotUsers> traffic_;        // communications that use each slot, by index
  std::vector<OpenRead> reads_;           // reads of all slots
  std::vector<std::uint8_t> waited_for_;  // by ticket: whether a step has waited for the communication
  bool in_message_ = false;               // whether the last step was not the last of its message
  std::uint32_t first_ = 0;               // number of the first step of the message
};

}  // namespace steadfold::schedule
