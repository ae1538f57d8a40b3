// Plain and Steadfold's scalar products; see products.hpp.
#include "products.hpp"

#include <numeric>
#include <steadfold/bundle.hpp>
#include <steadfold/mpi.hpp>

#include "parts.hpp"

namespace solver {
namespace {

/// As fast as plain additions go: several sums side by side, which a compiler makes vectors of.
double plain_product(const double* x, const double* y, std::uint64_t count) {
  constexpr std::uint64_t lanes = 8;
  std::array<double, lanes> sums{};
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::uint64_t lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane] * y[i + lane];
  for (; i < count; ++i) sums[0] += x[i] * y[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

class PlainProducts final : public Products {
 public:
  PlainProducts(std::vector<Pair> pairs, const Dots& dots)
      : Products(dots.fingerprint),
        pairs_(std::move(pairs)),
        comm_(dots.comm),
        of_parts_(dots.threads),
        values_(pairs_.size()) {}

  void start() override {
    add_up();
    MPI_Iallreduce(MPI_IN_PLACE, values_.data(), size(), MPI_DOUBLE, MPI_SUM, comm_, &request_);
  }
  void test() override {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  }

 private:
  std::span<const double> reduce() override {
    add_up();
    MPI_Allreduce(MPI_IN_PLACE, values_.data(), size(), MPI_DOUBLE, MPI_SUM, comm_);
    return values_;
  }
  std::span<const double> finish() override {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return values_;
  }

  int size() const { return static_cast<int>(values_.size()); }
  void add_up() {
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      const auto [x, y] = pairs_[pair];
      in_parts(static_cast<unsigned>(of_parts_.size()), x.size(),
               [&](unsigned part, std::uint64_t begin, std::uint64_t end) {
                 of_parts_[part] = plain_product(x.data() + begin, y.data() + begin, end - begin);
               });
      values_[pair] = std::accumulate(of_parts_.begin(), of_parts_.end(), 0.0);
    }
  }

  std::vector<Pair> pairs_;
  MPI_Comm comm_;
  std::vector<double> of_parts_;  // one sum per thread
  std::vector<double> values_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Any of Steadfold's, by a plan of a bundle: one message for all pairs.
class SteadfoldProducts : public Products {
 public:
  void start() override {
    prepare();
    plan_->start();
    is_under_way_ = true;
  }
  void test() override {
    if (is_under_way_) is_under_way_ = !plan_->test();
  }

 protected:
  using Products::Products;

  /// Collective.
  void bind(const sf::Bundle& bundle, std::vector<sf::Result<double>> results, MPI_Comm comm) {
    results_ = std::move(results);
    values_.resize(results_.size());
    plan_.emplace(bundle.bind(comm));
  }

 private:
  virtual void prepare() {}
  std::span<const double> reduce() override {
    prepare();
    plan_->run();
    return values();
  }
  std::span<const double> finish() override {
    if (is_under_way_) plan_->wait();
    is_under_way_ = false;
    return values();
  }
  std::span<const double> values() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = results_[i].value();
    return values_;
  }

  std::vector<sf::Result<double>> results_;
  std::vector<double> values_;
  std::optional<sf::BundlePlan> plan_;
  bool is_under_way_ = false;
};

/// Products and sums that are rounded once, or added in bins: in no order.
class RoundedProducts final : public SteadfoldProducts {
 public:
  RoundedProducts(const std::vector<Pair>& pairs, sf::Method method, const Dots& dots)
      : SteadfoldProducts(dots.fingerprint) {
    const sf::MemberOptions options{.method = method, .threads = dots.threads};
    sf::Bundle bundle;
    std::vector<sf::Result<double>> results;
    for (const auto& [x, y] : pairs)
      results.push_back(x.data() == y.data() ? bundle.sum_squares(x, options) : bundle.dot(x, y, options));
    bind(bundle, std::move(results), dots.comm);
  }
};

/// Products that are rounded one by one and then added in the tree over the indices of all elements.
class TreeProducts final : public SteadfoldProducts {
 public:
  TreeProducts(std::vector<Pair> pairs, const Dots& dots)
      : SteadfoldProducts(dots.fingerprint), pairs_(std::move(pairs)), threads_(dots.threads) {
    const std::uint64_t count = pairs_.front().x.size();
    const sf::MemberOptions options{
        .method = sf::tree(), .layout = sf::Layout::contiguous(count, dots.comm), .threads = threads_};
    products_.assign(pairs_.size(), std::vector<double>(count));
    sf::Bundle bundle;
    std::vector<sf::Result<double>> results;
    for (const std::vector<double>& products : products_) results.push_back(bundle.sum(products, options));
    bind(bundle, std::move(results), dots.comm);
  }

 private:
  void prepare() override {
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
      in_parts(threads_, products_[pair].size(), [&](unsigned, std::uint64_t begin, std::uint64_t end) {
        const double *x = pairs_[pair].x.data(), *y = pairs_[pair].y.data();
        double* __restrict products = products_[pair].data();
        for (std::uint64_t i = begin; i < end; ++i) products[i] = x[i] * y[i];
      });
  }

  std::vector<Pair> pairs_;
  unsigned threads_;
  std::vector<std::vector<double>> products_;
};

}  // namespace

const char* name_of(Dot dot) {
  switch (dot) {
    case Dot::plain: return "plain";
    case Dot::exact: return "exact";
    case Dot::binned: return "binned";
    case Dot::tree: return "tree";
  }
  return "";
}

std::unique_ptr<Products> Dots::bind(std::vector<Pair> pairs) const {
  switch (dot) {
    case Dot::plain: return std::make_unique<PlainProducts>(std::move(pairs), *this);
    case Dot::exact: return std::make_unique<RoundedProducts>(pairs, sf::exact(), *this);
    case Dot::binned: return std::make_unique<RoundedProducts>(pairs, sf::binned(), *this);
    case Dot::tree: return std::make_unique<TreeProducts>(std::move(pairs), *this);
  }
  return nullptr;
}

}  // namespace solver
