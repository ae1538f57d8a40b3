// The registry of algorithms, with one `Algorithm` for each. The command line, the selection of schedules, tests and
// documentation are made from it.
// Each `Algorithm` states rank order, cost (as formulas) and source.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/step.hpp"

namespace steadfold::schedule {

constexpr Collective operator|(Collective a, Collective b) noexcept {
  return static_cast<Collective>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr bool offers(Collective offered, Collective asked) noexcept {
  return (static_cast<int>(offered) & static_cast<int>(asked)) != 0;
}
inline constexpr Collective reductions = Collective::reduce | Collective::allreduce | Collective::reduce_scatter;
inline constexpr Collective scans = Collective::scan | Collective::exscan;

std::string_view name_of(Collective collective) noexcept;  // name of one collective
std::string names_of(Collective collectives);              // names of several collectives, separated by commas
std::string quoted(std::string_view text);                 // a name in quotes, for messages
/// Makes "unknown WHAT 'NAME' (the nearest name is 'X'), take one of ...", or says that no name is similar. `advice`
/// replaces the list of all names.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known,
                         std::string_view advice = {});
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known,
                         std::string_view advice = {});

/// All collectives, in the order in which they are shown.
inline constexpr std::array every_collective = {Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                                Collective::scan, Collective::exscan};

/// When the schedule keeps rank order, so that every merge has its left operand before its right operand, starting at
/// rank 0. Otherwise the order is cyclic.
enum class KeepsRankOrder : std::uint8_t { always, root_zero, never };

/// Whether an allreduce gives all ranks the same bits even if merging is not associative bit for bit (`plain`).
enum class SameOnAllRanks : std::uint8_t { no, yes };

/// How often a rank's rows count in a value. If some rows may count twice, the schedule serves only idempotent
/// operators.
enum class Counts : std::uint8_t { once, at_least_once };

/// The layouts that a schedule accepts: any, or layouts whose elements are in rank order.
enum class Layouts : std::uint8_t { any, rank_order };

/// The number of segments into which a schedule cuts a call's columns: one; as many as keep its pipeline full; or a
/// multiple of its unit, which is the number of ranks if each rank has a block.
enum class Segments : std::uint8_t { one, pipelined, one_per_rank };

/// The properties of a call's method that a schedule must know.
struct Merging {
  std::string_view method;     // name of the method, for error messages
  bool is_associative = true;  // whether no order of merging changes a bit of the result
  bool may_overlap = false;    // whether partials with rows in common can be merged, if the operator is idempotent
  bool offers_words = false;   // whether partials can be added as 64-bit words
  bool may_differ = false;     // whether ranks may get different bits in an allreduce; only measurements ask for it
};

/// Whether partials grow on their way to the result.
enum class Partials : std::uint8_t { merged, of_one_rank };

/// The largest number of columns per segment that `block=` accepts.
inline constexpr Count most_block = Count{1} << 48;

