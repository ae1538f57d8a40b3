#include "execution/together.hpp"

#include <algorithm>
#include <cstring>

namespace steadfold::execution {
namespace {

using agreement::Agreement;
using agreement::Description;
using arithmetic::PartialKind;

// Every rank reads every post, and works out all of the result or its share of it, so more ranks, and more bytes, are
// better served by a schedule.
constexpr Rank most_ranks = 16;
constexpr Bytes most_rows_bytes = 4096;
constexpr Count most_built_columns = 8;
constexpr Bytes most_partial_bytes = 16384;
constexpr Bytes most_value_bytes = 4096;
constexpr Bytes tile_bytes = 16384;  // of a row: rows of several ranks stay in the first-level cache
constexpr Bytes piece_bytes =
    Bytes{128} << 10;  // of a row that is posted piece by piece: those of two ranks stay in cache

/// Copies a row, which is often one number.
void copy_row(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes > 0)
    std::memcpy(to, from, bytes);
}

/// Reduces rows that are all in this process's memory.
class LocalRows {
 public:
  LocalRows(const Description& description, const arithmetic::Operator& op, Count columns, Count rows)
      : kind_(make_kind(description, op, columns)),
        row_bytes_(columns * description.element_bytes),
        rows_(rows),
        spare_rows_(kind_->rows_at_hand() == nullptr ? std::nullopt : kind_->rows_at_hand()->spare_rows(rows)) {
    spare_.resize(kind_->value_bytes() * std::max<Count>(spare_rows_.value_or(1), 1));
    if (spare_rows_) return;
    builder_ = kind_->builder();
    if (!builder_->finishes_alone())
      partial_.resize(kind_->working_capacity(order::IntervalSet(order::Interval{0, rows})));
  }

  Bytes value_bytes() const noexcept { return kind_->value_bytes(); }

  Status reduce(std::span<const std::byte* const> rows, std::byte* values) {
    if (spare_rows_) return kind_->rows_at_hand()->reduce_rows(rows, values, spare_.data());
    builder_->clear();
    for (Count i = 0; i < rows_;) {
      const Count touching = touching_from(rows, i);
      builder_->push(i, {.first = rows[i], .second = nullptr, .rows = touching, .row_stride = row_bytes_});
      i += touching;
    }
    if (builder_->finishes_alone()) return builder_->finish_alone(rows_, values, spare_.data());
    const Bytes size = builder_->write(partial_);
    return kind_->finish(std::span<const std::byte>(partial_).first(size), rows_, values, spare_.data());
  }

 private:
  Count touching_from(std::span<const std::byte* const> rows, Count first) const noexcept {
    Count count = 1;
    while (first + count < rows_ && rows[first + count] == rows[first] + count * row_bytes_) count += 1;
    return count;
  }

  std::unique_ptr<PartialKind> kind_;
  Bytes row_bytes_;
  Count rows_;
  std::optional<Count> spare_rows_;  // nothing: by the builder
  std::unique_ptr<arithmetic::Builder> builder_;
  std::vector<std::byte> spare_;
  std::vector<std::byte> partial_;
};

/// Few and narrow rows: every rank posts its rows and reduces all of them.
class NarrowRows final : public Together {
 public:
  NarrowRows(const agreement::Member& agreed, Rows& rows, std::shared_ptr<transport::Board> board, Rank rank_count)
      : Together(std::move(board)),
        own_(&rows),
        all_(agreed.description, rows.op(), agreed.description.columns, agreed.element_count),
        gathered_(agreed.element_count * agreed.description.row_bytes()) {
    for (Rank rank = 0; rank <= rank_count; ++rank)
      first_.push_back(agreed.layout->start(rank) * agreed.description.row_bytes());
    for (Count row = 0; row < agreed.element_count; ++row)
      row_places_.push_back(gathered_.data() + row * agreed.description.row_bytes());
  }

  static Bytes post_bytes(Bytes rows) noexcept { return sizeof(Status) + rows; }

