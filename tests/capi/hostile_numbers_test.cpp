// Numbers that no call can mean, in every field of sf_call, sf_arrays and what they point to, by every function that
// takes them: what is no enumerator, what overflows, and all of it at once, drawn from a seed. Each is refused with a
// text that says what it is, allocates nothing for it, and leaves the group as good as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>

#include "capi/call_entries.hpp"
#include "support/allocations.hpp"
#include "support/fenced.hpp"
#include "support/in_a_process.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::hostile_numbers_test {
namespace {

constexpr std::uint64_t seed = 62;
constexpr std::uint64_t case_count = sanitized ? 500 : 3000;
constexpr std::uint64_t highest = ~std::uint64_t{0};

constexpr std::uint64_t two_to(unsigned exponent) { return std::uint64_t{1} << exponent; }

int left_operand(const void* /*left*/, const void* /*right*/, void* /*result*/, std::size_t /*count*/,
                 void* /*context*/) {
  return 0;
}

// --- what is no enumerator -------------------------------------------------------------------------------------------

/// Any number in place of an enumerator; to assign one that is none would be undefined.
template <auto field>
void set(sf_call& call, unsigned value) {
  std::memcpy(&(call.*field), &value, sizeof value);
}

struct Enumeration {
  const char* name;
  unsigned last;
  void (*set)(sf_call& call, unsigned value);
};
constexpr Enumeration enumerations[] = {{"operation", SF_CORRELATION, set<&sf_call::operation>},
                                        {"method", SF_BINNED, set<&sf_call::method>},
                                        {"type", SF_FLOAT128, set<&sf_call::type>},
                                        {"result type", SF_FLOAT128, set<&sf_call::result_type>},
                                        {"layout", SF_GRID, set<&sf_call::layout>},
                                        {"sweep", SF_DOUBLE_SWEEP, set<&sf_call::sweep>},
                                        {"collective", SF_EXSCAN, set<&sf_call::collective>}};

TEST(HostileNumbers, ThatAreNoEnumeratorsAreNamed) {
  on_one_rank([](sf_group* group) {
    for (const Enumeration& each : enumerations) {
      for (const unsigned value : {each.last + 1, unsigned{INT_MAX}, unsigned{INT_MAX} + 1, UINT_MAX}) {
        sf_call call = sf_call_default();
        each.set(call, value);
        expect_refused(call, group, SF_INVALID_ARGUMENT,
                       std::string(each.name) + " " + std::to_string(value) + " is unknown (the last value is " +
                           std::to_string(each.last) + ")");
      }
    }
    expect_usable(group);
  });
}

/// An operand of a call, and how texts name it.
struct Part {
  sf_array sf_arrays::*array;
  const char* name;
  sf_operation operation;
};
constexpr Part parts[] = {{&sf_arrays::x, "the elements", SF_SUM},
                          {&sf_arrays::factors, "the factors", SF_DOT},
                          {&sf_arrays::mask, "the mask", SF_SUM},
                          {&sf_arrays::labels, "the labels", SF_SUM}};

/// Four elements, and what is in order for the part, too.
sf_arrays arrays_with(const Part& part) {
  static constexpr std::array<std::int64_t, 4> zeros{};
  const bool is_labels = part.array == &sf_arrays::labels;
  sf_arrays arrays = sf_arrays_default();
  be_four_elements(arrays);
  arrays.*part.array = arrays.x;
  if (is_labels || part.array == &sf_arrays::mask) {
    (arrays.*part.array).data = zeros.data();
    (arrays.*part.array).type = SF_I64;
  }
  arrays.groups = is_labels ? 1 : 0;
  return arrays;
}

/// Accumulators take no labels, whatever these are.
void expect_arrays_refused(const sf_arrays& arrays, sf_operation operation, sf_group* group, sf_status due,
                           const std::string& part) {
  ask_all(operation, &arrays, group, [&](const std::string& name, sf_status status) {
    const bool is_accumulators = name.starts_with("sf_accumulator");
    arrays.groups > 0 && is_accumulators ? expect_refusal(name, status, SF_UNSUPPORTED, "labels for an accumulator")
                                         : expect_refusal(name, status, due, part);
  });
}

TEST(HostileNumbers, OfArraysAreNamed) {
  on_one_rank([](sf_group* group) {
    for (const Part& part : parts) {
      for (const unsigned type : {SF_FLOAT128 + 1U, unsigned{SF_AS_TYPE}, unsigned{INT_MAX}, UINT_MAX}) {
        sf_arrays arrays = arrays_with(part);
        std::memcpy(&(arrays.*part.array).type, &type, sizeof type);
        expect_arrays_refused(arrays, part.operation, group, SF_INVALID_ARGUMENT,
                              "type " + std::to_string(type) + " of " + part.name + " is unknown");
      }
      for (const std::int32_t axes : {-1, INT32_MIN, SF_MOST_AXES + 1, INT32_MAX}) {
        sf_arrays arrays = arrays_with(part);
        (arrays.*part.array).axis_count = axes;
        expect_arrays_refused(arrays, part.operation, group, SF_INVALID_ARGUMENT,
                              std::to_string(axes) + " axes of " + part.name);
      }
      for (const std::int32_t device : {-1, 1, INT32_MIN, INT32_MAX}) {
        sf_arrays arrays = arrays_with(part);
        (arrays.*part.array).device = device;
        expect_arrays_refused(arrays, part.operation, group, SF_UNSUPPORTED,
                              "device " + std::to_string(device) + " of " + part.name);
      }
    }
    expect_usable(group);
  });
}

// --- what overflows --------------------------------------------------------------------------------------------------

/// No element is read, and no result written.
TEST(HostileNumbers, ThatNoMemoryHoldsAreRefused) {
  on_one_rank([](sf_group* group) {
    for (const std::uint64_t number : {two_to(60), two_to(62), two_to(63) - 1, two_to(63), highest}) {
      const std::string text = std::to_string(number);
      sf_call call = sf_call_default();
      call.rows = number;
      expect_refused(call, group, SF_INVALID_ARGUMENT, text + " rows of 8 bytes are too large (no memory holds");
      call.rows = 1;
      call.columns = number;
      expect_refused(call, group, SF_INVALID_ARGUMENT,
                     "rows of " + text + " elements of 8 bytes are too large (no memory holds");
      call.columns = 1;
      call.operation = SF_USER;
      call.user = left_operand;
      call.type = SF_BYTES;
      call.element_bytes = number;
      expect_refused(call, group, SF_INVALID_ARGUMENT, "elements of " + text + " bytes are too large (no memory holds");
    }
    for (const unsigned threads : {4097U, 1U << 31, UINT_MAX}) {
      sf_call call = sf_call_default();
      call.threads = threads;
      expect_refused(call, group, SF_INVALID_ARGUMENT, std::to_string(threads) + " threads");
    }
    expect_usable(group);
  });
}

TEST(HostileNumbers, ArraysThatNoMemoryHoldsAreRefused) {
  on_one_rank([](sf_group* group) {
    sf_arrays arrays = sf_arrays_default();
    be_four_elements(arrays);
    for (const std::uint32_t kept : {0U, 1U}) {
      for (const std::uint64_t extent : {two_to(56), two_to(62), two_to(63), highest}) {
        arrays.kept = kept;
        arrays.x.shape[0] = extent;
        expect_arrays_refused(arrays, SF_SUM, group, SF_INVALID_ARGUMENT, "(no memory holds as many)");
      }
    }
    arrays.x.shape[0] = two_to(54);  // results
    for (const std::int64_t stride : {INT64_MIN, INT64_MAX, std::int64_t{1} << 62}) {
      arrays.x.strides[0] = stride;
      sf_call call = sf_call_default();
      call.arrays = &arrays;
      expect_refused(call, group, SF_INVALID_ARGUMENT, "(no memory holds as");
    }
    expect_usable(group);
  });
}

void expect_sum(const sf_arrays& arrays, sf_group* group, double due) {
  sf_call call = sf_call_default();
  call.arrays = &arrays;
  for (const CallEntry& each : all_call_entries) {
    std::array<double, 4> results = {due};
    EXPECT_EQ(each.ask(&call, nullptr, results.data(), group), SF_OK) << each.name << ": " << sf_error_text();
    EXPECT_EQ(results[0], due) << each.name;
  }
}

/// Those of axes of one index, and of arrays without elements.
TEST(HostileNumbers, StridesThatAreNeverSteppedMayBeAny) {
  on_one_rank([](sf_group* group) {
    for (const std::int64_t stride : {INT64_MIN, INT64_MAX, std::int64_t{1} << 62, std::int64_t{7}}) {
      SCOPED_TRACE(stride);
      sf_arrays arrays = sf_arrays_default();
      be_four_elements(arrays);
      arrays.x.shape[0] = 1;
      arrays.x.strides[0] = stride;
      expect_sum(arrays, group, 1);
      arrays.kept = 1;
      expect_sum(arrays, group, 1);
      arrays.x.axis_count = 2;
      arrays.x.shape[1] = four_elements.size();
      arrays.x.strides[1] = sizeof(double);
      expect_sum(arrays, group, sum_of_four);
      arrays.kept = 2;
      expect_sum(arrays, group, 1);  // of four results
      arrays.kept = 0;
      arrays.x.shape[0] = 0;
      arrays.x.shape[1] = 3;
      arrays.x.strides[1] = stride;
      expect_sum(arrays, group, 0);
    }
  });
}

/// A rank that brings four rows of a grid does not list the half million that the grid gives it.
TEST(HostileNumbers, AGridIsNotListedForRowsThatAreNotThere) {
  on_groups(2, seed, [](const Group& group) {
    sf_grid grid{};
    grid.axis_count = 1;
    grid.axes[0] = {.extent = two_to(20), .ranks = 2, .block = 1, .first = 0};
    sf_call call = sf_call_default();
    call.method = SF_TREE;
    call.layout = SF_GRID;
    call.grid = &grid;
    call.rows = four_elements.size();
    const std::size_t largest = largest_allocation([&] {
      expect_refused(call, group.handle(), SF_INVALID_ARGUMENT, "4 rows of data, but a grid of 1048576 elements",
                     group_entries);
    });
    EXPECT_LT(largest, two_to(20));
  });
}

/// There are as many as ranks. If a call says otherwise, nobody knows how many can be read.
TEST(HostileNumbers, BlocksAreCountedBeforeTheyAreRead) {
  in_a_process([] {
    on_one_rank([](sf_group* group) {
      Fenced room(sizeof(std::uint64_t));
      auto* const block = room.array<std::uint64_t>(1, Side::end);
      *block = 1;
      sf_call call = sf_call_default();
      call.collective = SF_REDUCE_SCATTER;
      call.blocks = block;
      for (const std::size_t count : {two_to(1), two_to(31), two_to(60)}) {
        call.block_count = count;
        expect_refused(call, group, SF_INVALID_ARGUMENT, "blocks for ", group_entries);
      }
      expect_usable(group);
    });
  });
}

// --- lists of callers ------------------------------------------------------------------------------------------------

/// So many that their bytes wrap around to few.
constexpr std::size_t wrapping(std::size_t bytes) { return two_to(63) / (bytes & -bytes) * 2 + 1; }
static_assert(wrapping(sizeof(sf_interval)) * sizeof(sf_interval) == sizeof(sf_interval));

TEST(HostileNumbers, OfIntervalsAreCountedBeforeTheyAreRead) {
  on_one_rank([](sf_group* group) {
    const sf_interval all = {0, four_elements.size()};
    sf_call call = sf_call_default();
    be_four_elements(call);
    call.layout = SF_INTERVALS;
    call.intervals = &all;
    for (const std::size_t count : {wrapping(sizeof(sf_interval)), two_to(60) + 1, SIZE_MAX}) {
      call.interval_count = count;
      expect_refused(call, group, SF_INVALID_ARGUMENT, std::to_string(count) + " intervals (no memory holds as many)");
    }
    expect_usable(group);
  });
}

TEST(HostileNumbers, OfCallsAndTheirDataAreCountedBeforeTheyAreRead) {
  on_one_rank([](sf_group* group) {
    sf_call call = sf_call_default();
    be_four_elements(call);
    sf_plan* plan = nullptr;
    sf_request* request = nullptr;
    double result = 0;
    const sf_data data = {.first = four_elements.data(), .second = nullptr, .result = &result, .mask = {}, .label = {}};
    ASSERT_EQ(sf_group_bind(&call, 1, group, &plan), SF_OK) << sf_error_text();
    sf_plan* other = nullptr;
    for (const std::size_t count : {two_to(62), SIZE_MAX}) {
      const std::string text = std::to_string(count) + " calls (no memory holds as many)";
      expect_refusal("bind", sf_group_bind(&call, count, group, &other), SF_INVALID_ARGUMENT, text);
      sf_status status = sf_group_start_bind(&call, count, group, &other, &request);
      if (status == SF_OK) status = sf_request_wait(request);
      expect_refusal("start_bind", status, SF_INVALID_ARGUMENT, text);
      sf_request_free(request);
      EXPECT_EQ(sf_bundle_run(plan, &data, count), SF_INVALID_ARGUMENT) << "as of any number but that of the calls";
      sf_arrays arrays = sf_arrays_default();
      const void* const list[] = {four_elements.data()};
      be_four_elements(arrays);
      arrays.x.data = nullptr;
      arrays.xs = list;
      arrays.x_count = count;
      sf_call of_list = sf_call_default();
      of_list.arrays = &arrays;
      expect_refused(of_list, group, SF_INVALID_ARGUMENT, std::to_string(count) + " arrays (no memory holds as many)");
    }
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(sf_bundle_run(plan, &data, 1), SF_OK) << sf_error_text();
    EXPECT_EQ(result, sum_of_four);
    sf_plan_free(plan);
    expect_usable(group);
  });
}

TEST(HostileTexts, OfErrorsAreCutBetweenCharactersOrNone) {
  sf_set_error_text(nullptr);
  EXPECT_STREQ(sf_error_text(), "");
  for (const std::size_t before : {4093, 4094, 4095, 4096, 5000}) {
    const std::string given = std::string(before, 'a') + "\xC3\xA9" + std::string(before, 'b');  // an e with an accent
    sf_set_error_text(given.c_str());
    const std::string kept = sf_error_text();
    EXPECT_EQ(kept, given.substr(0, before == 4094 ? 4094 : 4095));
    sf_set_error_text(sf_error_text() + 3);
    EXPECT_EQ(sf_error_text(), kept.substr(3));
  }
  EXPECT_EQ(sf_layer_table(nullptr), nullptr);
}

// --- layouts ---------------------------------------------------------------------------------------------------------

/// Numbers at which something might end: those of 32 bits, what doubles hold, signed indices, all indices.
class DrawnLayout {
 public:
  explicit DrawnLayout(std::uint64_t number) : random_(number) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::uint64_t near_an_end() {
    constexpr std::array<std::uint64_t, 8> ends = {0, 0, two_to(11), two_to(32), two_to(53), two_to(62), two_to(63), 0};
    constexpr std::array<std::uint64_t, 6> spreads = {1, 2, 4, 5, 64, 2100};
    const std::uint64_t spread = spreads[below(spreads.size())];
    return ends[below(ends.size())] + below(2 * spread) - spread;  // around 2^64, too
  }
  sf_interval interval() {
    const std::uint64_t begin = near_an_end();
    return {begin, below(8) == 0 ? near_an_end() : begin + below(3)};
  }
  sf_grid_axis axis() {
    return {below(2) == 0 ? below(4) : near_an_end(), below(4), below(2) == 0 ? below(3) : near_an_end(),
            below(4) == 0 ? near_an_end() : 0};
  }