/// An algorithm, with its steps, formulas and properties. Its formulas ignore the context's rank. In reduce_scatter
/// they hold if all blocks have the same number of segments. `messages` counts the messages of the whole job.
/// `partial_messages` counts the messages that carry partials; the others carry values. Every segment has the same
/// number of each, and a message carries one partial or value, unless the algorithm is `uneven`. `rounds` is the length
/// of the longest chain (see checker.hpp), or an upper bound if the algorithm is `rounds_at_most`. `messages` is null
/// if only the transport knows it, `rounds` also if there is no formula.
struct Algorithm {
  std::string_view name;
  std::string_view sentence;
  Collective collectives;
  Collective default_collective = Collective::allreduce;  // for the command; `reduce` if allreduce is not offered
  KeepsRankOrder keeps_rank_order;
  SameOnAllRanks same_on_all_ranks;
  std::string_view restrictions;                 // restrictions as a text for people; empty if there are none
  std::span<const std::string_view> parameters;  // names of the parameters that the schedule accepts
  std::string_view source;
  Steps (*steps)(Context);
  Count (*messages)(Context);
  Count (*rounds)(Context);
  Count (*partial_messages)(Context) = nullptr;
  std::uint32_t (*ports)(Context) = nullptr;  // number of send ports, and of receive ports; null: one of each
  // Checks the parameters; throws as `parse` does if a value cannot be used.
  void (*check_parameters)(const Spec&) = nullptr;
  // Says why the algorithm cannot serve the context's ranks, nodes and parameters, as `refusal` does. Null: it serves
  // any number of ranks.
  std::optional<std::string> (*refusal_of_ranks)(const Context&) = nullptr;
  // Parameters for proofs and tests, written as after the schedule's name.
  std::span<const std::string_view> examples = {};
  Counts counts = Counts::once;
  Layouts layouts = Layouts::any;
  Segments segments = Segments::one;
  Count (*unit)(Context) = nullptr;  // number of segments that form a unit, for schedules made of other schedules
  Partials partials = Partials::merged;
  // Returns how many vectors pass a rank's ports, one after the other. Null: one segment in every round.
  double (*vectors)(Context) = nullptr;
  // Returns how often the messages are halved, starting with half a vector, in both directions. Null: all messages have
  // about the same length.
  Count (*halvings)(Context) = nullptr;
  // Whether messages carry several segments, or some segments are sent more often than others.
  bool uneven = false;
  bool rounds_at_most = false;  // whether ranks may need fewer rounds than `rounds` says
  bool adds_words = false;      // whether the schedule needs partials that can be added as 64-bit words
  // Whether the schedule has groups of ranks: the nodes of the machine, unless `size=` is given.
  bool has_groups = false;
  // Whether the steps have waves, so that the order of merging depends on the order of arrival. If that order can
  // change bits, calls are refused. `auto` never chooses this algorithm. Rounds are counted in the order of the steps.
  bool merges_on_arrival = false;

  std::uint32_t port_count(Context context) const { return ports == nullptr ? 1 : ports(context); }
  /// Whether `found` rounds agree with the formula for rounds, if there is one.
  bool allows_rounds(Count found, Context context) const {
    return rounds == nullptr || found == rounds(context) || (rounds_at_most && found < rounds(context));
  }
  /// Returns the unit of segments. Steps can be made, and formulas hold, for one segment and for multiples of this
  /// number.
  Count unit_of(Context context) const {
    if (unit != nullptr) return unit(context);
    return segments == Segments::one_per_rank ? context.ranks() : 1;
  }
  /// Returns the largest valid number of segments up to `most`.
  std::uint32_t segments_up_to(std::uint32_t most, Context context) const {
    const Count multiple = unit_of(context);
    return most < multiple ? 1 : static_cast<std::uint32_t>(most - most % multiple);
  }
  bool keeps_order(Rank root) const noexcept {
    return keeps_rank_order == KeepsRankOrder::always || (keeps_rank_order == KeepsRankOrder::root_zero && root == 0);
  }
};

/// The sizes of messages, in bytes: one partial of every segment together, and one value of every segment together.
struct SegmentBytes {
  Count partials = 0;
  Count values = 0;
};

/// Returns the bytes that the whole job sends if all partials of a segment have the same size. The algorithm must have
/// its formulas and not be uneven. For reduce and allreduce only.
Count bytes_of(const Algorithm& algorithm, Context context, SegmentBytes sizes);

/// Algorithms at any address, as a range of `const Algorithm&`.
struct AlgorithmAt {
  constexpr const Algorithm& operator()(const Algorithm* algorithm) const noexcept { return *algorithm; }
};
using Algorithms = std::ranges::transform_view<std::span<const Algorithm* const>, AlgorithmAt>;

/// All algorithms, in the order in which they are shown.
Algorithms registry() noexcept;

/// Returns the algorithm with this name (without parameters), or null. `binomial_spanning_tree` is an alias of
/// `binomial`.
const Algorithm* find(std::string_view name, Algorithms algorithms = registry()) noexcept;

/// A schedule as the caller named it: `name:key=value:key=[nested]`.
struct Spec {
  struct Parameter;

  const Algorithm* algorithm = nullptr;
  std::string name;  // name of the schedule, as the caller wrote it
  std::vector<Parameter> parameters;

  /// Returns the parameter with this name, or null.
  const Parameter* parameter(std::string_view key) const noexcept;
};

/// A parameter. `value` is the text after `=`, without brackets. Text in brackets is also parsed: then `nested` has one
/// Spec.
struct Spec::Parameter {
  std::string name;
  std::string value;
  std::vector<Spec> nested;
};

/// Returns the text that `parse` reads as this Spec. An alias is written as its algorithm's name.
std::string text_of(const Spec& spec);

