// Made by ./dev surface from the tables in surface/: edit the tables.
//
// Methods, guarantees, and the options of calls. Included by types.hpp.
#pragma once

#if __cplusplus < 201703L
#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"
#else

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "steadfold/layout.hpp"

namespace steadfold {

/// A method, which fixes the bits of a result; see docs/guarantees.md. A default-constructed Method is the default
/// method of the call. Every call takes a Method in place of its options: sf::sum(x, comm, sf::tree()).
struct Method {
  sf_method id = SF_AUTOMATIC;
  std::uint32_t bins = 0;            // only for binned
  sf_sweep sweep = SF_SINGLE_SWEEP;  // only for binned
  std::uint32_t lanes = 0;           // only for tree

  void describe(sf_call& call) const noexcept {
    call.method = id;
    call.bins = bins;
    call.sweep = sweep;
    call.lanes = lanes;
  }

  template <class Options,
            class = std::enable_if_t<std::is_aggregate_v<Options> && std::is_same_v<decltype(Options::method), Method>>>
  constexpr operator Options() const {
    Options options;
    options.method = *this;
    return options;
  }
};
/// The parameter of `tree`: the number of lanes, 1 to 1024: sf::tree({.lanes = 16}).
struct Tree {
  std::uint32_t lanes = 1;
};
/// Combines elements in the binary tree over their indices, with any operator. With L lanes, element i belongs to lane
/// i mod L: every lane is combined in a tree, then the results of the lanes. Lanes need a commutative operator.
constexpr Method tree(Tree how = {}) {
  Method method{SF_TREE};
  method.lanes = how.lanes;
  return method;
}
/// Gives the correctly rounded value of a sum, mean, dot product or norm2.
constexpr Method exact() { return {SF_EXACT}; }
/// Gives no guarantee; for comparisons with other methods.
constexpr Method plain() { return {SF_PLAIN}; }
/// The parameters of `binned`: the number of bins, and how the largest term is found: sf::binned({.bins = 4, .sweep =
/// SF_DOUBLE_SWEEP}).
struct Binned {
  std::uint32_t bins = 3;
  sf_sweep sweep = SF_SINGLE_SWEEP;
};
/// Gives the exact sum of terms that were rounded to the lowest of the bins; for all sums, mean, dot and norm2.
constexpr Method binned(Binned how = {}) {
  Method method{SF_BINNED};
  method.bins = how.bins;
  method.sweep = how.sweep;
  return method;
}

/// Guarantees: properties on which the bits of a call must not depend, for instance `sf::ranks | sf::layout`. A call
/// that cannot give the guarantees is refused. docs/guarantees.md has the table of methods and guarantees.
struct Guarantees {
  std::uint32_t bits = 0;
  /// Combines two sets of guarantees: the call must give both.
  friend constexpr Guarantees operator|(Guarantees a, Guarantees b) { return {a.bits | b.bits}; }
};
namespace guarantees {
inline constexpr Guarantees ranks{SF_RANKS};        ///< the number of ranks
inline constexpr Guarantees threads{SF_THREADS};    ///< the number of threads
inline constexpr Guarantees layout{SF_LAYOUT};      ///< which rank holds which elements
inline constexpr Guarantees schedule{SF_SCHEDULE};  ///< the algorithm that exchanges partial results
inline constexpr Guarantees library{SF_LIBRARY};    ///< the MPI library
inline constexpr Guarantees target{SF_TARGET};      ///< the instruction set
inline constexpr Guarantees release{SF_RELEASE};    ///< the release of Steadfold
}  // namespace guarantees

/// The options of a call within one process.
struct LocalOptions {
  Method method = {};
  unsigned threads = 1;     ///< the largest number of threads that read this rank's elements; does not change the bits,
                            ///< and may differ between ranks
  Guarantees require = {};  ///< the guarantees that the call must give; a call that cannot give them is refused

  /// Writes the options into a call, which then points to them.
  void describe(sf_call& call) const noexcept {
    method.describe(call);
    call.threads = threads;
    call.require = require.bits;
  }
};

/// The options of a call. All options except the layout's content and `threads` must be the same on all ranks.
struct Options {
  Method method = {};
  Layout layout = {};
  std::optional<int> root = std::nullopt;  ///< the rank that gets the results; empty: all ranks
  std::string schedule = {};               ///< a name listed by `steadfold schedules`; empty: the library chooses
  Guarantees require = {};                 ///< the guarantees that the call must give; a call that cannot give them is
                                           ///< refused
  unsigned threads = 1;                    ///< the largest number of threads that read this rank's elements; does not
                                           ///< change the bits, and may differ between ranks

  /// Writes the options into a call, which then points to them.
  void describe(sf_call& call) const noexcept {
    method.describe(call);
    layout.describe(call);
    call.root = detail::root_of(root);
    call.schedule = schedule.empty() ? nullptr : schedule.c_str();
    call.require = require.bits;
    call.threads = threads;
  }
};

/// The options of one member of a bundle; the same on all ranks except for the layout's content and `threads`.
struct MemberOptions {
  Method method = {};
  Layout layout = {};
  Guarantees require = {};  ///< the guarantees that the call must give; a call that cannot give them is refused
  unsigned threads = 1;     ///< the largest number of threads that read this rank's elements; does not change the bits,
                            ///< and may differ between ranks

  /// Writes the options into a call, which then points to them.
  void describe(sf_call& call) const noexcept {
    method.describe(call);
    layout.describe(call);
    call.require = require.bits;
    call.threads = threads;
  }
};

/// The options that all members of a bundle share; the same on all ranks.
struct BundleOptions {
  std::optional<int> root = std::nullopt;  ///< the rank that gets the results; empty: all ranks
  std::string schedule = {};               ///< a name listed by `steadfold schedules`; empty: the library chooses

  /// Writes the options into a call, which then points to them.
  void describe(sf_call& call) const noexcept {
    call.root = detail::root_of(root);
    call.schedule = schedule.empty() ? nullptr : schedule.c_str();
  }
};

namespace detail {
/// Returns the value of sf_call_default(), as a constant that the compiler can evaluate.
constexpr sf_call call_of_defaults() {
  sf_call call{};
  call.size = sizeof call;
  call.result_type = SF_AS_TYPE;
  call.columns = 1;
  call.root = SF_ALL_RANKS;
  call.element_count = SF_UNKNOWN;
  return call;
}
/// Returns the method of a call, with its parameters.
constexpr Method method_of(const sf_call& call) {
  Method method{call.method};
  method.bins = call.bins;
  method.sweep = call.sweep;
  method.lanes = call.lanes;
  return method;
}
}  // namespace detail

}  // namespace steadfold

#endif
