// Makes programs of steps; one that makes many keeps its tables, and a program that is made anew its memory.
// Rank order: that of the steps. Cost: O(steps); allocates only where a program is larger than those before it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program.hpp"
#include "schedule/slot_table.hpp"

namespace steadfold::schedule {

/// Gives slots places and communications tickets, and works out which completions a step must wait for: it follows, for
/// every slot, which communications still read or write it. One thread at a time.
class Compiler {
 public:
  /// Takes all steps out of the generator, as Program's constructor does. Afterwards `program` is theirs, whatever it
  /// was before.
  void compile(Steps steps, std::uint32_t segments, Program& program);

 private:
  static constexpr std::uint32_t none = Program::no_place;

  struct SlotUsers {
    std::uint32_t writer = none;   // the last communication that writes the slot
    std::uint32_t readers = none;  // in reads_: the last communication that reads it since it was last written
  };
  struct OpenRead {
    std::uint32_t ticket;
    std::uint32_t before;  // in reads_
  };

  void start(std::uint32_t segments, Program& program);
  void add(const Step& step);
  void require_number(Slot slot) const;
  std::uint32_t read(Slot slot);
  std::uint32_t write(Slot slot);
  void open(const Step& step, const Program::Places& places);
  void add_to_wave(std::uint32_t ticket);
  void wait_for_readers(std::uint32_t last);
  void wait_for(std::uint32_t ticket);
  std::uint32_t place_of(Slot slot);

  Program* program_ = nullptr;
  SlotTable table_{1};
  std::vector<Slot> slots_;               // by place
  std::vector<SlotUsers> traffic_;        // by place
  std::vector<OpenRead> reads_;           // of all slots
  std::vector<std::uint8_t> waited_for_;  // by ticket
  bool in_message_ = false;               // the step before was not the last of its message
  std::uint32_t first_ = 0;               // the message's first step
};

}  // namespace steadfold::schedule