/// Returns the parameter with this name as a number from `least` to `most`, or `otherwise` if it is not given. Throws
/// std::invalid_argument, as `parse` does.
Count number_of(const Spec& spec, std::string_view key, Count otherwise, Count least, Count most);

/// Checks a parameter whose value is a schedule in brackets. The nested schedule must serve any layout with
/// point-to-point messages. If `collective` is given, the schedule must serve this collective at root 0 in rank order.
/// Throws as `parse` does; the parameter may be left out.
void require_nested(const Spec& spec, std::string_view key, std::optional<Collective> collective);

/// Throws the error of a parameter whose value cannot be used, as `parse` does.
[[noreturn]] void refuse_value(const Spec& spec, std::string_view key, const std::string& why,
                               const std::string& suggestion = "choose another schedule");

/// The largest depth of schedules nested in brackets. Every level uses different slots, which multiplies the slot
/// numbers needed.
inline constexpr int most_nested = 4;

/// Names of policies that choose an algorithm (see src/plan). `parse` does not accept them, but lists them among
/// the known names.
inline constexpr std::array<std::string_view, 2> policies = {"auto", "mpich"};
constexpr bool is_policy(std::string_view name) noexcept { return std::ranges::find(policies, name) != policies.end(); }

/// Reads the name and parameters of a schedule. Throws std::invalid_argument with "problem (why), suggestion" if the
/// text does not have this form, no algorithm has the name, the algorithm does not accept a parameter or its value, or
/// brackets nest deeper than `most_nested`.
Spec parse(std::string_view text, Algorithms algorithms = registry());

/// The kind of operator. An `idempotent` operator is commutative, and combining a value with itself gives the same
/// bits.
enum class OperatorKind : std::uint8_t { commutative, ordered, idempotent };

/// Says why the algorithm cannot serve the call, as "problem (why), suggestion". Returns `nullopt` if it can. `root` is
/// used only for reduce.
std::optional<std::string> refusal(const Algorithm& algorithm, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind);

/// Says why the schedule, or a schedule nested in it, cannot serve the call. Returns `nullopt` if all can.
std::optional<std::string> refusal(const Spec& spec, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind);

/// Says why the schedule cannot serve this number of ranks. Returns `nullopt` if it can. `nodes` is the result of
/// `nodes_of`.
std::optional<std::string> refusal(const Spec& spec, Rank rank_count, const order::Nodes* nodes = nullptr);

/// Returns the nodes for the context of this schedule: the nodes of the machine if the schedule's groups are nodes,
/// otherwise null. `of_machine` is null if the nodes are unknown or there is only one.
const order::Nodes* nodes_of(const Algorithm& algorithm, const Spec* spec, const order::Nodes* of_machine) noexcept;

/// Returns the allreduce with which the library's ranks exchange information: an allreduce with few rounds, or an
/// allreduce by nodes if groups are always faster. `nodes` is the result of `nodes_of`. The partials may be merged in
/// any order that keeps neighbours together.
const Algorithm& algorithm_for_questions(const order::Nodes* nodes) noexcept;

/// Whether the algorithm can serve the method for some call.
constexpr bool serves(const Algorithm& algorithm, const Merging& merging) noexcept {
  if (algorithm.adds_words && !merging.offers_words) return false;
  return algorithm.counts == Counts::once || merging.may_overlap;
}

/// Says why the algorithm cannot serve calls with these layouts in the same messages. Returns `nullopt` if it can.
std::optional<std::string> refusal(const Algorithm& algorithm, std::span<const order::Layout* const> layouts);

/// Returns the algorithm's `same_on_all_ranks` for a schedule with its parameters, if it has some. The schedules nested
/// in it are included.
bool same_on_all_ranks(const Algorithm& algorithm, const Spec* spec) noexcept;
/// Return the algorithm's `counts` and `merges_on_arrival`; the schedules nested in it are included.
Counts counts_of(const Algorithm& algorithm, const Spec* spec) noexcept;
bool merges_on_arrival(const Algorithm& algorithm, const Spec* spec) noexcept;

/// Returns the algorithm's name by itself and with each of its examples of parameters, in the form that `parse` reads.
std::vector<std::string> names_of(const Algorithm& algorithm);

}  // namespace steadfold::schedule
