// Random programs: calls of all kinds on communicators that come, go and are split again, several plans under way
// meanwhile, wrong calls and wrong uses of plans among them, against sequential references over all inputs, gathered by
// plain MPI. STEADFOLD_SEED repeats one, STEADFOLD_FULL runs many more.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/calls/random_steps.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "mpi/run_ranks.hpp"

namespace steadfold::tests::random_programs_test {
namespace {

/// A plan with its inputs, which do not move; it may outlive the communicator it was bound on, so it has another one to
/// gather over.
struct Bound {
  Placed placed;
  Options options;
  bool subtracts;
  std::size_t n;
  Ranks ranks;
  std::unique_ptr<Plan<double>> plan;
  std::vector<double> mine;
  double result = 0;
  double wanted = 0;
  bool under_way = false;

  bool gets_result() const { return !options.root || *options.root == ranks.rank; }
};

class Program {
 public:
  Program(std::uint64_t seed, int steps) : shared_(seed), seed_(seed), steps_(steps) {}

  void run() {
    Ranks world;
    for (int i = 0; i < 2; ++i) communicators_.push_back(part_of(world, 0));
    communicators_.push_back(part_of(communicators_[1].ranks, communicators_[1].color));
    for (int i = 0; i < steps_; ++i) step(i);
    for (const auto& bound : plans_) finish(*bound, "at the end");
  }

 private:
  struct Communicator {
    Ranks ranks;
    std::uint64_t color;
  };

  /// All of the ranks or an uneven part of them, in any order.
  Communicator part_of(const Ranks& all, std::uint64_t color_of_all) {
    const auto first = static_cast<int>(draw(shared_, 1000)) % all.size;
    const int keys[] = {all.rank, -all.rank, (all.rank + first) % all.size};
    const int key = keys[draw(shared_, 3)];
    const int colors[] = {0, all.rank % 2, all.rank < first ? 1 : 0, 0, all.rank / 3};
    const int color = colors[draw(shared_, 5)];
    return {Ranks::split(color, key, all.comm), 8 * color_of_all + static_cast<std::uint64_t>(color)};
  }

  /// A part of what was there, which may be freed while plans live on it; a part of all ranks now and then.
  void replace(Communicator& old) {
    const bool anew = chance(shared_, 3);
    old = anew ? part_of(Ranks(), 0) : part_of(old.ranks, old.color);
  }

  /// What is drawn from `shared_` is the same on all ranks; what comes from the step's own only on its communicator.
  void step(int number) {
    const std::uint64_t step_seed = shared_();
    const std::size_t kind = draw(shared_, 25);
    Communicator& on = communicators_[draw(shared_, communicators_.size())];
    Ranks world;
    Step step{on.ranks, Random(step_seed + on.color), Random(step_seed + 1000 + world.index()),
              "seed " + std::to_string(seed_) + ", step " + std::to_string(number) + ", kind " + std::to_string(kind)};
    Watchdog::note(step.what);
    if (kind == 0) {
      replace(on);
    } else if (kind <= 7) {
      plan_step(kind, step);
    } else {
      one_shot(kind, step);
    }
  }

  static void one_shot(std::size_t kind, Step& step) {
    switch (kind) {
      case 8: return sum_step<double>(step);
      case 9: return sum_step<float>(step);
      case 10: return chance(step.random, 2) ? sum_step<std::int32_t>(step) : sum_step<std::uint64_t>(step);
      case 11: return reduce_step<double>(step, subtract, subtract);
      case 12: return reduce_step<Hash>(step, MixArrays(), mix_hashes);
      case 13: return reduce_step<Matrix>(step, matrix_product, matrix_product);
      case 14: return reduce_step<float>(step, minimum, lesser);
      case 15: return reduce_step<Mixed<unsigned char, 5>>(step, mix, mix);
      case 16: return product_step<double>(step);
      case 17: return product_step<float>(step);
      case 18: return vector_step<double>(step, plus, add);
      case 19: return vector_step<Hash>(step, mix_hashes, mix_hashes);
      case 20: return wrong_step(step);
      case 24: return bundle_step(step);
      case 21:
      case 22: return chaos_step(step);
      default: return throwing_step(step);
    }
  }

