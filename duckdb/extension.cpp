// An extension of DuckDB: aggregate functions whose results have the same bits for any number of threads, any order of
// rows and any row groups. It uses DuckDB's interface for extensions written in C.
#define DUCKDB_EXTENSION_NAME steadfold
#include <duckdb_extension.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "arithmetic/environment.hpp"
#include "duckdb/aggregates.hpp"
#include "duckdb/tiles.hpp"

DUCKDB_EXTENSION_EXTERN

namespace steadfold::duckdb {
namespace {

/// Runs a function in the promised floating-point environment. What it throws becomes an error of the query.
template <class Function>
void guarded(duckdb_function_info info, const char* name, const Function& function) noexcept {
  try {
    const arithmetic::PromisedEnvironment promised;
    function();
  } catch (const std::bad_alloc&) {
    duckdb_aggregate_function_set_error(info, "out of memory (an accumulator could not be allocated)");
  } catch (const std::exception& error) {
    duckdb_aggregate_function_set_error(info, (std::string(name) + ": " + error.what()).c_str());
  }
}

/// Calls `visit(state, place)` for every state of an array, and prefetches later states.
template <class State, class Visit>
void for_each_state(duckdb_aggregate_state* states, std::size_t count, const Visit& visit) {
  constexpr std::size_t ahead = 16;  // number of states
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = reinterpret_cast<const char*>(states[std::min(i + ahead, count - 1)]);
    for (std::size_t byte = 0; byte < sizeof(State); byte += 64) __builtin_prefetch(next + byte, 1);
    visit(*reinterpret_cast<State*>(states[i]), i);
  }
}

/// Whether there are at least 256 rows, all of one group.
bool are_of_one_group(const duckdb_aggregate_state* states, std::size_t count) noexcept {
  constexpr std::size_t many = 256;
  if (count < many || states[0] != states[count - 1]) return false;
  bool are_equal = true;
  for (std::size_t i = 0; i < count; ++i) are_equal &= states[i] == states[0];
  return are_equal;
}

/// The functions that DuckDB calls for an aggregate.
template <class State>
struct Callbacks {
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>);

  static idx_t size(duckdb_function_info /*info*/) { return sizeof(State); }
  static void begin(duckdb_function_info /*info*/, duckdb_aggregate_state state) { new (state) State; }
  static void update(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_aggregate_state* states) {
    guarded(info, State::name, [&] {
      const auto* types = static_cast<const duckdb_type*>(duckdb_aggregate_function_get_extra_info(info));
      Tiles<State::operands> tiles(chunk, types);
      tiles.for_each(states, [](const Tile& tile) {
        if (are_of_one_group(tile.states, tile.rows))
          return reinterpret_cast<State*>(tile.states[0])->add_rows(tile.x, tile.y, tile.rows);
        for_each_state<State>(tile.states, tile.rows, [&](State& state, std::size_t i) {
          state.add(tile.x[i], State::operands == 2 ? tile.y[i] : 0);
        });
      });
    });
  }
  static void merge(duckdb_function_info info, duckdb_aggregate_state* sources, duckdb_aggregate_state* targets,
                    idx_t count) {
    guarded(info, State::name, [&] {
      for_each_state<State>(targets, count, [&](State& target, std::size_t i) {
        target.merge(*reinterpret_cast<const State*>(sources[i]));
      });
    });
  }
  static void finish(duckdb_function_info info, duckdb_aggregate_state* states, duckdb_vector results, idx_t count,
                     idx_t offset) {
    guarded(info, State::name, [&] {
      auto* const values = static_cast<double*>(duckdb_vector_get_data(results)) + offset;
      duckdb_vector_ensure_validity_writable(results);
      std::uint64_t* const validity = duckdb_vector_get_validity(results);
      for_each_state<State>(states, count, [&](const State& state, std::size_t i) {
        const std::optional<double> value = state.finish();
        values[i] = value.value_or(0);
        if (!value) duckdb_validity_set_row_invalid(validity, offset + i);
      });
    });
  }
  static void destroy(duckdb_aggregate_state* states, idx_t count) {
    for (idx_t i = 0; i < count; ++i) reinterpret_cast<State*>(states[i])->destroy();
  }
};

/// Owns an object of DuckDB.
template <class Object, void (*destroy_object)(Object*)>
class Owned {
 public:
  explicit Owned(Object object) noexcept : object_(object) {}
  ~Owned() { destroy_object(&object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Object() const noexcept { return object_; }

 private:
  Object object_;
};
void destroy(duckdb_aggregate_function* function) { duckdb_destroy_aggregate_function(function); }
void destroy(duckdb_aggregate_function_set* set) { duckdb_destroy_aggregate_function_set(set); }
void destroy(duckdb_logical_type* type) { duckdb_destroy_logical_type(type); }
using Function = Owned<duckdb_aggregate_function, destroy>;
using FunctionSet = Owned<duckdb_aggregate_function_set, destroy>;
using LogicalType = Owned<duckdb_logical_type, destroy>;

/// Adds the function for operands of these types to a set. `types` must live as long as the database.
template <class State>
bool add(duckdb_aggregate_function_set set, const std::array<duckdb_type, 2>& types) {
  using Calls = Callbacks<State>;
  const Function function(duckdb_create_aggregate_function());
  duckdb_aggregate_function_set_name(function, State::name);
  for (std::size_t i = 0; i < State::operands; ++i)
    duckdb_aggregate_function_add_parameter(function, LogicalType(duckdb_create_logical_type(types[i])));
  duckdb_aggregate_function_set_return_type(function, LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE)));
  duckdb_aggregate_function_set_functions(function, Calls::size, Calls::begin, Calls::update, Calls::merge,
                                          Calls::finish);
  duckdb_aggregate_function_set_destructor(function, Calls::destroy);
  duckdb_aggregate_function_set_extra_info(function, const_cast<duckdb_type*>(types.data()), nullptr);
  return duckdb_add_aggregate_function_to_set(set, function) == DuckDBSuccess;
}

/// Registers the function for all types that operands may have.
template <class State>
bool register_function(duckdb_connection connection) {
  const FunctionSet set(duckdb_create_aggregate_function_set(State::name));
  for (const auto& types : pairs_of_types)
    if ((State::operands == 2 || types[1] == types[0]) && !add<State>(set, types)) return false;
  return duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
}

/// Returns the text of an error if the tests did not run with this version of DuckDB. Otherwise the text is empty.
std::string refused_version() {
  constexpr std::array tried = {STEADFOLD_DUCKDB_VERSIONS};
  const std::string version = duckdb_library_version();
  if (std::ranges::find(tried, version) != tried.end()) return {};
  std::string names;
  for (const char* each : tried) names.append(names.empty() ? "" : ", ").append(each);
  return "Steadfold's functions do not run in DuckDB " + version + " (they were tried with " + names +
         "), install one of these versions";
}

}  // namespace
}  // namespace steadfold::duckdb

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access* access) {
  using namespace steadfold::duckdb;
  if (const std::string refused = refused_version(); !refused.empty()) {
    access->set_error(info, refused.c_str());
    return false;
  }
  const bool are_registered =
      register_function<Sum<1>>(connection) && register_function<Sum<2>>(connection) &&
      register_function<Average>(connection) && register_function<SampleVariance<false>>(connection) &&
      register_function<SampleVariance<true>>(connection) && register_function<Correlation>(connection);
  if (!are_registered)
    access->set_error(info, "Steadfold's functions could not be registered (others have their names)");
  return are_registered;
}
