#include "runs.hpp"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "operators.hpp"
#include "steadfold/operations.hpp"

namespace steadfold::python {
namespace {

/// Whether a call runs at once, is started, or is prepared for a plan.
enum class Mode { run, start, prepare };

/// Throws the exception that a callable threw on this rank, else the exception of the status.
void check_call(const Call& call, sf_status status) {
  if (status != SF_OK && call.user != nullptr) call.user->rethrow();
  check(status);
}

// --- calls that are started, and runs of plans -----------------------------------------------------------------------

/// A call or a run under way, and its results after it has ended.
class Request {
 public:
  Request(std::unique_ptr<Call> call, sf_group* group, nb::object comm)
      : call_(std::move(call)), rank_(sf_group_rank(group)), comm_(std::move(comm)) {
    void* const place = call_->results.place();
    check_call(*call_, without_lock([&] {
      return sf_group_start_reduce(&call_->call, call_->first, call_->second, place, group, &request_);
    }));
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() {
    without_lock([&] {
      sf_request_free(request_);
      return SF_OK;
    });
    if (!ended_) static_cast<void>(call_.release());  // kept, because the library still reads and writes its memory
  }

  bool test() { return poll(0); }
  nb::object wait(nb::handle timeout) {
    wait_for_end(seconds_of(timeout, "timeout"), [this](std::uint64_t nanoseconds) { return poll(nanoseconds); });
    check_call(*call_, status_);
    return outcome(*call_, rank_);
  }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  /// Waits in short steps and checks the clock and Python's signals in between. `look` returns whether the end has
  /// come.
  template <class Look>
  static void wait_for_end(std::optional<double> timeout, const Look& look) {
    constexpr std::uint64_t slice = 100'000'000;
    std::uint64_t left = nanoseconds_of(timeout);
    const bool for_ever = left == SF_FOREVER;
    while (!look(std::min(slice, left))) {
      if (PyErr_CheckSignals() != 0) raise();
      if (for_ever) continue;
      if (left <= slice) {
        PyErr_SetString(PyExc_TimeoutError,
                        "the call has not ended yet (other ranks may not have started it), wait again");
        raise();
      }
      left -= slice;
    }
  }

 private:
  /// Whether the call has ended.
  bool poll(std::uint64_t nanoseconds) {
    if (ended_) return true;
    int done = 0;
    const sf_status status = without_lock([&] { return sf_request_wait_for(request_, nanoseconds, &done); });
    if (done == 0) check(status);  // the wait was refused, for instance because another thread uses the communicator
    if (done != 0) status_ = status;
    return ended_ = done != 0;
  }

  std::unique_ptr<Call> call_;
  int rank_;
  nb::object comm_;
  sf_request* request_ = nullptr;
  sf_status status_ = SF_OK;
  bool ended_ = false;
};

// --- plans -----------------------------------------------------------------------------------------------------------

/// An operand of a plan, and its properties when the call was described. While the plan has the array, the program may
/// reshape or resize it, or change its dtype.
class Bound {
 public:
  Bound() = default;
  explicit Bound(const nb::object& array) : array_(array) {
    if (!array.is_valid()) return;
    PyArrayObject* const now = as_array(array);
    dtype_ = nb::borrow<nb::object>(reinterpret_cast<PyObject*>(PyArray_DESCR(now)));
    shape_.assign(PyArray_DIMS(now), PyArray_DIMS(now) + PyArray_NDIM(now));
    strides_.assign(PyArray_STRIDES(now), PyArray_STRIDES(now) + PyArray_NDIM(now));
    is_aligned_ = PyArray_ISALIGNED(now);
  }

  /// Returns the array, or an array given in its place (not None), if it has the properties of the described array.
  [[nodiscard]] nb::object or_other(nb::handle given, const char* what) const {
    if (given.is_none()) return array_.is_valid() ? checked(array_, what) : array_;
    if (!array_.is_valid()) refuse("argument %s (the plan was bound without it), leave out the argument", what);
    return checked(to_array(given), what);
  }
  /// Returns the current address of the elements; null if there is no array.
  [[nodiscard]] const void* data(const char* what) const {
    return array_.is_valid() ? PyArray_DATA(as_array(checked(array_, what))) : nullptr;
  }

