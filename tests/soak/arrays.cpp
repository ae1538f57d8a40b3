#include "arrays.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "types.hpp"

namespace steadfold::soak {
namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t most_of_either = 6;  // the most axes of rows, and of columns

std::uint64_t divisor_of(Random& random, std::uint64_t n) {
  std::uint64_t divisor = random.from_to(1, n);
  while (n % divisor != 0) --divisor;
  return divisor;
}

Repeat some_repeat(Random& random, std::uint64_t count) {
  const std::uint64_t runs[] = {1, 2, 3, 4, 16, 100};
  const std::uint64_t periods[] = {1, 1, 2, 3, 8, 50};
  Repeat repeat;
  if (random.one_in(2)) return repeat;
  if (random.one_in(2))
    repeat.run = random.one_in(3) ? divisor_of(random, std::max<std::uint64_t>(count, 1)) : random.one_of(runs);
  if (random.one_in(2)) repeat.period = random.one_of(periods);
  return repeat;
}

Repeats some_repeats(Random& random, const Member& m) {
  return {.rows = some_repeat(random, m.rows), .columns = some_repeat(random, m.data_columns())};
}

/// Random factors of n. The last factor is often one at which an operand repeats.
std::vector<std::uint64_t> factors_of(Random& own, std::uint64_t n, const std::vector<Repeat>& repeats) {
  std::vector<std::uint64_t> extents;
  if (n == 0) return own.one_in(2) ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{3, 0, 2};
  while (extents.size() < most_of_either - 1 && n > 1 && !own.one_in(4)) {
    const Repeat& some = own.one_of(repeats);
    const std::uint64_t wanted = own.one_in(2) ? some.run : some.run * std::min<std::uint64_t>(some.period, 1000);
    const bool is_wanted = wanted > 1 && n % wanted == 0 && !own.one_in(3);
    extents.push_back(is_wanted ? wanted : divisor_of(own, n));
    n /= extents.back();
  }
  if (n > 1 || own.one_in(3)) extents.push_back(n);
  std::reverse(extents.begin(), extents.end());
  return extents;
}

}  // namespace

void choose_array(Random& random, Member& m) {
  m.array.is_given = true;
  const bool is_tree = m.resolved_method() == SF_TREE;
  if (m.lanes <= 1 && random.one_in(2)) m.array.groups = divisor_of(random, m.columns);
  m.array.has_mask = (!is_tree || m.array.groups > 0) && random.one_in(2);
  m.array.has_labels_of_none = random.one_in(2);
  m.array.keeps_one = random.one_in(2);
  // As many elements as without groups. Sometimes more than are sorted by group at once.
  if (m.layout != SF_ROW_PER_RANK && m.array.groups > 1)
    m.rows = std::min<std::uint64_t>(m.rows * m.array.groups, 6000);
  const bool is_cheap = m.operation == SF_MIN_LOCATION || m.operation == SF_MAX_LOCATION;
  if (m.layout != SF_ROW_PER_RANK && m.columns <= 4 && random.one_in(is_cheap ? 2 : 20))
    m.rows = random.from_to(8000, 30000);
  if (random.one_in(3)) m.array.elements = some_repeats(random, m);
  m.array.factors = some_repeats(random, m);
  m.array.mask = some_repeats(random, m);
  m.array.labels = some_repeats(random, m);
}

Placement::Placement(const Member& member, std::size_t rank, Random& own) : member_(member), spoils_(own.one_in(2)) {
  for (const sf_interval i : member_.deal[rank])
    for (std::uint64_t row = i.begin; row < i.end; ++row) rows_.push_back(row);
  choose_axes(own);
  const ArrayForm& form = member_.array;
  const sf_type type = member_.operation == SF_USER ? SF_BYTES : member_.type;
  elements_ = place(own, nullptr, type, member_.element_bytes());
  if (member_.has_factors()) factors_ = place(own, &form.factors, type, member_.element_bytes());
  if (form.has_mask) {
    const std::size_t bytes = own.one_of({1, 1, 2, 4, 8});
    const sf_type integer = bytes == 4 ? own.one_of({SF_I32, SF_U32}) : own.one_of({SF_I64, SF_U64});
    mask_ = place(own, &form.mask, bytes < 4 || own.one_in(2) ? SF_BYTES : integer, bytes);
  }
  if (form.groups > 0) {
    const std::size_t bytes = form.has_labels_of_none || form.groups > 60000 ? own.one_of({4, 8})
                              : form.groups > 250                            ? own.one_of({2, 4, 8})
                                                                             : own.one_of({1, 2, 4, 8});
    const sf_type with_sign = bytes == 4 ? SF_I32 : SF_I64;
    const sf_type without = bytes == 4 ? SF_U32 : SF_U64;
    labels_ = place(own, &form.labels,
                    bytes < 4                                  ? SF_BYTES
                    : form.has_labels_of_none || own.one_in(2) ? with_sign
                                                               : without,
                    bytes);
    labels_.padding = std::byte{0x7F};  // a label that fails
  }
}

