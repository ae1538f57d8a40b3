// Endpoints and boards over common memory, and the exchange in which neighbours show each other their prepared blocks.
// Rank order and cost: see endpoint.hpp and board.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/shared/board.hpp"
#include "transport/shared/endpoint.hpp"
#include "transport/shared/waiting.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The notice that a rank gives to its neighbours when it connects.
struct PreparedNotice {
  // Largest number of endpoints and boards in one connection; a new group has nine of each.
  static constexpr std::size_t most = 24;
  struct PreparedBlock {
    std::uint32_t tag = 0;
    bool is_board = false;
    CommonMemory::BlockId block = CommonMemory::no_block;
  };
  bool is_prepared = false;
  std::uint32_t count = 0;
  std::array<PreparedBlock, most> shown = {};

  CommonMemory::BlockId block_of(std::uint32_t tag, bool is_board) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      if (shown[i].tag == tag && shown[i].is_board == is_board) return shown[i].block;
    return CommonMemory::no_block;
  }
};

/// The base of transports between threads (shared.hpp) and between ranks of nodes (node.hpp).
class SharedTransport : public Transport {
 public:
  bool has_boards() const noexcept override { return static_cast<std::size_t>(rank_count()) == among_.ranks.size(); }
  bool sees_all_memory() const noexcept override { return has_boards() && among_.memory->is_one_process(); }
  std::shared_ptr<Board> prepare_board(std::uint32_t tag, Bytes longest) override;

 protected:
  using Posted = Notice<MachineMemory, PreparedNotice>;

  /// `posted` has the addresses where the neighbours post their notices.
  SharedTransport(Neighbourhood among, std::vector<Posted*> posted);

  std::unique_ptr<Endpoint> prepare_over(std::unique_ptr<Endpoint> inner, std::uint32_t tag,
                                         std::span<const Bytes> capacities, Ticket tickets);
  /// Shows this rank's prepared blocks to the neighbours.
  void post_prepared(bool is_prepared) noexcept;
  bool all_have_posted() noexcept;
  /// Connects each endpoint and board for which all neighbours have memory. If `are_prepared` is false, some rank has
  /// not prepared its parts, and nothing is connected.
  void connect_prepared(bool are_prepared);
  bool all_are_prepared() const noexcept;

  const Neighbourhood& among() const noexcept { return among_; }
  Waiting& waiting() noexcept { return waiting_; }

 private:
  struct WaitingBoard {
    std::uint32_t tag = 0;
    std::shared_ptr<Board> board;
  };

  bool find_blocks(std::uint32_t tag, bool is_board) noexcept;

  Neighbourhood among_;
  Waiting waiting_;
  std::vector<Posted*> posted_;
  BoardEnd<MachineMemory, PreparedNotice> own_;
  std::size_t seen_ = 0;                    // number of neighbours that have posted the current notice
  std::vector<SharedEndpoint*> endpoints_;  // endpoints prepared since the last connection
  std::vector<WaitingBoard> boards_;        // boards prepared since the last connection
  // The blocks of all neighbours for the endpoint or board that is being connected.
  std::vector<CommonMemory::BlockId> blocks_;
};

}  // namespace steadfold::transport