 private:
  [[nodiscard]] bool is_like(PyArrayObject* other) const {
    if (is_aligned_ && !PyArray_ISALIGNED(other)) return false;
    return PyArray_EquivTypes(PyArray_DESCR(other), as_dtype(dtype_)) != 0 &&
           std::ranges::equal(std::span(PyArray_DIMS(other), axes_of(other)), shape_) &&
           (PyArray_SIZE(other) == 0 ||
            std::ranges::equal(std::span(PyArray_STRIDES(other), axes_of(other)), strides_));
  }
  [[nodiscard]] nb::object checked(const nb::object& array, const char* what) const {
    if (is_like(as_array(array))) return array;
    const nb::object bound = take(PyArray_IntTupleFromIntp(static_cast<int>(shape_.size()), shape_.data()));
    const nb::object found =
        take(PyArray_IntTupleFromIntp(PyArray_NDIM(as_array(array)), PyArray_DIMS(as_array(array))));
    refuse(
        "%s of shape %S and dtype %S for a plan of shape %S and dtype %S (a plan keeps shape, dtype and strides), bind "
        "another plan",
        what, found.ptr(), PyArray_DESCR(as_array(array)), bound.ptr(), dtype_.ptr());
  }
  static std::size_t axes_of(PyArrayObject* array) { return static_cast<std::size_t>(PyArray_NDIM(array)); }

  nb::object array_, dtype_;
  std::vector<npy_intp> shape_, strides_;
  bool is_aligned_ = false;
};

/// A call for a plan, and its operands.
struct Described {
  explicit Described(std::unique_ptr<Call> described)
      : call(std::move(described)), x(call->x), factors(call->factors), mask(call->mask), labels(call->labels) {}

  std::unique_ptr<Call> call;
  Bound x, factors, mask, labels;
};

/// A call as Python holds it until a plan takes it.
struct Prepared {
  std::unique_ptr<Described> call;
};

/// A plan: one or several calls that are agreed on once and run often.
class Plan {
 public:
  Plan(const std::vector<Prepared*>& calls, nb::object comm) : comm_(std::move(comm)) {
    sf_group* const group = comm_.is_none() ? own_group() : group_of(comm_);
    rank_ = comm_.is_none() ? -1 : sf_group_rank(group);
    or_tell(group, [&] {
      take_calls(calls);
      return 0;
    });
    std::vector<sf_call> described;
    for (const auto& each : calls_) described.push_back(each->call->call);
    const sf_status status =
        without_lock([&] { return sf_group_bind(described.data(), described.size(), group, &plan_); });
    if (status == SF_OK) return;
    // So that the plan can be bound in another attempt.
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->call = std::move(calls_[i]);
    fail(status);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    without_lock([&] {
      sf_plan_free(plan_);
      return SF_OK;
    });
    if (!under_way_ && !is_broken_) return;
    // Kept, because the library still reads and writes their memory.
    for (auto& each : calls_) static_cast<void>(each.release());
    for (auto& array : read_) static_cast<void>(array.release());
  }

  nb::list run(nb::handle operands) {
    const Busy busy(*this);
    prepare(operands);
    status_ = without_lock([&] { return sf_bundle_run(plan_, data_.data(), data_.size()); });
    is_broken_ = status_ == SF_TRANSPORT_FAILED;
    return results(status_);
  }
  void start(nb::handle operands) {
    const Busy busy(*this);
    prepare(operands);
    status_ = without_lock([&] { return sf_bundle_start(plan_, data_.data(), data_.size()); });
    check_all(status_);
    under_way_ = true;
  }
  bool test() {
    const Busy busy(*this);
    return poll(0);
  }
  nb::list wait(nb::handle timeout) {
    const Busy busy(*this);
    const std::optional<double> seconds = seconds_of(timeout, "timeout");
    if (!ran_) refuse("no result yet (the plan has not run), run or start the plan");
    Request::wait_for_end(seconds, [this](std::uint64_t nanoseconds) { return poll(nanoseconds); });
    return results(status_);
  }
  [[nodiscard]] const char* describe() const { return sf_plan_describe(plan_); }
  [[nodiscard]] const char* schedule() const { return sf_plan_schedule(plan_); }
  void trace(bool on) {
    check(without_lock([&] { return sf_plan_trace(plan_, on ? 1 : 0); }));
  }
  [[nodiscard]] nb::dict figures() const {
    sf_figures figures{};
    check(sf_plan_figures(plan_, &figures));
    nb::dict result;
    result["messages"] = figures.messages;
    result["bytes"] = figures.bytes;
    result["rounds"] = figures.rounds;
    return result;
  }

