// Group, other types that have a group of ranks, and how calls over them are made. Included by steadfold.hpp.
#pragma once

#include "steadfold/operators.hpp"

#if __cplusplus >= 201703L

#include <chrono>
#include <memory>
#include <new>

#include "steadfold/steadfold_group.h"

namespace steadfold {

/// A group of ranks. Copies refer to the same group. The group belongs to the communicator or team from which it was
/// made: the group of an MPI communicator ends with the communicator.
class Group {
 public:
  /// Makes a Group from the handle of the C interface. The ownership does not change.
  explicit Group(sf_group* handle) noexcept : handle_(handle) {}
  /// Return this rank's number, counted from 0, and the number of ranks.
  int rank() const noexcept { return sf_group_rank(handle_); }
  int size() const noexcept { return sf_group_size(handle_); }
  /// Returns how bytes move between the ranks: "mpi", "shared", "shared+mpi" or "rma" (see sf_group_transport).
  const char* transport() const noexcept { return sf_group_transport(handle_); }
  sf_group* handle() const noexcept { return handle_; }

 private:
  sf_group* handle_;
};

namespace detail {

/// The base of the specialisations of GroupOf, which add the function `group`.
struct HasGroup {
  static RankOrder rank_order(std::uint64_t rows, Group group) {
    RankOrder found;
    check(sf_group_rank_order(rows, group.handle(), &found.mine, &found.element_count));
    return found;
  }
};

template <>
struct GroupOf<Group> : HasGroup {
  static Group group(Group group) noexcept { return group; }
};

template <class C, class = void>
inline constexpr bool has_group = false;
template <class C>
inline constexpr bool has_group<C, std::void_t<decltype(GroupOf<C>::group(std::declval<const C&>()))>> = true;
template <class C>
using if_group = std::enable_if_t<has_group<C>>;

/// Calls `prepare()`, which makes the data that a collective call needs. If `prepare` throws (usually because memory
/// runs out), the other ranks get the error in place of the call, so that they do not wait for this rank.
template <class Prepare>
auto told(Group group, const Prepare& prepare) -> decltype(prepare()) {
  try {
    return prepare();
  } catch (const Error& error) {
    sf_group_refuse(group.handle(), error.status(), error.what());
    throw;
  } catch (const std::bad_alloc&) {
    sf_group_refuse(group.handle(), SF_INTERNAL, "out of memory (a call could not be described), free memory");
    throw;
  } catch (const std::exception& error) {
    sf_group_refuse(group.handle(), SF_INTERNAL, error.what());
    throw;
  } catch (...) {
    sf_group_refuse(group.handle(), SF_OPERATOR_FAILED,
                    "an operator could not be copied (its copy constructor threw), see the exception");
    throw;
  }
}
/// Makes a new object of type Call. If its constructor throws, the other ranks get the error, as with `prepare`.
template <class Call, class... Arguments>
std::unique_ptr<Call> made(Group group, const Arguments&... arguments) {
  return told(group, [&] { return std::make_unique<Call>(arguments...); });
}

/// Throws the error of this rank's arguments, and reports it to the other ranks in place of the call.
[[noreturn]] inline void refuse_on_all_ranks(Group group, const std::string& fault) {
  sf_group_refuse(group.handle(), SF_INVALID_ARGUMENT, fault.c_str());
  throw Error(SF_INVALID_ARGUMENT, fault);
}

/// The modes of calls. `Here` makes a call in this process alone, and `Waiting` over a group of ranks; both return the
/// results. started.hpp has a third mode.
struct Here {
  template <class Made, class... From>
  auto reduce(const From&... from) const {
    Made made(from...);
    if (!made.fault().empty()) throw Error(SF_INVALID_ARGUMENT, made.fault());
    return made.take(sf_reduce_local(made.call(), made.first(), made.second(), made.results()));
  }
};
struct Waiting {
  template <class C>
  explicit Waiting(const C& comm) : group(GroupOf<C>::group(comm)) {}
  template <class Made, class... From>
  auto reduce(const From&... from) const {
    if constexpr (Made::may_throw) {
      auto made = told(group, [&] { return Made(from...); });
      return take(made);
    } else {
      Made made(from...);
      return take(made);
    }
  }
  template <class Made>
  auto take(Made& made) const {
    if (!made.fault().empty()) refuse_on_all_ranks(group, made.fault());
    return made.take(sf_group_reduce(made.call(), made.first(), made.second(), made.results(), group.handle()));
  }
  Group group;
};

/// Converts a timeout to nanoseconds for the C interface. A negative timeout, or a NaN, is 0; more than a century is
/// unlimited.
template <class Number, class Period>
std::uint64_t nanoseconds_of(std::chrono::duration<Number, Period> timeout) {
  constexpr std::chrono::duration<double> a_century(3e9);
  if (timeout > a_century) return std::numeric_limits<std::uint64_t>::max();  // SF_FOREVER, which has no limit
  if (!(timeout > timeout.zero())) return 0;
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(timeout).count());
}

}  // namespace detail

/// Returns the group of a communicator, which can be passed to code that does not use MPI. Collective when the
/// communicator is used for the first time. Throws Error.
template <class C, class = detail::if_group<C>>
Group group_of(const C& comm) {
  return detail::GroupOf<C>::group(comm);
}

}  // namespace steadfold

#endif