  void start(const Data& data, bool /*stays*/) override {
    const Bytes bytes = bytes_of(static_cast<std::size_t>(board().rank()));
    result_ = data.result;
    const Status status = own_->status();
    std::byte* const place = board().write(post_bytes(bytes));
    std::memcpy(place, &status, sizeof status);
    if (status == Status::ok) copy_row(place + sizeof status, data.first, bytes);
    post(post_bytes(bytes));
  }

  State test() override {
    if (!board().all_have_posted()) return State::pending;
    status_ = Status::ok;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      const std::byte* const place = board().of(rank).data();
      Status status = Status::ok;
      std::memcpy(&status, place, sizeof status);
      status_ = worse(status_, status);
      copy_row(gathered_.data() + first_[rank], place + sizeof status, bytes_of(rank));
    }
    board().end_round();
    if (status_ == Status::ok) status_ = all_.reduce(row_places_, result_);
    return State::done;
  }

 private:
  Bytes bytes_of(std::size_t rank) const noexcept { return first_[rank + 1] - first_[rank]; }

  Rows* own_;
  LocalRows all_;
  std::vector<std::byte> gathered_;
  std::vector<Bytes> first_;  // where each rank's rows begin, and the end
  std::vector<const std::byte*> row_places_;
  std::byte* result_ = nullptr;
};

/// One wide row per rank: they show each other where rows and results are, and every rank reduces its share of the
/// columns, tile by tile, and writes it to all results. Only the rank that reduces a column reads it, so a result may
/// be the row itself. All callers must stay: else memory that others use might go away.
class WideRows final : public Together {
 public:
  WideRows(const agreement::Member& agreed, Rows& rows, std::shared_ptr<transport::Board> board, Rank rank,
           Rank rank_count)
      : Together(std::move(board)), own_(&rows), element_bytes_(agreed.description.element_bytes) {
    const Description& d = agreed.description;
    const auto ranks = static_cast<Count>(rank_count);
    const Count line = std::max<Count>(transport::cache_line / std::max<Bytes>(element_bytes_, 1), 1);
    const Count share = ((d.columns + ranks - 1) / ranks + line - 1) / line * line;
    tile_columns_ = std::clamp<Count>(tile_bytes / std::max<Bytes>(element_bytes_, 1), 1, share);
    tiles_ = (d.columns + tile_columns_ - 1) / tile_columns_;
    next_ = first_tile(rank, ranks);
    end_ = first_tile(rank + 1, ranks);
    full_.emplace(d, rows.op(), std::min(tile_columns_, d.columns), ranks);
    const Count rest = d.columns - (tiles_ - 1) * tile_columns_;
    if (rest != tile_columns_) last_.emplace(d, rows.op(), rest, ranks);
    value_bytes_ = full_->value_bytes() / std::min(tile_columns_, d.columns);
    reduced_.resize(full_->value_bytes());
    shown_.resize(ranks);
    places_.resize(ranks);
  }

  static constexpr Bytes post_bytes() noexcept { return sizeof(Shown); }

  void start(const Data& data, bool stays) override {
    const Shown mine{.status = own_->status(),
                     .is_direct = stays && own_->may_be_written_early(data),
                     .first = data.first,
                     .result = data.result};
    std::memcpy(board().write(sizeof mine), &mine, sizeof mine);
    post(sizeof mine);
    is_reduced_ = false;
  }

