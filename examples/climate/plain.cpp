// Sums over the globe by loops and MPI_Allreduce: the control, whose bits depend on how the globe is dealt to ranks.
// See totals.hpp.
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "totals.hpp"

namespace climate {
namespace {

class PlainTotals final : public Totals {
 public:
  explicit PlainTotals(const Ocean& ocean) : ocean_(ocean), budget_(tracer_count) {}

  std::vector<double> sums(const Fields& fields) const override {
    std::vector<double> sums(fields.count() * fields.levels());
    for (std::uint64_t field = 0; field < fields.count(); ++field)
      for (std::uint64_t level = 0; level < fields.levels(); ++level)
        for_each_cell(ocean_, level, [&](std::uint64_t row, std::uint64_t column) {
          sums[field * fields.levels() + level] += fields.at(field, level, row, column) * ocean_.area(row, column);
        });
    return of_all_ranks(sums);
  }
  std::vector<double> areas() const override {
    std::vector<double> areas(ocean_.block().grid.levels);
    for (std::uint64_t level = 0; level < areas.size(); ++level)
      for_each_cell(ocean_, level,
                    [&](std::uint64_t row, std::uint64_t column) { areas[level] += ocean_.area(row, column); });
    return of_all_ranks(areas);
  }
  void keep(const Fields& fluxes) override {
    for (std::uint64_t field = 0; field < tracer_count; ++field)
      for_each_cell(ocean_, 0, [&](std::uint64_t row, std::uint64_t column) {
        budget_[field] += fluxes.at(field, 0, row, column) * ocean_.area(row, column);
      });
  }
  std::vector<double> budget() const override { return of_all_ranks(budget_); }
  std::vector<std::byte> saved() const override {
    const std::vector<double> budget = of_all_ranks(budget_);
    const auto bytes = std::as_bytes(std::span(budget));
    return {bytes.begin(), bytes.end()};
  }
  void restore(std::span<const std::byte> bytes) override {
    if (bytes.size() != tracer_count * sizeof(double))
      throw std::invalid_argument(fmt::format(
          "the budget is not one of plain sums ({} bytes), give --plain as when it was saved", bytes.size()));
    int rank = 0;
    MPI_Comm_rank(ocean_.block().comm, &rank);
    if (rank == 0) std::memcpy(budget_.data(), bytes.data(), bytes.size());
  }

 private:
  std::vector<double> of_all_ranks(std::vector<double> values) const {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  ocean_.block().comm);
    return values;
  }

  const Ocean& ocean_;
  std::vector<double> budget_;
};

}  // namespace

std::unique_ptr<Totals> plain_totals(const Ocean& ocean) { return std::make_unique<PlainTotals>(ocean); }

}  // namespace climate
