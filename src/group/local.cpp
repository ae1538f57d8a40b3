#include "group/local.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "arithmetic/rows/room.hpp"
#include "call/failure.hpp"
#include "call/initial_value.hpp"
#include "call/validation.hpp"
#include "group/shape.hpp"
#include "plan/agreement.hpp"
#include "plan/choice.hpp"

namespace steadfold::group {

using call::all_ranks;
using call::Collective;
using call::Failure;
using call::LayoutKind;
using call::Missing;
using order::Bytes;
using plan::ThreadPool;

namespace {

/// Checks the name of the call's schedule. The name must be valid, although a call in one process sends nothing.
void require_schedule(const Call& call) {
  if (call.schedule.empty() || schedule::is_policy(call.schedule)) return;
  static_cast<void>(plan::checked_schedule(std::string(call.schedule), {}));
}

constexpr Count most_kept_columns = 64;  // columns; the memory of a call with more columns is freed after the call

/// Returns whether the elements of every column are contiguous, so that kernels can take them as rows of one element,
/// and whether the call has no operands besides elements and factors.
bool has_columns_of_rows(const Call& call, const Description& description, const Data& data) noexcept {
  if (call.array == nullptr || call.columns < 2 || call.threads != 1) return false;
  if (call.operation == arithmetic::Operation::user || description.deals_rows() || description.has_mask()) return false;
  if (call.array->is_listed || call.rows < call::properties_of(description.method).rows_worth_a_call) return false;
  const arithmetic::Strides strides = strides_of(description, call.array);
  const auto touches = [&](arithmetic::Operand operand, const std::byte* begin) {
    const auto bytes = static_cast<arithmetic::Stride>(description.element_bytes);
    const auto alignment = static_cast<arithmetic::Stride>(arithmetic::alignment_of(description.element_bytes));
    if (begin == nullptr) return true;
    return strides.rows().size() == 1 && strides.rows()[0].of(operand) == bytes &&
           arithmetic::is_aligned(begin, description.element_bytes) &&
           std::ranges::all_of(strides.columns(), [&](const auto& axis) { return axis.of(operand) % alignment == 0; });
  };
  return touches(arithmetic::Operand::first, data.first) && touches(arithmetic::Operand::second, data.second);
}

/// Returns whether every call that differs from this call only in its rows is valid and has the same description.
bool repeats_any_rows(const Call& call) noexcept {
  const bool may_have_other_rows = call.element_count == arithmetic::unknown_count &&
                                   (call.layout == LayoutKind::anywhere || call.layout == LayoutKind::rank_order);
  return may_have_other_rows && call.array == nullptr && call.operation != arithmetic::Operation::user &&
         call.threads == 1;
}

constexpr Count most_few_rows = 16;
constexpr Bytes most_kept_of_a_row = 8192;  // memory for a wider row is freed after the call
constexpr bool are_few(Count rows) noexcept { return rows >= 2 && rows <= most_few_rows; }

/// Returns whether the call has few wide rows that are contiguous in memory, so that their kind may reduce them without
/// a builder. This is faster for sums that are rounded once, from 9 columns on, and for other calls if a builder would
/// have to be made.
bool has_few_wide_rows(const Call& call, const Description& description) noexcept {
  const bool is_plain = call.threads == 1 && call.array == nullptr && !description.has_mask() &&
                        !arithmetic::has_second(call.operation) &&
                        description.parameters.sweep == arithmetic::Sweep::single_sweep;
  const bool has_no_indices = call.layout == LayoutKind::anywhere || call.layout == LayoutKind::rank_order;
  const Count narrow = call::properties_of(description.method).rounds_once ? 8 : most_kept_columns;
  return is_plain && has_no_indices && are_few(call.rows) && call.columns > narrow;
}

}  // namespace

/// Reduces the rows of calls of one shape, and keeps the memory for it.
class LocalReducer::Workspace {
 public:
  Workspace(const Call& call, const Description& description)
      : layout_(layout_for(call, description)),
        shape_(description, call, layout_ ? &*layout_ : nullptr),
        spare_(shape_.kind->value_bytes()),
        surveyed_(shape_.kind->survey_bytes()),
        finishes_alone_(shape_.lifter.finishes_alone() && surveyed_.empty()),
        most_rows_(call::most_rows(description.row_bytes())) {}

  bool serves(const Description& description) const noexcept { return !layout_ && description == shape_.description; }
  /// Returns whether calls that differ from this call only in their rows are valid and have the same description.
  bool repeats(const Call& call) const noexcept { return finishes_alone_ && repeats_any_rows(call); }

  Bytes result_bytes() const noexcept { return shape_.kind->value_bytes(); }