  State test() override {
    if (!board().all_have_posted()) return State::pending;
    if (!is_reduced_) {
      look();
      if (status_ != Status::ok) return State::done;
      const auto is_direct = [](const Shown& shown) { return shown.is_direct; };
      if (!std::ranges::all_of(shown_, is_direct)) return State::by_messages;
      for (Count tile = next_; tile < end_; ++tile) reduce(tile);
      is_reduced_ = true;
      std::memcpy(board().write(sizeof status_), &status_, sizeof status_);
      post(sizeof status_);
      if (!board().all_have_posted()) return State::pending;
    }
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      Status status = Status::ok;
      std::memcpy(&status, board().of(rank).data(), sizeof status);
      status_ = worse(status_, status);
    }
    board().end_round();
    return State::done;
  }

 private:
  struct Shown {
    Status status = Status::ok;
    bool is_direct = false;
    const std::byte* first = nullptr;
    std::byte* result = nullptr;
  };

  Count first_tile(Rank rank, Count ranks) const noexcept { return tiles_ * static_cast<Count>(rank) / ranks; }

  void look() {
    status_ = Status::ok;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      std::memcpy(&shown_[rank], board().of(rank).data(), sizeof(Shown));
      status_ = worse(status_, shown_[rank].status);
    }
    board().end_round();
  }

  void reduce(Count tile) {
    const Count first = tile * tile_columns_;
    LocalRows& rows = tile + 1 == tiles_ && last_ ? *last_ : *full_;
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      places_[rank] = shown_[rank].first + first * element_bytes_;
    status_ = worse(status_, rows.reduce(places_, reduced_.data()));
    for (const Shown& shown : shown_)
      std::memcpy(shown.result + first * value_bytes_, reduced_.data(), rows.value_bytes());
  }

  Rows* own_;
  Bytes element_bytes_;
  Bytes value_bytes_ = 0;
  Count tile_columns_ = 1;
  Count tiles_ = 0;
  Count next_ = 0;  // this rank's tiles
  Count end_ = 0;
  std::optional<LocalRows> full_;
  std::optional<LocalRows> last_;  // if it is narrower
  std::vector<std::byte> reduced_;
  std::vector<Shown> shown_;
  std::vector<const std::byte*> places_;
  bool is_reduced_ = false;  // this rank's share
};

/// One wide row per rank, where ranks do not see all of each other's memory: they post their rows piece by piece. Two
/// ranks reduce all columns of a piece each; more of them reduce a share each, and post that too. All callers must
/// stay, since results are written before all is done.
class PostedRows final : public Together {
 public:
  PostedRows(const agreement::Member& agreed, Rows& rows, transport::Transport& transport, std::uint32_t tag)
      : PostedRows(agreed, rows, Pieces(agreed.description, rows.op(), transport.rank_count()), transport, tag) {}

  void start(const Data& data, bool stays) override {
    data_ = data;
    next_ = 0;
    is_reduced_ = false;
    const Lead lead = {.status = own_->status(), .is_direct = stays && own_->may_be_written_early(data)};
    std::memcpy(board().write(pieces_.most_bytes), &lead, sizeof lead);
    post_piece(lead.status == Status::ok && lead.is_direct);
  }

  State test() override {
    while (board().all_have_posted()) {
      if (next_ == 0 && !is_reduced_) {
        const Lead all = worst_lead();
        status_ = all.status;
        if (status_ != Status::ok || !all.is_direct) board().end_round();
        if (status_ != Status::ok) return State::done;
        if (!all.is_direct) return State::by_messages;
      }
      if (is_reduced_)
        take_shares();
      else
        reduce();
      if (next_ == columns_) return State::done;
    }
    return State::pending;
  }

 private:
  /// What a post begins with: in the first one what its rank says of the run.
  struct alignas(transport::cache_line) Lead {
    Status status = Status::ok;
    bool is_direct = true;
  };
  /// How a row is cut.
  struct Pieces {
    Pieces(const Description& d, const arithmetic::Operator& op, Rank rank_count)
        : shares(rank_count > 2 ? static_cast<Count>(rank_count) : 1) {
      const Count line = std::max<Count>(transport::cache_line / std::max<Bytes>(d.element_bytes, 1), 1);
      share_columns = std::max<Count>(piece_bytes / std::max<Bytes>(d.element_bytes, 1) / shares / line, 1) * line;
      value_bytes = make_kind(d, op, 1)->value_bytes();
      most_bytes =
          sizeof(Lead) + std::max(std::min(columns(), d.columns) * d.element_bytes, share_columns * value_bytes);
    }
    Count columns() const noexcept { return shares * share_columns; }

    Count shares;
    Count share_columns = 0;
    Bytes value_bytes = 0;  // of a column
    Bytes most_bytes = 0;   // of a post
  };

