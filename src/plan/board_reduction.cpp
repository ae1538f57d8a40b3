#include "plan/board_reduction.hpp"

#include <algorithm>
#include <array>

#include "kernels/cascade.hpp"
#include "plan/column_share.hpp"
#include "plan/wide_board_reduction.hpp"

namespace steadfold::plan {
namespace {

using arithmetic::PartialKind;
using call::Description;

// The limits up to which this path is faster than a schedule. Every rank computes the whole result, or its share of the
// result, so for more bytes a schedule is faster.
constexpr Count most_rows = 64;  // with more rows, merging partials is faster
constexpr Bytes most_rows_bytes = 4096;
// So that a row from each rank can be reduced without a builder.
static_assert(transport::most_board_ranks <= kernels::most_cascaded);
static_assert(most_rows_bytes <= transport::Board::most_copied);  // because NarrowRows reads posts in place
constexpr Count most_built_columns = 8;
constexpr Rank most_merging_ranks = 32;  // each of these ranks merges the partials of all ranks
constexpr Bytes most_partial_bytes = 16384;
constexpr Bytes most_value_bytes = 4096;

/// Reduces few and narrow rows: every rank posts its rows and reduces the rows of all ranks.
class NarrowRows final : public BoardReduction {
 public:
  NarrowRows(const Member& agreed, RowsPayload& rows, std::shared_ptr<transport::Board> board, Rank rank_count)
      : BoardReduction(std::move(board)),
        own_(&rows),
        all_(agreed.description, rows.op(), agreed.description.columns, agreed.element_count),
        row_bytes_(agreed.description.row_bytes()),
        own_bytes_(agreed.layout->local_count(this->board().rank()) * row_bytes_) {
    for (Rank rank = 0; rank < rank_count; ++rank) counts_.push_back(agreed.layout->local_count(rank));
    for (auto& each : row_addresses_) each.reserve(agreed.element_count);
  }

  void start(const Data& data, bool /*stays*/) override {
    result_ = data.result;
    const Status status = own_->status();
    std::byte* const post_start = board().write(own_bytes_);
    if (status == Status::ok) transport::copy_bytes(post_start, data.first, own_bytes_);
    post(own_bytes_, status);
  }

  /// Reduces the rows in place, where the ranks posted them. No rank overwrites its post before this rank has made its
  /// next post.
  TestResult test() override {
    if (!board().all_have_posted()) return TestResult::pending;
    if (row_addresses_.front().empty()) find_rows();
    status_ = Status{board().greatest_mark()};
    if (status_ == Status::ok) status_ = all_.reduce(row_addresses_[board().parity()], result_);
    board().end_round();
    return TestResult::done;
  }

 private:
  /// Finds the addresses of all rows. Allocates nothing.
  void find_rows() {
    for (std::size_t parity = 0; parity < row_addresses_.size(); ++parity)
      for (std::size_t rank = 0; rank < rank_count(); ++rank)
        for (Count row = 0; row < counts_[rank]; ++row)
          row_addresses_[parity].push_back(board().post_address(rank, parity, counts_[rank] * row_bytes_) +
                                           row * row_bytes_);
  }

  RowsPayload* own_;
  LocalRows all_;
  Bytes row_bytes_;
  Bytes own_bytes_;
  std::vector<Count> counts_;  // by rank: number of its rows
  // Addresses of all rows, in even and in odd rounds; each set in the first round of its kind.
  std::array<std::vector<const std::byte*>, 2> row_addresses_;
  std::byte* result_ = nullptr;
};

/// Reduces many rows: every rank posts the partial of its rows and merges the partials of all ranks.
class PostedPartials final : public BoardReduction {
 public:
  PostedPartials(RowsPayload& rows, std::shared_ptr<transport::Board> board, Rank rank_count, Bytes own_capacity,
                 Bytes capacity)
      : BoardReduction(std::move(board)), rows_(&rows), own_capacity_(own_capacity) {
    for (std::vector<std::byte>& each : merged_) each.resize(capacity);
    value_.resize(rows.value_capacity(0));
    const Covers all;  // names no ranks, which means all
    for (Rank rank = 1; rank < rank_count; ++rank)
      prepared_.push_back(rows.prepare_merge(0, {0, rank}, {rank, 1}, rank + 1 == rank_count ? &all : nullptr));
  }

  void start(const Data& /*data*/, bool /*stays*/) override {
    const std::span<std::byte> out(board().write(own_capacity_), own_capacity_);
    post(rows_->lift(0, {}, out).head.size());
  }

