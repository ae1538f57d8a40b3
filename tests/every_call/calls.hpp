// Every public function of the C++ API, called on hostile values. Compiled twice, as C++17 by cxx17.cpp and as C++20 by
// cxx20.cpp, each in its own namespace: hence no guard.
//
// Data are the same on every rank, and each takes its part. A group may be that of MPI, or of a team. The calls are
// made in the floating-point environment in force; data and operators of this file's own are made in the usual one.

struct Data {
  std::vector<double> x, y;
  std::vector<unsigned char> mask;
  std::vector<int> labels;

  template <class T>
  static std::vector<T> part(const std::vector<T>& all, Group group) {  // of whole rows of 4, rank 0 has the fewest
    const auto rows = static_cast<std::ptrdiff_t>(all.size() / 4), size = std::ptrdiff_t{group.size()};
    const auto cut = [&](std::ptrdiff_t r) { return 4 * (rows * r * r / (size * size)); };
    return {all.begin() + cut(group.rank()), all.begin() + cut(group.rank() + 1)};
  }
  Data part(Group group) const { return {part(x, group), part(y, group), part(mask, group), part(labels, group)}; }
};

/// Numbers that show a wrong order, a lost sign, a lost NaN: 4 to a row.
inline std::vector<std::pair<std::string, Data>> inputs() {
  const test::InEnvironment usual;
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  const std::vector<std::pair<std::string, std::vector<double>>> all = {
      {"nothing", {}},
      {"minus zeros", std::vector<double>(12, -0.0)},
      {"subnormals", {least, -least, 3 * least, 1e-310, -1e-310, 2e-308, least, -0.0, 5e-320, 0.0, -2e-308, 7 * least}},
      {"cancellation", {1e300, 1.0, -1e300, 1e-300, 3.0, 1e17, -1e17, 0.1, 0.3, -0.3, 1e30, -1e30}},
      {"infinities", {1.0, infinity, 2.0, -0.0, 5.0, 1e300, 1e300, 7.0}},
      {"both infinities", {infinity, 1.0, 3.0, -infinity}},
      {"a NaN", {-infinity, 1.0, nan, 5.0, 1.0, 2.0, 3.0, 4.0}},
      {"hostile", test::hostile(400, 7)}};
  std::vector<std::pair<std::string, Data>> found;
  for (const auto& [name, x] : all) {
    Data data;
    data.x = x;
    data.y.assign(x.rbegin(), x.rend());
    for (std::size_t i = 0; i < x.size(); ++i) {
      data.mask.push_back(static_cast<unsigned char>(i % 3));
      data.labels.push_back(static_cast<int>(i * 7 % 4) - 1);
    }
    found.emplace_back(name, std::move(data));
  }
  return found;
}

template <class T>
std::vector<T> as(const std::vector<double>& x) {
  const test::InEnvironment usual;
  std::vector<T> converted;
  for (const double each : x) {
    if constexpr (std::is_integral_v<T>)
      converted.push_back(static_cast<T>(test::bits(each) * 0x9E3779B97F4A7C15u));
    else if constexpr (std::is_same_v<T, sf::Float16> || std::is_same_v<T, sf::Bfloat16>)
      converted.push_back({static_cast<std::uint16_t>(test::bits(each) * 0x9E3779B97F4A7C15u >> 48)});
    else
      converted.push_back(static_cast<T>(each));
  }
  return converted;
}
inline std::vector<std::complex<double>> as_complex(const Data& data) {
  std::vector<std::complex<double>> z;
  for (std::size_t i = 0; i < data.x.size(); ++i) z.emplace_back(data.x[i], data.y[i]);
  return z;
}

/// An operator for which the order counts.
template <class T>
T less_a_third(T a, T b) {
  const test::InEnvironment usual;
  return static_cast<T>(a - b / 3);
}

inline sf::Options with(sf::Method method, int root = -1) {
  sf::Options options;
  options.method = method;
  if (root >= 0) options.root = root;
  return options;
}

// --- calls
// ------------------------------------------------------------------------------------------------------------

