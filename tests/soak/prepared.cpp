#include "prepared.hpp"

#include <algorithm>

#include "operators.hpp"
#include "wrong.hpp"

namespace steadfold::soak {
namespace {

void add_poison(const Case& made, Elements& elements) {
  const Member& m = made.members.front();
  const std::size_t row_bytes = m.columns * m.element_bytes();
  const auto row = elements.first.begin() + static_cast<std::ptrdiff_t>(poisoned_row(made) * row_bytes);
  std::fill(row, row + static_cast<std::ptrdiff_t>(m.element_bytes()), poison);
}

std::shared_ptr<const Prepared> prepare(Case made, std::uint64_t run) {
  auto prepared = std::make_shared<Prepared>();
  for (std::size_t i = 0; i < made.members.size(); ++i) {
    Member& m = made.members[i];
    // Odd runs distribute the rows differently, so a plan that is cached for even runs does not fit.
    if (made.form == Form::one_shot && made.wrong == Wrong::nothing && run % 2 == 1) {
      Random random(mixed(made.seed, made.number, 3));
      deal_again(random, m);
    }
    Elements elements = make_elements(m, mixed(made.seed ^ made.number << 32, run, i));
    if (made.wrong == Wrong::failing_operator) add_poison(made, elements);
    if (made.wrong == Wrong::bad_label) elements.labels[poisoned_row(made)] = static_cast<std::int64_t>(m.array.groups);
    if (made.wrong == Wrong::nothing) prepared->expected.push_back(expected_of(m, elements));
    prepared->elements.push_back(std::move(elements));
  }
  prepared->made = std::move(made);
  return prepared;
}

}  // namespace

template <class Key, class T, class Make>
std::shared_ptr<const T> Preparation::shared(std::map<Key, Shared<T>>& all, const Key& key, const Make& make) {
  Shared<T>& entry = all[key];
  if (!entry.made) entry.made = make();
  std::shared_ptr<const T> made = entry.made;
  if (++entry.asked == ranks_here_) all.erase(key);
  return made;
}

std::shared_ptr<const Case> Preparation::case_of(std::uint64_t number) {
  return shared(cases_, number,
                [&] { return std::make_shared<const Case>(make_case(seed_, number, ranks_, limits_)); });
}

std::shared_ptr<const Prepared> Preparation::get(std::uint64_t number, std::uint64_t run) {
  return shared(prepared_, std::pair(number, run),
                [&] { return prepare(make_case(seed_, number, ranks_, limits_), run); });
}

}  // namespace steadfold::soak
