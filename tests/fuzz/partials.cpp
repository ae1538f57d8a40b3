// Partials that nobody built: merged, finished and turned into words in memory of exactly the size they were promised.
// The first bytes choose the kind, the columns, where the left operand ends and the room for the result.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/dealt_forms.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/exact/kept_rows.hpp"
#include "arithmetic/exact/statistics.hpp"
#include "arithmetic/exact/sums_of_pairs.hpp"
#include "arithmetic/location/location.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/rows/columns_apart.hpp"
#include "arithmetic/rows/masked.hpp"
#include "arithmetic/tree/tree.hpp"

namespace steadfold::arithmetic {
namespace {

using Memory = std::vector<std::byte>;

std::unique_ptr<PartialKind> kind_of(unsigned choice, Count columns) {
  static const Operator user = {.apply =
                                    [](const void* left, const void*, void* result, std::size_t count, void*) {
                                      std::memmove(result, left, 12 * count);
                                      return count == 3 ? 1 : 0;
                                    },
                                .element_bytes = 12};
  const Operator& sum = built_in(Operation::sum, Type::f64);
  const Operator& product = built_in(Operation::product, Type::i32);
  const Operator& maximum = built_in(Operation::max, Type::f32);
  switch (choice % 23) {
    case 0: return make_tree(sum, columns);
    case 1: return make_tree(product, columns);
    case 2: return make_tree(user, columns);
    case 3: return make_plain(sum, columns);
    case 4: return make_plain(maximum, columns);
    case 5: return make_plain(user, columns);
    case 6: return make_exact(Operation::sum, Type::f64, Type::f64, columns);
    case 7: return make_exact(Operation::sum, Type::f32, Type::f64, columns);
    case 8: return make_exact(Operation::dot, Type::f64, Type::f64, columns);
    case 9: return make_exact(Operation::dot, Type::f32, Type::f32, columns);
    case 10: return make_exact(Operation::norm2, Type::f64, Type::f64, columns);
    case 11: return make_binned(Operation::sum, Type::f64, Type::f64, 3, Sweep::single_sweep, columns);
    case 12: return make_binned(Operation::norm2, Type::f32, Type::f32, 2, Sweep::single_sweep, columns);
    case 13: return make_masked(make_exact(Operation::sum, Type::f64, Type::f64, columns), 8, columns);
    case 14: return make_binned(Operation::mean, Type::f64, Type::f32, 4, Sweep::single_sweep, columns);
    case 15: return make_statistics(columns == 1 ? Type::f32 : Type::f64, Type::f64);
    case 16: return make_sums_of_pairs(Operation::weighted_mean, Type::f64, columns == 1 ? Type::f32 : Type::f64);
    case 17: return make_location(Operation::min_location, Type::f32, columns);
    case 18: return make_kept_rows(Type::f64, columns == 1 ? 0 : 3, columns);
    case 19:
      return make_exact_of_dealt(columns == 2 ? Operation::dot : Operation::sum, columns == 1 ? Type::f32 : Type::f64,
                                 Type::f64, columns);
    case 20: return make_binned_of_dealt(Operation::sum, Type::f64, columns == 1 ? Type::f32 : Type::f64, 3, columns);
    case 21:
      return make_columns_apart(make_statistics(Type::f64, Type::f64),
                                {.columns = columns, .element_bytes = 8, .are_dealt = choice % 2 == 0});
    default: {
      constexpr Operation forms[] = {Operation::mean,       Operation::weighted_mean,     Operation::statistics,
                                     Operation::covariance, Operation::sample_covariance, Operation::correlation};
      return make_form_of_dealt(forms[choice / 23 % 6], columns == 1 ? Type::f32 : Type::f64,
                                columns == 2 ? Type::f32 : Type::f64, columns);
    }
  }
}

void finish(const PartialKind& kind, const Memory& partial, Count element_count) {
  Memory values(kind.value_bytes());
  Memory spare(kind.value_bytes());
  kind.finish(partial, element_count, values.data(), spare.data());
}

void as_words(const PartialKind& kind, const Memory& partial) {
  if (kind.added_words() == nullptr) return;
  std::vector<std::int64_t> words(kind.added_words()->word_count());
  kind.added_words()->to_words(partial, words);
  const std::size_t given = std::min(partial.size(), words.size() * sizeof(std::int64_t));
  Memory out(kind.capacity(order::IntervalSet()));
  kind.added_words()->from_words(words, 3, 0, out);
  if (given != 0) std::memcpy(words.data(), partial.data(), given);  // hostile sums
  kind.added_words()->from_words(words, 3, 0, out);
}

}  // namespace
}  // namespace steadfold::arithmetic

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steadfold;
  using namespace steadfold::arithmetic;
  constexpr std::size_t choices = 4;
  if (size < choices) return 0;
  constexpr Count columns[] = {1, 2, 3, 17};  // of the last, two groups are whole
  const auto kind = kind_of(data[0], columns[data[1] % 4]);
  const auto* const first = reinterpret_cast<const std::byte*>(data) + choices;
  const std::size_t rest = size - choices;
  const std::size_t middle = std::min<std::size_t>(rest, 4U * data[2] + (data[1] >> 5 & 3));
  Memory left(first, first + middle);
  Memory right(first + middle, first + rest);
  if (data[1] >= 128) {  // headers in order, so that what follows them is looked at
    for (Memory* const operand : {&left, &right})
      if (operand->size() >= sizeof(Header)) set_header(*operand, Header());
  }
  Memory merged(sizeof(Header) + 4 * std::size_t{data[3]});
  const std::size_t written = merge(*kind, left, right, merged);
  if (written > merged.size()) __builtin_trap();
  merged.resize(written);
  for (const Memory* const partial : {&left, &right, &merged}) {
    for (const Count count : {Count{0}, Count{1}, Count{data[3]}, unknown_count}) finish(*kind, *partial, count);
    as_words(*kind, *partial);
  }
  return 0;
}
