#include "plan/wide_board_reduction.hpp"

#include <algorithm>
#include <cstring>

#include "plan/column_share.hpp"
#include "transport/shared/arenas.hpp"

namespace steadfold::plan {
namespace {

// Bytes of a row that are posted at once: large enough that ranks seldom wait, and small enough that the posts of two
// ranks stay in the cache.
constexpr Bytes piece_bytes = Bytes{512} << 10;

/// From this number of bytes on, which the other ranks post in one piece, one more round is faster than reading all
/// posts on every rank. In this round the ranks post the results of their shares.
constexpr Bytes least_shared_bytes = Bytes{32} << 10;

/// Reduces wide rows of ranks that see all of each other's memory. The ranks tell each other the addresses of their
/// rows and results. All callers must wait until the run ends; otherwise memory that other ranks use might be released.
class WideRows final : public BoardReduction {
 public:
  WideRows(const Member& agreed, RowsPayload& rows, transport::Transport& transport, std::uint32_t tag)
      : BoardReduction(transport.prepare_board(tag, sizeof(WideRowPost))),
        own_(&rows),
        share_(agreed.description, rows.op(), transport.rank(), transport.rank_count()),
        shown_(static_cast<std::size_t>(transport.rank_count())),
        rows_and_results_(shown_.size()) {}

  void start(const Data& data, bool stays) override {
    const WideRowPost mine{.status = own_->status(),
                           .is_direct = stays && own_->may_be_written_early(data),
                           .memory = {.row = data.first, .result = data.result}};
    std::memcpy(board().write(sizeof mine), &mine, sizeof mine);
    post(sizeof mine);
    is_reduced_ = false;
  }

  TestResult test() override {
    if (!board().all_have_posted()) return TestResult::pending;
    if (!is_reduced_) {
      look();
      if (status_ != Status::ok) return TestResult::done;
      const auto is_direct = [](const WideRowPost& shown) { return shown.is_direct; };
      if (!std::ranges::all_of(shown_, is_direct)) return TestResult::by_messages;
      status_ = share_.reduce(rows_and_results_);
      is_reduced_ = true;
      std::memcpy(board().write(sizeof status_), &status_, sizeof status_);
      post(sizeof status_);
      if (!board().all_have_posted()) return TestResult::pending;
    }
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      Status status = Status::ok;
      std::memcpy(&status, board().of(rank).data(), sizeof status);
      status_ = worse(status_, status);
    }
    board().end_round();
    return TestResult::done;
  }

 private:
  struct WideRowPost {
    Status status = Status::ok;
    bool is_direct = false;
    ColumnShare::RowAndResult memory;
  };

  void look() {
    status_ = Status::ok;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      std::memcpy(&shown_[rank], board().of(rank).data(), sizeof(WideRowPost));
      rows_and_results_[rank] = shown_[rank].memory;
      status_ = worse(status_, shown_[rank].status);
    }
    board().end_round();
  }

  RowsPayload* own_;
  ColumnShare share_;
  std::vector<WideRowPost> shown_;
  std::vector<ColumnShare::RowAndResult> rows_and_results_;
  bool is_reduced_ = false;  // whether this rank's share is reduced
};

/// Reduces wide rows of ranks that do not see all of each other's memory. The ranks post their rows piece by piece. If
/// there are two ranks, each reduces all columns of a piece. If there are more than two ranks, each rank reduces a
/// share of the columns and posts the result too, unless the piece is short. If all ranks have allocated rows and
/// results with the library, each rank reduces its share of all columns in place. The first run of this kind in the
/// ranks' first plan maps the memory that they show, in a separate round. All callers must wait until the run ends,
/// since results are written before that.
class PostedRows final : public BoardReduction {
 public:
  PostedRows(const Member& agreed, RowsPayload& rows, transport::Transport& transport, std::uint32_t tag)
      : PostedRows(agreed, rows, CutRow(agreed.description, rows.op(), transport.rank_count()), transport, tag) {}

  void start(const Data& data, bool stays) override {
    data_ = data;
    is_apart_ = own_->is_apart_from_result(data);
    next_ = 0;
    stage_ = NextPost::leads;
    lead_ = {.status = own_->status(), .is_direct = stays && own_->may_be_written_early(data)};
    post_lead();
  }

  TestResult test() override {
    while (board().all_have_posted()) {
      switch (stage_) {
        case NextPost::leads: {
          const TestResult found = look();
          if (found != TestResult::pending) return found;
          break;
        }
        case NextPost::pieces: reduce(); break;
        case NextPost::shares: take_shares(); break;
        case NextPost::in_place:
          status_ = worst_lead().status;
          board().end_round();
          return TestResult::done;
      }
      if (next_ == columns_) return TestResult::done;
    }
    return TestResult::pending;
  }

