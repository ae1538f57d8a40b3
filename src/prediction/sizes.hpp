// Computes the bytes and elements of a reduction's messages from the rows that they cover, for predictions. Rank order:
// elements are in rank order. Cost: O(1) per message.
#pragma once

#include <memory>
#include <vector>

#include "call/description.hpp"
#include "call/kinds.hpp"
#include "plan/segmentation.hpp"

namespace steadfold::prediction {

using call::Description;
using order::Bytes;
using order::Count;
using plan::Segmentation;

/// A slot's weight: its bytes in a message, and the number of its elements that have not been combined yet.
struct Weight {
  Bytes bytes = 0;
  Count elements = 0;
};

class Sizes {
 public:
  Sizes(const Description& description, const arithmetic::Operator& op, const Segmentation& segmentation,
        const call::MergedRows& merged = {}) {
    for (std::uint32_t s = 0; s < segmentation.segments(); ++s) {
      columns_.push_back(segmentation.columns(s).size());
      kinds_.push_back(make_kind(description, op, columns_.back(), merged));
    }
  }

  Weight partial(const order::IntervalSet& rows, std::uint32_t segment) const {
    return {kinds_[segment]->full_size(rows), kinds_[segment]->row_count(rows) * columns_[segment]};
  }
  Weight value(std::uint32_t segment) const {
    return {sizeof(Header) + kinds_[segment]->value_bytes(), columns_[segment]};
  }
  /// Returns the number of elements of `rows` rows in a segment's columns.
  Count elements(Count rows, std::uint32_t segment) const { return rows * columns_[segment]; }
  bool partials_have_fixed_size() const { return kinds_.front()->has_fixed_size(); }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(kinds_.size()); }

 private:
  std::vector<Count> columns_;
  std::vector<std::unique_ptr<arithmetic::PartialKind>> kinds_;
};

}  // namespace steadfold::prediction
