// [S2]'s dissemination among workers that see the same memory: in step t worker x tells worker (x + 2^t) mod n all that
// it has. For n = 2^k workers all have everything after k steps, each contribution once. Without content, or with one
// that may count twice, it serves any n in ceil(log2 n) steps, as a barrier does.
// Cost: per worker and step one line, odd and even rounds in turn; no acknowledgement, no read-modify-write.
//
// Why nobody acknowledges: whoever has ended round k + 1 knows that all have begun it, so that all have ended round k,
// and read its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/shared/flags.hpp"

namespace steadfold::transport {

/// The worker that `worker` listens to in a step.
constexpr std::size_t dissemination_source(std::size_t worker, std::size_t step, std::size_t workers) noexcept {
  return (worker + workers - (std::size_t{1} << step) % workers) % workers;
}

/// One worker's end. `Work` as for reductions (tree_reduce.hpp).
template <class Memory, class Content, class Work, std::size_t parities = 2>
class Dissemination {
 public:
  using Line = Notice<Memory, Content, parities>;

  /// Per step: the worker's own line, and that of the worker that it listens to, which is of the same step.
  Dissemination(std::span<Line> own, std::span<const Line* const> sources) noexcept : own_(own), sources_(sources) {}

  /// `work` holds the worker's contribution, and the result when done. The last one must have ended.
  void start(Work& work) noexcept {
    work_ = &work;
    rounds_ += 1;
    step_ = 0;
    told_ = 0;
  }
  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() {
    if (done()) return false;
    if (told_ == step_) {
      tell();
      return true;
    }
    const auto& box = sources_[step_]->boxes[rounds_ % parities];
    if (box.number.load(Memory::expect) != rounds_) return false;
    work_->merge(box.content);
    step_ += 1;
    return true;
  }
  bool done() const noexcept { return step_ == own_.size(); }

 private:
  void tell() {
    auto& box = own_[step_].boxes[rounds_ % parities];
    work_->write(box.content);
    box.number.store(rounds_, Memory::announce);
    told_ += 1;
  }

  std::span<Line> own_;
  std::span<const Line* const> sources_;
  Work* work_ = nullptr;
  std::uint64_t rounds_ = 0;
  std::size_t step_ = own_.size();
  std::size_t told_ = 0;  // steps of this round
};

}  // namespace steadfold::transport