  Status reduce(const Call& call, const Data& data) {
    // The operator of this call may have another context than the operator of the last call.
    if (call.operation == arithmetic::Operation::user) shape_.op = call.user;
    shape_.stand_as(call);
    const bool is_one_block = call.threads == 1 && call.layout != LayoutKind::intervals;
    if (finishes_alone_ && is_one_block)
      return shape_.lifter.finish_alone(operands_of(shape_.description, data), call.rows, shape_.strides,
                                        call.element_count, data.result, spare_.bytes().data());
    make_room(call.rows);
    plan::StoredRows rows = shape_.rows_of(call, data);
    ThreadPool pool;
    pool.resize(call.threads);
    if (!surveyed_.empty()) {
      shape_.lifter.survey(rows, pool, call.threads, surveyed_);
      rows.surveyed = surveyed_;
    }
    const Bytes size = shape_.lifter.lift(rows, pool, call.threads, partial_.bytes().first(room_));
    return shape_.kind->finish(partial_.bytes().first(size), call.element_count, data.result, spare_.bytes().data());
  }

  bool repeat(Count rows, const Data& data) {
    const Description& d = shape_.description;
    if (rows > most_rows_ || missing(d, rows, data, true) != Missing::nothing) return false;
    return shape_.lifter.finish_alone(operands_of(d, data), rows, shape_.strides, arithmetic::unknown_count,
                                      data.result, spare_.bytes().data()) == Status::ok;
  }

 private:
  void make_room(Count rows) {
    if (room_ != 0 && rows_ == order::Interval{0, rows}) return;
    rows_ = {0, rows};
    room_ = shape_.kind->working_capacity(order::IntervalSet(rows_));
    partial_.make(room_);
  }

  /// Returns the layout if the kind of partial depends on the list of intervals.
  static std::optional<order::Layout> layout_for(const Call& call, const Description& description) {
    if (call.layout != LayoutKind::intervals || !numbers_rows_of_groups(description)) return std::nullopt;
    const std::vector<order::Interval> listed(call.intervals.begin(), call.intervals.end());
    return order::Layout::lists({&listed, 1});
  }

  std::optional<order::Layout> layout_;
  Shape shape_;
  order::Interval rows_;
  Bytes room_ = 0;  // number of bytes that are allocated for the partial of these rows
  arithmetic::UnwrittenRoom partial_;
  arithmetic::UnwrittenRoom spare_;
  std::vector<std::byte> surveyed_;  // the result of the first of two sweeps over the rows
  bool finishes_alone_;              // the builder can finish all rows of a process without a record
  Count most_rows_;
};

/// Reduces few wide rows of one shape without a builder.
class LocalReducer::WideRowsReducer {
 public:
  WideRowsReducer(const Call& call, const Description& description)
      : description_(description),
        op_(operator_of(description, call.user)),
        kind_(make_kind(description, op_, call.columns)) {}
  WideRowsReducer(const WideRowsReducer&) = delete;
  WideRowsReducer& operator=(const WideRowsReducer&) = delete;

  bool serves(const Description& description) const noexcept { return description == description_; }

  /// Returns an empty result if the kind of partial needs its builder for this number of rows.
  std::optional<Status> reduce(const Call& call, const Data& data) {
    // The operator of this call may have another context than the operator of the last call.
    if (call.operation == arithmetic::Operation::user) op_ = call.user;
    return reduce_rows(call.rows, data);
  }
  bool repeat(Count rows, const Data& data) {
    return are_few(rows) && missing(description_, rows, data, true) == Missing::nothing &&
           reduce_rows(rows, data) == Status::ok;
  }

 private:
  std::optional<Status> reduce_rows(Count count, const Data& data) {
    const arithmetic::RowsAtHand* const at_hand = kind_->rows_at_hand();
    const std::optional<Count> spare_rows = at_hand == nullptr ? std::nullopt : at_hand->spare_rows(count);
    if (!spare_rows) return std::nullopt;
    const Bytes room = *spare_rows * kind_->value_bytes();
    if (room > room_) {
      spare_ = std::make_unique_for_overwrite<std::byte[]>(room);
      room_ = room;
    }
    std::array<const std::byte*, most_few_rows> rows;
    for (Count row = 0; row < count; ++row) rows[row] = data.first + row * description_.row_bytes();
    return at_hand->reduce_rows(std::span(rows).first(count), data.result, spare_.get());
  }

