#include "collective/local.hpp"

#include <optional>
#include <vector>

#include "collective/agreement.hpp"
#include "collective/failure.hpp"
#include "collective/lifter.hpp"

namespace steadfold::collective {
namespace {

constexpr Count most_kept_columns = 64;  // what more would take stays with no thread

/// What reduces rows of one shape, and the memory for it.
class Bench {
 public:
  explicit Bench(const Call& call, const Description& description)
      : description_(description),
        operator_(operator_of(call)),
        kind_(make_kind(description, operator_, call.columns)),
        lifter_(*kind_),
        spare_(kind_->value_bytes()),
        surveyed_(kind_->survey_bytes()) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  bool serves(const Description& description) const noexcept { return description == description_; }

  Status reduce(const Call& call, const Data& data) {
    operator_ = operator_of(call);  // its context may be another one
    if (room_ == 0 || rows_ != order::Interval{0, call.rows}) {
      rows_ = {0, call.rows};
      room_ = kind_->working_capacity(order::IntervalSet(rows_));
      if (partial_.size() < room_) partial_.resize(room_);
    }
    const Placed placed{.intervals = call.intervals,
                        .data = data,
                        .row_bytes = description_.columns * description_.element_bytes,
                        .is_masked = call.operation == arithmetic::Operation::masked_sum};
    Crew crew;
    crew.resize(call.threads);
    if (!surveyed_.empty()) {
      lifter_.survey(placed, crew, call.threads, surveyed_);
      lifter_.expect(surveyed_);
    }
    const Bytes size = lifter_.lift(placed, crew, call.threads, std::span(partial_).first(room_));
    return kind_->finish(std::span(partial_).first(size), call.element_count, data.result, spare_.data());
  }

 private:
  Description description_;
  arithmetic::Operator operator_;  // the kind refers to it
  std::unique_ptr<arithmetic::PartialKind> kind_;
  Lifter lifter_;
  order::Interval rows_;
  Bytes room_ = 0;  // for the partial of these rows
  std::vector<std::byte> partial_;
  std::vector<std::byte> spare_;
  std::vector<std::byte> surveyed_;  // what two sweeps find out in the first
};

/// The thread's last bench: calls of one shape come one after the other. Taken while in use, since an operator may
/// reduce something itself.
thread_local std::optional<Bench> last_bench;
thread_local bool last_bench_is_taken = false;

class Taken {
 public:
  Taken() noexcept { last_bench_is_taken = true; }
  ~Taken() { last_bench_is_taken = false; }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
};

Status reduce(const Call& call, const Data& data) {
  const Description description = describe(call);
  if (last_bench_is_taken || call.columns > most_kept_columns) return Bench(call, description).reduce(call, data);
  const Taken taken;
  if (!last_bench || !last_bench->serves(description)) last_bench.emplace(call, description);
  return last_bench->reduce(call, data);
}

}  // namespace

void reduce_locally(const Call& given, const std::byte* first, const std::byte* second, std::byte* result) {
  Call call = given;
  call.root = all_ranks;
  if (call.share != Share::all)
    throw Failure(Status::unsupported,
                  "a scan or reduce_scatter of one process (it is between ranks), take sf_reduce with a communicator");
  const order::Interval all{0, call.rows};
  if (call.layout != LayoutKind::intervals) call.intervals = {&all, 1};
  validate(call, 1);
  const Data data{.first = first, .second = second, .result = result};
  const Missing lacked = missing(call.operation, call.rows, call.columns, data, true);
  if (lacked != Missing::nothing) throw failure_of(lacked, call.operation, call.rows);
  if (call.layout == LayoutKind::intervals || call.element_count != arithmetic::unknown_count) {
    const std::vector<order::Interval> listed(call.intervals.begin(), call.intervals.end());
    require_whole(order::Layout::lists({&listed, 1}), call.element_count, "");
  }
  const Status status = reduce(call, data);
  if (status == Status::operator_failed) throw operator_failure();
  if (status != Status::ok) throw Failure(status, text_of(status));
}

}  // namespace steadfold::collective
