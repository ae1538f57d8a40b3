// The soak with all ranks in one process: the library without its MPI layer, over a network that delivers messages in
// any order that MPI allows.
#include <chrono>
#include <cstdio>

#include "capi/boundary.hpp"
#include "driver.hpp"
#include "fiber_transport.hpp"
#include "group/group.hpp"
#include "runner.hpp"
#include "watchdog.hpp"

namespace steadfold::soak {

struct Library::Plan {
  std::unique_ptr<plan::Plan> plan;
};
struct Library::Request {
  group::Group::Started call;
};

namespace {

constexpr std::uint64_t cases_of_program = 40;
constexpr std::size_t most_ranks = 40;

class GroupLibrary final : public Library {
 public:
  GroupLibrary(std::shared_ptr<transport::Transport> transport, Fibers& fibers) : group_(transport), fibers_(fibers) {}

  sf_status reduce(const sf_call* call, const Data& data) override {
    return capi::guarded([&] {
      group_.in_turn([&] {
        call::HeldArguments arguments;
        group_.reduce(capi::converted_call(call, arguments, group_.rank_count()), data_of(data));
      });
    });
  }
  sf_status start_reduce(const sf_call* call, const Data& data, Request*& request) override {
    return capi::guarded([&] {
      request = new Request{group_.start_in_turn([&] {
        call::HeldArguments arguments;
        return group_.start_reduce(capi::converted_call(call, arguments, group_.rank_count()), data_of(data));
      })};
    });
  }
  sf_status test(Request* request, bool& done) override {
    return capi::guarded([&] {
      done = group_.advance(*request->call);
      if (done) request->call->require_success();
    });
  }
  sf_status wait(Request* request) override {
    return capi::guarded([&] {
      while (!group_.advance(*request->call)) {
      }
      request->call->require_success();
    });
  }
  /// Ranks share a thread, so time does not pass: the function tests once.
  sf_status wait_for(Request* request, std::uint64_t /*nanoseconds*/, bool& done) override {
    return test(request, done);
  }
  void free(Request* request) override {
    group_.take_back(std::move(request->call));
    delete request;
  }
  sf_status bind(const sf_call* calls, std::size_t count, Plan*& plan) override {
    return capi::guarded([&] {
      group_.in_turn([&] {
        std::deque<call::HeldArguments> arguments;
        plan = new Plan{group_.bind(capi::converted_calls(calls, count, arguments, group_.rank_count()))};
      });
    });
  }
  sf_status run(Plan* plan, const Data* data, std::size_t count) override {
    return capi::guarded([&] {
      plan->plan->run(data_of(data, count));
      require_success(plan->plan->status());
    });
  }
  sf_status start(Plan* plan, const Data* data, std::size_t count) override {
    return capi::guarded([&] { plan->plan->start(data_of(data, count)); });
  }
  sf_status test(Plan* plan, bool& done) override {
    return capi::guarded([&] {
      done = plan->plan->test();
      group_.advance_another();  // as capi/motion does: a caller that waits advances other calls
      if (done) require_success(plan->plan->status());
    });
  }
  sf_status wait(Plan* plan) override {
    return capi::guarded([&] {
      while (!plan->plan->test()) group_.advance_another();
      require_success(plan->plan->status());
    });
  }
  sf_status wait_for(Plan* plan, std::uint64_t nanoseconds, bool& done) override {
    return capi::guarded([&] {
      done = plan->plan->wait_until(std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanoseconds / 100));
      group_.advance_another();
      if (done) require_success(plan->plan->status());
    });
  }
  sf_status status(Plan* plan, std::size_t member) override {
    return capi::guarded([&] { require_success(plan->plan->status(member)); });
  }
  /// A plan whose run is under way is kept as long as the network.
  void free(Plan* plan) override {
    std::unique_ptr<Plan> freed(plan);
    if (plan->plan->running()) given_up_.push_back(std::move(freed));
  }
  sf_status merge_ranks(sf_accumulator*) override { return SF_UNSUPPORTED; }  // only groups of the C interface merge
  void pause() override { fibers_.wait(); }

 private:
  static call::Data data_of(const Data& data) {
    call::Data own = capi::data_of(data.first, data.second, data.result);
    own.mask = static_cast<const std::byte*>(data.mask);
    own.label = static_cast<const std::byte*>(data.label);
    return own;
  }
  std::span<const call::Data> data_of(const Data* data, std::size_t count) {
    given_.clear();
    for (std::size_t i = 0; i < count; ++i) given_.push_back(data_of(data[i]));
    return given_;
  }
  static void require_success(Status status) {
    if (status != Status::ok) throw call::Failure(status, call::text_of(status));
  }

  std::vector<std::unique_ptr<Plan>> given_up_;
  std::vector<call::Data> given_;
  group::Group group_;
  Fibers& fibers_;
};

struct Numbered {
  std::uint64_t first;
  std::uint64_t end;
};

/// Runs all cases of a program. Its seed gives the number of ranks.
void run_program(std::uint64_t seed, Numbered cases, Tally& tally) {
  Random random(mixed(seed, 2));
  const std::size_t ranks = random.one_in(3) ? random.from_to(1, most_ranks) : random.from_to(1, 9);
  const auto sends = random.one_in(2) ? transport::Sends::buffered : transport::Sends::synchronous;
  const auto meeting = std::make_shared<Meeting>(ranks, transport::SimulatedOptions{.seed = seed, .sends = sends});
  Preparation preparation(seed, ranks, ranks, {});
  Fibers fibers(ranks, seed, [&](std::size_t rank) {
    GroupLibrary library(std::make_shared<FiberTransport>(meeting, rank), *meeting->fibers);
    Runner runner(library, preparation, rank, tally);
    for (std::uint64_t number = cases.first; number < cases.end; ++number) {
      runner.run(number);
    }
  });
  meeting->fibers = &fibers;
  if (fibers.run()) return;
  hang();
}

int soak(const Options& options) {
  Tally tally;
  const Clock clock(options.seconds);
  double said = 0;
  std::uint64_t done = 0;
  for (; done < options.programs && !clock.is_over(); ++done) {
    const std::uint64_t seed = options.seed + done;
    run_program(seed, options.only ? Numbered{*options.only, *options.only + 1} : Numbered{0, cases_of_program}, tally);
    if (clock.passed() < said + 5) continue;
    said = clock.passed();
    std::fprintf(stderr, "simulated: seed %llu done, %llu compared\n", static_cast<unsigned long long>(seed),
                 static_cast<unsigned long long>(tally.compared));
  }
  return conclude(tally, done);
}

}  // namespace
}  // namespace steadfold::soak

int main(int argc, char** argv) {
  const auto options = steadfold::soak::options_of(argc, argv);
  steadfold::soak::watch();
  return steadfold::soak::soak(options);
}
