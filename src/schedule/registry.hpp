// The catalogue of algorithms: one row each, from which command line, selection, tests and documentation are made.
// Rank order, cost (as formulas) and source: stated by each row.
#pragma once

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

std::string_view name_of(Collective collective) noexcept;  // of one collective
std::string names_of(Collective collectives);              // of several, with commas
std::string quoted(std::string_view text);                 // a name in a message
/// "unknown WHAT 'NAME' (the nearest name is 'X'), take one of ...", or that none is like it.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known);

/// All of them, in the order in which they are shown.
inline constexpr std::array every_collective = {Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                                Collective::scan, Collective::exscan};

/// When every merge has its left operand before its right one in rank order, 0 first. Otherwise the order is cyclic.
enum class KeepsRankOrder : std::uint8_t { always, root_zero, never };

/// Whether an allreduce brings the same bits to all ranks even if merging is not associative in bits (`plain`).
enum class SameOnAllRanks : std::uint8_t { no, yes };

/// How often a rank's rows count in a value. Where some may count twice, only idempotent operators are served.
enum class Counts : std::uint8_t { once, at_least_once };

/// Which layouts a schedule can be made for: any, or those whose elements stand in rank order.
enum class Layouts : std::uint8_t { any, rank_order };

/// Into how many segments a schedule cuts a call's columns: one; as many as keep its pipeline full; or as many as its
/// unit says, which is the number of ranks if each has a block of its own.
enum class Segments : std::uint8_t { one, pipelined, one_per_rank };

/// What a schedule must know about a call's method.
struct Merging {
  std::string_view method;     // its name, for people
  bool is_associative = true;  // bit for bit: no order of merging changes the result
  bool may_overlap = false;    // partials with rows in common can be merged, if the operator is idempotent
  bool offers_words = false;   // partials can be added as 64-bit words
  bool may_differ = false;     // ranks may get different bits in an allreduce; no call asks for it, measurements do
};

/// Whether partials grow on their way to the result.
enum class Partials : std::uint8_t { merged, of_one_rank };

/// The most columns per segment that `block=` may ask for.
inline constexpr Count most_block = Count{1} << 48;

/// An algorithm. Its formulas ignore the context's rank. `messages`: of the whole job. `partial_messages`: the partials
/// that these carry; the others carry values. Every segment has as many of each, one per message, unless the row is
/// `uneven`. `rounds`: on the longest chain, see checker.hpp, or no more than that many if the row is `rounds_at_most`.
/// Null if only the transport could know, or if there is no formula for rounds. In reduce_scatter they hold if all
/// blocks have equally many segments.
struct Row {
  std::string_view name;
  std::string_view sentence;
  Collective collectives;
  KeepsRankOrder keeps_rank_order;
  SameOnAllRanks same_on_all_ranks;
  std::string_view restrictions;                 // for people; empty when there are none
  std::span<const std::string_view> parameters;  // accepted, by name
  std::string_view source;
  Steps (*steps)(Context);
  Count (*messages)(Context);
  Count (*rounds)(Context);
  Count (*partial_messages)(Context) = nullptr;
  std::uint32_t (*ports)(Context) = nullptr;        // send ports, and as many receive ports; null: one
  void (*check_parameters)(const Spec&) = nullptr;  // throws like `parse` if it cannot use a value
  // Why it cannot serve so many ranks, on these nodes, with these parameters, as `refusal`; null: any number.
  std::optional<std::string> (*refusal_of_ranks)(const Context&) = nullptr;
  std::span<const std::string_view> examples = {};  // parameters for proofs and tests, written as after the name
  Counts counts = Counts::once;
  Layouts layouts = Layouts::any;
  Segments segments = Segments::one;
  Count (*unit)(Context) = nullptr;  // of segments, for schedules made of others
  Partials partials = Partials::merged;
  // How many vectors' bytes pass a rank's ports, one after the other; null: those of a segment in every round.
  double (*vectors)(Context) = nullptr;
  // How often its messages become half as long, from half of a vector on, there and back; null: all are about as long.
  Count (*halvings)(Context) = nullptr;
  bool uneven = false;          // messages carry several segments, or some segments more often
  bool rounds_at_most = false;  // ranks may be done in fewer rounds than `rounds` says
  bool adds_words = false;      // needs partials that can be added as 64-bit words
  bool has_groups = false;      // of ranks: the nodes of the machine, unless a `size=` is asked for
  // Its steps have waves: which partials meet first depends on what comes first, and so do bits if the order of merging
  // can change them. Such calls are refused, `auto` never chooses it, and rounds are counted in the order of the steps.
  bool merges_on_arrival = false;

  std::uint32_t port_count(Context context) const { return ports == nullptr ? 1 : ports(context); }
  /// Whether the formula for rounds, if there is one, says so many.
  bool allows_rounds(Count found, Context context) const {
    return rounds == nullptr || found == rounds(context) || (rounds_at_most && found < rounds(context));
  }
  /// Steps can be made, and the formulas hold, for one segment and for multiples of this number.
  Count unit_of(Context context) const {
    if (unit != nullptr) return unit(context);
    return segments == Segments::one_per_rank ? context.ranks() : 1;
  }
  /// The most segments up to `most` for which they can.
  std::uint32_t segments_up_to(std::uint32_t most, Context context) const {
    const Count multiple = unit_of(context);
    return most < multiple ? 1 : static_cast<std::uint32_t>(most - most % multiple);
  }
  bool keeps_order(Rank root) const noexcept {
    return keeps_rank_order == KeepsRankOrder::always || (keeps_rank_order == KeepsRankOrder::root_zero && root == 0);
  }
};