/// An operation over `where...`: nothing, or a group. `by` makes options of a method.
template <class T, class By, class... Where>
void note_reals(Transcript& out, const std::vector<T>& x, const std::vector<T>& y, const Data& data, By by,
                const Where&... where) {
  out.note_of_job("sum", [&] { return sf::sum(x, where..., by(sf::exact())); });
  out.note_of_job("sum by tree", [&] { return sf::sum(x, where..., by(sf::tree())); });
  out.note_of_job("sum by binned", [&] { return sf::sum(x, where..., by(sf::binned())); });
  out.note("sum by plain", [&] { return sf::sum(x, where..., by(sf::plain())); });
  out.note_of_job("plus, wider", [&] { return sf::to<double>(sf::plus)(x, where..., by(sf::exact())); });
  out.note_of_job("abs_sum", [&] { return sf::abs_sum(x, where...); });
  out.note_of_job("norm1", [&] { return sf::norm1(x, where...); });
  out.note_of_job("sum_squares", [&] { return sf::sum_squares(x, where...); });
  out.note_of_job("norm2", [&] { return sf::norm2(x, where...); });
  out.note_of_job("norminf", [&] { return sf::norminf(x, where...); });
  out.note_of_job("mean", [&] { return sf::mean(x, where...); });
  out.note_of_job("statistics", [&] { return sf::statistics(x, where...); });
  out.note_of_job("dot", [&] { return sf::dot(x, y, where...); });
  out.note_of_job("dotc", [&] { return sf::dotc(x, y, where...); });
  out.note_of_job("weighted_sum", [&] { return sf::weighted_sum(x, y, where...); });
  out.note_of_job("weighted_mean", [&] { return sf::weighted_mean(x, y, where...); });
  out.note_of_job("covariance", [&] { return sf::covariance(x, y, where...); });
  out.note_of_job("sample_covariance", [&] { return sf::sample_covariance(x, y, where...); });
  out.note_of_job("correlation", [&] { return sf::correlation(x, y, where...); });
  const sf::Vectors<T> both = {y, x};
  out.note_of_job("dots", [&] { return sf::dots(x, both, where...); });
  out.note_of_job("dotcs", [&] { return sf::dotcs(x, std::vector<std::vector<T>>{y, x, y}, where...); });
  out.note_of_job("sum_by", [&] { return sf::sum_by(x, data.labels, 3, where...); });
  out.note("factors of two sizes", [&] { return sf::dot(x, std::vector<T>(x.size() + 1), where...); });
}
template <class T, class... Where>
void note_numbers(Transcript& out, const std::vector<T>& x, const Data& data, const Where&... where) {
  out.note_of_job("times", [&] { return sf::times(x, where..., sf::tree()); });
  out.note_of_job("min", [&] { return sf::min(x, where...); });
  out.note_of_job("minimum", [&] { return sf::minimum(x, where...); });
  out.note_of_job("max", [&] { return sf::max(x, where...); });
  out.note_of_job("maximum", [&] { return sf::maximum(x, where...); });
  out.note_of_job("min_location", [&] { return sf::min_location(x, where...); });
  out.note_of_job("minimum_location", [&] { return sf::minimum_location(x, where...); });
  out.note_of_job("max_location", [&] { return sf::max_location(x, where...); });
  out.note_of_job("maximum_location", [&] { return sf::maximum_location(x, where...); });
  out.note_of_job("masked_sum", [&] { return sf::masked_sum(x, data.mask, where...); });
  out.note("a mask of another size", [&] { return sf::masked_sum(x, std::vector<char>(x.size() + 1), where...); });
  out.note_of_job("reduce", [&] { return sf::reduce(x, sf::named("subtract", less_a_third<T>), where...); });
  out.note_of_job("reduce_from",
                  [&] { return sf::reduce_from(T(2), x, sf::named("subtract", less_a_third<T>), where...); });
}
template <class... Where>
void note_other_types(Transcript& out, const Data& data, const Where&... where) {
  const auto z = as_complex(data);
  out.note_of_job("sum of complex", [&] { return sf::sum(z, where...); });
  out.note_of_job("dot of complex", [&] { return sf::dot(z, z, where...); });
  out.note_of_job("dotc of complex", [&] { return sf::dotc(z, z, where...); });
  out.note_of_job("norm2 of complex", [&] { return sf::norm2(z, where...); });
  out.note_of_job("dotcs of complex", [&] { return sf::dotcs(z, {z, z}, where...); });
  out.note_of_job("sum of binary16", [&] { return sf::sum(as<sf::Float16>(data.x), where...); });
  out.note_of_job("sum of bfloat16", [&] { return sf::sum(as<sf::Bfloat16>(data.x), where...); });
  out.note_of_job("sum of long double", [&] { return sf::sum(as<long double>(data.x), where..., sf::tree()); });
  out.note_of_job("sum of integers", [&] { return sf::sum(as<std::int64_t>(data.x), where...); });
}
template <class By, class... Where>
void note_calls(Transcript& out, const Data& data, By by, const Where&... where) {
  note_reals(out, data.x, data.y, data, by, where...);
  note_reals(out, as<float>(data.x), as<float>(data.y), data, by, where...);
  note_numbers(out, data.x, data, where...);
  note_numbers(out, as<float>(data.x), data, where...);
  note_numbers(out, as<std::uint32_t>(data.x), data, where...);
  note_other_types(out, data, where...);
}