/// Chooses the axes of rows and of columns, each in order, but mixed with each other.
void Placement::choose_axes(Random& own) {
  const ArrayForm& form = member_.array;
  const Repeats* const all[] = {&form.elements, &form.factors, &form.mask, &form.labels};
  std::vector<Repeat> of_rows, of_columns;
  for (const Repeats* each : all) {
    of_rows.push_back(each->rows);
    of_columns.push_back(each->columns);
  }
  const auto rows = factors_of(own, rows_.size(), of_rows);
  auto columns = factors_of(own, member_.data_columns(), of_columns);
  if (form.has_mask && member_.data_columns() == 1) columns.assign(form.keeps_one ? 1 : 0, 1);  // ranks agree on it
  std::size_t row = 0, column = 0;
  while (row < rows.size() || column < columns.size()) {
    const bool is_kept = row == rows.size() || (column < columns.size() && own.one_in(2));
    axes_.push_back({is_kept ? columns[column++] : rows[row++], is_kept});
  }
}

std::uint32_t Placement::kept() const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) bits |= axes_[i].is_kept ? std::uint32_t{1} << i : 0;
  return bits;
}

void Placement::visit(const Visit& visit) const {
  if (rows_.empty()) return;
  std::vector<std::uint64_t> at(axes_.size());
  for (;;) {
    std::uint64_t row = 0, column = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      std::uint64_t& index = axes_[i].is_kept ? column : row;
      index = index * axes_[i].extent + at[i];
    }
    visit(rows_[row], column, at);
    std::size_t axis = axes_.size();
    while (axis > 0 && ++at[axis - 1] == axes_[axis - 1].extent) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Whether all elements along the axis are equal.
bool Placement::is_constant(const Repeats& repeats, std::size_t axis) const {
  std::uint64_t inner = 1;
  for (std::size_t i = axis + 1; i < axes_.size(); ++i)
    if (axes_[i].is_kept == axes_[axis].is_kept) inner *= axes_[i].extent;
  const std::uint64_t extent = axes_[axis].extent;
  const std::uint64_t count = axes_[axis].is_kept ? member_.data_columns() : rows_.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i - i / inner % extent * inner;
    const bool is_same = axes_[axis].is_kept ? repeats.columns.of(i) == repeats.columns.of(first)
                                             : repeats.rows.of(rows_[i]) == repeats.rows.of(rows_[first]);
    if (!is_same) return false;
  }
  return true;
}

/// Places an operand. The elements themselves, without `repeats`, have all axes. Other operands are broadcast along
/// every axis along which they can be, because ranks must agree on whether a mask has kept axes.
Placed Placement::place(Random& own, const Repeats* repeats, sf_type type, std::size_t bytes) const {
  Placed placed;
  const std::size_t count = axes_.size();
  placed.strides.assign(count, 0);
  std::vector<bool> is_stretched(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool may_be = is_constant(repeats != nullptr ? *repeats : member_.array.elements, i);
    is_stretched[i] = may_be && ((repeats != nullptr && axes_[i].is_kept) || own.one_in(2));
    placed.is_stretched |= is_stretched[i] && axes_[i].extent > 1;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i)
    if (!own.one_in(3)) std::swap(order[i - 1], order[own.below(i)]);
  std::reverse(order.begin(), order.end());  // the last axis varies fastest, unless transposed
  auto step = static_cast<std::int64_t>(bytes);
  std::int64_t below = 0;
  const bool has_gaps = own.one_in(2), is_unaligned = own.one_in(6);
  for (const std::size_t i : order) {
    if (is_stretched[i]) continue;
    const auto extent = static_cast<std::int64_t>(std::max<std::uint64_t>(axes_[i].extent, 1));
    const bool goes_down = own.one_in(4);
    placed.strides[i] = goes_down ? -step : step;
    if (goes_down) below += (extent - 1) * step;
    step *= extent;
    if (has_gaps) step += static_cast<std::int64_t>(own.below(3) * bytes);
    if (is_unaligned) step += static_cast<std::int64_t>(own.below(3));
  }
  placed.begin = (static_cast<std::size_t>(below) + alignment - 1) / alignment * alignment;
  placed.size = placed.begin + static_cast<std::size_t>(step) + bytes;

  // Leaves out the first axes along which the operand is broadcast. Other such axes get extent 1 or stride 0.
  std::size_t skipped = 0;
  const auto may_skip = [&](std::size_t axis) {
    const bool is_the_one = repeats == &member_.array.mask && member_.data_columns() == 1 && axes_[axis].is_kept;
    return repeats != nullptr && is_stretched[axis] && !is_the_one;
  };
  while (skipped < count && may_skip(skipped) && own.one_in(2)) ++skipped;
  placed.array.type = type;
  placed.array.element_bytes = bytes;
  placed.array.axis_count = static_cast<std::int32_t>(count - skipped);
  for (std::size_t i = skipped; i < count; ++i) {
    const bool is_one = repeats != nullptr && is_stretched[i] && axes_[i].extent != 0 && own.one_in(2);
    placed.array.shape[i - skipped] = is_one ? 1 : axes_[i].extent;
    placed.array.strides[i - skipped] = is_one ? static_cast<std::int64_t>(own.below(100)) : placed.strides[i];
  }
  return placed;
}

