// Every public function of the C++ API, called on hostile values. Compiled twice, by every_call_cxx17.cpp with `api`
// standing for sf17 and by every_call.cpp with sf, each in its own namespace and in its own standard: hence no guard.
// What the two spell differently is in `spelling`.
//
// Data are the same on every rank, and each takes its part. A group may be that of MPI, or of a team.

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
  std::vector<T> converted;
  for (const double each : x) {
    if constexpr (std::is_integral_v<T>)
      converted.push_back(static_cast<T>(test::bits(each) * 0x9E3779B97F4A7C15u));
    else if constexpr (std::is_same_v<T, api::Float16> || std::is_same_v<T, api::Bfloat16>)
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

inline api::Options with(api::Method method, int root = -1) {
  api::Options options;
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
  out.note_of_job("sum", [&] { return api::sum(x, where..., by(api::exact())); });
  out.note_of_job("sum by tree", [&] { return api::sum(x, where..., by(api::tree())); });
  out.note_of_job("sum by binned", [&] { return api::sum(x, where..., by(api::binned())); });
  out.note("sum by plain", [&] { return api::sum(x, where..., by(api::plain())); });
  out.note_of_job("plus, wider", [&] { return api::to<double>(api::plus)(x, where..., by(api::exact())); });
  out.note_of_job("abs_sum", [&] { return api::abs_sum(x, where...); });
  out.note_of_job("norm1", [&] { return api::norm1(x, where...); });
  out.note_of_job("sum_squares", [&] { return api::sum_squares(x, where...); });
  out.note_of_job("norm2", [&] { return api::norm2(x, where...); });
  out.note_of_job("norminf", [&] { return api::norminf(x, where...); });
  out.note_of_job("mean", [&] { return api::mean(x, where...); });
  out.note_of_job("statistics", [&] { return api::statistics(x, where...); });
  out.note_of_job("dot", [&] { return api::dot(x, y, where...); });
  out.note_of_job("dotc", [&] { return api::dotc(x, y, where...); });
  out.note_of_job("weighted_sum", [&] { return api::weighted_sum(x, y, where...); });
  out.note_of_job("weighted_mean", [&] { return api::weighted_mean(x, y, where...); });
  out.note_of_job("covariance", [&] { return api::covariance(x, y, where...); });
  out.note_of_job("sample_covariance", [&] { return api::sample_covariance(x, y, where...); });
  const api::Vectors<T> both = {y, x};
  out.note_of_job("dots", [&] { return api::dots(x, both, where...); });
  out.note_of_job("dotcs", [&] { return api::dotcs(x, std::vector<std::vector<T>>{y, x, y}, where...); });
  out.note_of_job("sum_by", [&] { return api::sum_by(x, data.labels, 3, where...); });
  out.note("factors of two sizes", [&] { return api::dot(x, std::vector<T>(x.size() + 1), where...); });
}
template <class T, class... Where>
void note_numbers(Transcript& out, const std::vector<T>& x, const Data& data, const Where&... where) {
  out.note_of_job("times", [&] { return api::times(x, where..., api::tree()); });
  out.note_of_job("min", [&] { return api::min(x, where...); });
  out.note_of_job("minimum", [&] { return api::minimum(x, where...); });
  out.note_of_job("max", [&] { return api::max(x, where...); });
  out.note_of_job("maximum", [&] { return api::maximum(x, where...); });
  out.note_of_job("min_location", [&] { return api::min_location(x, where...); });
  out.note_of_job("minimum_location", [&] { return api::minimum_location(x, where...); });
  out.note_of_job("max_location", [&] { return api::max_location(x, where...); });
  out.note_of_job("maximum_location", [&] { return api::maximum_location(x, where...); });
  out.note_of_job("masked_sum", [&] { return api::masked_sum(x, data.mask, where...); });
  out.note("a mask of another size", [&] { return api::masked_sum(x, std::vector<char>(x.size() + 1), where...); });
  const auto subtract = [](T a, T b) { return static_cast<T>(a - b / 3); };
  out.note_of_job("reduce", [&] { return api::reduce(x, api::named("subtract", subtract), where...); });
}
template <class... Where>
void note_other_types(Transcript& out, const Data& data, const Where&... where) {
  const auto z = as_complex(data);
  out.note_of_job("sum of complex", [&] { return api::sum(z, where...); });
  out.note_of_job("dot of complex", [&] { return api::dot(z, z, where...); });
  out.note_of_job("dotc of complex", [&] { return api::dotc(z, z, where...); });
  out.note_of_job("norm2 of complex", [&] { return api::norm2(z, where...); });
  out.note_of_job("dotcs of complex", [&] { return api::dotcs(z, {z, z}, where...); });
  out.note_of_job("sum of binary16", [&] { return api::sum(as<api::Float16>(data.x), where...); });
  out.note_of_job("sum of bfloat16", [&] { return api::sum(as<api::Bfloat16>(data.x), where...); });
  out.note_of_job("sum of long double", [&] { return api::sum(as<long double>(data.x), where..., api::tree()); });
  out.note_of_job("sum of integers", [&] { return api::sum(as<std::int64_t>(data.x), where...); });
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
  api::Options options = with(api::tree());
  options.layout = api::Layout::contiguous(data.x.size(), group);
  options.schedule = "binomial";
  options.threads = 3;
  options.require = api::ranks | api::threads | api::layout | api::schedule | api::library | api::target | api::release;
  out.note_of_job("all options", [&] { return api::sum(data.x, group, options); });
  out.note("a promise that plain cannot keep", [&] {
    api::Options refused = with(api::plain());
    refused.require = api::Guarantees{SF_RANKS};
    return api::sum(data.x, group, refused);
  });
  out.note("a root", [&] { return api::dot(data.x, data.y, group, with(api::exact(), group.size() - 1)); });
  out.note("no such schedule", [&] {
    api::Options refused;
    refused.schedule = "none such";
    return api::sum(data.x, group, refused);
  });
  out.note("binned of 9 bins", [&] { return api::sum(data.x, api::group_of(group), api::binned({9})); });
  out.note("binned, two sweeps", [&] { return api::sum(data.x, group, api::binned({2, SF_DOUBLE_SWEEP})); });
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
    columns.where = masked.where = grouped.where = api::Array<unsigned char>(data.mask.data(), one_per_row, row);
    columns.keep = {1};
    masked.weights = api::Array<double>(weights.data(), {4});
    grouped.keep = {-1};
    grouped.labels = api::Array<int>(data.labels.data(), {rows, 4});
    grouped.groups = 3;
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  const Data data;
  const std::uint64_t rows;
  const std::array<double, 4> weights = {0.1, -0.0, 1e-300, 3.0};
  const api::Array<double> x, y;
  api::Axes columns, masked, grouped;
};

template <class... Where>
void note_arrays(Transcript& out, const Field& field, const Where&... where) {
  const auto& x = field.x;
  out.note_of_job("array", [&] { return api::sum(x, where...); });
  out.note_of_job("plus, array", [&] { return api::plus(x, where...); });
  out.note_of_job("dot, arrays", [&] { return api::dot(x, field.y, where...); });
  for (const api::Axes* axes : {&field.columns, &field.masked, &field.grouped}) {
    out.note_of_job("sum, axes", [&] { return api::sum(x, *axes, where..., api::exact()); });
    out.note_of_job("sum, axes, binned", [&] { return api::sum(x, *axes, where..., api::binned()); });
    out.note_of_job("mean, axes", [&] { return api::mean(x, *axes, where...); });
    out.note_of_job("dot, axes", [&] { return api::dot(x, field.y, *axes, where...); });
  }
  for (const api::Axes* axes : {&field.columns, &field.grouped}) {
    out.note_of_job("max_location, axes", [&] { return api::max_location(x, *axes, where...); });
    out.note_of_job("statistics, axes", [&] { return api::statistics(x, *axes, where...); });
  }
  out.note("weights where there are none", [&] { return api::statistics(x, field.masked, where...); });
  api::Axes none;
  none.keep = {5};
  out.note("an axis that is not there", [&] { return api::sum(x, none, where...); });
}
inline void note_shapes(Transcript& out, const Field& field) {
  Data data = field.data;
  std::int64_t shape[] = {static_cast<std::int64_t>(field.rows), 4};
  Tensor tensor;
  tensor.data = data.x.data();
  tensor.shape = shape;
  api::Axes rows;
  rows.keep = {0};
  const Grid grid{data.x.data(), field.rows};
  const std::vector<std::uint64_t> extents = {field.rows, 4};
  const std::vector<std::int64_t> strides = {32, 8};
  out.note("mdspan", [&] { return api::sum(api::Array<double>(grid), rows); });
  out.note("DLPack", [&] { return api::sum(api::Array<double>::of_dlpack(tensor), rows); });
  out.note("DLPack of another type", [&] { return api::sum(api::Array<float>::of_dlpack(tensor), rows); });
  out.note("DLPack elsewhere", [&] {
    Tensor away = tensor;
    away.device.device_type = 2;
    return api::sum(api::Array<double>::of_dlpack(away), rows);
  });
  out.note("strides", [&] { return api::sum(api::Array<double>(data.x.data(), extents, strides), rows); });
  out.note("transposed", [&] { return api::sum(field.x.transposed(), rows, api::tree()); });
  out.note("first_fastest", [&] {
    return api::sum(api::Array<double>::first_fastest(data.x.data(), {4, field.rows}), rows);
  });
  out.note("section", [&] { return api::sum(field.x.section(1, 1, 3), rows); });
  out.note("no such section", [&] { return api::sum(field.x.section(1, 1, 9), rows); });
  out.note("shape", [&] {
    const api::Array<double> turned = field.x.transposed();
    const auto found = turned.shape();
    return std::vector<std::uint64_t>{found[0], found.size(), static_cast<std::uint64_t>(field.x.rank())};
  });
  out.note("too many axes", [&] { return api::Array<double>(nullptr, std::vector<std::uint64_t>(16)).rank(); });
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
  note_change(out, "allreduce", row, [&](auto& buffer) { api::allreduce(buffer, api::plus, group); });
  note_change(out, "allreduce of an own operator", row, [&](auto& buffer) {
    api::allreduce(buffer, api::named("less a third", [](double a, double b) { return a - b / 3; }), group);
  });
  note_change(out, "reduce_to", row, [&](auto& buffer) { api::reduce_to(0, buffer, api::plus, group, api::exact()); });
  note_change(out, "scan", row, [&](auto& buffer) { api::scan(buffer, api::plus, group); });
  note_change(out, "exscan", row, [&](auto& buffer) { api::exscan(buffer, api::max, group); });
  out.note("reduce_scatter", [&] {
    std::vector<double> result(own);
    api::reduce_scatter(row, blocks, result, api::plus, group);
    return result;
  });
  out.note("reduce_scatter, wrong room", [&] {
    std::vector<double> result(own + 1);
    api::reduce_scatter(row, blocks, result, api::plus, group);
  });
  out.note("reduce_scatter_block", [&] {
    const auto size = static_cast<std::size_t>(group.size());
    std::vector<double> values(row), result(3);
    values.resize(3 * size, -0.0);
    api::reduce_scatter_block(values, result, api::plus, group);
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
  api::Plan<double> dot(api::dot, data.x.size(), group);
  api::Plan<double> masked(api::masked_sum, data.x.size(), group);
  api::Plan<double> tree(api::plus, data.x.size(), group, api::tree());
  api::Plan<double, api::Located<double>> greatest(api::max_location, data.x.size(), group);
  tree.trace(true);
  for (int run = 0; run < 2; ++run) {
    out.note_of_job("Plan of dot", [&] { return dot.run(data.x, data.y); });
    out.note_of_job("Plan of masked_sum", [&] { return masked.run(data.x, data.mask); });
    out.note_of_job("Plan by tree", [&] { return tree.run(data.x); });
    out.note_of_job("Plan of max_location", [&] { return greatest.run(data.x); });
    out.note_of_job("Plan, started", [&] {
      double sum = 0, product = 0;
      spelling::start(tree, data.x, sum);
      spelling::start(dot, data.x, data.y, product);
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
  using Plan = api::Plan<double>;
  api::VectorPlan<double> vectors = Plan::of_vectors(api::plus, row.size(), group);
  auto scan = Plan::of_scan(api::plus, row.size(), group), exscan = Plan::of_exscan(api::plus, row.size(), group);
  auto scatter = Plan::of_reduce_scatter(api::plus, blocks, group);
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
  api::ArrayPlan sums(api::plus, field.x, field.columns, group);
  api::ArrayPlan dots(api::dot, field.x, field.y, field.grouped, group, api::binned());
  api::ArrayPlan least(api::min_location, field.x, field.columns, group);
  const auto values_of = [](const auto& found) { return std::vector<double>(found.begin(), found.end()); };
  out.note_of_job("ArrayPlan", [&] { return values_of(sums.run()); });
  out.note_of_job("ArrayPlan of dot", [&] {
    dots.start();
    wait_in_turn(dots);
    return values_of(dots.results());
  });
  out.note_of_job("ArrayPlan of min_location", [&] {
    const auto found = least.run();
    return std::vector<api::Located<double>>(found.begin(), found.end());
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
  api::Bundle bundle;
  api::MemberOptions by_tree = api::tree();
  by_tree.threads = 2;
  const auto sum = bundle.sum(x), tree = bundle.sum(x, by_tree), abs_sum = bundle.abs_sum(x);
  const auto norm1 = bundle.norm1(x), squares = bundle.sum_squares(x), norm2 = bundle.norm2(x);
  const auto norminf = bundle.norminf(x), mean = bundle.mean(x), min = bundle.min(x), max = bundle.max(x);
  const auto least = bundle.min_location(x), greatest = bundle.max_location(x);
  const auto statistics = bundle.statistics(x);
  const auto dot = bundle.dot(x, y), dotc = bundle.dotc(x, y), weighted = bundle.weighted_sum(x, y);
  const auto weighted_mean = bundle.weighted_mean(x, y), masked = bundle.masked_sum(x, mask);
  const auto covariance = bundle.covariance(x, y), sample = bundle.sample_covariance(x, y);
  const auto dots = bundle.dots(x, {y, x});
  const auto dotcs = bundle.dotcs(z, {z, z});
  const auto own = bundle.reduce(x, api::named("less a third", [](double a, double b) { return a - b / 3; }));
  const auto columns = bundle.sum(field.x, field.columns), groups = bundle.mean(field.x, field.grouped);
  const auto products = bundle.dot(field.x, field.y, field.columns);
  const auto reduced = bundle.reduce(field.x, api::plus, field.masked);
  const auto reduced_dot = bundle.reduce(field.x, field.y, api::dot, field.grouped);
  bundle.allreduce(buffer, api::plus);
  api::BundlePlan plan = bundle.bind(group);
  note_values(out, "no value yet", sum);
  const auto note_all = [&](const char* name) {
    note_values(out, name, sum, tree, abs_sum, norm1, squares, norm2, norminf, mean, min, max, least, greatest,
                statistics, dot, dotc, weighted, weighted_mean, covariance, sample, masked, dots, dotcs, own, columns,
                groups, products, reduced, reduced_dot);
    out.note(name, [&] { return buffer; });
  };
  out.note("bundle runs", [&] { plan.run(); });
  note_all("bundle");
  buffer = row;
  out.note("bundle starts", [&] { plan.start(); });
  note_values(out, "no value while it runs", sum);
  out.note("bundle ends", [&] { wait_in_turn(plan); });
  note_all("bundle, again");
  api::BundleOptions rooted;
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
  auto sum = api::start(api::plus, x, group), norm = api::start(api::norm2, x, group);
  auto dot = api::start(api::dot, x, data.y, group, api::binned());
  auto masked = api::start(api::masked_sum, x, data.mask, group);
  auto own = api::start(api::named("less a third", [](double a, double b) { return a - b / 3; }), x, group);
  auto columns = api::start(api::plus, field.x, field.columns, group);
  auto products = api::start(api::dot, field.x, field.y, field.grouped, group);
  auto dots = api::start_dots(x, {data.y, x}, group);
  const auto z = as_complex(data);
  auto dotcs = api::start_dotcs(z, {z}, group);
  auto layout = api::start_layout(x.size(), group);
  api::Pending<> barrier = api::start_barrier(group);
  out.note("start_barrier", [&] { barrier.wait(); });
  out.note_of_job("start, dotcs first", [&] { return dotcs.get(); });
  out.note_of_job("start_dots", [&] { return dots.get(); });
  out.note_of_job("start, arrays", [&] { return std::pair(products.get(), columns.get()); });
  out.note_of_job("start", [&] { return std::vector<double>{own.get(), dot.get(), norm.get(), sum.get()}; });
  out.note_of_job("start of masked_sum", [&] { return wait_in_turn(masked), masked.get(); });
  out.note_of_job("start_layout", [&] {
    api::Options options = with(api::tree());
    options.layout = layout.get();
    return api::sum(x, group, options);
  });
  const std::vector<double> longer(x.size() + 1);
  out.note("start, factors of two sizes", [&] { return api::start(api::dot, x, longer, group).get(); });

  std::vector<double> all = row, root = row, up = row, below = row;
  const auto blocks = blocks_of(group);
  std::vector<double> block(static_cast<std::size_t>(blocks[static_cast<std::size_t>(group.rank())]));
  auto a = api::start_allreduce(all, api::plus, group), b = api::start_reduce_to(0, root, api::plus, group);
  auto c = api::start_scan(up, api::plus, group), d = api::start_exscan(below, api::plus, group);
  auto e = api::start_reduce_scatter(row, blocks, block, api::plus, group);
  out.note("started in MPI's shape", [&] {
    for (auto* each : {&e, &d, &c, &b, &a}) each->wait();
    return std::vector<std::vector<double>>{all, root, up, below, block};
  });
  api::barrier(group);

  auto plan = api::start_bind<double>(api::plus, x.size(), group, api::tree());
  auto vectors = api::start_bind_of_vectors<double>(api::plus, row.size(), group);
  api::Bundle bundle;
  const auto mean = bundle.mean(x);
  auto bundled = api::start_bind(bundle, group);
  out.note_of_job("start_bind", [&] { return plan.get().run(x); });
  note_change(out, "start_bind_of_vectors", row, [&](auto& buffer) { vectors.get().run(buffer); });
  out.note_of_job("start_bind of a bundle", [&] {
    bundled.get().run();
    return mean.value();
  });
  out.note("ProgressThread", [&] {
    const api::ProgressThread thread(group);
    return api::start(api::plus, x, group).get();
  });
}

// --- accumulators
// -----------------------------------------------------------------------------------------------------

template <class T>
void note_accumulators(Transcript& out, const std::vector<T>& x, const std::vector<T>& y, Group group) {
  using A = api::Accumulator<T>;
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
  out.note("compare", [&] { return spelling::numbers_of(sum.compare(other)); });
  out.note("order", [&] {
    return std::vector<int>{sum<other, sum> other, sum <= other, sum >= other, sum == other, sum != other};
  });
  A merged;
  out.note_of_job("merge_ranks", [&] {
    merged += x;
    api::merge_ranks(merged, group);
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
    api::merge_packed(other.packed(), packed);
    A unpacked;
    unpacked.unpack(packed);
    return unpacked.bytes();
  });
  out.note("bytes of another", [&] { return api::ProductAccumulator<T>::load(sum.bytes()).rows(); });
}
inline void note_columns(Transcript& out, const Field& field) {
  api::Accumulator<double> columns(4);
  api::ProductAccumulator<double> products(4), one;
  api::Axes weighted = field.columns, all;
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
    auto found = api::diagnosis(data.x, group, 2);
    found.plain = 0;  // which depends on the ranks
    return found;
  });
  out.note("diagnosis here", [&] { return api::diagnosis(data.x); });
  out.note("memory", [&] {
    auto memory = api::allocate<double>(row.size());
    std::vector<double, api::Allocator<double>> vector(row.begin(), row.end());
    std::copy(row.begin(), row.end(), memory.begin());
    api::allreduce(memory, api::plus, group);
    api::allreduce(vector, api::plus, group);
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
  std::vector<api::Interval> mine;
  for (std::size_t i = rank; i < all.x.size() / 4; i += size) {
    mine.push_back({4 * i, 4 * i + 4});
    row.insert(row.end(), &all.x[4 * i], &all.x[4 * i] + 4);
  }
  api::Options options = with(api::tree());
  options.layout = api::Layout::block_cyclic(all.x.size(), 2);
  out.note_of_job("block_cyclic", [&] { return api::sum(dealt, group, options); });
  options.layout = api::Layout::intervals(mine, all.x.size());
  out.note_of_job("intervals", [&] { return api::sum(row, group, options); });
  const api::GridAxis axis[] = {{all.x.size(), 0, 2, 0}};
  options.layout = api::Layout::grid(axis);
  out.note_of_job("grid", [&] { return api::sum(dealt, group, options); });
  const std::uint64_t extents[] = {all.x.size()}, ranks[] = {0};
  options.layout = api::Layout::blocks(extents, ranks);
  const std::size_t each = all.x.size() / size, more = all.x.size() % size, begin = rank * each + std::min(rank, more);
  const auto* const first = all.x.data() + begin;
  const std::vector<double> block(first, first + each + (rank < more ? 1 : 0));
  out.note_of_job("blocks", [&] { return api::sum(block, group, options); });
}

/// All of it, by a group, and in this process alone. Collective.
inline Transcript transcript(Group group) {
  Transcript out;
  for (const auto& [name, all] : inputs()) {
    const Data mine = all.part(group);
    const Field field(mine);
    const std::vector<double> row = row_of(all, group);
    out.about(name + " here");
    note_calls(out, all, [](api::Method method) -> api::LocalOptions { return method; });
    note_arrays(out, Field(all));
    note_shapes(out, Field(all));
    out.about(name);
    note_calls(
        out, mine, [](api::Method method) { return with(method); }, group);
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