inline void note_options(Transcript& out, const Data& data, Group group) {
  sf::Options options = with(sf::tree());
  options.layout = sf::Layout::contiguous(data.x.size(), group);
  options.schedule = "binomial";
  options.threads = 3;
  options.require = sf::ranks | sf::threads | sf::layout | sf::schedule | sf::library | sf::target | sf::release;
  out.note_of_job("all options", [&] { return sf::sum(data.x, group, options); });
  out.note("a promise that plain cannot keep", [&] {
    sf::Options refused = with(sf::plain());
    refused.require = sf::Guarantees{SF_RANKS};
    return sf::sum(data.x, group, refused);
  });
  out.note("a root", [&] { return sf::dot(data.x, data.y, group, with(sf::exact(), group.size() - 1)); });
  out.note("no such schedule", [&] {
    sf::Options refused;
    refused.schedule = "none such";
    return sf::sum(data.x, group, refused);
  });
  out.note("binned of 9 bins", [&] { return sf::sum(data.x, sf::group_of(group), sf::binned({9})); });
  out.note("binned, two sweeps", [&] { return sf::sum(data.x, group, sf::binned({2, SF_DOUBLE_SWEEP})); });
  out.note("ranks", [&] { return std::vector<int>{group.rank(), group.size()}; });
  out.note("transport", [&] { return std::string(group.transport()); });
}

// --- arrays
// -----------------------------------------------------------------------------------------------------------

/// What std::mdspan and DLPack have.
struct Grid {
  using element_type = const double;
  const double* data = nullptr;
  std::uint64_t rows = 0;
  const double* data_handle() const { return data; }
  static constexpr std::size_t rank() { return 2; }
  std::uint64_t extent(std::size_t i) const { return i == 0 ? rows : 4; }
  std::ptrdiff_t stride(std::size_t i) const { return i == 0 ? 4 : 1; }
};
struct Tensor {
  void* data = nullptr;
  struct {
    int device_type = 1, device_id = 0;
  } device;
  int ndim = 2;
  struct {
    std::uint8_t code = 2, bits = 64;
    std::uint16_t lanes = 1;
  } dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};

