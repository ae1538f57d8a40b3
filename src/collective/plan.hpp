// A reduction agreed on once and run often: the agreed schedule over a transport, on one rank.
// Rank order: that of the schedule. Cost: that of the schedule; a run allocates nothing. Source: ours; [S4] for start,
// test and wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "arithmetic/operator.hpp"
#include "collective/agreement.hpp"
#include "collective/rows.hpp"
#include "collective/stage.hpp"
#include "collective/verdict.hpp"

namespace steadfold::collective {

/// One thread at a time. Holds on to the transport. Uses the tags `tag` and `tag + 1`.
class Plan {
 public:
  Plan(Agreement agreed, const Call& call, std::shared_ptr<transport::Transport> transport, std::uint32_t tag,
       std::uint32_t segments = 1);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Begins to reduce this rank's rows at `first` (and `second`) into `result`, all of which stay until the run is
  /// done. Unusable pointers do not stop it: the rank takes part, and all learn of it. Throws Failure while one runs.
  void start(const std::byte* first, const std::byte* second, std::byte* result);
  /// True when the run is done; then `status` is its verdict. Never blocks.
  bool test();
  void wait();
  Status status() const noexcept { return status_; }
  bool running() const noexcept { return running_; }

  void run(const std::byte* first, const std::byte* second, std::byte* result) {
    start(first, second, result);
    wait();
  }

  /// The operator's context may change from run to run.
  void use_operator(const arithmetic::Operator& op) noexcept { operator_ = op; }

  const Agreement& agreed() const noexcept { return agreed_; }
  const std::string& description() const noexcept { return text_; }

  void trace(bool on) { main_.machine().trace(on); }
  /// What this rank sent, the question about the operator included.
  transport::Traffic traffic_of_last_run() const noexcept;
  std::uint32_t rounds() const noexcept { return main_.machine().rounds(); }

 private:
  bool advance();
  void conclude();
  transport::Traffic traffic() const noexcept;

  Agreement agreed_;
  std::shared_ptr<transport::Transport> transport_;
  arithmetic::Operator operator_;
  std::uint32_t segments_;
  Count local_rows_;
  Rows rows_;
  Stage main_;
  Verdict verdict_;
  std::optional<Stage> closing_;  // where an operator may fail after the last message
  bool in_closing_ = false;
  bool running_ = false;
  Status status_ = Status::ok;
  std::byte* result_ = nullptr;
  transport::Traffic before_;
  std::string text_;
};

}  // namespace steadfold::collective
