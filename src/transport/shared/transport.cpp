#include "transport/shared/transport.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace steadfold::transport {

SharedTransport::SharedTransport(Neighbourhood among, std::vector<Posted*> posted)
    : among_(std::move(among)),
      waiting_(among_),
      posted_(std::move(posted)),
      own_(*posted_[among_.own]),
      blocks_(posted_.size()) {}

std::unique_ptr<Endpoint> SharedTransport::prepare_over(std::unique_ptr<Endpoint> inner, std::uint32_t tag,
                                                        std::span<const Bytes> capacities, Ticket tickets) {
  if ((!inner || among_.memory->is_one_process()) && endpoints_.size() + boards_.size() >= PreparedNotice::most)
    throw std::runtime_error("no further endpoint can be opened (" + std::to_string(PreparedNotice::most) +
                             " endpoints wait to be connected), connect some of them first");
  return std::make_unique<SharedEndpoint>(tag, among_, std::move(inner), rank_count(), capacities, tickets, endpoints_);
}

std::shared_ptr<Board> SharedTransport::prepare_board(std::uint32_t tag, Bytes longest) try {
  auto board = std::make_shared<Board>(among_, rank(), longest);
  boards_.push_back({tag, board});
  return board;
} catch (const std::bad_alloc&) {
  throw std::runtime_error("no memory for the two posts of a rank (each post needs " + std::to_string(longest) +
                           " bytes), free some memory");
}

void SharedTransport::post_prepared(bool is_prepared) noexcept {
  PreparedNotice& notice = own_.own();
  notice.is_prepared = is_prepared;
  notice.count = 0;
  const auto show = [&](std::uint32_t tag, bool is_board, CommonMemory::BlockId block) {
    if (notice.count < PreparedNotice::most) notice.shown[notice.count++] = {tag, is_board, block};
  };
  for (const SharedEndpoint* each : endpoints_) show(each->tag(), false, each->block());
  for (const WaitingBoard& each : boards_) show(each.tag, true, each.board->block());
  own_.post();
  seen_ = 0;
}

bool SharedTransport::all_have_posted() noexcept {
  if (seen_ == posted_.size()) return true;  // all posts were seen before, and the caller now waits for other data
  while (seen_ < posted_.size() && own_.look(*posted_[seen_]) != nullptr) seen_ += 1;
  if (seen_ < posted_.size()) {
    waiting_.found_nothing();
    return false;
  }
  waiting_.found_something();
  return true;
}

bool SharedTransport::all_are_prepared() const noexcept {
  return std::ranges::all_of(posted_, [&](const Posted* each) { return own_.look(*each)->is_prepared; });
}

/// Finds the blocks that all neighbours prepared under a tag. Returns false if a neighbour has no memory for its block.
bool SharedTransport::find_blocks(std::uint32_t tag, bool is_board) noexcept {
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    blocks_[i] = own_.look(*posted_[i])->block_of(tag, is_board);
    if (blocks_[i] == CommonMemory::no_block) return false;
  }
  return true;
}

void SharedTransport::connect_prepared(bool are_prepared) {
  if (are_prepared) {
    for (SharedEndpoint* each : endpoints_)
      if (find_blocks(each->tag(), false)) each->connect(blocks_);
    for (const WaitingBoard& each : boards_)
      if (find_blocks(each.tag, true)) each.board->connect(blocks_);
  }
  endpoints_.clear();
  boards_.clear();
  own_.done();
}

}  // namespace steadfold::transport
