// Reductions of ranks that see each other's memory: no messages, every rank reads what the others posted. The hot paths
// beside the interpreter, which give the same bits.
// Rank order: as the partial wants it. Cost: one exchange of cache lines; for wide rows two, between which every rank
// reduces its share of the columns. Source: [S2], data beside its flag, odd and even; ours for the shares.
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

  /// Whether the ranks had room for it; the same on all of them.
  bool is_possible() const noexcept { return board_->is_connected(); }

  /// Begins a run on this rank's data, of which `rows` has taken note. `stays`: see Plan::start.
  virtual void start(const Data& data, bool stays) = 0;

  enum class TestResult : std::uint8_t { pending, done, by_messages };
  /// Goes on. `done`: the result is where it is due, if `status` is ok. `by_messages`: the ranks have found out that
  /// the interpreter has to reduce these data, so nothing has happened yet.
  virtual TestResult test() = 0;
  Status status() const noexcept { return status_; }

  /// What was posted, as if it had been sent to every other rank.
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

/// How a plan's runs are carried out together; null if they are not, because its ranks see no memory in common, or a
/// schedule was asked for, or the interpreter serves better. `agreed` and `rows` must outlive it. Throws
/// std::runtime_error when memory runs out.
std::unique_ptr<Together> make_together(const agreement::Agreement& agreed, RowsPayload& rows,
                                        transport::Transport& transport, std::uint32_t tag);

}  // namespace steadfold::execution
