// Sums over the globe with Steadfold, to copy into your own model. See totals.hpp.
#include <steadfold/accumulator.hpp>
#include <steadfold/mpi.hpp>

#include "totals.hpp"

namespace climate {
namespace {

using Budget = sf::ProductAccumulator<double>;

/// The sums of value times area over the ocean: of all fields and levels, in one call. Land is masked, never
/// multiplied by 0, so that its NaNs don't count; the halo is outside of the arrays.
std::vector<double> ocean_sums(const Fields& fields, const Ocean& ocean, MPI_Comm comm) {
  return sf::sum(fields.own(),  // [field][level][row][column]
                 {.keep = {0, 1}, .where = ocean.mask(fields.levels()), .weights = ocean.areas(fields.levels())}, comm);
}

/// The area of the ocean in every level.
std::vector<double> ocean_areas(const Ocean& ocean, MPI_Comm comm) {
  const std::uint64_t levels = ocean.block().grid.levels;
  return sf::sum(ocean.areas(levels), {.keep = {0}, .where = ocean.mask(levels)}, comm);
}

/// Adds this rank's fluxes times areas to exact sums, one per flux. Local.
void add_to(Budget& budget, const Fields& fluxes, const Ocean& ocean) {
  budget.add(fluxes.own(),  // [field][level][row][column], of one level
             {.keep = {0}, .where = ocean.mask(1), .weights = ocean.areas(1)});
}

/// The merged accumulator of all ranks. Collective.
Budget of_all_ranks(Budget budget, MPI_Comm comm) {
  sf::merge_ranks(budget, comm);
  return budget;
}

/// Goes on from the bytes of a budget of all ranks, whatever their number was. Every rank checks them, so that all of
/// them fail or none; one adds them.
void restore_from(std::span<const std::byte> bytes, Budget& budget, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Budget before = Budget::load(bytes);
  if (rank == 0) budget += before;
}

class SteadfoldTotals final : public Totals {
 public:
  explicit SteadfoldTotals(const Ocean& ocean) : ocean_(ocean), budget_(tracer_count) {}

  std::vector<double> sums(const Fields& fields) const override { return ocean_sums(fields, ocean_, comm()); }
  std::vector<double> areas() const override { return ocean_areas(ocean_, comm()); }
  void keep(const Fields& fluxes) override { add_to(budget_, fluxes, ocean_); }
  std::vector<double> budget() const override { return of_all_ranks(budget_, comm()).sums(); }
  std::vector<std::byte> saved() const override { return of_all_ranks(budget_, comm()).bytes(); }
  void restore(std::span<const std::byte> bytes) override { restore_from(bytes, budget_, comm()); }

 private:
  MPI_Comm comm() const { return ocean_.block().comm; }

  const Ocean& ocean_;
  Budget budget_;
};

}  // namespace

std::unique_ptr<Totals> steadfold_totals(const Ocean& ocean) { return std::make_unique<SteadfoldTotals>(ocean); }

}  // namespace climate