 private:
  /// Marks the plan as used for the length of a call, since it serves one thread at a time.
  class Busy {
   public:
    explicit Busy(Plan& plan) : plan_(plan) {
      if (plan.is_busy_)
        refuse(
            "the plan is in use by another thread, or by an operator that calls back (one user at a time), give each "
            "its own plan");
      plan_.is_busy_ = true;
    }
    ~Busy() { plan_.is_busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Plan& plan_;
  };
  struct FreeTeam {
    void operator()(sf_team* team) const noexcept { sf_team_free(team); }
  };

  /// Returns the group of the plan; without a communicator the group of a team of one worker.
  sf_group* own_group() {
    sf_team* made = nullptr;
    sf_group* group = nullptr;
    check(sf_team_create(1, &made));
    own_team_.reset(made);
    check(sf_team_group(made, 0, &group));
    return group;
  }
  void take_calls(const std::vector<Prepared*>& calls) {
    if (calls.empty()) refuse("a plan of no calls (there is nothing to agree on), add calls");
    for (Prepared* const call : calls) {
      if (call == nullptr || call->call == nullptr)
        refuse("the call belongs to another plan (a plan owns its calls), prepare the call again");
    }
    for (Prepared* const call : calls) calls_.push_back(std::move(call->call));
    data_.resize(calls_.size());
  }
  /// Finds the operands of a run. `operands` is None, or (x, factors) for every call, each an array, or None for the
  /// bound array.
  void prepare(nb::handle operands) {
    try {
      // The check depends only on the calls that this rank has made, and not on their progress; otherwise ranks could
      // decide differently.
      if (under_way_) refuse("the plan is already running (a plan has one run at a time), wait for the end of the run");
      if (is_broken_)
        refuse("the plan cannot run (its last run failed in the transport and never ended), bind another plan");
      read_.clear();
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        const Described& bound = *calls_[i];
        const nb::object given = operands.is_none() ? nb::none() : nb::object(operands[i]);
        const nb::object x = bound.x.or_other(given.is_none() ? nb::none() : nb::object(given[0]), "elements");
        const nb::object factors =
            bound.factors.or_other(given.is_none() ? nb::none() : nb::object(given[1]), "factors");
        if (ran_) bound.call->results.renew();  // the caller owns the results of the last run
        const void* const second = factors.is_valid() ? PyArray_DATA(as_array(factors)) : nullptr;
        data_[i] = {PyArray_DATA(as_array(x)), second, bound.call->results.place(), bound.mask.data("a mask"),
                    bound.labels.data("labels")};
        read_.push_back(x);
        read_.push_back(factors);
      }
      ran_ = true;
    } catch (...) {
      // Called on every rank with an error, so that no rank waits.
      status_ = without_lock([&] { return sf_bundle_run(plan_, nullptr, 0); });
      throw;
    }
  }
  /// Throws the exception that a callable of any call threw, else the exception of the status.
  void check_all(sf_status status) {
    if (status == SF_OK) return;
    for (const auto& each : calls_)
      if (each->call->user != nullptr) each->call->user->rethrow();
    check(status);
  }
  nb::list results(sf_status status) {
    check_all(status);
    nb::list list;
    for (const auto& each : calls_) list.append(outcome(*each->call, rank_));
    return list;
  }
  /// Whether no run is under way.
  bool poll(std::uint64_t nanoseconds) {
    if (!under_way_ && status_ == SF_OK) return true;
    int done = 0;  // ends at once if no run is under way: the last run failed, and its error is reported again
    const sf_status status = without_lock([&] { return sf_plan_wait_for(plan_, nanoseconds, &done); });
    if (done == 0) check(status);  // the wait was refused, and the run continues
    if (done != 0) status_ = status;
    under_way_ = done == 0;
    return !under_way_;
  }