  PostedRows(const agreement::Member& agreed, Rows& rows, const Pieces& pieces, transport::Transport& transport,
             std::uint32_t tag)
      : Together(transport.prepare_board(tag, pieces.most_bytes)),
        own_(&rows),
        pieces_(pieces),
        element_bytes_(agreed.description.element_bytes),
        columns_(agreed.description.columns),
        places_(static_cast<std::size_t>(transport.rank_count())) {
    const Description& d = agreed.description;
    const Count rest = columns_ % pieces.columns();
    if (columns_ >= pieces.columns()) share_.emplace(d, rows.op(), pieces.share_columns, places_.size());
    if (rest > 0) rest_.emplace(d, rows.op(), rest, places_.size());
    if (pieces_.shares > 1) reduced_.resize(pieces_.share_columns * pieces_.value_bytes);
  }

  Count width() const noexcept { return std::min(pieces_.columns(), columns_ - next_); }
  /// What is left is reduced by all.
  bool is_shared() const noexcept { return pieces_.shares > 1 && width() == pieces_.columns(); }
  std::byte* result() const noexcept { return data_.result + next_ * pieces_.value_bytes; }

  /// Behind its lead, which is written; `has_row`: else nothing more is read.
  void post_piece(bool has_row) {
    const Bytes bytes = has_row ? width() * element_bytes_ : 0;
    std::byte* const place = board().write(pieces_.most_bytes) + sizeof(Lead);
    if (bytes > 0) std::memcpy(place, data_.first + next_ * element_bytes_, bytes);
    post(sizeof(Lead) + bytes);
  }

  Lead worst_lead() {
    Lead worst;
    for (std::size_t rank = 0; rank < rank_count(); ++rank) {
      Lead lead;
      std::memcpy(&lead, board().of(rank).data(), sizeof lead);
      worst = {.status = worse(worst.status, lead.status), .is_direct = worst.is_direct && lead.is_direct};
    }
    return worst;
  }

  /// Reduces the piece that all have posted, or this rank's share of it.
  void reduce() {
    const bool is_share = is_shared();
    const auto own = static_cast<Count>(board().rank());
    const Bytes offset = sizeof(Lead) + (is_share ? own * pieces_.share_columns * element_bytes_ : 0);
    for (std::size_t rank = 0; rank < rank_count(); ++rank) places_[rank] = board().of(rank).data() + offset;
    LocalRows& rows = width() == pieces_.columns() ? *share_ : *rest_;
    if (!is_share) {
      status_ = worse(status_, rows.reduce(places_, result()));
      return go_on();
    }
    status_ = worse(status_, rows.reduce(places_, reduced_.data()));
    board().end_round();
    std::byte* const place = board().write(pieces_.most_bytes);
    const Lead lead = {.status = status_};
    std::memcpy(place, &lead, sizeof lead);
    std::memcpy(place + sizeof lead, reduced_.data(), reduced_.size());
    post(sizeof lead + reduced_.size());
    is_reduced_ = true;
  }

  void take_shares() {
    status_ = worst_lead().status;
    const Bytes bytes = pieces_.share_columns * pieces_.value_bytes;
    for (std::size_t rank = 0; rank < rank_count(); ++rank)
      std::memcpy(result() + rank * bytes, board().of(rank).data() + sizeof(Lead), bytes);
    is_reduced_ = false;
    go_on();
  }

  /// To the next piece.
  void go_on() {
    next_ += width();
    board().end_round();
    if (next_ < columns_) post_piece(true);
  }

  Rows* own_;
  Pieces pieces_;
  Bytes element_bytes_;
  Count columns_;
  std::optional<LocalRows> share_;  // of a piece, or all of it
  std::optional<LocalRows> rest_;   // of columns behind the last whole piece
  std::vector<const std::byte*> places_;
  std::vector<std::byte> reduced_;
  Data data_;
  Count next_ = 0;           // the first column of the piece that is under way
  bool is_reduced_ = false;  // this rank's share of it
};

