// Reductions of ranks that see each other's memory, without messages: every rank reads the posts of the others. These
// are fast paths beside the interpreter, with the same bits.
// Rank order: as the partial requires. Cost: one exchange of cache lines. For wide rows two exchanges, between which
// every rank reduces its share of the columns. Source: Lapillonne & Peltekov 2013 for data beside its flag, and for
// even and odd rounds.
#pragma once

#include <memory>

#include "agreement/agreement.hpp"
#include "execution/rows.hpp"
#include "transport/shared/board.hpp"

namespace steadfold::execution {

class Together {
 public:
  explicit Together(std::shared_ptr<transport::Board> board) : board_(std::move(board)) {}
  virtual ~Together() = default;
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  /// Whether all ranks had memory for it. The same on all ranks.
  bool is_possible() const noexcept { return board_->is_connected(); }

  /// Starts a run on this rank's data, which `rows` has taken. `stays`: see Plan::start.
  virtual void start(const Data& data, bool stays) = 0;

  enum class TestResult : std::uint8_t { pending, done, by_messages };
  /// Makes progress. `done`: if `status` is ok, the result is in its place. `by_messages`: the ranks have found out
  /// that the interpreter has to reduce these data, and nothing has been done yet.
  virtual TestResult test() = 0;
  Status status() const noexcept { return status_; }

  /// Messages and bytes posted, counted as if each post had been sent to every other rank.
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

/// Makes the object that runs a plan together. Returns null if its ranks see no common memory, if the caller named a
/// schedule, or if the interpreter is faster. `agreed` and `rows` must outlive it. Throws std::runtime_error if memory
/// runs out.
std::unique_ptr<Together> make_together(const agreement::Agreement& agreed, RowsPayload& rows,
                                        transport::Transport& transport, std::uint32_t tag);

}  // namespace steadfold::execution
