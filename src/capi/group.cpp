// The C functions over a group of ranks, and the functions with which the layers above MPI make groups.
// Rank order and cost: those of the call.
#include <cstring>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/layer.hpp"
#include "transport/shared/node.hpp"

namespace {

using steadfold::call::Call;
using steadfold::call::Failure;
using steadfold::call::HeldArguments;
using steadfold::capi::converted_call;
using steadfold::capi::converted_calls;
using steadfold::capi::GroupInUse;
using steadfold::capi::guarded;
using steadfold::capi::in_turn;
using steadfold::capi::LayerTable;
using steadfold::capi::require_address;
using steadfold::group::Group;

sf_status make_group(std::unique_ptr<steadfold::transport::Transport> transport,
                     const steadfold::transport::Neighbourhood* node, sf_group** group) {
  return guarded([&] {
    if (node != nullptr) transport = steadfold::transport::make_node_transport(std::move(transport), *node);
    auto watch = std::make_shared<steadfold::group::Watch>(1, "the communicator");
    auto made = std::make_unique<sf_group>(std::move(transport), steadfold::group::Watched(std::move(watch), 0));
    try {
      GroupInUse(made.get())->set_up();
    } catch (...) {
      // The MPI library still uses its memory.
      if (made->watched.has_ended()) steadfold::capi::keep_for_ever(made.release());
      throw;
    }
    *group = made.release();
  });
}

}  // namespace

void steadfold::capi::end(sf_group* group) noexcept {
  if (group == nullptr) return;
  group->progress.reset();
  group->leave_motion();
  if (!group->group.is_idle()) return keep_for_ever(group);
  group->gaspi.reset();  // the unfinished GASPI call may have a request, so it ends first
  release(group);
}

steadfold::call::Failure steadfold::capi::failure_of(sf_status status, const char* text) {
  const bool is_failure = number(status) != SF_OK && number(status) <= SF_INTERNAL;
  return {is_failure ? static_cast<Status>(number(status)) : Status::internal, text == nullptr ? "no text" : text};
}

extern "C" {

void sf_set_interrupt(int (*asked)()) { steadfold::group::Watch::set_interrupt(asked); }

const void* sf_layer_table(const char* version) {
  static constexpr LayerTable table = {
      .make_group = make_group, .make_team = steadfold::capi::make_team, .free_group = steadfold::capi::end};
  return version != nullptr && std::strcmp(version, sf_version()) == 0 ? &table : nullptr;
}

int32_t sf_group_rank(const sf_group* group) { return group == nullptr ? -1 : group->group.rank(); }
int32_t sf_group_size(const sf_group* group) { return group == nullptr ? -1 : group->group.rank_count(); }
const char* sf_group_transport(const sf_group* group) { return group == nullptr ? "" : group->group.transport_name(); }

sf_status sf_group_reduce(const sf_call* call, const void* first, const void* second, void* result, sf_group* group) {
  return guarded([&] {
    in_turn(group, [&](Group& own) {
      HeldArguments arguments;
      own.reduce(converted_call(call, arguments, own.rank_count()), steadfold::capi::data_of(first, second, result));
    });
  });
}

sf_status sf_group_refuse(sf_group* group, sf_status status, const char* text) {
  return guarded([&] { in_turn(group, [&](Group& own) { own.refuse(steadfold::capi::failure_of(status, text)); }); });
}

sf_status sf_group_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count) {
  return guarded([&] {
    in_turn(group, [&](Group& own) {
      const auto found = own.rank_order(rows);
      require_address(mine, "the interval");
      require_address(element_count, "the element count");
      *mine = {found.mine.begin, found.mine.end};
      *element_count = found.element_count;
    });
  });
}

sf_status sf_group_barrier(sf_group* group) {
  return guarded([&] { in_turn(group, [](Group& own) { own.barrier(); }); });
}

sf_status sf_group_progress_thread(sf_group* group, int on) {
  return guarded([&] {
    const GroupInUse own(group);
    if (on != 0) own->require_threads();
    if (on == 0)
      group->progress.reset();
    else if (group->progress == nullptr)
      group->progress = std::make_unique<steadfold::capi::ProgressThread>(group);
  });
}

sf_status sf_group_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan) {
  return guarded([&] {
    in_turn(group, [&](Group& own) {
      std::deque<HeldArguments> arguments;
      const std::vector<Call> converted = converted_calls(calls, count, arguments, own.rank_count());
      require_address(plan, "the plan");
      auto made = std::make_unique<sf_plan>(group);
      made->plan = own.bind(converted);
      *plan = made.release();
    });
  });
}
}

void sf_group::move() noexcept {
  try {
    const steadfold::group::Stay stay(watched.as_mover());
    group.require_usable();
    group.advance_another();
    if (group.is_idle()) leave_motion();
  } catch (const std::exception&) {  // the next test or wait reports the error
    if (watched.has_ended()) leave_motion();
  }
}