/// Many rows: every rank posts the partial of its rows and merges all of them.
class Partials final : public Together {
 public:
  Partials(Rows& rows, std::shared_ptr<transport::Board> board, Bytes own_capacity, Bytes capacity)
      : Together(std::move(board)), rows_(&rows), own_capacity_(own_capacity) {
    for (std::vector<std::byte>& each : merged_) each.resize(capacity);
    value_.resize(rows.value_capacity(0));
  }

  void start(const Data& /*data*/, bool /*stays*/) override {
    const std::span<std::byte> place(board().write(own_capacity_), own_capacity_);
    post(rows_->lift(0, {}, place).head.size());
  }

  State test() override {
    if (!board().all_have_posted()) return State::pending;
    Partial all = board().of(0);
    for (std::size_t rank = 1; rank < rank_count(); ++rank)
      all = rows_->merge(0, all, board().of(rank), {merged_[rank % 2]});
    const Partial value = rows_->finish(0, {}, all, {value_});
    board().end_round();
    status_ = rows_->deliver(0, value);
    return State::done;
  }

 private:
  Rows* rows_;
  Bytes own_capacity_;
  std::vector<std::byte> merged_[2];
  std::vector<std::byte> value_;
};

/// Whether ranks that see each other's memory reduce this together.
bool serves(const Agreement& agreed) {
  if (agreed.members.size() > 1 || !agreed.is_our_choice) return false;
  const agreement::Member& member = agreed.members.front();
  const Description& d = member.description;
  return d.collective == schedule::Collective::allreduce && !d.may_fail && d.columns > 0 &&
         d.sweep == arithmetic::Sweep::single_sweep && member.layout->rank_count() <= most_ranks &&
         member.counts == schedule::Counts::once && member.element_count != arithmetic::unknown_count &&
         member.element_count > 0;
}

bool has_one_row_per_rank(const order::Layout& layout) {
  for (Rank rank = 0; rank < layout.rank_count(); ++rank)
    if (layout.local_count(rank) != 1) return false;
  return true;
}

}  // namespace

std::unique_ptr<Together> make_together(const Agreement& agreed, Rows& rows, transport::Transport& transport,
                                        std::uint32_t tag) {
  if (!transport.has_boards() || !serves(agreed)) return nullptr;
  const agreement::Member& member = agreed.members.front();
  const Description& d = member.description;
  const Rank rank = transport.rank();
  const Rank ranks = transport.rank_count();
  const bool reads_rows = member.layout->in_rank_order() && !arithmetic::has_second(d.operation);
  const Bytes all_bytes = member.element_count * d.row_bytes();
  if (reads_rows && all_bytes <= most_rows_bytes) {
    const auto kind = make_kind(d, rows.op(), d.columns);
    const bool is_fast = d.columns <= most_built_columns ||
                         (kind->rows_at_hand() != nullptr && kind->rows_at_hand()->spare_rows(member.element_count));
    if (is_fast) {
      const Bytes own = member.layout->local_count(rank) * d.row_bytes();
      return std::make_unique<NarrowRows>(member, rows, transport.prepare_board(tag, NarrowRows::post_bytes(own)),
                                          ranks);
    }
  }
  if (reads_rows && d.columns > most_built_columns && has_one_row_per_rank(*member.layout)) {
    if (!transport.sees_all_memory()) return std::make_unique<PostedRows>(member, rows, transport, tag);
    return std::make_unique<WideRows>(member, rows, transport.prepare_board(tag, WideRows::post_bytes()), rank, ranks);
  }
  if (rows.segment_count() != 1 || rows.value_capacity(0) > most_value_bytes) return nullptr;
  Bytes capacity = 0;  // rows of some ranks may have more nodes than those of all
  for (Rank count = 1; count <= ranks; ++count) capacity = std::max(capacity, rows.working_capacity({0, count}, 0));
  if (capacity > most_partial_bytes) return nullptr;
  const Bytes own_capacity = rows.working_capacity({rank, 1}, 0);
  return std::make_unique<Partials>(rows, transport.prepare_board(tag, own_capacity), own_capacity, capacity);
}

}  // namespace steadfold::execution