PlacedArrays::PlacedArrays(const Placement& placement, const Elements& all, std::size_t shift) : placement_(placement) {
  const Member& m = placement.member();
  const std::uint64_t columns = m.data_columns();
  const auto counts = [&](std::uint64_t i) {
    return (all.mask.empty() || all.mask[i]) && (all.labels.empty() || all.labels[i] >= 0);
  };
  const auto copied = [&](const Placed& placed, const std::vector<std::byte>& from) {
    const std::size_t bytes = m.element_bytes();
    return filled(placed, shift, [&, bytes](std::uint64_t row, std::uint64_t column, std::byte* to) {
      const std::uint64_t i = row * columns + column;
      if (placement.spoils() && !placed.is_stretched && !counts(i)) return;
      std::memcpy(to, from.data() + i * bytes, bytes);
    });
  };
  elements_ = copied(placement.elements(), all.first);
  if (m.has_factors()) factors_ = copied(placement.factors(), all.second);
  if (m.array.has_mask)
    mask_ = filled(placement.mask(), shift, [&](std::uint64_t row, std::uint64_t column, std::byte* to) {
      const std::size_t bytes = placement.mask().array.element_bytes;
      std::memset(to, 0, bytes);
      if (all.mask[row * columns + column]) to[(row + column) % bytes] = std::byte{1} << (row % 8);
    });
  if (m.array.groups > 0)
    labels_ = filled(placement.labels(), shift, [&](std::uint64_t row, std::uint64_t column, std::byte* to) {
      std::memcpy(to, &all.labels[row * columns + column], placement.labels().array.element_bytes);  // little-endian
    });
}

template <class Write>
PlacedArrays::Memory PlacedArrays::filled(const Placed& placed, std::size_t shift, const Write& write) const {
  Memory memory;
  memory.bytes.assign(placed.size + shift, placed.padding);
  std::byte* const first = memory.bytes.data() + placed.begin + shift;
  placement_.visit([&](std::uint64_t row, std::uint64_t column, const std::vector<std::uint64_t>& at) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) offset += placed.strides[i] * static_cast<std::int64_t>(at[i]);
    write(row, column, first + offset);
  });
  memory.before = memory.bytes;
  memory.first = first;
  return memory;
}

sf_arrays PlacedArrays::arrays() const {
  const Member& m = placement_.member();
  sf_arrays arrays = sf_arrays_default();
  const auto with_data = [](const Placed& placed, const Memory& memory) {
    sf_array array = placed.array;
    array.data = memory.first;
    return array;
  };
  arrays.x = with_data(placement_.elements(), elements_);
  if (m.has_factors()) arrays.factors = with_data(placement_.factors(), factors_);
  if (m.array.has_mask) arrays.mask = with_data(placement_.mask(), mask_);
  if (m.array.groups > 0) arrays.labels = with_data(placement_.labels(), labels_);
  arrays.groups = m.array.groups;
  arrays.kept = placement_.kept();
  return arrays;
}

Data PlacedArrays::data() const {
  return {.first = elements_.given(),
          .second = factors_.given(),
          .result = nullptr,
          .mask = mask_.given(),
          .label = labels_.given()};
}

void PlacedArrays::leave_out_some(Random& own) {
  const bool all = own.one_in(2);
  for (Memory* memory : {&elements_, &factors_, &mask_, &labels_}) memory->is_left_out = all || own.one_in(2);
}

bool PlacedArrays::are_untouched() const {
  const Memory* const all[] = {&elements_, &factors_, &mask_, &labels_};
  return std::all_of(std::begin(all), std::end(all), [](const Memory* each) { return each->bytes == each->before; });
}

}  // namespace steadfold::soak
