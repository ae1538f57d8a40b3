#include "transport/shared/node.hpp"

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace steadfold::transport {
namespace {

class NodeTransport final : public SharedTransport {
 public:
  using Posted = SharedTransport::Posted;

  NodeTransport(std::unique_ptr<Transport> inner, Neighbourhood among, std::vector<Posted*> posted)
      : SharedTransport(std::move(among), std::move(posted)), inner_(std::move(inner)) {
    const std::string below = inner_->name();
    name_ = has_boards() ? "shared" : below.starts_with("shared") ? below : "shared+" + below;
  }

  Rank rank() const noexcept override { return inner_->rank(); }
  Rank rank_count() const noexcept override { return inner_->rank_count(); }
  const char* name() const noexcept override { return name_.c_str(); }
  std::string library() const override { return has_boards() ? "" : inner_->library(); }
  std::span<const Rank> node_labels() const noexcept override { return inner_->node_labels(); }
  bool are_on_one_node() const noexcept override { return inner_->are_on_one_node(); }
  bool nodes_are_far() const noexcept override { return inner_->nodes_are_far(); }
  bool adds_words() const noexcept override { return inner_->adds_words(); }

  std::optional<std::uint32_t> new_tags(std::uint32_t count) override { return inner_->new_tags(count); }
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override {
    return prepare_over(inner_->prepare(tag, capacities, tickets, order), tag, capacities, tickets);
  }
  void open_apart() override { inner_->open_apart(); }
  bool opened_apart() override { return inner_->opened_apart(); }
  void connect(bool is_prepared) override {
    post_prepared(is_prepared);
    inner_->connect(is_prepared);
    state_ = Connection::pending;
  }
  /// Returns the state of the connection. When the inner transport is connected, all neighbours have posted their
  /// notices, but the notices may become visible a moment later.
  Connection connected() override {
    if (state_ == Connection::pending) state_ = inner_->connected();
    if (state_ == Connection::pending || !all_have_posted()) return Connection::pending;
    connect_prepared(state_ == Connection::connected);
    return state_;
  }
  void gather(std::span<const std::byte> bytes) override { inner_->gather(bytes); }
  std::optional<Gathered> gathered() override { return inner_->gathered(); }
  void require_usable() const override { inner_->require_usable(); }
  void require_threads() const override { inner_->require_threads(); }

 private:
  std::unique_ptr<Transport> inner_;
  std::string name_;
  Connection state_ = Connection::pending;
};

/// Makes the memory where each neighbour posts its notices: in the first block of its process, in that process's rank
/// order. The block lives as long as the memory.
std::vector<NodeTransport::Posted*> make_notices(const Neighbourhood& among, std::size_t ranks_here) {
  CommonMemory& memory = *among.memory;
  const auto id = memory.take(ranks_here * sizeof(NodeTransport::Posted));
  if (id == CommonMemory::no_block)
    throw std::runtime_error("no shared memory is left (the ranks' notices need some), set STEADFOLD_TRANSPORT=mpi");
  std::vector<NodeTransport::Posted*> all;
  const std::byte* process = nullptr;  // the first block of the process to which the neighbour before belongs
  for (std::size_t i = 0; i < among.ranks.size(); ++i) {
    std::byte* const block = memory.at(i, id);
    const bool is_next = std::exchange(process, block) == block;
    all.push_back(is_next ? all.back() + 1
                          : reinterpret_cast<NodeTransport::Posted*>(block + CommonMemory::head_bytes));
  }
  for (std::size_t i = 0; i < ranks_here; ++i) new (all[among.own + i]) NodeTransport::Posted;
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_node_transports(std::vector<std::unique_ptr<Transport>> inner,
                                                             Neighbourhood among, bool one_drives) {
  const auto posted = make_notices(among, inner.size());
  std::vector<std::unique_ptr<Transport>> transports;
  for (std::unique_ptr<Transport>& each : inner) {
    transports.push_back(std::make_unique<NodeTransport>(std::move(each), among, posted));
    among.own += 1;
    among.drives = !one_drives;
  }
  return transports;
}

std::unique_ptr<Transport> make_node_transport(std::unique_ptr<Transport> inner, Neighbourhood among) {
  std::vector<std::unique_ptr<Transport>> one;
  one.push_back(std::move(inner));
  return std::move(make_node_transports(std::move(one), std::move(among), false).front());
}

}  // namespace steadfold::transport
