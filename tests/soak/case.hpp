// One case of a random program: the calls of all ranks, how they are made, and what is wrong with them, if anything. It
// depends only on the program's seed, its number and the number of ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::soak {

/// The kinds of numbers that elements have.
enum class Numbers { ordinary, wide, subnormal, special, zeros, small_integers, alike, cancelling, ties };

enum class Form {
  one_shot,     // made several times, with new data
  accumulated,  // the same result with an accumulator on every rank, and one merge over the ranks
  plan,         // bound, run several times, some of them in two phases
  flight,       // every member is a plan; all run at once, and a one-shot call meanwhile
  kept,         // a plan that stays for later cases of the program
  kept_again    // a kept plan, run again
};

/// The mistake that one rank makes, or all ranks.
enum class Wrong {
  nothing,
  null_data,
  null_result,
  bad_root,
  other_root,
  other_operation,
  other_type,
  other_columns,
  other_method,
  other_collective,
  other_blocks,
  other_grid,
  shifted_layout,
  wrong_count,
  bad_schedule,
  unserved,
  failing_operator,
  failing_rank,
  bad_label,
  bad_enumerator,
  null_call,
  null_in_run,
  empty_bundle,
  given_up,
};

/// How an operand of an array repeats along rows, or along columns: element i equals element i / run % period.
struct Repeat {
  std::uint64_t run = 1;
  std::uint64_t period = ~std::uint64_t{0};

  std::uint64_t of(std::uint64_t i) const { return i / run % period; }
};
struct Repeats {
  Repeat rows;
  Repeat columns;
};

/// The facts about arrays on which ranks agree, for members whose elements are in arrays. Each rank chooses the memory
/// layout.
struct ArrayForm {
  bool is_given = false;
  bool has_mask = false;
  std::uint64_t groups = 0;         // 0: no labels; otherwise the data have the columns of one group
  bool has_labels_of_none = false;  // some labels are below 0
  bool keeps_one = false;           // the only result is the only index of a kept axis, which the mask has, too
  Repeats elements;
  Repeats factors;
  Repeats mask;
  Repeats labels;
};

inline bool is_location(sf_operation operation) { return operation == SF_MIN_LOCATION || operation == SF_MAX_LOCATION; }

/// Operations on pairs whose results depend on several exact sums.
inline bool is_quotient_of_pairs(sf_operation operation) {
  return operation == SF_WEIGHTED_MEAN || operation == SF_COVARIANCE || operation == SF_SAMPLE_COVARIANCE ||
         operation == SF_CORRELATION;
}

/// Operations whose results exact and binned round once. Those that method tree serves round their terms.
inline bool rounds_once(sf_operation operation) {
  return operation == SF_DOT || operation == SF_DOTC || operation == SF_MEAN || operation == SF_NORM2 ||
         operation == SF_SUM_SQUARES || operation == SF_STATISTICS || is_quotient_of_pairs(operation);
}

/// One reduction.
struct Member {
  sf_collective collective = SF_REDUCE;
  std::int32_t root = SF_ALL_RANKS;
  sf_operation operation = SF_SUM;
  sf_method method = SF_AUTOMATIC;  // as in the call
  sf_type type = SF_F64;
  sf_type result_type = SF_F64;
  int user = 0;  // for SF_USER: the index of the operator in operators.hpp
  std::uint32_t bins = 0;
  sf_sweep sweep = SF_SINGLE_SWEEP;
  std::uint32_t lanes = 0;         // for SF_TREE; 0 and 1: one lane
  std::vector<std::byte> initial;  // one element of the result; empty: no initial value
  std::uint64_t columns = 1;
  std::uint64_t rows = 0;  // of the whole job
  sf_layout layout = SF_ANYWHERE;
  std::vector<std::vector<sf_interval>> deal;  // the rows of every rank, in the order of its memory
  sf_grid grid{};                              // for SF_GRID
  bool says_count = false;                     // the call gives element_count
  std::vector<std::uint64_t> blocks;           // for SF_REDUCE_SCATTER: the block of every rank
  bool names_blocks = false;
  std::string schedule;  // empty: null
  std::uint32_t require = 0;
  bool may_fail = false;  // for SF_USER
  bool writes_right = false;
  bool is_listed = false;  // the columns are given as a list of arrays
  ArrayForm array;
  Numbers numbers = Numbers::ordinary;

  /// The method that SF_AUTOMATIC means.
  sf_method resolved_method() const;
  bool order_free() const;
  bool has_neutral() const;  // a reduction without rows has a result
  bool in_rank_order() const;
  bool commutes() const;
  bool has_factors() const { return operation == SF_DOT || operation == SF_DOTC || is_quotient_of_pairs(operation); }
  bool has_second() const { return has_factors() || operation == SF_MASKED_SUM; }
  std::size_t element_bytes() const;
  std::uint64_t data_columns() const { return array.groups == 0 ? columns : columns / array.groups; }
  bool selects() const { return array.has_mask || array.groups > 0; }
  /// Whether the method and the operation combine an initial value. Rank 0 of an exscan would get a result, too.
  bool may_have_initial() const;
  /// Whether columns have different rows.
  bool has_own_rows() const;
  std::size_t result_bytes() const;  // bytes of one element of the result
  std::uint64_t rows_of(std::size_t rank) const;
  bool gets_result(std::size_t rank) const;
  /// The columns of a rank's result.
  std::uint64_t first_column(std::size_t rank) const;
  std::uint64_t columns_of(std::size_t rank) const;
};

struct Case {
  std::uint64_t seed = 0;  // the program's seed
  std::uint64_t number = 0;
  std::size_t ranks = 1;
  Form form = Form::one_shot;
  Wrong wrong = Wrong::nothing;
  std::size_t culprit = 0;
  std::vector<Member> members;  // several: a bundle, or the plans of a flight
  int runs = 1;

  std::string text() const;
};

struct Limits {
  std::uint64_t elements = 6000;   // the most elements of one member
  std::uint64_t segments = 10000;  // the most segments of a schedule; each is a message, or several
  bool adds_words = true;          // schedules may add words
  bool merges_accumulators = false;
};

Case make_case(std::uint64_t seed, std::uint64_t number, std::size_t ranks, const Limits& limits);

/// The parts of the choice, each in its own file.
void choose_reduction(Random& random, Member& member);
void choose_wrong(Random& random, Case& made, const Limits& limits);
/// May change the number of rows.
void choose_array(Random& random, Member& member);
void deal_rows(Random& random, std::size_t ranks, Member& member);
/// Distributes the rows differently. Every rank keeps the number of its rows and its first interval; the other
/// intervals are exchanged, if the layout allows it.
void deal_again(Random& random, Member& member);
std::string some_schedule(Random& random, const std::vector<Member>& members, const Limits& limits);

}  // namespace steadfold::soak
