// How many bytes and elements the messages of a reduction have, by the rows they cover: for runs that move no data.
// Rank order: elements stand in rank order. Cost: O(1) per weight. Source: the partials' own figures.
#pragma once

#include <memory>
#include <vector>

#include "agreement/description.hpp"
#include "agreement/kinds.hpp"
#include "agreement/segmentation.hpp"

namespace steadfold::prediction {

using agreement::Description;
using agreement::Segmentation;
using order::Bytes;
using order::Count;

/// A slot's weight: its bytes on the wire, and how many of its elements have not been combined yet.
struct Weight {
  Bytes bytes = 0;
  Count elements = 0;
};

class Sizes {
 public:
  Sizes(const Description& description, const arithmetic::Operator& op, const Segmentation& segmentation,
        const agreement::MergedRows& merged = {}) {
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
  /// How many elements so many rows of a segment's columns are.
  Count elements(Count rows, std::uint32_t segment) const { return rows * columns_[segment]; }
  bool partials_have_fixed_size() const { return kinds_.front()->has_fixed_size(); }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(kinds_.size()); }

 private:
  std::vector<Count> columns_;
  std::vector<std::unique_ptr<arithmetic::PartialKind>> kinds_;
};

}  // namespace steadfold::prediction