 private:
  std::mt19937_64 random_;
};

struct LayoutCase {
  sf_call call = sf_call_default();
  std::array<sf_interval, 3> intervals{};
  sf_grid grid{};
};

void draw_layout(DrawnLayout& draw, sf_layout layout, std::uint64_t most_rows, LayoutCase& to) {
  sf_call& call = to.call;
  call.layout = layout;
  call.interval_count = 1 + draw.below(to.intervals.size());
  for (sf_interval& each : to.intervals) each = draw.interval();
  call.intervals = to.intervals.data();
  std::uint64_t listed = 0;  // wraps around
  for (std::size_t i = 0; i < call.interval_count; ++i) listed += to.intervals[i].end - to.intervals[i].begin;
  to.grid.axis_count = static_cast<std::uint32_t>(1 + draw.below(SF_MOST_GRID_AXES));
  for (sf_grid_axis& axis : to.grid.axes) axis = draw.axis();
  call.grid = &to.grid;
  call.rows = call.layout == SF_INTERVALS && listed <= most_rows ? listed : draw.below(most_rows + 1);
  if (draw.below(3) == 0) call.element_count = draw.below(2) == 0 ? call.rows : draw.near_an_end();
}

/// Every call of few rows that is drawn ends: with a sum, or refused. None reads behind the data, where memory ends.
void expect_layouts_within(sf_group* group, std::uint64_t ranks) {
  constexpr std::uint64_t most_rows = 4;
  constexpr sf_method methods[] = {SF_AUTOMATIC, SF_TREE, SF_EXACT, SF_PLAIN};
  constexpr sf_operation operations[] = {SF_SUM, SF_PRODUCT, SF_MAX, SF_MIN_LOCATION, SF_MEAN};
  std::uint64_t done = 0;
  for (std::uint64_t number = 0; number < case_count / ranks; ++number) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(number));
    DrawnLayout same(seed + number);  // on all ranks
    const auto layout = same.below(2) == 0 ? SF_INTERVALS : static_cast<sf_layout>(same.below(SF_GRID + 1));
    DrawnLayout draw(seed + number * 8 + static_cast<std::uint64_t>(sf_group_rank(group)));
    LayoutCase drawn;
    draw_layout(draw, layout, most_rows, drawn);
    drawn.call.operation = operations[same.below(std::size(operations))];
    drawn.call.method = drawn.call.operation == SF_SUM ? methods[same.below(std::size(methods))] : SF_AUTOMATIC;
    if (drawn.call.operation == SF_PRODUCT) drawn.call.method = SF_TREE;
    Fenced room(most_rows * sizeof(double));
    double* const first = room.array<double>(drawn.call.rows, Side::end);
    std::fill_n(first, drawn.call.rows, 1.0);
    for (const CallEntry& each : ranks == 1 ? std::span<const CallEntry>(all_call_entries) : group_entries) {
      std::array<double, 2> result{};
      const sf_status status = each.ask(&drawn.call, first, result.data(), group);
      EXPECT_LT(status, SF_TRANSPORT_FAILED) << each.name << ": " << sf_error_text();
      done += status == SF_OK ? 1 : 0;
    }
  }
  EXPECT_GT(done, ranks == 1 ? 50U : 0U);
}