  TestResult test() override {
    if (!board().all_have_posted()) return TestResult::pending;
    Partial all = board().of(0);
    bool is_finished = false;
    for (std::size_t rank = 1; rank < rank_count(); ++rank) all = merge(all, rank, is_finished);
    const Partial value = is_finished ? all : rows_->finish(0, {}, all, {value_});
    board().end_round();
    status_ = rows_->deliver(0, value);
    return TestResult::done;
  }

 private:
  /// Merges the partial of the ranks before `rank` with the partial of `rank`. May finish the last partial, too, and
  /// then sets `is_finished`.
  Partial merge(const Partial& before, std::size_t rank, bool& is_finished) {
    const Partial next = board().of(rank);
    const Preparation& prepared = prepared_[rank - 1];
    if (prepared.merge != nullptr) {
      const std::span<std::byte> out = prepared.finishes ? value_ : merged_[rank % 2];
      const Bytes size =
          prepared.finishes ? prepared.merge->finish(before, next, {out}) : prepared.merge->merge(before, next, out);
      is_finished = prepared.finishes && size > 0;
      if (size > 0) return out.first(size);
    }
    return rows_->merge(0, before, next, {merged_[rank % 2]});
  }

  RowsPayload* rows_;
  Bytes own_capacity_;
  std::vector<Preparation> prepared_;  // by rank, except rank 0
  std::vector<std::byte> merged_[2];
  std::vector<std::byte> value_;
};

/// Whether ranks that see each other's memory reduce this agreement in common memory.
bool serves(const Agreement& agreed) {
  if (agreed.members.size() > 1 || !agreed.is_our_choice) return false;
  const Member& member = agreed.members.front();
  const Description& d = member.description;
  return d.collective == schedule::Collective::allreduce && !d.may_fail && d.columns > 0 &&
         member.layout->rank_count() <= transport::most_board_ranks && member.counts == schedule::Counts::once &&
         member.element_count != arithmetic::unknown_count && member.element_count > 0;
}

bool has_one_row_per_rank(const order::Layout& layout) {
  for (Rank rank = 0; rank < layout.rank_count(); ++rank)
    if (layout.local_count(rank) != 1) return false;
  return true;
}

}  // namespace

std::unique_ptr<BoardReduction> make_board_reduction(const Agreement& agreed, RowsPayload& rows,
                                                     transport::Transport& transport, std::uint32_t tag) {
  if (!transport.has_boards() || !serves(agreed)) return nullptr;
  const Member& member = agreed.members.front();
  const Description& d = member.description;
  const Rank rank = transport.rank();
  const Rank ranks = transport.rank_count();
  // the result of a first sweep is used only to build the partial of this rank's rows; if there is a first sweep, ranks
  // post partials
  const bool reads_rows = member.layout->in_rank_order() && has_layout_of_indices(d) &&
                          !arithmetic::has_second(d.operation) && d.array == call::ArrayForm::none &&
                          d.parameters.sweep == arithmetic::Sweep::single_sweep;
  const Bytes all_bytes = member.element_count * d.row_bytes();
  if (reads_rows && member.element_count <= most_rows && all_bytes <= most_rows_bytes) {
    const auto kind = make_kind(d, rows.op(), d.columns);
    const bool is_fast = d.columns <= most_built_columns ||
                         (kind->rows_at_hand() != nullptr && kind->rows_at_hand()->spare_rows(member.element_count));
    if (is_fast) {
      const Bytes own = member.layout->local_count(rank) * d.row_bytes();
      return std::make_unique<NarrowRows>(member, rows, transport.prepare_board(tag, own), ranks);
    }
  }
  if (reads_rows && d.columns > most_built_columns && has_one_row_per_rank(*member.layout)) {
    return make_wide_board_reduction(member, rows, transport, tag);
  }
  if (ranks > most_merging_ranks || rows.segment_count() != 1 || rows.value_capacity(0) > most_value_bytes)
    return nullptr;
  Bytes capacity = 0;  // the rows of some ranks may have more nodes than the rows of all ranks
  for (Rank count = 1; count <= ranks && capacity <= most_partial_bytes; ++count)
    capacity = std::max(capacity, rows.working_capacity({0, count}, 0));
  if (capacity > most_partial_bytes) return nullptr;
  const Bytes own_capacity = rows.working_capacity({rank, 1}, 0);
  return std::make_unique<PostedPartials>(rows, transport.prepare_board(tag, own_capacity), ranks, own_capacity,
                                          capacity);
}

}  // namespace steadfold::plan
