#include "runs.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "operators.hpp"

namespace steadfold::python {
namespace {

/// What is made of a call: it runs at once, is started, or is left to plans.
enum class Mode { run, start, prepare };

/// Throws what a callable threw on this rank, else the exception of the status.
void check_call(const Call& call, sf_status status) {
  if (status != SF_OK && call.user != nullptr) call.user->rethrow();
  check(status);
}

// --- calls that are started, and runs of plans -----------------------------------------------------------------------

class Plan;

/// Something under way, and its results once it has ended.
class Request {
 public:
  Request(std::unique_ptr<Call> call, sf_group* group, nb::object comm)
      : call_(std::move(call)), group_(group), comm_(std::move(comm)) {
    check(sf_group_start_reduce(&call_->call, call_->first, call_->second, call_->results.place(), group_, &request_));
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() {
    sf_request_free(request_);
    if (!ended_) static_cast<void>(call_.release());  // the library still reads and writes its memory
  }

  bool test() {
    int done = 0;
    if (!ended_) poll(0, done);
    return ended_;
  }
  nb::object wait(std::optional<double> timeout) {
    wait_for_end(timeout, [this](std::uint64_t nanoseconds, int& done) {
      poll(nanoseconds, done);
      return ended_;
    });
    check_call(*call_, status_);
    return outcome(*call_, group_);
  }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  /// Looks at the clock and at Python's signals between short waits. `look` says whether the end has come.
  template <class Look>
  static void wait_for_end(std::optional<double> timeout, const Look& look) {
    constexpr std::uint64_t slice = 100'000'000;
    if (timeout && (std::isnan(*timeout) || *timeout < 0))
      refuse("a timeout of %R seconds (it is at least 0), or None to wait for ever", nb::float_(*timeout).ptr());
    const bool for_ever = !timeout || *timeout > 1e9;
    std::uint64_t left = for_ever ? 0 : static_cast<std::uint64_t>(*timeout * 1e9);
    for (bool last = false;;) {
      last = !for_ever && left <= slice;
      int done = 0;
      if (look(for_ever ? slice : std::min(slice, left), done)) return;
      if (PyErr_CheckSignals() != 0) raise();
      if (last) {
        PyErr_SetString(PyExc_TimeoutError,
                        "the call has not ended yet (other ranks may not have started theirs), wait again");
        raise();
      }
      if (!for_ever) left -= slice;
    }
  }

 private:
  void poll(std::uint64_t nanoseconds, int& done) {
    {
      nb::gil_scoped_release others_may_run;
      status_ = sf_request_wait_for(request_, nanoseconds, &done);
    }
    ended_ = done != 0 || status_ != SF_OK;
  }

  std::unique_ptr<Call> call_;
  sf_group* group_;
  nb::object comm_;
  sf_request* request_ = nullptr;
  sf_status status_ = SF_OK;
  bool ended_ = false;
};

// --- plans -----------------------------------------------------------------------------------------------------------

/// A call that plans bind. It belongs to Python.
struct Prepared {
  std::unique_ptr<Call> call;
};

bool is_like(PyArrayObject* a, PyArrayObject* b) {
  const int axes = PyArray_NDIM(a);
  return PyArray_EquivTypes(PyArray_DESCR(a), PyArray_DESCR(b)) != 0 && axes == PyArray_NDIM(b) &&
         std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + axes, PyArray_DIMS(b)) &&
         (PyArray_SIZE(a) == 0 || std::equal(PyArray_STRIDES(a), PyArray_STRIDES(a) + axes, PyArray_STRIDES(b)));
}

/// Other data for an operand that was bound: an array like that one.
const void* data_like(nb::handle given, nb::object& bound, const char* what) {
  if (!bound.is_valid()) refuse("%s for a call that has none, leave them out", what);
  nb::object array = to_array(given);
  if (!is_like(as_array(array), as_array(bound)))
    refuse("%s of dtype %S, or another shape or strides than those bound (%S), bind another plan", what,
           PyArray_DESCR(as_array(array)), PyArray_DESCR(as_array(bound)));
  bound = array;  // it stays as long as it may be read
  return PyArray_DATA(as_array(bound));
}

/// One call or several, agreed on once and run often.
class Plan {
 public:
  Plan(const std::vector<Prepared*>& calls, nb::object comm) : comm_(std::move(comm)), group_(group_of(comm_)) {
    if (group_ == nullptr) make_own_group();
    or_tell(group_, [&] {
      take_calls(calls);
      return 0;
    });
    std::vector<sf_call> described;
    for (const auto& call : calls_) described.push_back(call->call);
    sf_status status = SF_OK;
    {
      nb::gil_scoped_release others_may_run;
      status = sf_group_bind(described.data(), described.size(), group_, &plan_);
    }
    check(status);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (under_way_)
      for (auto& call : calls_) static_cast<void>(call.release());
    sf_plan_free(plan_);
    sf_team_free(own_team_);
  }