TEST(HostileNumbers, DrawnForLayoutsReadNothingElse) {
  in_a_process([] {
    on_one_rank([](sf_group* group) {
      expect_layouts_within(group, 1);
      expect_usable(group);
    });
    on_groups(3, seed, [](const Group& group) { expect_layouts_within(group.handle(), 3); });
  });
}

// --- all of it at once -----------------------------------------------------------------------------------------------

/// Small numbers and such as overflow; none between, which there might be memory for.
constexpr std::array<std::uint64_t, 9> numbers = {0,          1,      2, 3, two_to(57), two_to(62), two_to(63) - 1,
                                                  two_to(63), highest};

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(number) {}

  bool once_in(unsigned times) { return random_() % times == 0; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[random_() % all.size()];
  }
  std::uint64_t number() { return numbers[random_() % numbers.size()]; }
  template <class Enumeration>
  void enumerator(Enumeration& field, unsigned last) {
    unsigned value = static_cast<unsigned>(random_() % (last + 1));
    if (once_in(20)) value = one_of({last + 1, unsigned{INT_MAX}, UINT_MAX});
    std::memcpy(&field, &value, sizeof value);
  }
  void array(sf_array& array) {
    enumerator(array.type, SF_FLOAT128);
    array.element_bytes = number();
    array.axis_count = one_of({0, 1, 2, 3, 3, 3, 3, SF_MOST_AXES, SF_MOST_AXES + 1, -1, INT32_MIN, INT32_MAX});
    array.device = once_in(20) ? one_of({-1, 1, INT32_MAX}) : 0;
    for (std::uint64_t& extent : array.shape) extent = once_in(6) ? number() : 1;
    for (std::int64_t& stride : array.strides)
      stride = one_of<std::int64_t>({0, 8, -8, std::int64_t{1} << 62, INT64_MIN, INT64_MAX});
  }

 private:
  std::mt19937_64 random_;
};

