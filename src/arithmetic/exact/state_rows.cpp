#include "arithmetic/exact/state_rows.hpp"

#include "arithmetic/rows/intake.hpp"
#include "arithmetic/rows/selected_rows.hpp"

namespace steadfold::arithmetic {
namespace {

/// Adds rows to a state, each column separately, so that the terms of a column are contiguous.
class StateBuilder final : public Builder, private ColumnBuilders {
 public:
  StateBuilder(ExactState& state, Way way) : state_(state), way_(way), selected_(element_bytes(state.shape())) {}

  ColumnBuilders* columns() noexcept override { return this; }
  void push(Index /*begin*/, const Block& block) override {
    if (block.rows == 0) return;
    if (block.mask == nullptr) return add(block);
    selected_.for_each_tile(block, [&](const Block& tile) { add(tile); });
  }

  /// Returns the number of rows that were pushed to the first column.
  Count rows() const noexcept { return rows_; }

  // Does nothing, because the state has the sums.
  void clear() override {}
  Bytes write(std::span<std::byte> /*out*/) override { return 0; }

 private:
  Count count() const noexcept override { return state_.shape().columns; }
  Builder& column(Count column) override {
    column_ = column;
    return *this;
  }
  bool are_only_way() const noexcept override { return true; }

  void add(const Block& block) noexcept {
    state_.add_terms(column_, block.first, block.second, block.rows, way_);
    if (column_ == 0) rows_ += block.rows;
  }

  ExactState& state_;
  Way way_;
  SelectedRows selected_;
  Count column_ = 0;
  Count rows_ = 0;
};

}  // namespace

void add_strided(ExactState& state, const StridedRows& rows, Way way) {
  if (rows.strides.are_touching() && !rows.shape.has_mask)
    return state.add(rows.strides.direct_address(rows.data, Operand::first),
                     rows.strides.direct_address(rows.data, Operand::second), rows.count, way);
  auto made = std::make_unique<StateBuilder>(state, way);
  const StateBuilder& builder = *made;
  Intake intake(std::move(made), rows.shape);
  intake.push(0, rows.data, rows.count, rows.strides);
  const auto added = static_cast<std::int64_t>(builder.rows());
  state.set_rows(state.rows() + (way == Way::added ? added : -added));
}

}  // namespace steadfold::arithmetic
