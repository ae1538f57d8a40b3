// The C functions over a group of ranks, and how the layers above MPI make one.
// Rank order: that of the call. Cost: that of the call. Source: ours.
#include <cstring>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/layer.hpp"

namespace {

using steadfold::Status;
using steadfold::agreement::Call;
using steadfold::agreement::Failure;
using steadfold::capi::guarded;
using steadfold::capi::LayerTable;
using steadfold::capi::require_place;

/// A group for the length of a call.
class GroupInUse {
 public:
  explicit GroupInUse(sf_group* group)
      : group_(required(group)), turn_(group->busy, "the communicator", "give every thread a duplicate of its own") {}
  steadfold::session::Group* operator->() const noexcept { return &group_; }

 private:
  static steadfold::session::Group& required(sf_group* group) {
    if (group == nullptr)
      throw Failure(Status::invalid_argument, "no group (the pointer is null), get a communicator's by sf_group_of");
    return group->group;
  }

  steadfold::session::Group& group_;
  steadfold::capi::Turn turn_;
};

/// The calls as the library's own type, and the first thing that is wrong with them, if anything.
std::vector<Call> translated(const sf_call* calls, size_t count, std::optional<Failure>& failure) {
  std::vector<Call> all;
  if (calls == nullptr && count > 0)
    failure = Failure(Status::invalid_argument, "no calls (the pointer is null), give their address");
  for (size_t i = 0; calls != nullptr && i < count; ++i) {
    std::optional<Failure> wrong;
    all.push_back(steadfold::capi::translated(calls + i, wrong));
    if (wrong && !failure)
      failure = Failure(wrong->status(), steadfold::agreement::in_bundle(i, count) + wrong->what());
  }
  return all;
}

sf_status make_group(std::unique_ptr<steadfold::transport::Transport> transport, sf_group** group) {
  return guarded([&] { *group = new sf_group{.group = steadfold::session::Group(std::move(transport))}; });
}

void free_group(sf_group* group) noexcept { delete group; }

}  // namespace

extern "C" {

const void* sf_layer_table(const char* version) {
  static constexpr LayerTable table = {.make_group = make_group, .free_group = free_group};
  return std::strcmp(version, sf_version()) == 0 ? &table : nullptr;
}

int32_t sf_group_rank(const sf_group* group) { return group == nullptr ? -1 : group->group.rank(); }
int32_t sf_group_size(const sf_group* group) { return group == nullptr ? -1 : group->group.rank_count(); }

sf_status sf_group_reduce(const sf_call* call, const void* first, const void* second, void* result, sf_group* group) {
  return guarded([&] {
    std::optional<Failure> failure;
    const Call own = steadfold::capi::translated(call, failure);
    GroupInUse(group)->reduce(own, steadfold::capi::data_of(first, second, result), std::move(failure));
  });
}

sf_status sf_group_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count) {
  return guarded([&] {
    const auto found = GroupInUse(group)->rank_order(rows);
    require_place(mine, "the interval");
    require_place(element_count, "the element count");
    *mine = {found.mine.begin, found.mine.end};
    *element_count = found.element_count;
  });
}

sf_status sf_group_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan) {
  return guarded([&] {
    std::optional<Failure> failure;
    const std::vector<Call> all = translated(calls, count, failure);
    if (!failure && plan == nullptr) failure = steadfold::capi::nowhere("the plan");
    auto bound = GroupInUse(group)->bind(all, std::move(failure));
    std::string schedule = bound->agreed().schedule_text;
    *plan = new sf_plan{std::move(bound), std::move(schedule)};
  });
}
}
