// Groups whose ranks are threads of this process, made as the layers over MPI make them.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "capi/layer.hpp"
#include "steadfold/group.hpp"
#include "support/on_team.hpp"
#include "support/threads.hpp"

namespace steadfold::test {

inline const capi::LayerTable& table() {
  const void* const found = sf_layer_table(sf_version());
  if (found == nullptr) throw std::runtime_error("libsteadfold does not know its own version");
  return *static_cast<const capi::LayerTable*>(found);
}

/// A group for as long as a test's rank needs it.
class OwnGroup {
 public:
  explicit OwnGroup(std::unique_ptr<transport::Transport> transport) {
    const sf_status status = table().make_group(std::move(transport), nullptr, &handle_);
    if (status != SF_OK) throw Error(status, sf_error_text());
  }
  ~OwnGroup() { table().free_group(handle_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  operator Group() const noexcept { return Group(handle_); }
  sf_group* handle() const noexcept { return handle_; }

 private:
  sf_group* handle_ = nullptr;
};

/// Runs body(group) on every rank at once: of a simulated network, then of a team.
inline void on_groups(int rank_count, std::uint64_t seed, const std::function<void(const Group& group)>& body) {
  on_threads(rank_count, seed, [&](std::unique_ptr<transport::Transport> transport) {
    const OwnGroup group(std::move(transport));
    body(group);
  });
  on_team(rank_count, [&](const Team::Member& member) { body(member.group()); });
}

}  // namespace steadfold::test
