// Boards between threads: posts of every length class and their marks, read in place until the reader's next post.
#include "transport/shared/board.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

namespace steadfold::transport::board_test {
namespace {

/// Memory of this process; a BlockId is an address.
class OwnMemory final : public CommonMemory {
 public:
  explicit OwnMemory(std::size_t ranks) : ranks_(ranks) {}
  ~OwnMemory() override { reclaim(); }

  std::size_t neighbour_count() const noexcept override { return ranks_; }
  std::byte* at(std::size_t, BlockId block) const noexcept override { return own(block); }
  std::byte* own(BlockId block) const noexcept override { return std::bit_cast<std::byte*>(block); }
  bool is_one_process() const noexcept override { return true; }

 private:
  BlockId allocate(Bytes bytes) noexcept override {
    void* const block = ::operator new(bytes, std::align_val_t{cache_line}, std::nothrow);
    if (block == nullptr) return no_block;
    std::memset(block, 0, bytes);
    return std::bit_cast<BlockId>(block);
  }
  void free(BlockId block, Bytes) noexcept override { ::operator delete(own(block), std::align_val_t{cache_line}); }

  std::size_t ranks_;
};

constexpr std::size_t ranks = 3;
constexpr Bytes longest = Board::most_copied + 40;

std::byte byte_of(std::size_t rank, std::uint64_t round, Bytes i) {
  return static_cast<std::byte>((37 * rank + 101 * round + 11 * i + i / 251) & 255);
}
bool holds(const std::byte* post, Bytes size, std::size_t rank, std::uint64_t round) {
  bool all = true;
  for (Bytes i = 0; i < size; ++i) all = all && post[i] == byte_of(rank, round, i);
  return all;
}
std::uint8_t mark_of(std::size_t rank, std::uint64_t round) {
  return static_cast<std::uint8_t>((rank + round) % ranks);
}

/// Posts of so many bytes, for some rounds. How many posts were not what they are to be.
std::size_t faults_of(Board& board, std::size_t own, Bytes size, std::uint64_t rounds) {
  std::size_t faults = 0;
  std::array<const std::byte*, ranks> before = {};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::byte* const to = board.write(size);
    for (std::size_t rank = 0; round > 0 && rank < ranks; ++rank)  // the posts before are still there
      faults += holds(before[rank], size, rank, round - 1) ? 0 : 1;
    for (Bytes i = 0; i < size; ++i) to[i] = byte_of(own, round, i);
    board.post(size, mark_of(own, round));
    while (!board.all_have_posted()) std::this_thread::yield();
    std::uint8_t greatest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::span<const std::byte> post = board.of(rank);
      faults += post.size() == size && holds(post.data(), size, rank, round) ? 0 : 1;
      if (size <= Board::most_copied) faults += board.post_address(rank, board.parity(), size) == post.data() ? 0 : 1;
      before[rank] = post.data();
      greatest = std::max(greatest, mark_of(rank, round));
    }
    faults += board.greatest_mark() == greatest ? 0 : 1;
    board.end_round();
  }
  return faults;
}

TEST(Board, PostsOfEveryLengthStayUntilTheReadersNext) {
  const Neighbourhood among = {
      .memory = std::make_shared<OwnMemory>(ranks), .ranks = {0, 1, 2}, .own = 0, .shares_cores = true, .drives = true};
  std::vector<std::unique_ptr<Board>> boards;
  std::vector<CommonMemory::BlockId> blocks;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    boards.push_back(std::make_unique<Board>(among, static_cast<Rank>(rank), longest));
    blocks.push_back(boards.back()->block());
  }
  for (const auto& board : boards) board->connect(blocks);
  constexpr std::uint64_t rounds = test::sanitized ? 50 : 300;
  for (const Bytes size : {Bytes{0}, Bytes{8}, Bytes{24}, Post::most, Post::most + 1, Board::most_copied,
                           Board::most_copied + 1, longest}) {
    std::array<std::size_t, ranks> faults = {1, 1, 1};
    {
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] { faults[rank] = faults_of(*boards[rank], rank, size, rounds); });
    }
    EXPECT_EQ(faults, (std::array<std::size_t, ranks>{})) << "posts of " << size << " bytes";
  }
}

/// Memory that processes share: blocks that are taken are never taken again, and those that are given back are counted.
class SharedPages final : public CommonMemory {
 public:
  SharedPages() : all_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedPages() override { munmap(all_, bytes); }

  std::size_t neighbour_count() const noexcept override { return 1; }
  std::byte* at(std::size_t, BlockId block) const noexcept override { return own(block); }
  std::byte* own(BlockId block) const noexcept override { return static_cast<std::byte*>(all_) + block; }
  bool is_one_process() const noexcept override { return false; }
  std::size_t given_back = 0;

 private:
  static constexpr Bytes bytes = 65536;
  BlockId allocate(Bytes wanted) noexcept override { return std::exchange(next_, next_ + wanted); }
  void free(BlockId, Bytes) noexcept override { given_back += 1; }

  void* all_;
  BlockId next_ = 0;
};

TEST(CommonBlocks, AChildOfForkLeavesNothing) {
  const auto memory = std::make_shared<SharedPages>();
  auto connected = std::make_unique<CommonBlocks>(memory, 100);
  connected->connect(std::array{connected->block()});
  auto unconnected = std::make_unique<CommonBlocks>(memory, 100);
  const pid_t child = fork();
  if (child == 0) {
    connected.reset();
    unconnected.reset();
    _exit(static_cast<int>(memory->given_back));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(memory->given_back, 0u);
  connected.reset();
  EXPECT_EQ(memory->given_back, 1u) << "the child had left the block, so the parent's leave was one too many";
  unconnected.reset();
  EXPECT_EQ(memory->given_back, 2u);
}

}  // namespace
}  // namespace steadfold::transport::board_test