  void plan_step(std::size_t kind, Step& step) {
    if (plans_.size() < 4 && (kind == 1 || plans_.empty())) return bind(step);
    if (kind == 2) return nudge(step);
    const auto chosen = plans_.begin() + static_cast<std::ptrdiff_t>(draw(shared_, plans_.size()));
    Bound& bound = **chosen;
    if (kind == 3) {
      finish(bound, step.what);
      plans_.erase(chosen);
    } else if (bound.under_way) {
      finish(bound, step.what);
    } else if (kind == 4) {
      fail(bound, step);
    } else {
      start(bound, step);
    }
  }

  void bind(Step& step) {
    Bound bound{.placed = {},
                .options = {},
                .subtracts = chance(step.random, 2),
                .n = random_size(step) + 1,
                .ranks = Ranks::duplicate(step.ranks.comm)};
    bound.placed = random_layout(step, bound.n);
    bound.options = random_options(step, bound.subtracts ? tree() : exact(), bound.placed);
    bound.plan = bound.subtracts
                     ? std::make_unique<Plan<double>>(subtract, bound.placed.rows, step.ranks.comm, bound.options)
                     : std::make_unique<Plan<double>>(plus, bound.placed.rows, step.ranks.comm, bound.options);
    plans_.push_back(std::make_unique<Bound>(std::move(bound)));
  }

  /// On any rank a second start, which changes nothing.
  static void start(Bound& bound, Step& step) {
    bound.mine = elements<double>(bound.placed.rows, step.own);
    const std::vector<double> all = gather(bound.ranks, bound.mine, bound.placed.ownership);
    bound.wanted = bound.subtracts ? tree_of(all, subtract) : reference::exact_sum(std::span<const double>(all));
    bound.plan->start(bound.mine, {&bound.result, 1});
    bound.under_way = true;
    if (!chance(step.own, 3)) return;
    const std::vector<double> other(bound.placed.rows, 9.0);
    double nothing = 0;
    EXPECT_EQ(outcome_of([&] { bound.plan->start(other, {&nothing, 1}); }).status, SF_INVALID_ARGUMENT) << step.what;
    EXPECT_EQ(outcome_of([&] { bound.plan->run(other); }).status, SF_INVALID_ARGUMENT) << step.what;
  }

  /// A run for which one rank gives no data: an error there and where the result would be, of an allreduce everywhere.
  static void fail(Bound& bound, Step& step) {
    std::size_t odd = draw(step.random, step.ranks.count()) % bound.ranks.count();
    MPI_Bcast(&odd, 1, MPI_UINT64_T, 0, bound.ranks.comm);
    std::size_t rows = bound.placed.rows;
    MPI_Bcast(&rows, 1, MPI_UINT64_T, static_cast<int>(odd), bound.ranks.comm);
    if (rows == 0) return;  // nothing to give
    const bool here = bound.ranks.index() == odd;
    const std::vector<double> ones(bound.placed.rows, 1.0);
    const std::span<const double> mine = here ? std::span<const double>() : std::span<const double>(ones);
    const Outcome outcome = outcome_of([&] { bound.plan->run(mine); });
    if (here || bound.gets_result()) {
      EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << step.what << outcome.string() << bound.plan->describe();
    }
  }

  /// Moves plans on a little, in another order on every rank.
  void nudge(Step& step) {
    for (std::size_t i = draw(step.own, 30); i-- > 0;) {
      Bound& bound = *plans_[draw(step.own, plans_.size())];
      if (bound.under_way && bound.plan->test() && bound.gets_result()) {
        EXPECT_TRUE(is(bound.result, bound.wanted)) << step.what << ", plan: " << bound.plan->describe();
      }
    }
  }

  static void finish(Bound& bound, const std::string& what) {
    if (!bound.under_way) return;
    bound.under_way = false;
    if (bound.mine.size() % 2 == 0) {
      bound.plan->wait();
    } else {
      while (!bound.plan->test()) {
      }
    }
    if (!bound.gets_result()) return;
    EXPECT_TRUE(is(bound.result, bound.wanted)) << what << ", plan: " << bound.plan->describe();
  }

  Random shared_;
  std::uint64_t seed_;
  int steps_;
  std::vector<Communicator> communicators_;
  std::vector<std::unique_ptr<Bound>> plans_;
};

TEST(RandomProgramsTest, EndInTheReferencesBits) {
  const std::uint64_t seed = seed_of("random_programs_test", 6);
  const int programs = full() ? 100 / Ranks().size : 3;
  const int steps = Ranks().size > 5 ? 60 : 150;
  for (int i = 0; i < programs; ++i) Program(seed + static_cast<std::uint64_t>(i), full() ? 500 : steps).run();
}

}  // namespace
}  // namespace steadfold::tests::random_programs_test
