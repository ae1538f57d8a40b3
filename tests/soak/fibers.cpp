#include "fibers.hpp"

#include <ucontext.h>

#include <exception>
#include <vector>

#include "random.hpp"

namespace steadfold::soak {
namespace {

constexpr std::size_t stack_bytes = 512 * 1024;
constexpr std::uint64_t waits_of_a_turn = 5;  // a new poll costs less than a change of stacks
constexpr std::uint64_t most_waits = 10'000'000;

ucontext_t scheduler;
Fibers* current = nullptr;

}  // namespace

struct Fibers::Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[stack_bytes]};  // not initialised: most of it is never used
  bool ended = false;
  std::exception_ptr thrown;
};

Fibers::Fibers(std::size_t count, std::uint64_t seed, std::function<void(std::size_t)> body)
    : fibers_(std::make_unique<Fiber[]>(count)), count_(count), state_(seed), body_(std::move(body)) {
  for (std::size_t i = 0; i < count; ++i) {
    ucontext_t& context = fibers_[i].context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibers_[i].stack.get();
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = &scheduler;
    makecontext(&context, enter, 0);
  }
}

Fibers::~Fibers() = default;

void Fibers::enter() {
  Fiber& self = current->fibers_[current->running_];
  try {
    current->body_(current->running_);
  } catch (...) {
    self.thrown = std::current_exception();
  }
  self.ended = true;
}

bool Fibers::run() {
  current = this;
  waits_ = 0;
  std::vector<std::size_t> live(count_);
  for (std::size_t i = 0; i < count_; ++i) live[i] = i;
  while (!live.empty()) {
    state_ = mixed(state_, 1);
    const std::size_t chosen = state_ % live.size();
    running_ = live[chosen];
    swapcontext(&scheduler, &fibers_[running_].context);
    if (waits_ > most_waits) return false;
    if (!fibers_[running_].ended) continue;
    if (fibers_[running_].thrown) std::rethrow_exception(fibers_[running_].thrown);
    waits_ = 0;
    live[chosen] = live.back();
    live.pop_back();
  }
  return true;
}

void Fibers::wait() {
  if (++waits_ % waits_of_a_turn != 0) return;
  swapcontext(&fibers_[running_].context, &scheduler);
}

}  // namespace steadfold::soak
