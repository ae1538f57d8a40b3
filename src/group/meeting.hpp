// A small allreduce by which all ranks exchange information outside reductions.
// Rank order: kept. Cost: if all ranks see common memory, each posts its data on a board, and every rank merges all
// posts. Otherwise recursive doubling, or an allreduce by nodes. Source: Lapillonne & Peltekov 2013 for boards.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "plan/stage.hpp"
#include "transport/shared/board.hpp"

namespace steadfold::group {

using arithmetic::Partial;
using arithmetic::Pieces;
using arithmetic::Room;
using order::Bytes;
using order::Rank;

/// Payload and transport must outlive a meeting. Use a meeting only after its board and its stage are connected. A
/// meeting cannot be moved.
class Meeting {
 public:
  /// `nodes` are the nodes of the machine and must outlive this object. Null: there is one node, or the nodes are
  /// unknown. Throws std::runtime_error if memory runs out.
  Meeting(plan::Payload& payload, transport::Transport& transport, std::uint32_t tag, const order::Nodes* nodes)
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
  /// Makes progress with the exchange, and returns whether it is complete.
  bool advance() { return is_by_board() ? merge_posts() : stage_.advance(); }

  /// Returns the merged partial. Valid after `advance` has returned true.
  std::span<const std::byte> outcome() const noexcept {
    return is_by_board() ? outcome_ : stage_.executor().value(0).head;
  }
  Status status() const noexcept {
    const Status of_outcome = arithmetic::header_of(outcome()).status;
    return is_by_board() ? of_outcome : worse(stage_.executor().status(), of_outcome);
  }

 private:
  bool is_by_board() const noexcept { return board_ != nullptr && board_->is_connected(); }

  /// Merges the posts of all ranks in rank order, so that all ranks get the same result. Returns false if an operator
  /// has postponed a merge.
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

  plan::Payload* payload_;
  Bytes capacity_;
  plan::Stage stage_;
  // Null if the ranks see no common memory, or if there are too many ranks for a board.
  std::shared_ptr<transport::Board> board_;
  std::array<std::vector<std::byte>, 2> rooms_;
  std::span<const std::byte> outcome_;
  std::size_t merged_ = 0;  // number of posts that are merged so far
  Pieces pieces_;           // progress of the merge with the next post
};

}  // namespace steadfold::group
