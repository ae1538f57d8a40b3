// The C functions of teams. Each worker gets a group over memory that all workers of a process see. If there are
// several processes, a transport between them connects the workers.
// Cost: sf_team_group takes some nanoseconds. Source: Lapillonne & Peltekov 2013.
#include "steadfold/steadfold_team.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/layer.hpp"
#include "transport/hardware.hpp"
#include "transport/shared/shared.hpp"

using steadfold::Status;
using steadfold::call::Failure;
using steadfold::capi::guarded;
using steadfold::capi::require_address;
using steadfold::transport::Outside;
using steadfold::transport::Rank;
using steadfold::transport::usable_processors;
using steadfold::transport::Workers;

/// The processors to which workers are bound, the number of places on them, and the place of worker 0.
struct BoundPlaces {
  cpu_set_t processors = usable_processors();
  Rank first = 0;
  Rank count = 0;
};

struct EndGroup {
  void operator()(sf_group* group) const noexcept { steadfold::capi::end(group); }
};

struct sf_team final {
  sf_team(std::vector<std::unique_ptr<steadfold::transport::Transport>> transports, const BoundPlaces& bound)
      : watch(std::make_shared<steadfold::group::Watch>(transports.size(), "the team")), places(bound) {
    for (auto& transport : transports)
      workers.emplace_back(new sf_group(std::move(transport), {watch, workers.size()}, steadfold::capi::of_a_worker));
  }

  std::shared_ptr<steadfold::group::Watch> watch;
  // The groups of the workers; the first call on a group sets it up.
  std::vector<std::unique_ptr<sf_group, EndGroup>> workers;
  BoundPlaces places;
};

namespace {

sf_team& require(sf_team* team) {
  if (team == nullptr)
    throw Failure(Status::invalid_argument, "no team (the pointer is null), make one with sf_team_create");
  return *team;
}

sf_group* require(sf_team* team, std::int32_t worker) {
  require(team);
  if (worker < 0 || static_cast<std::size_t>(worker) >= team->workers.size())
    throw Failure(Status::invalid_argument, "worker " + std::to_string(worker) +
                                                " does not exist (the number of workers of the team is " +
                                                std::to_string(team->workers.size()) +
                                                "), count workers from 0, and make a team with one worker per thread");
  return team->workers[static_cast<std::size_t>(worker)].get();
}

void require_workers(std::int32_t workers) {
  if (workers < 1 || workers > SF_TEAM_MOST)
    throw Failure(Status::invalid_argument, "a team of " + std::to_string(workers) + " workers (a team has 1 to " +
                                                std::to_string(SF_TEAM_MOST) + " workers), give one worker per thread");
}

/// Whether this number of workers must share these processors.
bool share(std::int64_t workers, const cpu_set_t& processors) noexcept { return workers > CPU_COUNT(&processors); }

/// Whether workers may be bound. Throws if the environment variable has an invalid value, even if nobody binds.
bool may_bind() {
  const char* const text = std::getenv("STEADFOLD_BIND");
  const std::string_view asked = text == nullptr ? "on" : text;
  if (asked != "on" && asked != "off")
    throw Failure(Status::invalid_argument,
                  "STEADFOLD_BIND is '" + std::string(asked) + "' (the value is unknown), set it to on or off");
  return asked == "on";
}

/// The data that each process sends when a team of several processes is made. If its call has an error, the error's
/// text follows.
struct Offer {
  std::int32_t workers = 0;
  cpu_set_t processors = {};
};

/// Throws the error of a process, if it has one. All processes throw the same error.
void require_none(Rank process, std::span<const std::byte> wrong) {
  if (!wrong.empty())
    throw Failure(Status::invalid_argument, "rank " + std::to_string(process) + ": " +
                                                std::string(reinterpret_cast<const char*>(wrong.data()), wrong.size()));
}

class Offers {
 public:
  Offers(Outside& outside, std::int32_t workers, const sf_team* const* team)
      : labels_(outside.processes().node_labels()) {
    const Offer own = {.workers = workers, .processors = usable_processors()};
    std::string wrong;
    try {
      require_workers(workers);
      require_address(team, "the team");
      static_cast<void>(may_bind());
    } catch (const Failure& failure) {
      wrong = failure.what();
    }
    const auto number = std::as_bytes(std::span(&own, 1));
    std::vector<std::byte> bytes(number.begin(), number.end());
    const auto text = std::as_bytes(std::span(wrong));
    bytes.insert(bytes.end(), text.begin(), text.end());
    all_ = outside.processes().gather_all(bytes);
  }