/// A call and what it may point to. There are no data, and nowhere for a result to go.
struct Drawn {
  sf_call call = sf_call_default();
  sf_arrays arrays = sf_arrays_default();
  sf_grid grid{};
  std::array<sf_interval, 2> intervals{};
  std::array<sf_chunk, 2> chunks{};
  std::uint64_t block = 0;
};

void draw_arrays(Draw& draw, Drawn& to) {
  to.call.arrays = &to.arrays;
  draw.array(to.arrays.x);
  for (sf_array* const other : {&to.arrays.factors, &to.arrays.mask, &to.arrays.labels})
    if (draw.once_in(4)) draw.array(*other);
  to.arrays.kept = draw.one_of({0U, 0U, 0U, 1U, 2U, 3U, 7U, 1U << 15, 1U << 30, 1U << 31, UINT_MAX});
  if (draw.once_in(4)) to.arrays.groups = draw.number();
  if (draw.once_in(4)) to.arrays.x_count = draw.number();
  if (draw.once_in(4)) to.arrays.is_nullable = draw.number();
  if (draw.once_in(4)) to.arrays.chunk_count = draw.number();
  if (draw.once_in(8)) {
    to.arrays.chunks = to.chunks.data();
    to.arrays.chunk_count = draw.one_of({0U, 1U, 2U});
    for (sf_chunk& chunk : to.chunks) chunk = {nullptr, nullptr, draw.number(), draw.number()};
  }
}