  nb::list run(nb::handle operands) {
    prepare(operands);
    sf_status status = SF_OK;
    {
      nb::gil_scoped_release others_may_run;
      status = sf_bundle_run(plan_, data_.data(), data_.size());
    }
    return results(status);
  }
  void start(nb::handle operands) {
    prepare(operands);
    check(sf_bundle_start(plan_, data_.data(), data_.size()));
    under_way_ = true;
  }
  bool test() {
    int done = under_way_ ? 0 : 1;
    if (under_way_) poll(0, done);
    return !under_way_;
  }
  nb::list wait(std::optional<double> timeout) {
    if (under_way_)
      Request::wait_for_end(timeout, [this](std::uint64_t nanoseconds, int& done) {
        poll(nanoseconds, done);
        return !under_way_;
      });
    return results(status_);
  }
  [[nodiscard]] const char* describe() const { return sf_plan_describe(plan_); }
  [[nodiscard]] const char* schedule() const { return sf_plan_schedule(plan_); }
  void trace(bool on) { check(sf_plan_trace(plan_, on ? 1 : 0)); }
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
  /// Without a communicator: a team of one.
  void make_own_group() {
    check(sf_team_create(1, &own_team_));
    check(sf_team_group(own_team_, 0, &group_));
  }
  void take_calls(const std::vector<Prepared*>& calls) {
    if (calls.empty()) refuse("a plan of no calls (there is nothing to agree on), add some");
    for (Prepared* const call : calls) {
      if (call->call == nullptr) refuse("a call that another plan has, prepare it again");
    }
    for (Prepared* const call : calls) calls_.push_back(std::move(call->call));
    data_.resize(calls_.size());
  }
  /// `operands`: None, or for every call (x, factors), each an array or None for what was bound.
  void prepare(nb::handle operands) {
    if (under_way_) refuse("a run of a plan that is under way (there is one at a time), wait for it");
    try {
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        Call& call = *calls_[i];
        if (!operands.is_none()) replace(call, operands[i]);
        if (ran_) renew(call);
        data_[i] = {call.first, call.second, call.results.place(), nullptr, nullptr};
      }
      ran_ = true;
    } catch (const nb::python_error&) {
      nb::gil_scoped_release others_may_run;
      sf_bundle_run(plan_, nullptr, 0);  // fails on every rank, so that none waits
      throw;
    }
  }
  static void replace(Call& call, nb::handle operands) {
    const nb::handle x = operands[0], factors = operands[1];
    if (!x.is_none()) {
      const void* const data = data_like(x, call.x, "elements");
      if (call.call.arrays != nullptr) call.arrays.x.data = data;
      call.first = data;
    }
    if (!factors.is_none()) {
      const void* const data = data_like(factors, call.factors, "factors");
      if (call.call.arrays != nullptr) call.arrays.factors.data = data;
      call.second = data;
    }
  }
  /// Results of a run are the caller's: the next run gets others.
  static void renew(Call& call) { call.results.renew(); }
  nb::list results(sf_status status) {
    if (status != SF_OK)
      for (const auto& call : calls_) check_call(*call, status);
    nb::list list;
    for (const auto& call : calls_) list.append(outcome(*call, group_));
    return list;
  }
  void poll(std::uint64_t nanoseconds, int& done) {
    {
      nb::gil_scoped_release others_may_run;
      status_ = sf_plan_wait_for(plan_, nanoseconds, &done);
    }
    if (done != 0 || status_ != SF_OK) under_way_ = false;
  }

