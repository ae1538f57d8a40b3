// The base class of kinds of partials that wrap another kind. A derived class overrides the functions that it changes.
// Rank order: that of the other kind. Cost: one virtual call.
#pragma once

#include <memory>
#include <utility>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Passes on what both the values and the bytes of a partial need. The abilities `values_apart`, `rows_at_hand` and
/// `prepare_merge` are not passed on, because they end with values that a derived kind may have to change.
class WrappedKind : public PartialKind {
 public:
  explicit WrappedKind(std::unique_ptr<PartialKind> kind) : kind_(std::move(kind)) {}

  Bytes capacity(const order::IntervalSet& rows) const override { return kind_->capacity(rows); }
  Bytes working_capacity(const order::IntervalSet& rows) const override { return kind_->working_capacity(rows); }
  Bytes full_size(const order::IntervalSet& rows) const override { return kind_->full_size(rows); }
  bool has_fixed_size() const noexcept override { return kind_->has_fixed_size(); }
  Count row_count(const order::IntervalSet& rows) const override { return kind_->row_count(rows); }
  Count most_values(order::Interval rows) const noexcept override { return kind_->most_values(rows); }
  Bytes value_bytes() const noexcept override { return kind_->value_bytes(); }
  Content content() const noexcept override { return kind_->content(); }
  Bytes survey_bytes() const noexcept override { return kind_->survey_bytes(); }
  const AddedWords* added_words() const noexcept override { return kind_->added_words(); }
  Count piece_columns() const noexcept override { return kind_->piece_columns(); }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const override {
    return kind_->merge_piece(left, right, out, pieces);
  }

 protected:
  const PartialKind& kind() const noexcept { return *kind_; }

 private:
  std::unique_ptr<PartialKind> kind_;
};

}  // namespace steadfold::arithmetic