void draw_grid(Draw& draw, Drawn& to) {
  to.call.layout = SF_GRID;
  to.call.grid = &to.grid;
  to.grid.axis_count = draw.one_of({1U, 2U, 3U, 3U, 0U, 4U, UINT_MAX});
  for (sf_grid_axis& axis : to.grid.axes)
    axis = {draw.number(), draw.once_in(4) ? draw.number() : 1, draw.number(), draw.once_in(4) ? draw.number() : 0};
}

void draw_intervals(Draw& draw, Drawn& to) {
  to.call.layout = SF_INTERVALS;
  to.call.intervals = to.intervals.data();
  to.call.interval_count = draw.one_of<std::size_t>({0, 1, 2});
  for (sf_interval& interval : to.intervals) interval = {draw.number(), draw.number()};
}

void draw_blocks(Draw& draw, Drawn& to) {
  to.block = draw.number();
  to.call.blocks = &to.block;
  to.call.block_count = draw.one_of<std::size_t>({0, 1});
}

void draw_users(Draw& draw, Drawn& to) {
  to.call.operation = SF_USER;
  to.call.type = SF_BYTES;
  to.call.element_bytes = draw.number();
  to.call.user = draw.once_in(4) ? nullptr : left_operand;
}

/// Each is done to a third of the calls, one after the other.
constexpr void (*changes[])(Draw&, Drawn&) = {
    draw_users,
    draw_intervals,
    draw_grid,
    draw_blocks,
    draw_arrays,
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.operation, SF_CORRELATION); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.method, SF_BINNED); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.type, SF_FLOAT128); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.result_type, SF_FLOAT128); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.layout, SF_GRID); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.sweep, SF_DOUBLE_SWEEP); },
    [](Draw& draw, Drawn& to) { draw.enumerator(to.call.collective, SF_EXSCAN); },
    [](Draw& draw, Drawn& to) { to.call.columns = draw.number(); },
    [](Draw& draw, Drawn& to) { to.call.rows = draw.number(); },
    [](Draw& draw, Drawn& to) { to.call.element_count = draw.number(); },
    [](Draw& draw, Drawn& to) {
      to.call.root = draw.one_of({0, 0, 1, -2, INT32_MIN, INT32_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.schedule = draw.one_of<const char*>({"", "auto", "binomial", "no such"});
    },
    [](Draw& draw, Drawn& to) {
      to.call.operator_name = draw.one_of<const char*>({"", "name"});
    },
    [](Draw& draw, Drawn& to) {
      to.call.commutative = draw.one_of({1, -1, INT_MIN});
    },
    [](Draw& draw, Drawn& to) {
      to.call.never_fails = draw.one_of({1, -1, INT_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.writes_right = draw.one_of({1, -1, INT32_MIN});
    },
    [](Draw& draw, Drawn& to) {
      to.call.require = draw.one_of({1U, 4U, 127U, 128U, UINT_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.threads = draw.one_of({0U, 1U, 2U, 4097U, UINT_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.bins = draw.one_of({2U, 3U, 4U, 1U, 5U, UINT_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.lanes = draw.one_of({1U, 2U, 16U, 1024U, 1025U, UINT_MAX});
    },
    [](Draw& draw, Drawn& to) {
      to.call.reserved[1] = draw.one_of({0U, 0U, 0U, 0U, 1U, UINT_MAX});
    },
};

/// Plans may be made, and a rank may have no result to get. Anything else is refused.
TEST(HostileNumbers, DrawnForAllFieldsAreRefusedWithAText) {
  std::printf("seed %llu, %llu cases\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(case_count));
  on_one_rank([](sf_group* group) {
    std::array<std::uint64_t, SF_INTERNAL + 1> found{};
    for (std::uint64_t number = 0; number < case_count && !testing::Test::HasFailure(); ++number) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(number));
      Draw draw(seed + number);
      Drawn drawn;
      for (const auto change : changes)
        if (draw.once_in(3)) change(draw, drawn);
      for (const CallEntry& each : all_call_entries) {
        sf_status status = SF_OK;
        const std::size_t largest =
            largest_allocation([&] { status = each.ask(&drawn.call, nullptr, nullptr, group); });
        const std::string said = status == SF_OK ? "" : sf_error_text();
        EXPECT_LT(largest, two_to(24)) << each.name;
        EXPECT_LT(status, SF_INTERNAL) << each.name << ": " << said;
        EXPECT_EQ(said.empty(), said.find(" (") == std::string::npos) << each.name << ": " << said;
        ++found.at(static_cast<std::size_t>(status));
      }
    }
    EXPECT_GT(found[SF_INVALID_ARGUMENT], case_count);
    EXPECT_GT(found[SF_UNSUPPORTED], 0U);
    EXPECT_GT(found[SF_OK], 0U);
    expect_usable(group);
  });
}

}  // namespace
}  // namespace steadfold::test::hostile_numbers_test