/// This rank's rows of 4 elements as arrays, and what goes with them.
struct Field {
  explicit Field(const Data& from)
      : data(from), rows(from.x.size() / 4), x(data.x.data(), {rows, 4}), y(data.y.data(), {rows, 4}) {
    const std::vector<std::uint64_t> one_per_row = {rows, 1};
    const std::vector<std::int64_t> row = {4, 1};
    columns.where = masked.where = grouped.where = sf::Array<unsigned char>(data.mask.data(), one_per_row, row);
    columns.keep = {1};
    masked.weights = sf::Array<double>(weights.data(), {4});
    grouped.keep = {-1};
    grouped.labels = sf::Array<int>(data.labels.data(), {rows, 4});
    grouped.groups = 3;
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  const Data data;
  const std::uint64_t rows;
  const std::array<double, 4> weights = {0.1, -0.0, 1e-300, 3.0};
  const sf::Array<double> x, y;
  sf::Axes columns, masked, grouped;
};

template <class... Where>
void note_arrays(Transcript& out, const Field& field, const Where&... where) {
  const auto& x = field.x;
  out.note_of_job("array", [&] { return sf::sum(x, where...); });
  out.note_of_job("plus, array", [&] { return sf::plus(x, where...); });
  out.note_of_job("dot, arrays", [&] { return sf::dot(x, field.y, where...); });
  for (const sf::Axes* axes : {&field.columns, &field.masked, &field.grouped}) {
    out.note_of_job("sum, axes", [&] { return sf::sum(x, *axes, where..., sf::exact()); });
    out.note_of_job("sum, axes, binned", [&] { return sf::sum(x, *axes, where..., sf::binned()); });
    out.note_of_job("mean, axes", [&] { return sf::mean(x, *axes, where...); });
    out.note_of_job("dot, axes", [&] { return sf::dot(x, field.y, *axes, where...); });
  }
  for (const sf::Axes* axes : {&field.columns, &field.grouped}) {
    out.note_of_job("max_location, axes", [&] { return sf::max_location(x, *axes, where...); });
    out.note_of_job("statistics, axes", [&] { return sf::statistics(x, *axes, where...); });
  }
  out.note("weights where there are none", [&] { return sf::statistics(x, field.masked, where...); });
  sf::Axes none;
  none.keep = {5};
  out.note("an axis that is not there", [&] { return sf::sum(x, none, where...); });
}
inline void note_shapes(Transcript& out, const Field& field) {
  Data data = field.data;
  std::int64_t shape[] = {static_cast<std::int64_t>(field.rows), 4};
  Tensor tensor;
  tensor.data = data.x.data();
  tensor.shape = shape;
  sf::Axes rows;
  rows.keep = {0};
  const Grid grid{data.x.data(), field.rows};
  const std::vector<std::uint64_t> extents = {field.rows, 4};
  const std::vector<std::int64_t> strides = {32, 8};
  out.note("mdspan", [&] { return sf::sum(sf::Array<double>(grid), rows); });
  out.note("DLPack", [&] { return sf::sum(sf::Array<double>::of_dlpack(tensor), rows); });
  out.note("DLPack of another type", [&] { return sf::sum(sf::Array<float>::of_dlpack(tensor), rows); });
  out.note("DLPack elsewhere", [&] {
    Tensor away = tensor;
    away.device.device_type = 2;
    return sf::sum(sf::Array<double>::of_dlpack(away), rows);
  });
  out.note("strides", [&] { return sf::sum(sf::Array<double>(data.x.data(), extents, strides), rows); });
  out.note("transposed", [&] { return sf::sum(field.x.transposed(), rows, sf::tree()); });
  out.note("first_fastest", [&] {
    return sf::sum(sf::Array<double>::first_fastest(data.x.data(), {4, field.rows}), rows);
  });
  out.note("section", [&] { return sf::sum(field.x.section(1, 1, 3), rows); });
  out.note("no such section", [&] { return sf::sum(field.x.section(1, 1, 9), rows); });
  out.note("shape", [&] {
    const sf::Array<double> turned = field.x.transposed();
    const auto found = turned.shape();
    return std::vector<std::uint64_t>{found[0], found.size(), static_cast<std::uint64_t>(field.x.rank())};
  });
  out.note("too many axes", [&] { return sf::Array<double>(nullptr, std::vector<std::uint64_t>(16)).rank(); });
  out.note("c_array", [&] { return field.x.c_array().element_bytes; });
}

// --- MPI's shape
// ------------------------------------------------------------------------------------------------------

inline std::vector<double> row_of(const Data& all, Group group) {
  std::vector<double> row(12, 0.1);
  for (std::size_t i = 0; i < row.size() && !all.x.empty(); ++i)
    row[i] = all.x[(i + 5 * static_cast<std::size_t>(group.rank())) % all.x.size()];
  return row;
}
inline std::vector<std::uint64_t> blocks_of(Group group) {  // none for rank 0, and all that is left for the last
  std::vector<std::uint64_t> blocks(static_cast<std::size_t>(group.size()), 1);
  blocks.front() = 0;
  blocks.back() = 12 - (group.size() > 1 ? static_cast<std::uint64_t>(group.size()) - 2 : 0);
  return blocks;
}

/// `change(buffer)` of this rank's row.
template <class Change>
void note_change(Transcript& out, const char* name, const std::vector<double>& row, const Change& change) {
  out.note(name, [&] {
    std::vector<double> buffer = row;
    change(buffer);
    return buffer;
  });
}
inline void note_vectors(Transcript& out, const std::vector<double>& row, Group group) {
  const auto blocks = blocks_of(group);
  const auto own = static_cast<std::size_t>(blocks[static_cast<std::size_t>(group.rank())]);
  note_change(out, "allreduce", row, [&](auto& buffer) { sf::allreduce(buffer, sf::plus, group); });
  note_change(out, "allreduce from an initial value", row,
              [&](auto& buffer) { sf::allreduce(buffer, sf::with_initial(0.5, sf::plus), group); });
  note_change(out, "allreduce of an own operator", row,
              [&](auto& buffer) { sf::allreduce(buffer, sf::named("less a third", less_a_third<double>), group); });
  note_change(out, "reduce_to", row, [&](auto& buffer) { sf::reduce_to(0, buffer, sf::plus, group, sf::exact()); });
  note_change(out, "scan", row, [&](auto& buffer) { sf::scan(buffer, sf::plus, group); });
  note_change(out, "exscan", row, [&](auto& buffer) { sf::exscan(buffer, sf::max, group); });
  out.note("reduce_scatter", [&] {
    std::vector<double> result(own);
    sf::reduce_scatter(row, blocks, result, sf::plus, group);
    return result;
  });
  out.note("reduce_scatter, wrong room", [&] {
    std::vector<double> result(own + 1);
    sf::reduce_scatter(row, blocks, result, sf::plus, group);
  });
  out.note("reduce_scatter_block", [&] {
    const auto size = static_cast<std::size_t>(group.size());
    std::vector<double> values(row), result(3);
    values.resize(3 * size, -0.0);
    sf::reduce_scatter_block(values, result, sf::plus, group);
    return result;
  });
}

// --- plans
// ------------------------------------------------------------------------------------------------------------

template <class P>
void wait_in_turn(P& plan) {
  while (!plan.test()) {
    if (plan.wait_for(std::chrono::milliseconds(1))) return;
  }
  plan.wait();
}

inline void note_plans(Transcript& out, const Data& data, Group group) {
  sf::Plan<double> dot(sf::dot, data.x.size(), group);
  sf::Plan<double> masked(sf::masked_sum, data.x.size(), group);
  sf::Plan<double> tree(sf::plus, data.x.size(), group, sf::tree());
  sf::Plan<double, sf::Located<double>> greatest(sf::max_location, data.x.size(), group);
  tree.trace(true);
  for (int run = 0; run < 2; ++run) {
    out.note_of_job("Plan of dot", [&] { return dot.run(data.x, data.y); });
    out.note_of_job("Plan of masked_sum", [&] { return masked.run(data.x, data.mask); });
    out.note_of_job("Plan by tree", [&] { return tree.run(data.x); });
    out.note_of_job("Plan of max_location", [&] { return greatest.run(data.x); });
    out.note_of_job("Plan, started", [&] {
      double sum = 0, product = 0;
      tree.start(data.x, sum);
      dot.start(data.x, data.y, product);
      wait_in_turn(tree);
      wait_in_turn(dot);
      return std::vector<double>{sum, product};
    });
  }
  out.note("Plan, wrong size", [&] { return tree.run(std::vector<double>(data.x.size() + 1)); });
  out.note("describe", [&] { return tree.describe() + tree.schedule(); });
  out.note("figures", [&] {
    tree.run(data.x);
    const sf_figures figures = tree.figures();
    return std::vector<std::uint64_t>{figures.messages, figures.bytes, figures.rounds};
  });
}
inline void note_vector_plans(Transcript& out, const std::vector<double>& row, Group group) {
  const auto blocks = blocks_of(group);
  const auto own = static_cast<std::size_t>(blocks[static_cast<std::size_t>(group.rank())]);
  using Plan = sf::Plan<double>;
  sf::VectorPlan<double> vectors = Plan::of_vectors(sf::plus, row.size(), group);
  auto scan = Plan::of_scan(sf::plus, row.size(), group), exscan = Plan::of_exscan(sf::plus, row.size(), group);
  auto scatter = Plan::of_reduce_scatter(sf::plus, blocks, group);
  note_change(out, "of_vectors", row, [&](auto& buffer) { vectors.run(buffer); });
  note_change(out, "of_scan", row, [&](auto& buffer) { scan.run(buffer); });
  note_change(out, "of_exscan", row, [&](auto& buffer) { exscan.run(buffer); });
  out.note("of_vectors, started", [&] {
    std::vector<double> result(row.size()), buffer = row;
    vectors.start(row, result);
    wait_in_turn(vectors);
    scan.start(buffer);
    scan.wait();
    return std::pair(result, buffer);
  });
  out.note("of_reduce_scatter", [&] {
    std::vector<double> result(own);
    scatter.run(row, result);
    return result;
  });
}
inline void note_array_plans(Transcript& out, const Field& field, Group group) {
  sf::ArrayPlan sums(sf::plus, field.x, field.columns, group);
  sf::ArrayPlan dots(sf::dot, field.x, field.y, field.grouped, group, sf::binned());
  sf::ArrayPlan least(sf::min_location, field.x, field.columns, group);
  const auto values_of = [](const auto& found) { return std::vector<double>(found.begin(), found.end()); };
  out.note_of_job("ArrayPlan", [&] { return values_of(sums.run()); });
  out.note_of_job("ArrayPlan of dot", [&] {
    dots.start();
    wait_in_turn(dots);
    return values_of(dots.results());
  });
  out.note_of_job("ArrayPlan of min_location", [&] {
    const auto found = least.run();
    return std::vector<sf::Located<double>>(found.begin(), found.end());
  });
}

// --- bundles
// ----------------------------------------------------------------------------------------------------------

template <class... Results>
void note_values(Transcript& out, const char* name, const Results&... results) {
  (out.note_of_job(name, [&] { return results.value(); }), ...);
}
inline void note_bundle(Transcript& out, const Field& field, const std::vector<double>& row, Group group) {
  const auto& [x, y, mask, labels] = field.data;
  const auto z = as_complex(field.data);
  std::vector<double> buffer = row;
  sf::Bundle bundle;
  sf::MemberOptions by_tree = sf::tree();
  by_tree.threads = 2;
  const auto sum = bundle.sum(x), tree = bundle.sum(x, by_tree), abs_sum = bundle.abs_sum(x);
  const auto norm1 = bundle.norm1(x), squares = bundle.sum_squares(x), norm2 = bundle.norm2(x);
  const auto norminf = bundle.norminf(x), mean = bundle.mean(x), min = bundle.min(x), max = bundle.max(x);
  const auto least = bundle.min_location(x), greatest = bundle.max_location(x);
  const auto statistics = bundle.statistics(x);
  const auto dot = bundle.dot(x, y), dotc = bundle.dotc(x, y), weighted = bundle.weighted_sum(x, y);
  const auto weighted_mean = bundle.weighted_mean(x, y), masked = bundle.masked_sum(x, mask);
  const auto covariance = bundle.covariance(x, y), sample = bundle.sample_covariance(x, y);
  const auto correlation = bundle.correlation(x, y);
  const auto dots = bundle.dots(x, {y, x});
  const auto dotcs = bundle.dotcs(z, {z, z});
  const auto own = bundle.reduce(x, sf::named("less a third", less_a_third<double>));
  const auto columns = bundle.sum(field.x, field.columns), groups = bundle.mean(field.x, field.grouped);
  const auto products = bundle.dot(field.x, field.y, field.columns);
  const auto reduced = bundle.reduce(field.x, sf::plus, field.masked);
  const auto reduced_dot = bundle.reduce(field.x, field.y, sf::dot, field.grouped);
  bundle.allreduce(buffer, sf::plus);
  sf::BundlePlan plan = bundle.bind(group);
  note_values(out, "no value yet", sum);
  const auto note_all = [&](const char* name) {
    note_values(out, name, sum, tree, abs_sum, norm1, squares, norm2, norminf, mean, min, max, least, greatest,
                statistics, dot, dotc, weighted, weighted_mean, covariance, sample, correlation, masked, dots, dotcs,
                own, columns, groups, products, reduced, reduced_dot);
    out.note(name, [&] { return buffer; });
  };
  out.note("bundle runs", [&] { plan.run(); });
  note_all("bundle");
  buffer = row;
  out.note("bundle starts", [&] { plan.start(); });
  note_values(out, "no value while it runs", sum);
  out.note("bundle ends", [&] { wait_in_turn(plan); });
  note_all("bundle, again");
  sf::BundleOptions rooted;
  rooted.root = group.size() - 1;
  out.note("bundle with a root", [&] {
    bundle.bind(group, rooted).run();
    return std::pair(sum.value(), columns.value());
  });
}

// --- calls under way
// --------------------------------------------------------------------------------------------------

inline void note_started(Transcript& out, const Field& field, const std::vector<double>& row, Group group) {
  const Data& data = field.data;
  const auto& x = data.x;
  auto sum = sf::start(sf::plus, x, group), norm = sf::start(sf::norm2, x, group);
  auto dot = sf::start(sf::dot, x, data.y, group, sf::binned());
  auto masked = sf::start(sf::masked_sum, x, data.mask, group);
  auto own = sf::start(sf::named("less a third", less_a_third<double>), x, group);
  auto columns = sf::start(sf::plus, field.x, field.columns, group);
  auto products = sf::start(sf::dot, field.x, field.y, field.grouped, group);
  auto dots = sf::start_dots(x, {data.y, x}, group);
  const auto z = as_complex(data);
  auto dotcs = sf::start_dotcs(z, {z}, group);
  auto layout = sf::start_layout(x.size(), group);
  sf::Pending<> barrier = sf::start_barrier(group);
  out.note("start_barrier", [&] { barrier.wait(); });
  out.note_of_job("start, dotcs first", [&] { return dotcs.get(); });
  out.note_of_job("start_dots", [&] { return dots.get(); });
  out.note_of_job("start, arrays", [&] { return std::pair(products.get(), columns.get()); });
  out.note_of_job("start", [&] { return std::vector<double>{own.get(), dot.get(), norm.get(), sum.get()}; });
  out.note_of_job("start of masked_sum", [&] { return wait_in_turn(masked), masked.get(); });
  out.note_of_job("start_layout", [&] {
    sf::Options options = with(sf::tree());
    options.layout = layout.get();
    return sf::sum(x, group, options);
  });
  const std::vector<double> longer(x.size() + 1);
  out.note("start, factors of two sizes", [&] { return sf::start(sf::dot, x, longer, group).get(); });

  std::vector<double> all = row, root = row, up = row, below = row;
  const auto blocks = blocks_of(group);
  std::vector<double> block(static_cast<std::size_t>(blocks[static_cast<std::size_t>(group.rank())]));
  auto a = sf::start_allreduce(all, sf::plus, group), b = sf::start_reduce_to(0, root, sf::plus, group);
  auto c = sf::start_scan(up, sf::plus, group), d = sf::start_exscan(below, sf::plus, group);
  auto e = sf::start_reduce_scatter(row, blocks, block, sf::plus, group);
  out.note("started in MPI's shape", [&] {
    for (auto* each : {&e, &d, &c, &b, &a}) each->wait();
    return std::vector<std::vector<double>>{all, root, up, below, block};
  });
  sf::barrier(group);

  auto plan = sf::start_bind<double>(sf::plus, x.size(), group, sf::tree());
  auto vectors = sf::start_bind_of_vectors<double>(sf::plus, row.size(), group);
  sf::Bundle bundle;
  const auto mean = bundle.mean(x);
  auto bundled = sf::start_bind(bundle, group);
  out.note_of_job("start_bind", [&] { return plan.get().run(x); });
  note_change(out, "start_bind_of_vectors", row, [&](auto& buffer) { vectors.get().run(buffer); });
  out.note_of_job("start_bind of a bundle", [&] {
    bundled.get().run();
    return mean.value();
  });
  out.note("ProgressThread", [&] {
    const sf::ProgressThread thread(group);
    return sf::start(sf::plus, x, group).get();
  });
}

// --- accumulators
// -----------------------------------------------------------------------------------------------------

template <class T>
void note_accumulators(Transcript& out, const std::vector<T>& x, const std::vector<T>& y, Group group) {
  using A = sf::Accumulator<T>;
  A sum, other;
  out.note("add", [&] {
    for (const T each : x) sum.add(each);
    sum.subtract(T{1});
    sum += y;
    sum -= x;
    sum += T{3};
    sum -= T{2};
    other.add(y, 2);
    other.subtract(x);
    return sum.bytes();
  });
  out.note("values", [&] { return std::vector<double>{sum.template sum<double>(), sum.template mean<double>()}; });
  out.note("operators", [&] { return (sum + other - -other).bytes(); });
  out.note("compare", [&] {
    const auto orders = sum.compare(other);
    return std::vector<int>(orders.begin(), orders.end());
  });
  out.note("order", [&] {
    return std::vector<int>{sum<other, sum> other, sum <= other, sum >= other, sum == other, sum != other};
  });
  A merged;
  out.note_of_job("merge_ranks", [&] {
    merged += x;
    sf::merge_ranks(merged, group);
    return merged.bytes();
  });
  out.note_of_job("rows of all", [&] { return merged.rows(); });
  out.note("copies", [&] {
    A copy(sum), assigned, moved(A(4));
    const A& same = assigned;
    assigned = copy;
    assigned = same;
    copy.clear();
    assigned += other;
    moved = assigned;
    return std::pair(copy.bytes(), A::load(moved.bytes()).bytes());
  });
  out.note("packed", [&] {
    auto packed = sum.packed();
    sf::merge_packed(other.packed(), packed);
    A unpacked;
    unpacked.unpack(packed);
    return unpacked.bytes();
  });
  out.note("bytes of another", [&] { return sf::ProductAccumulator<T>::load(sum.bytes()).rows(); });
}
inline void note_columns(Transcript& out, const Field& field) {
  sf::Accumulator<double> columns(4);
  sf::ProductAccumulator<double> products(4), one;
  sf::Axes weighted = field.columns, all;
  all.keep = {1};
  weighted.weights = field.y;
  out.note("rows", [&] { return columns.add(field.data.x), columns.sums(); });
  out.note("arrays", [&] { return columns.add(field.x, field.columns), columns.means(); });
  out.note("arrays less",
           [&] { return columns.subtract(field.x.section(0, 0, field.rows / 2), all, 2), columns.rows(); });
  out.note("part of a row", [&] { columns.add(std::vector<double>(3)); });
  out.note("one value of four", [&] { return columns.sum(); });
  out.note("columns", [&] { return columns.bytes(); });
  out.note("their number", [&] { return columns.columns(); });
  out.note("products", [&] {
    products.add_products(field.data.x, field.data.y);
    products.add(field.x, weighted);
    one.add_products(field.data.x, field.data.x, 2);
    return products.norms2();
  });
  out.note("norm2 of products", [&] { return one.norm2(); });
  out.note("products less", [&] {
    products.subtract_products(field.data.x, field.data.y);
    return std::pair(products.bytes(), products.sums<float>());
  });
  out.note("get", [&] { return sf_accumulator_packed_size(products.get()); });
}

// --- the rest
// ---------------------------------------------------------------------------------------------------------

inline void note_the_rest(Transcript& out, const Data& data, const std::vector<double>& row, Group group) {
  out.note_of_job("diagnosis", [&] {
    auto found = sf::diagnosis(data.x, group, 2);
    found.plain = 0;  // which depends on the ranks
    return found;
  });
  out.note("diagnosis here", [&] { return sf::diagnosis(data.x); });
  out.note("memory", [&] {
    auto memory = sf::allocate<double>(row.size());
    std::vector<double, sf::Allocator<double>> vector(row.begin(), row.end());
    std::copy(row.begin(), row.end(), memory.begin());
    sf::allreduce(memory, sf::plus, group);
    sf::allreduce(vector, sf::plus, group);
    return std::pair(std::vector<double>(memory.begin(), memory.end()),
                     std::vector<double>(vector.begin(), vector.end()));
  });
}

/// By layouts that rules and lists give: every rank takes its blocks of two, and its row.
inline void note_layouts(Transcript& out, const Data& all, Group group) {
  std::vector<double> dealt, row;
  const auto rank = static_cast<std::size_t>(group.rank()), size = static_cast<std::size_t>(group.size());
  for (std::size_t i = 0; i < all.x.size(); ++i)
    if (i / 2 % size == rank) dealt.push_back(all.x[i]);
  std::vector<sf::Interval> mine;
  for (std::size_t i = rank; i < all.x.size() / 4; i += size) {
    mine.push_back({4 * i, 4 * i + 4});
    row.insert(row.end(), &all.x[4 * i], &all.x[4 * i] + 4);
  }
  sf::Options options = with(sf::tree());
  options.layout = sf::Layout::block_cyclic(all.x.size(), 2);
  out.note_of_job("block_cyclic", [&] { return sf::sum(dealt, group, options); });
  options.layout = sf::Layout::intervals(mine, all.x.size());
  out.note_of_job("intervals", [&] { return sf::sum(row, group, options); });
  const sf::GridAxis axis[] = {{all.x.size(), 0, 2, 0}};
  options.layout = sf::Layout::grid(axis);
  out.note_of_job("grid", [&] { return sf::sum(dealt, group, options); });
  const std::uint64_t extents[] = {all.x.size()}, ranks[] = {0};
  options.layout = sf::Layout::blocks(extents, ranks);
  const std::size_t each = all.x.size() / size, more = all.x.size() % size, begin = rank * each + std::min(rank, more);
  const auto* const first = all.x.data() + begin;
  const std::vector<double> block(first, first + each + (rank < more ? 1 : 0));
  out.note_of_job("blocks", [&] { return sf::sum(block, group, options); });
}

/// All of it, by a group, and in this process alone. Collective.
inline Transcript transcript(Group group) {
  Transcript out;
  for (const auto& [name, all] : inputs()) {
    const Data mine = all.part(group);
    const Field field(mine);
    const std::vector<double> row = row_of(all, group);
    out.about(name + " here");
    note_calls(out, all, [](sf::Method method) -> sf::LocalOptions { return method; });
    note_arrays(out, Field(all));
    note_shapes(out, Field(all));
    out.about(name);
    note_calls(
        out, mine, [](sf::Method method) { return with(method); }, group);
    note_options(out, mine, group);
    note_layouts(out, all, group);
    note_arrays(out, field, group);
    note_vectors(out, row, group);
    note_plans(out, mine, group);
    note_vector_plans(out, row, group);
    note_array_plans(out, field, group);
    note_bundle(out, field, row, group);
    note_started(out, field, row, group);
    note_accumulators(out, mine.x, mine.y, group);
    note_accumulators(out, as<float>(mine.x), as<float>(mine.y), group);
    note_columns(out, field);
    note_the_rest(out, mine, row, group);
  }
  return out;
}