  nb::object comm_;
  int rank_ = -1;
  std::unique_ptr<sf_team, FreeTeam> own_team_;
  std::vector<std::unique_ptr<Described>> calls_;
  std::vector<sf_data> data_;
  std::vector<nb::object> read_;  // arrays that the run under way reads, kept alive
  sf_plan* plan_ = nullptr;
  sf_status status_ = SF_OK;
  bool under_way_ = false, ran_ = false, is_busy_ = false;
  bool is_broken_ = false;  // whether a run was abandoned, so that MPI may still read its memory
};

// --- one-shot calls --------------------------------------------------------------------------------------------------

/// Runs, starts or prepares a call that `fill` fills. Returns NotImplemented if `fill` returns false.
template <class Fill>
nb::object act(int mode, nb::handle comm, const Arguments& given, const Fill& fill) {
  sf_group* const group = group_of(comm);
  const auto unknown = [] { return nb::borrow<nb::object>(Py_NotImplemented); };
  if (static_cast<Mode>(mode) == Mode::run) {
    auto call = std::make_unique<Call>();
    if (!or_tell(group, [&] { return fill(*call, group); })) return unknown();
    const sf_status status = run(*call, group);
    // Kept, because MPI may still read its memory.
    if (status == SF_TRANSPORT_FAILED) check_call(*call.release(), status);
    check_call(*call, status);
    return outcome(*call, group == nullptr ? -1 : sf_group_rank(group));
  }
  auto call = std::make_unique<Call>();
  const bool is_offered = or_tell(group, [&] {
    const bool filled = fill(*call, group);
    if (filled && static_cast<Mode>(mode) == Mode::prepare && !reads_what_was_given(*call, given))
      refuse(
          "a plan of operands that need a conversion (a run would not see later changes), convert the operands before "
          "you bind the plan");
    return filled;
  });
  if (!is_offered) return unknown();
  if (static_cast<Mode>(mode) == Mode::prepare)
    return nb::cast(Prepared{std::make_unique<Described>(std::move(call))}, nb::rv_policy::move);
  if (group == nullptr)
    refuse(
        "a call was started without a communicator (without other ranks nothing proceeds in the background), give a "
        "communicator");
  return nb::cast(std::make_unique<Request>(std::move(call), group, nb::borrow<nb::object>(comm)));
}

nb::object reduce(int operation, nb::handle x, nb::handle factors, nb::handle axis, nb::handle dtype,
                  nb::handle keepdims, nb::handle where, nb::handle labels, nb::handle groups, nb::handle comm,
                  nb::handle options, int mode, nb::handle initial) {
  const bool is_weighted_sum = operation == SF_SUM && !factors.is_none();
  const bool are_chunks = steadfold::python::are_chunks(x);
  const nb::object of_shape = are_chunks ? nb::object(x.attr("of_shape")) : nb::borrow<nb::object>(x);
  const Arguments from{.operation = is_weighted_sum ? SF_DOT : static_cast<sf_operation>(operation),
                       .are_weights = is_weighted_sum || operation == SF_WEIGHTED_MEAN,
                       .x = of_shape,
                       .factors = factors,
                       .axis = axis,
                       .dtype = dtype,
                       .where = where,
                       .labels = labels,
                       .groups = groups,
                       .keepdims = keepdims,
                       .initial = initial,
                       .options = options,
                       .chunks = are_chunks ? x : nb::handle(nb::none())};
  return act(mode, comm, from, [&](Call& call, sf_group*) {
    constexpr int count = static_cast<int>(std::size(detail::operation_table));
    if (operation < 0 || operation >= count)
      refuse("operation %d is unknown (the operations are 0 to %d), call a function of the package", operation,
             count - 1);
    // Python turns the nulls of columns into a mask, and calls again.
    if (is_column(of_shape) || is_column(factors) || is_column(where) || is_column(labels)) return false;
    return translate(from, call);
  });
}

nb::object reduce_user(nb::handle x, nb::handle callable, nb::handle batched, nb::handle commutative, nb::handle comm,
                       nb::handle options, int mode, nb::handle initial) {
  const Arguments given{.operation = SF_USER, .x = x, .initial = initial, .options = options};
  return act(mode, comm, given, [&](Call& call, sf_group*) {
    translate_user({x, callable, batched, commutative}, given, call);
    return true;
  });
}

nb::object reduce_buffer(int collective, nb::handle buffer, nb::handle operation, nb::handle blocks,
                         nb::handle commutative, nb::handle comm, nb::handle options, int mode) {
  if (comm.is_none()) refuse_type("comm is None (this call combines the buffers of ranks), give a communicator");
  const Arguments given{.operation = SF_USER, .x = buffer, .options = options};
  return act(mode, comm, given, [&](Call& call, sf_group* group) {
    return translate_buffer({buffer, operation, blocks, commutative, static_cast<sf_collective>(collective)}, given,
                            group, call);
  });
}

/// Tells the other ranks that this rank cannot make its call.
void refuse_everywhere(nb::handle comm, const char* text) {
  sf_group* const group = group_of(comm);
  if (group != nullptr) without_lock([&] { return sf_group_refuse(group, SF_INVALID_ARGUMENT, text); });
}

}  // namespace

void add_runs(nb::module_& module) {
  nb::class_<Prepared>(module, "Prepared");
  nb::class_<Request>(module, "Request", "A call that was started with `start` and is under way.")
      .def("test", &Request::test, "Returns whether the call has ended. Checks once.")
      .def(
          "wait", &Request::wait, nb::arg("timeout").none() = nb::none(),
          "Waits for the end of the call and returns the result. After `timeout` seconds raises TimeoutError; the call "
          "continues.")
      .def("__repr__", [](const Request& self) {
        return self.ended() ? "<steadfold.Request: ended>" : "<steadfold.Request: under way>";
      });
  nb::class_<Plan>(module, "Plan")
      .def(nb::init<const std::vector<Prepared*>&, nb::object>(), nb::arg("calls"), nb::arg("comm").none())
      .def("run", &Plan::run, nb::arg("operands").none() = nb::none())
      .def("start", &Plan::start, nb::arg("operands").none() = nb::none())
      .def("test", &Plan::test)
      .def("wait", &Plan::wait, nb::arg("timeout").none() = nb::none())
      .def("describe", &Plan::describe)
      .def_prop_ro("schedule", &Plan::schedule)
      .def("trace", &Plan::trace)
      .def("figures", &Plan::figures);
  // The bindings accept every argument, so that the body can tell the other ranks of errors.
  module.def("reduce", &reduce, nb::arg("operation"), nb::arg("x").none(), nb::arg("factors").none(),
             nb::arg("axis").none(), nb::arg("dtype").none(), nb::arg("keepdims").none(), nb::arg("where").none(),
             nb::arg("labels").none(), nb::arg("groups").none(), nb::arg("comm").none(), nb::arg("options"),
             nb::arg("mode"), nb::arg("initial").none() = nb::none());
  module.def("reduce_user", &reduce_user, nb::arg("x").none(), nb::arg("callable").none(), nb::arg("batched").none(),
             nb::arg("commutative").none(), nb::arg("comm").none(), nb::arg("options"), nb::arg("mode"),
             nb::arg("initial").none() = nb::none());
  module.def("reduce_buffer", &reduce_buffer, nb::arg("collective"), nb::arg("buffer").none(),
             nb::arg("operation").none(), nb::arg("blocks").none(), nb::arg("commutative").none(),
             nb::arg("comm").none(), nb::arg("options"), nb::arg("mode"));
  module.def("refuse", &refuse_everywhere, nb::arg("comm").none(), nb::arg("text"));
}

}  // namespace steadfold::python
