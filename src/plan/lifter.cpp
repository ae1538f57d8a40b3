#include "plan/lifter.hpp"

#include <algorithm>
#include <bit>

namespace steadfold::plan {
namespace {

using order::Index;
using order::Interval;

/// Calls `visit(rows, row)` for the rows at positions `first` to `last` - 1 in memory, interval by interval. `rows` are
/// the indices of contiguous rows, and `row` is the number of rows before them in memory.
template <class Visit>
void visit_rows(const StoredRows& stored, Count first, Count last, Visit visit) {
  Count begin = 0;
  Count position = 0;
  for (const Interval interval : stored.intervals) {
    Interval taken{std::max(begin, stored.part.begin), std::min(begin + interval.size(), stored.part.end)};
    if (!taken.empty()) {
      const Count here = taken.size();
      const Count from = std::min(here, first - std::min(first, position));
      const Count to = std::min(here, last - std::min(last, position));
      taken = {taken.begin + from, taken.begin + to};
      const Index offset = interval.begin - begin;  // modulo 2^64
      if (!taken.empty()) visit(Interval{taken.begin + offset, taken.end + offset}, taken.begin);
      position += here;
    }
    begin += interval.size();
  }
}

constexpr Count to_the_end = ~Count{0};

void begin(arithmetic::Builder& builder, const StoredRows& stored) {
  if (!stored.surveyed.empty()) builder.surveyor()->expect(stored.surveyed);
  builder.clear();
}

void push(arithmetic::Intake& intake, const StoredRows& stored, Count first, Count last) {
  const arithmetic::Strides& strides = stored.strides;
  visit_rows(stored, first, last,
             [&](Interval rows, Count row) { intake.push(rows.begin, stored.data.at(row, 0), rows.size(), strides); });
}

void survey_rows(arithmetic::Intake& intake, const StoredRows& stored, Count first, Count last) {
  const arithmetic::Strides& strides = stored.strides;
  visit_rows(stored, first, last, [&](Interval rows, Count row) {
    intake.survey(rows.begin, stored.data.at(row, 0), rows.size(), strides);
  });
}

Count count_of(const StoredRows& stored) {
  Count count = 0;
  visit_rows(stored, 0, to_the_end, [&](Interval rows, Count) { count += rows.size(); });
  return count;
}

/// Returns a position near `about` at which the rows can be cut between two threads: a little before `about`, at the
/// end of a large node, so that few nodes are cut in two.
Count cut_near(const StoredRows& stored, Count about, Count share) {
  const Count grain = std::bit_floor(std::max<Count>(share / 64, 1));
  Count cut = about;
  visit_rows(stored, about, about + 1, [&](Interval row, Count) { cut -= std::min(about, row.begin % grain); });
  return cut;
}

}  // namespace

Bytes Lifter::lift(const StoredRows& rows, ThreadPool& pool, unsigned threads, std::span<std::byte> out) {
  threads = divide(rows, pool, threads);
  if (threads <= 1) return alone(rows, out);
  pool.run(threads, [&](unsigned thread) {
    ThreadRows& mine = rows_of_threads_[thread];
    arithmetic::Builder& builder = mine.intake->builder();
    begin(builder, rows);
    push(*mine.intake, rows, mine.first, mine.last);
    mine.size = builder.write(mine.partial.bytes());
  });
  return merged(threads, out).size();
}

void Lifter::survey(const StoredRows& rows, ThreadPool& pool, unsigned threads, std::span<std::byte> out) {
  threads = divide(rows, pool, threads);
  if (threads <= 1) {
    builder().clear();
    survey_rows(*intake_, rows, 0, to_the_end);
    return builder().surveyor()->write_survey(out);
  }
  pool.run(threads, [&](unsigned thread) {
    ThreadRows& mine = rows_of_threads_[thread];
    mine.intake->builder().clear();  // discards the rows that the builder took before memory ran out
    survey_rows(*mine.intake, rows, mine.first, mine.last);
    mine.intake->builder().surveyor()->write_survey(mine.partial.bytes());
  });
  std::ranges::copy_n(rows_of_threads_[0].partial.bytes().begin(), static_cast<std::ptrdiff_t>(out.size()),
                      out.begin());
  for (unsigned i = 1; i < threads; ++i)
    std::ranges::transform(out, rows_of_threads_[i].partial.bytes(), out.begin(),
                           [](auto a, auto b) { return std::max(a, b); });
}

Bytes Lifter::alone(const StoredRows& rows, std::span<std::byte> out) {
  begin(builder(), rows);
  push(*intake_, rows, 0, to_the_end);
  return builder().write(out);
}

/// Divides the rows among threads and returns the number of threads. Does nothing for one thread. The memory for each
/// partial has an upper bound as its size. This bound needs no set of intervals, which would have to be built for every
/// run.
unsigned Lifter::divide(const StoredRows& rows, const ThreadPool& pool, unsigned threads) {
  threads = std::min(threads, pool.size());
  if (threads <= 1 || !kind_->may_divide_rows()) return 1;
  const Count row_count = count_of(rows);
  if (row_count < threads) threads = static_cast<unsigned>(row_count);
  if (threads <= 1) return 1;
  if (rows_of_threads_.size() < threads) rows_of_threads_.resize(threads);
  if (bytes_of_a_node_ == 0) {
    bytes_of_none_ = kind_->capacity({});
    bytes_of_a_node_ = kind_->capacity(order::IntervalSet({0, 1})) - bytes_of_none_ + 1;
  }
  const auto bound = [&](Count first, Count last) {
    Bytes bytes = bytes_of_none_;
    visit_rows(rows, first, last,
               [&](Interval interval, Count) { bytes += bytes_of_a_node_ * (kind_->most_values(interval) + 1); });
    return bytes;
  };
  const Count share = row_count / threads;
  for (unsigned i = 0; i < threads; ++i) {
    ThreadRows& mine = rows_of_threads_[i];
    if (!mine.intake) mine.intake.emplace(kind_->builder(), shape_);
    mine.first = i == 0 ? 0 : rows_of_threads_[i - 1].last;
    mine.last = i + 1 == threads ? row_count : std::max(mine.first, cut_near(rows, (i + 1) * share, share));
    mine.partial.make(bound(mine.first, mine.last));
    if (i > 0 && i + 1 < threads) mine.merged.make(bound(0, mine.last));
  }
  return threads;
}

std::span<const std::byte> Lifter::merged(unsigned threads, std::span<std::byte> out) {
  std::span<const std::byte> all = rows_of_threads_[0].partial.bytes().first(rows_of_threads_[0].size);
  for (unsigned i = 1; i < threads; ++i) {
    const std::span<std::byte> room = i + 1 == threads ? out : rows_of_threads_[i].merged.bytes();
    const auto mine = rows_of_threads_[i].partial.bytes().first(rows_of_threads_[i].size);
    all = room.first(arithmetic::merge(*kind_, all, mine, room));
  }
  return all;
}

}  // namespace steadfold::plan
