// The cache lines that reductions between threads take, as [S2] counts them and as the types of src/transport are.
// Source: [S2]: "#children + 1 or 2" lines per node of a tree for a reduction, and 2 more for a broadcast; it does not
// say how many lines dissemination takes, nor whether odd and even reductions have lines of their own.
#include <algorithm>
#include <bit>
#include <memory>
#include <new>

#include "node.hpp"
#include "node_protocols.hpp"
#include "transport/shared/board.hpp"
#include "transport/shared/mail.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr std::size_t lines_in(std::size_t bytes) {
  return (bytes + transport::cache_line - 1) / transport::cache_line;
}

/// Memory that counts what is taken.
class CountedMemory final : public transport::CommonMemory {
 public:
  explicit CountedMemory(std::size_t workers) : workers_(workers) {}
  std::size_t bytes = 0;

  std::size_t neighbour_count() const noexcept override { return workers_; }
  std::byte* at(std::size_t, BlockId block) const noexcept override { return own(block); }
  std::byte* own(BlockId block) const noexcept override { return std::bit_cast<std::byte*>(block); }
  bool is_one_process() const noexcept override { return true; }

 private:
  static constexpr std::align_val_t alignment{transport::cache_line};
  BlockId allocate(transport::Bytes taken) noexcept override {
    bytes += taken;
    return std::bit_cast<BlockId>(::operator new(taken, alignment, std::nothrow));
  }
  void free(BlockId block, transport::Bytes) noexcept override { ::operator delete(own(block), alignment); }

  std::size_t workers_;
};

/// A worker's part of what a team's plan of such vectors takes.
struct OfPlan {
  std::size_t board = 0;
  std::size_t mailboxes = 0;
};
OfPlan lines_of_plan(std::size_t workers, std::size_t doubles) {
  const auto on_board = std::make_shared<CountedMemory>(workers);
  const transport::Board board({.memory = on_board}, 0, doubles * sizeof(double));
  const auto in_mail = std::make_shared<CountedMemory>(workers);
  const transport::CommonBlocks mail(in_mail, transport::Mail::bytes(workers, 0, 0));
  return {lines_in(on_board->bytes), lines_in(in_mail->bytes)};
}

/// Lines of all workers, and of the worker that has most of them.
struct Lines {
  std::size_t all = 0;
  std::size_t most = 0;

  void add(std::size_t of_worker) {
    all += of_worker;
    most = std::max(most, of_worker);
  }
};
Lines lines_of_each(std::size_t workers, std::size_t of_worker) { return {workers * of_worker, of_worker}; }

Json row_of(std::size_t workers, std::size_t doubles, std::size_t box, std::string_view tree, std::string_view protocol,
            const Lines& ours, const Json& published_least, const Json& published_most) {
  return {{"part", "storage"},
          {"threads", workers},
          {"doubles", doubles},
          {"lines_per_message", box},
          {"tree", tree},
          {"protocol", protocol},
          {"lines", ours.all},
          {"most_lines_per_thread", ours.most},
          {"published_lines_least", published_least},
          {"published_lines_most", published_most}};
}

template <std::size_t doubles>
void add_rows(std::size_t workers, Json& rows) {
  using P = Protocols<doubles>;
  const std::size_t box = lines_in(sizeof(transport::Box<typename P::Memory, typename P::Content>));
  for (const Shape& shape : shapes) {
    const Tree tree = tree_of(shape, workers);
    Lines notify;
    std::size_t published = 0;  // #children + 1
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const std::size_t children = children_of(tree, worker).size();
      notify.add(children * lines_in(sizeof(typename P::TreeLane)));
      published += children + 1;
    }
    for (const char* protocol : {"single_notify", "multi_notify"})
      rows.push_back(row_of(workers, doubles, box, shape.name, protocol, notify, published, published + workers));
    const std::size_t counted = lines_in(sizeof(typename P::CountedNode));
    const std::size_t feed = lines_in(sizeof(typename P::Feed));
    rows.push_back(row_of(workers, doubles, box, shape.name, "counted_notify", lines_of_each(workers, counted),
                          published, published + workers));
    rows.push_back(row_of(workers, doubles, box, shape.name, "counted_notify, broadcast",
                          lines_of_each(workers, counted + feed), published + 2 * workers, published + 3 * workers));
    rows.push_back(row_of(workers, doubles, box, shape.name, "reduce, broadcast",
                          lines_of_each(workers, lines_in(sizeof(typename P::Node))), published + 2 * workers,
                          published + 3 * workers));
  }
  if (std::has_single_bit(workers)) {
    const auto steps = static_cast<std::size_t>(std::bit_width(workers) - 1);
    const Lines lines = lines_of_each(workers, steps * lines_in(sizeof(typename P::Round::Line)));
    rows.push_back(row_of(workers, doubles, box, "none", "dissemination", lines, nullptr, nullptr));
  }
  const OfPlan plan = lines_of_plan(workers, doubles);
  const auto add_plan = [&](std::string_view protocol, std::size_t lines) {
    rows.push_back(row_of(workers, doubles, box, "none", protocol, lines_of_each(workers, lines), nullptr, nullptr));
  };
  add_plan("a team's plan, its board", plan.board);
  add_plan("a team's plan, its mailboxes", plan.mailboxes);
}

}  // namespace

Findings storage(const Asked& /*asked*/) {
  Findings found;
  for (const std::size_t workers : {2u, 4u, 8u, 16u}) {
    add_rows<1>(workers, found.rows);
    add_rows<16>(workers, found.rows);
  }
  return found;
}

}  // namespace steadfold::command::studies::node
