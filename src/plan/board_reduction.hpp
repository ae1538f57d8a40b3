// Reductions without messages, by ranks that see each other's memory: every rank reads the data that the other ranks
// post. These reductions are faster than the interpreter of schedules and give the same bits.
// Rank order: as the partial requires. Cost: one exchange of cache lines. For wide rows two exchanges, between which
// every rank reduces its share of the columns. Source: Lapillonne & Peltekov 2013, for data stored beside their flag,
// and for even and odd rounds.
#pragma once

#include <memory>

#include "plan/agreement.hpp"
#include "plan/rows.hpp"
#include "transport/shared/board.hpp"

namespace steadfold::plan {

class BoardReduction {
 public:
  explicit BoardReduction(std::shared_ptr<transport::Board> board) : board_(std::move(board)) {}
  virtual ~BoardReduction() = default;
  BoardReduction(const BoardReduction&) = delete;
  BoardReduction& operator=(const BoardReduction&) = delete;

  /// Whether all ranks had memory for this kind of run. The answer is the same on all ranks.
  bool is_possible() const noexcept { return board_->is_connected(); }

  /// Starts a run on this rank's data, which `rows.take` has received. `stays`: see Plan::start.
  virtual void start(const Data& data, bool stays) = 0;

  enum class TestResult : std::uint8_t { pending, done, by_messages };
  /// Advances the run. `done`: the run has ended, and if `status` is ok, the result is written. `by_messages`: nothing
  /// has been done yet, because these data must be reduced with messages, by the interpreter.
  virtual TestResult test() = 0;
  Status status() const noexcept { return status_; }

  /// Returns the number of posts and their bytes, counted as if each post were a message to every other rank.
  transport::Traffic traffic() const noexcept { return traffic_; }

 protected:
  transport::Board& board() noexcept { return *board_; }
  std::size_t rank_count() const noexcept { return board_->rank_count(); }
  void post(Bytes size, Status status = Status::ok) noexcept {
    board_->post(size, static_cast<std::uint8_t>(status));
    traffic_.messages += rank_count() - 1;
    traffic_.bytes += (rank_count() - 1) * size;
  }

  Status status_ = Status::ok;

 private:
  std::shared_ptr<transport::Board> board_;
  transport::Traffic traffic_;
};

/// Makes the object that runs a plan in common memory. Returns null if its ranks see no common memory, if the caller
/// named a schedule, or if the interpreter is faster. `agreed` and `rows` must outlive the object. Throws
/// std::runtime_error if memory runs out.
std::unique_ptr<BoardReduction> make_board_reduction(const Agreement& agreed, RowsPayload& rows,
                                                     transport::Transport& transport, std::uint32_t tag);

}  // namespace steadfold::plan