 private:
  /// The beginning of a post. In the first post of a run it has the state of the rank in this run.
  struct alignas(transport::cache_line) Lead {
    Status status = Status::ok;
    bool is_direct = true;
    bool has_row = true;  // whether the first piece of the row follows
    transport::InArena in_arena;
  };
  static_assert(sizeof(Lead) == transport::cache_line);
  /// The contents of the ranks' next posts.
  enum class NextPost : std::uint8_t { leads, pieces, shares, in_place };
  /// The columns that are posted at once, and the number of columns that each rank reduces: all of them, or a share.
  struct Piece {
    Piece(Count count, Bytes element_bytes, Count ranks) : columns(count), share(count) {
      if ((ranks - 1) * columns * element_bytes <= least_shared_bytes || ranks <= 2) return;
      const Count line = std::max<Count>(transport::cache_line / std::max<Bytes>(element_bytes, 1), 1);
      share = ((columns + ranks - 1) / ranks + line - 1) / line * line;
    }
    bool is_shared() const noexcept { return share < columns; }
    order::Interval of(Count rank) const noexcept {
      if (!is_shared()) return {0, columns};
      return {std::min(rank * share, columns), std::min((rank + 1) * share, columns)};
    }
    /// Returns the bytes of the largest post of this piece, without the lead.
    Bytes bytes(Bytes element_bytes, Bytes value_bytes) const noexcept {
      return std::max(columns * element_bytes, is_shared() ? share * value_bytes : 0);
    }

    Count columns;
    Count share;
  };
  /// The pieces of a row: whole pieces of the same size, and a shorter rest.
  struct CutRow {
    CutRow(const Description& d, const arithmetic::Operator& op, Rank rank_count)
        : whole(whole_columns(d.element_bytes, rank_count), d.element_bytes, static_cast<Count>(rank_count)),
          rest(d.columns % whole.columns, d.element_bytes, static_cast<Count>(rank_count)),
          value_bytes(make_kind(d, op, 1)->value_bytes()),
          most_bytes(sizeof(Lead) + std::max(d.columns < whole.columns ? 0 : whole.bytes(d.element_bytes, value_bytes),
                                             rest.bytes(d.element_bytes, value_bytes))) {}

    /// Returns the number of columns of a whole piece: as many as fit in `piece_bytes`, in whole cache lines for each
    /// rank.
    static Count whole_columns(Bytes element_bytes, Rank rank_count) noexcept {
      const Count shares = rank_count > 2 ? static_cast<Count>(rank_count) : 1;
      const Count line = std::max<Count>(transport::cache_line / std::max<Bytes>(element_bytes, 1), 1);
      return std::max<Count>(piece_bytes / std::max<Bytes>(element_bytes, 1) / shares / line, 1) * line * shares;
    }

    Piece whole;
    Piece rest;
    Bytes value_bytes;  // bytes of the value of one column
    Bytes most_bytes;   // bytes of the largest post
  };

  PostedRows(const Member& agreed, RowsPayload& rows, const CutRow& cut, transport::Transport& transport,
             std::uint32_t tag)
      : BoardReduction(transport.prepare_board(tag, cut.most_bytes)),
        own_(&rows),
        cut_(cut),
        element_bytes_(agreed.description.element_bytes),
        columns_(agreed.description.columns),
        row_addresses_(static_cast<std::size_t>(transport.rank_count())),
        shown_(row_addresses_.size()),
        in_place_(row_addresses_.size()),
        arenas_(transport.arenas()),
        column_share_(agreed.description, rows.op(), transport.rank(), transport.rank_count()) {
    const auto own = static_cast<Count>(transport.rank());
    const auto reducer_of = [&](const Piece& piece) {
      return std::make_unique<LocalRows>(agreed.description, rows.op(), piece.of(own).size(), row_addresses_.size());
    };
    const bool has_whole = columns_ >= cut.whole.columns;
    if (has_whole) whole_rows_ = reducer_of(cut.whole);
    if (!cut.rest.of(own).empty()) rest_rows_ = reducer_of(cut.rest);
    for (const Piece* piece : {has_whole ? &cut.whole : &cut.rest, &cut.rest})
      if (piece->is_shared()) reduced_.resize(std::max(reduced_.size(), piece->share * cut.value_bytes));
  }

  void post_lead() {
    const bool may_run = lead_.status == Status::ok && lead_.is_direct;
    if (may_run)
      lead_.in_arena = arenas_->show(data_.first, columns_ * element_bytes_, data_.result, columns_ * cut_.value_bytes);
    lead_.has_row = may_run && (lead_.in_arena.file.bytes == 0 || lead_.in_arena.seen == transport::Arenas::failed);
    std::memcpy(board().write(cut_.most_bytes), &lead_, sizeof lead_);
    post_piece(lead_.has_row);
  }

  bool is_whole() const noexcept { return columns_ - next_ >= cut_.whole.columns; }
  /// Returns the current piece.
  const Piece& piece() const noexcept { return is_whole() ? cut_.whole : cut_.rest; }
  std::byte* result() const noexcept { return data_.result + next_ * cut_.value_bytes; }

  /// Posts a piece of this rank's row; its lead has been written before. If `has_row` is false, only the lead is
  /// posted.
  void post_piece(bool has_row) {
    const Bytes bytes = has_row ? piece().columns * element_bytes_ : 0;
    std::byte* const to = board().write(cut_.most_bytes) + sizeof(Lead);
    if (bytes > 0) board().copy(to, data_.first + next_ * element_bytes_, bytes);
    post(sizeof(Lead) + bytes);
  }

