// What all ranks ask each other beside reductions: an allreduce of one small partial.
// Rank order: kept. Cost: where all ranks see memory in common, one exchange of posts, all of which every rank merges;
// else recursive doubling, or node by node. Source: [S2] for posts.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "execution/stage.hpp"
#include "transport/shared/board.hpp"

namespace steadfold::execution {

/// Payload and transport must outlive it. To be used once both of its ways are connected. Not movable.
class Meeting {
 public:
  /// `nodes`: of the machine, for as long as this takes; null: one, or nobody knows. Throws std::runtime_error when
  /// memory runs out.
  Meeting(Payload& payload, transport::Transport& transport, std::uint32_t tag, const order::Nodes* nodes)
      : payload_(&payload), capacity_(payload.partial_capacity({}, 0)), stage_(payload, transport, tag, nodes) {
    const order::Rank ranks = transport.rank_count();
    if (ranks == 1 || ranks > transport::most_board_ranks || !transport.has_boards()) return;
    board_ = transport.prepare_board(tag, capacity_);
    for (auto& each : rooms_) each.resize(capacity_);
  }

  void begin() {
    if (!is_by_board()) return stage_.begin();
    const Partial mine = payload_->lift(0, {}, std::span(board_->write(capacity_), capacity_));
    board_->post(mine.head.size());
    merged_ = 0;
  }
  /// Whether it is over; to be asked until it is.
  bool advance() { return is_by_board() ? merge_posts() : stage_.advance(); }

  /// Once it is over.
  std::span<const std::byte> outcome() const noexcept {
    return is_by_board() ? outcome_ : stage_.executor().value(0).head;
  }
  Status status() const noexcept {
    const Status of_outcome = arithmetic::header_of(outcome()).status;
    return is_by_board() ? of_outcome : worse(stage_.executor().status(), of_outcome);
  }

 private:
  bool is_by_board() const noexcept { return board_ != nullptr && board_->is_connected(); }

  /// In rank order, so that all ranks come to the same. An operator may want to be called later.
  bool merge_posts() {
    if (merged_ == 0) {
      if (!board_->all_have_posted()) return false;
      outcome_ = board_->of(merged_++);
    }
    for (; merged_ < board_->rank_count(); ++merged_) {
      const Room room{rooms_[merged_ % 2]};
      const Partial merged = payload_->merge_piece(0, outcome_, board_->of(merged_), room, pieces_.begun());
      if (pieces_.more) return false;
      outcome_ = merged.head;
    }
    outcome_ = payload_->finish(0, {}, outcome_, {rooms_[merged_ % 2]}).head;
    board_->end_round();
    return true;
  }

  Payload* payload_;
  Bytes capacity_;
  Stage stage_;
  std::shared_ptr<transport::Board> board_;  // null: ranks see no memory in common, or are too many
  std::array<std::vector<std::byte>, 2> rooms_;
  std::span<const std::byte> outcome_;
  std::size_t merged_ = 0;  // posts
  Pieces pieces_;           // of the next one
};

}  // namespace steadfold::execution