  Description description_;
  arithmetic::Operator op_;
  std::unique_ptr<arithmetic::PartialKind> kind_;
  std::unique_ptr<std::byte[]> spare_;
  Bytes room_ = 0;
};

/// Takes the workspace from its owner while a call uses it, because a user operator may itself start a reduction.
class LocalReducer::WorkspaceInUse {
 public:
  explicit WorkspaceInUse(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~WorkspaceInUse() { flag_ = false; }
  WorkspaceInUse(const WorkspaceInUse&) = delete;
  WorkspaceInUse& operator=(const WorkspaceInUse&) = delete;

 private:
  bool& flag_;
};

LocalReducer::LocalReducer() = default;
LocalReducer::~LocalReducer() = default;

LocalReducer::Workspace& LocalReducer::workspace_for(const Call& call, const Description& description) {
  if (workspace_ == nullptr || !workspace_->serves(description)) {
    workspace_.reset();  // frees the old workspace before the new one allocates the same amount of memory
    workspace_ = std::make_unique<Workspace>(call, description);
  }
  return *workspace_;
}

void LocalReducer::reduce_from_initial(const Call& given, const Data& data) {
  call::require_initial(given);
  call::require_size(given);
  Call rows = given;
  rows.method = resolved_method(given);
  rows.initial = {};
  const std::unique_ptr<call::InitialValue> initial = call::InitialValue::of(given);
  bool is_none = given.rows == 0;
  try {
    reduce(rows, data);
  } catch (const Failure& failure) {
    if (failure.status() != Status::empty) throw;
    is_none = true;
  }
  const arithmetic::Operator op = operator_of(describe(rows), given.user);
  if (is_none)
    initial->write(op, data.result, given.columns);
  else if (initial->combine(op, data.result, given.columns) != Status::ok)
    throw call::operator_failure();
}

bool LocalReducer::reduce(const Call& given, const Data& given_data) {
  if (!given.initial.empty()) {
    reduce_from_initial(given, given_data);
    return false;
  }
  Call call = given;
  if (call.collective != Collective::reduce && call.collective != Collective::allreduce)
    throw Failure(Status::unsupported,
                  "a scan or reduce_scatter without a communicator (these collectives need ranks), call sf_reduce with "
                  "a communicator");
  const bool has_grid = call.layout == LayoutKind::grid && call.grid != nullptr && !call.grid->fault(1);
  const order::Interval all{0, has_grid ? call.grid->element_count() : call.rows};
  if (call.layout != LayoutKind::intervals) call.intervals = {&all, 1};
  validate(call, 1);
  require_schedule(call);
  call.root = all_ranks;
  call.collective = Collective::allreduce;
  const Data data = given.array == nullptr ? given_data : located(given_data, given.array->data);
  const Description description = describe(call);
  const Missing lacked = missing(description, call.rows, data, true);
  if (lacked != Missing::nothing) throw failure_of(lacked, call.operation, call.rows);
  if (call.layout == LayoutKind::intervals || call.element_count != arithmetic::unknown_count) {
    const std::vector<order::Interval> listed(call.intervals.begin(), call.intervals.end());
    plan::require_whole(order::Layout::lists({&listed, 1}), call.element_count, "");
  }
  if (call.operation != arithmetic::Operation::user)  // the duration of user operators is unknown
    call.threads = plan::threads_worth(call.threads, call.rows * description.row_bytes());
  if (!is_taken_ && has_columns_of_rows(call, description, data)) return reduce_columns(call, description, data);
  const bool is_kept = !is_taken_ && call.columns <= most_kept_columns;
  Status status = Status::ok;
  const std::optional<Status> of_wide =
      has_few_wide_rows(call, description) ? reduce_wide_rows(call, description, data) : std::nullopt;
  if (of_wide) {
    status = *of_wide;
  } else if (is_kept) {
    const WorkspaceInUse taken(is_taken_);
    status = workspace_for(call, description).reduce(call, data);
  } else {
    status = Workspace(call, description).reduce(call, data);
  }
  if (status == Status::operator_failed) throw call::operator_failure();
  if (status == Status::invalid_argument && description.deals_rows())
    throw call::label_failure(strides_of(description, call.array), operands_of(description, data), call.rows);
  if (status != Status::ok) throw Failure(status, call::text_of(status));
  // The user operator may have made reductions during this call, and `repeat` may repeat one of these.
  const bool repeats =
      of_wide ? !is_taken_ && wide_rows_ != nullptr && repeats_any_rows(given) : is_kept && workspace_->repeats(given);
  if (repeats) repeats_wide_rows_ = of_wide.has_value();
  return repeats;
}

std::optional<Status> LocalReducer::reduce_wide_rows(const Call& call, const Description& description,
                                                     const Data& data) {
  if (is_taken_ || description.row_bytes() > most_kept_of_a_row) {
    if (!is_taken_) wide_rows_.reset();
    return WideRowsReducer(call, description).reduce(call, data);
  }
  if (wide_rows_ == nullptr || !wide_rows_->serves(description)) {
    wide_rows_.reset();
    wide_rows_ = std::make_unique<WideRowsReducer>(call, description);
  }
  const WorkspaceInUse taken(is_taken_);
  return wide_rows_->reduce(call, data);
}

bool LocalReducer::reduce_columns(const Call& call, const Description& description, const Data& data) {
  const arithmetic::Strides strides = strides_of(description, call.array);
  arithmetic::Operands operands = operands_of(description, data);
  Call one = call;
  one.array = nullptr;
  one.columns = 1;
  bool repeats = false;
  for (std::byte* result = data.result; operands.column < call.columns; ++operands.column) {
    const Data column{.first = strides.address(operands, arithmetic::Operand::first),
                      .second = strides.address(operands, arithmetic::Operand::second),
                      .result = result};
    if (!repeats || !repeat(call.rows, column)) repeats = reduce(one, column);
    result += workspace_->result_bytes();
  }
  return false;
}

bool LocalReducer::repeat(Count rows, const Data& data) {
  return repeats_wide_rows_ ? wide_rows_->repeat(rows, data) : workspace_->repeat(rows, data);
}

}  // namespace steadfold::group