  Offer of(Rank process) const {
    Offer offer;
    std::memcpy(&offer, all_.of(process).data(), sizeof offer);
    return offer;
  }
  Rank count() const { return static_cast<Rank>(all_.first.size()) - 1; }
  /// Throws the first process's error, if any process has one. Every process throws the same error.
  void require_all() const {
    for (Rank process = 0; process < count(); ++process) {
      require_none(process, all_.of(process).subspan(sizeof(Offer)));
    }
  }
  std::shared_ptr<const Workers> workers() const {
    std::vector<Rank> counts(all_.first.size() - 1);
    for (std::size_t process = 0; process < counts.size(); ++process)
      counts[process] = of(static_cast<Rank>(process)).workers;
    return std::make_shared<const Workers>(counts);
  }
  /// Returns the processors for the workers of this process. Processes on a node that may use the same processors
  /// divide them.
  BoundPlaces places(Rank own) const {
    BoundPlaces places{.processors = of(own).processors};
    for (Rank process = 0; process < count(); ++process) {
      const Offer offer = of(process);
      if (!is_near(process, own) || !CPU_EQUAL(&offer.processors, &places.processors)) continue;
      if (process < own) places.first += offer.workers;
      places.count += offer.workers;
    }
    return places;
  }
  /// Whether the workers of this process share processors, or all workers on its node do.
  bool share_cores(Rank own) const {
    if (share(of(own).workers, of(own).processors)) return true;
    std::int64_t workers = 0;
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (Rank process = 0; process < count(); ++process) {
      if (!is_near(process, own)) continue;
      const Offer offer = of(process);
      workers += offer.workers;
      CPU_OR(&processors, &processors, &offer.processors);
    }
    return share(workers, processors);
  }

 private:
  Rank label(Rank process) const { return labels_[static_cast<std::size_t>(process)]; }
  bool is_near(Rank process, Rank own) const { return labels_.empty() || label(process) == label(own); }

  std::span<const Rank> labels_;
  steadfold::transport::Transport::Gathered all_;
};

}  // namespace

sf_status steadfold::capi::make_team(std::shared_ptr<transport::Outside> outside, std::int32_t workers,
                                     sf_team** team) {
  return guarded([&] {
    if (outside->processes().rank_count() == 1) {
      const sf_status status = sf_team_create(workers, team);
      if (status != SF_OK) throw Failure(static_cast<Status>(status), sf_error_text());
      return;
    }
    transport::Transport& processes = outside->processes();
    const Offers offers(*outside, workers, team);
    offers.require_all();
    std::unique_ptr<sf_team> made;
    std::string wrong;
    try {
      const bool shares_cores = outside->shares_cores() || offers.share_cores(processes.rank());
      const auto everyone = offers.workers();
      const auto node = outside->share_node(*everyone, shares_cores);
      made = std::make_unique<sf_team>(transport::make_shared_transports(everyone, outside, node, shares_cores),
                                       offers.places(processes.rank()));
    } catch (const std::exception& failed) {
      wrong = call::text_of(failed);
    }
    const auto told = processes.gather_all(std::as_bytes(std::span(wrong)));
    for (Rank process = 0; process < processes.rank_count(); ++process) require_none(process, told.of(process));
    *team = made.release();
  });
}

extern "C" {

sf_status sf_team_create(int32_t workers, sf_team** team) {
  return guarded([&] {
    require_address(team, "the team");
    require_workers(workers);
    static_cast<void>(may_bind());
    const BoundPlaces places{.count = workers};
    const bool shares_cores = share(workers, places.processors);
    *team = new sf_team(steadfold::transport::make_shared_transports(workers, shares_cores), places);
  });
}

int32_t sf_team_size(const sf_team* team) { return team == nullptr ? -1 : static_cast<int32_t>(team->workers.size()); }

sf_status sf_team_group(sf_team* team, int32_t worker, sf_group** group) {
  return guarded([&] {
    sf_group* const asked = require(team, worker);
    require_address(group, "the group");
    *group = asked;
  });
}

sf_status sf_team_bind(sf_team* team, int32_t worker) {
  return guarded([&] {
    require(team, worker);
    if (!may_bind()) return;
    using steadfold::transport::Hardware;
    const BoundPlaces& places = team->places;
    const Hardware machine = Hardware::own().among(places.processors);
    steadfold::transport::bind_this_thread(machine.core_of(places.first + worker, places.count).processors);
  });
}

sf_status sf_team_set_timeout(sf_team* team, uint64_t nanoseconds) {
  return guarded([&] {
    constexpr std::uint64_t longest = std::numeric_limits<std::int64_t>::max();
    require(team).watch->set_limit(std::chrono::nanoseconds(std::min(nanoseconds, longest)));
  });
}

void sf_team_free(sf_team* team) { delete team; }
}