  /// Returns the worst of all ranks' leads, and records where the ranks' rows are.
  Lead worst_lead() noexcept {
    Lead worst;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      Lead lead;
      std::memcpy(&lead, board().of(rank).data(), sizeof lead);
      worst.status = worse(worst.status, lead.status);
      worst.is_direct = worst.is_direct && lead.is_direct;
      worst.has_row = worst.has_row && lead.has_row;
      shown_[rank] = lead.in_arena;
    }
    return worst;
  }

  /// Decides how this run continues. All ranks make the same decision.
  TestResult look() {
    const Lead all = worst_lead();
    status_ = all.status;
    if (status_ != Status::ok || !all.is_direct) {
      board().end_round();
      return status_ != Status::ok ? TestResult::done : TestResult::by_messages;
    }
    const auto seen = transport::Arenas::are_seen(shown_);
    if (seen == transport::Arenas::Seen::by_all) {
      reduce_in_place();
    } else if (seen == transport::Arenas::Seen::untried) {
      board().end_round();
      arenas_->map(shown_);
      post_lead();
    } else if (all.has_row) {
      reduce();
    } else {
      board().end_round();
      post_piece(true);
      stage_ = NextPost::pieces;
    }
    return next_ == columns_ ? TestResult::done : TestResult::pending;
  }

  void reduce_in_place() {
    board().end_round();
    for (std::size_t rank = 0; rank < rank_count(); ++rank)
      in_place_[rank] = {.row = arenas_->at(rank, shown_[rank].row), .result = arenas_->at(rank, shown_[rank].result)};
    const Lead lead = {.status = column_share_.reduce(in_place_)};
    std::memcpy(board().write(cut_.most_bytes), &lead, sizeof lead);
    post(sizeof lead);
    stage_ = NextPost::in_place;
  }

  /// Reduces the current piece, which all ranks have posted, or this rank's share of the piece.
  void reduce() {
    const auto own = static_cast<std::size_t>(board().rank());
    const order::Interval columns = piece().of(own);
    const Bytes offset = columns.begin * element_bytes_;
    for (std::size_t rank = 0; rank < rank_count(); ++rank)
      row_addresses_[rank] = board().of(rank).data() + sizeof(Lead) + offset;
    if (is_apart_)
      // This rank's row is read in place, because the posted copy may not be in this core's cache.
      row_addresses_[own] = data_.first + next_ * element_bytes_ + offset;
    std::byte* const values = piece().is_shared() ? reduced_.data() : result();
    if (!columns.empty())
      status_ = worse(status_, (is_whole() ? whole_rows_ : rest_rows_)->reduce(row_addresses_, values));
    if (!piece().is_shared()) return go_on();
    board().end_round();
    std::byte* const to = board().write(cut_.most_bytes);
    const Lead lead = {.status = status_};
    std::memcpy(to, &lead, sizeof lead);
    board().copy(to + sizeof lead, values, columns.size() * cut_.value_bytes);
    post(sizeof lead + columns.size() * cut_.value_bytes);
    stage_ = NextPost::shares;
  }

  void take_shares() {
    status_ = worst_lead().status;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      const order::Interval columns = piece().of(rank);
      std::memcpy(result() + columns.begin * cut_.value_bytes, board().of(rank).data() + sizeof(Lead),
                  columns.size() * cut_.value_bytes);
    }
    go_on();
  }

  /// Goes on to the next piece of the row.
  void go_on() {
    next_ += piece().columns;
    stage_ = NextPost::pieces;
    board().end_round();
    if (next_ < columns_) post_piece(true);
  }

  RowsPayload* own_;
  CutRow cut_;
  Bytes element_bytes_;
  Count columns_;
  std::unique_ptr<LocalRows> whole_rows_;  // reduces this rank's columns of a whole piece
  std::unique_ptr<LocalRows> rest_rows_;   // reduces this rank's columns of the last, shorter piece
  std::vector<const std::byte*> row_addresses_;
  std::vector<std::byte> reduced_;
  Data data_;
  bool is_apart_ = false;  // whether the result does not overlap the row in this run
  Count next_ = 0;         // the first column of the current piece
  NextPost stage_ = NextPost::leads;
  Lead lead_;                              // the lead of this rank in this run
  std::vector<transport::InArena> shown_;  // by rank: where its row and result are in shared memory, in this run
  std::vector<ColumnShare::RowAndResult> in_place_;
  std::shared_ptr<transport::Arenas> arenas_;
  ColumnShare column_share_;
};

}  // namespace

std::unique_ptr<BoardReduction> make_wide_board_reduction(const Member& agreed, RowsPayload& rows,
                                                          transport::Transport& transport, std::uint32_t tag) {
  if (transport.sees_all_memory()) return std::make_unique<WideRows>(agreed, rows, transport, tag);
  return std::make_unique<PostedRows>(agreed, rows, transport, tag);
}

}  // namespace steadfold::plan