  nb::object comm_;
  sf_group* group_;
  sf_team* own_team_ = nullptr;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<sf_data> data_;
  sf_plan* plan_ = nullptr;
  sf_status status_ = SF_OK;
  bool under_way_ = false, ran_ = false;
};

// --- one-shot calls --------------------------------------------------------------------------------------------------

/// Runs, starts or keeps a call that `fill` fills; NotImplemented where it returns false.
template <class Fill>
nb::object act(int mode, nb::handle comm, const Fill& fill) {
  sf_group* const group = group_of(comm);
  const auto unknown = [] { return nb::borrow<nb::object>(Py_NotImplemented); };
  if (static_cast<Mode>(mode) == Mode::run) {
    Call call;
    if (!or_tell(group, [&] { return fill(call, group); })) return unknown();
    check_call(call, run(call, group));
    return outcome(call, group);
  }
  auto call = std::make_unique<Call>();
  if (!or_tell(group, [&] { return fill(*call, group); })) return unknown();
  if (static_cast<Mode>(mode) == Mode::prepare) return nb::cast(Prepared{std::move(call)}, nb::rv_policy::move);
  if (group == nullptr)
    refuse("a call that is started without a communicator (nothing goes on while this rank computes), give one");
  return nb::cast(std::make_unique<Request>(std::move(call), group, nb::borrow<nb::object>(comm)));
}

nb::object reduce(int operation, nb::handle x, nb::handle factors, nb::handle axis, nb::handle dtype, bool keepdims,
                  nb::handle where, nb::handle labels, nb::handle groups, nb::handle method, nb::handle comm,
                  nb::handle layout, nb::handle root, nb::handle schedule, std::uint32_t threads, nb::handle require,
                  int mode) {
  const Arguments from{static_cast<sf_operation>(operation),
                       x,
                       factors,
                       axis,
                       dtype,
                       where,
                       labels,
                       groups,
                       method,
                       layout,
                       root,
                       schedule,
                       require,
                       keepdims,
                       threads};
  return act(mode, comm, [&](Call& call, sf_group*) { return translate(from, call); });
}

Arguments options_of(nb::handle method, nb::handle layout, nb::handle root, nb::handle schedule) {
  Arguments options{};
  options.method = method;
  options.layout = layout;
  options.root = root;
  options.schedule = schedule;
  options.require = nb::none();
  options.threads = 1;
  return options;
}

nb::object reduce_user(nb::handle x, nb::handle callable, bool batched, bool commutative, nb::handle comm,
                       nb::handle layout, nb::handle root, nb::handle schedule, int mode) {
  const Arguments options = options_of(nb::none(), layout, root, schedule);
  return act(mode, comm, [&](Call& call, sf_group*) {
    translate_user({x, callable, batched, commutative}, options, call);
    return true;
  });
}

nb::object reduce_buffer(int collective, nb::handle buffer, nb::handle operation, nb::handle blocks, bool commutative,
                         nb::handle comm, nb::handle method, nb::handle root, nb::handle schedule, int mode) {
  if (comm.is_none()) refuse_type("comm is None (buffers of ranks are combined), give a communicator");
  const Arguments options = options_of(method, nb::none(), root, schedule);
  return act(mode, comm, [&](Call& call, sf_group* group) {
    return translate_buffer({buffer, operation, blocks, static_cast<sf_collective>(collective), commutative}, options,
                            group, call);
  });
}

/// Tells the other ranks that this one cannot make its call.
void refuse_everywhere(nb::handle comm, const char* text) {
  sf_group* const group = group_of(comm);
  nb::gil_scoped_release others_may_run;
  if (group != nullptr) sf_group_refuse(group, SF_INVALID_ARGUMENT, text);
}

}  // namespace

void add_runs(nb::module_& module) {
  nb::class_<Prepared>(module, "Prepared");
  nb::class_<Request>(module, "Request", "A call under way, made by `start`.")
      .def("test", &Request::test, "Whether the call has ended. Looks once.")
      .def("wait", &Request::wait, nb::arg("timeout").none() = nb::none(),
           "Waits for the end, at most `timeout` seconds (then: TimeoutError, and the call goes on), and returns the "
           "result.")
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
  module.def("reduce", &reduce, nb::arg("operation"), nb::arg("x"), nb::arg("factors").none(), nb::arg("axis").none(),
             nb::arg("dtype").none(), nb::arg("keepdims"), nb::arg("where").none(), nb::arg("labels").none(),
             nb::arg("groups").none(), nb::arg("method").none(), nb::arg("comm").none(), nb::arg("layout").none(),
             nb::arg("root").none(), nb::arg("schedule").none(), nb::arg("threads"), nb::arg("require").none(),
             nb::arg("mode"));
  module.def("reduce_user", &reduce_user, nb::arg("x"), nb::arg("callable"), nb::arg("batched"), nb::arg("commutative"),
             nb::arg("comm").none(), nb::arg("layout").none(), nb::arg("root").none(), nb::arg("schedule").none(),
             nb::arg("mode"));
  module.def("reduce_buffer", &reduce_buffer, nb::arg("collective"), nb::arg("buffer"), nb::arg("operation"),
             nb::arg("blocks").none(), nb::arg("commutative"), nb::arg("comm").none(), nb::arg("method").none(),
             nb::arg("root").none(), nb::arg("schedule").none(), nb::arg("mode"));
  module.def("refuse", &refuse_everywhere, nb::arg("comm").none(), nb::arg("text"));
}

}  // namespace steadfold::python