/// The bytes on the wire of one partial of every segment together, and of one value of every segment.
struct SegmentBytes {
  Count partials = 0;
  Count values = 0;
};

/// The bytes of the whole job if all partials of a segment have one size. The row must have its formulas and not be
/// uneven; for reduce and allreduce only.
Count bytes_of(const Row& row, Context context, SegmentBytes sizes);

/// Rows that stand anywhere, as a range of `const Row&`.
struct RowAt {
  constexpr const Row& operator()(const Row* row) const noexcept { return *row; }
};
using Rows = std::ranges::transform_view<std::span<const Row* const>, RowAt>;

/// All rows, in the order in which they are shown.
Rows registry() noexcept;

/// The row of that name, parameters excluded, or null. `binomial_spanning_tree` is `binomial`.
const Row* find(std::string_view name, Rows rows = registry()) noexcept;

/// A schedule as asked for by name: `name:key=value:key=[nested]`.
struct Spec {
  struct Parameter;

  const Row* row = nullptr;
  std::string name;  // as written
  std::vector<Parameter> parameters;

  /// The parameter of that name, or null.
  const Parameter* parameter(std::string_view key) const noexcept;
};

/// `value` is the text after `=`, without brackets; text in brackets is also parsed, as the one Spec in `nested`.
struct Spec::Parameter {
  std::string name;
  std::string value;
  std::vector<Spec> nested;
};

/// The text that `parse` reads as this Spec; an alias is written as its row's name.
std::string text_of(const Spec& spec);

/// The parameter of that name as a number from `least` to `most`; `otherwise` where it is not given. Throws as `parse`.
Count number_of(const Spec& spec, std::string_view key, Count otherwise, Count least, Count most);

/// Throws like `parse` unless the parameter of that name is left out or is a schedule in brackets that others may be
/// made of: for any layout, with point-to-point messages, and, if `collective` is given, serving it at root 0 in rank
/// order.
void require_nested(const Spec& spec, std::string_view key, std::optional<Collective> collective);

/// Throws as that does: a parameter that is given cannot be what it is.
[[noreturn]] void refuse_value(const Spec& spec, std::string_view key, const std::string& why,
                               const std::string& suggestion = "choose another schedule");

/// How deep schedules may nest in brackets. Every level keeps its slots apart from those of the others, which
/// multiplies the slot numbers needed.
inline constexpr int most_nested = 4;

/// Names that ask for a choice among the rows, made in src/agreement. `parse` does not take them, but lists them among
/// the known names.
inline constexpr std::array<std::string_view, 2> policies = {"auto", "mpich"};

/// Reads a schedule's name and parameters. Throws std::invalid_argument with "problem (why), suggestion" when the text
/// is not of that form, no row has the name, the row does not accept a parameter or its value, or brackets nest deeper
/// than `most_nested`.
Spec parse(std::string_view text, Rows rows = registry());

/// `idempotent`: commutative, and combining a value with itself gives the same bits.
enum class OperatorKind : std::uint8_t { commutative, ordered, idempotent };

/// Why the row cannot serve the call, as "problem (why), suggestion"; `nullopt` if it can. `root` matters for reduce
/// only.
std::optional<std::string> refusal(const Row& row, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind);

/// Why the schedule, or one of those it is made of, cannot serve the call; `nullopt` if all can.
std::optional<std::string> refusal(const Spec& spec, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind);

/// Why it cannot serve so many ranks, `nodes` being those of `nodes_of`; `nullopt` if it can.
std::optional<std::string> refusal(const Spec& spec, Rank rank_count, const order::Nodes* nodes = nullptr);

/// The nodes for the context of such a schedule: those of the machine (null: unknown, or only one) or null.
const order::Nodes* nodes_of(const Row& row, const Spec* spec, const order::Nodes* of_machine) noexcept;

/// The allreduce by which ranks ask each other something: as few rounds as can be, or node by node where groups always
/// pay. `nodes` as above. For partials that may be merged in any order that keeps neighbours together.
const Row& row_for_questions(const order::Nodes* nodes) noexcept;

/// Whether the row can serve the method for some call.
constexpr bool serves(const Row& row, const Merging& merging) noexcept {
  if (row.adds_words && !merging.offers_words) return false;
  return row.counts == Counts::once || merging.may_overlap;
}

/// Why the row cannot serve calls with these layouts in the same messages; `nullopt` if it can.
std::optional<std::string> refusal(const Row& row, std::span<const order::Layout* const> layouts);

/// The row's `same_on_all_ranks`, for a schedule with its parameters, if it has some: the schedules that it is made of
/// decide too.
bool same_on_all_ranks(const Row& row, const Spec* spec) noexcept;
/// The row's `counts` and `merges_on_arrival`, in the same way.
Counts counts_of(const Row& row, const Spec* spec) noexcept;
bool merges_on_arrival(const Row& row, const Spec* spec) noexcept;

/// The row's name alone and with each of its examples, as `parse` reads them.
std::vector<std::string> names_of(const Row& row);

}  // namespace steadfold::schedule
