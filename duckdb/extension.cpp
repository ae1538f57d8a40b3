// An extension of DuckDB: aggregate functions whose results have the same bits for any number of threads, any order of
// rows and any row groups. It uses version 2 of DuckDB's interface in C, where a query can own accumulators. That
// interface is not stable yet, so an extension fits one version of DuckDB.
#define DUCKDB_EXTENSION_NAME steadfold
#include <duckdb_extension_v2.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "arithmetic/environment.hpp"
#include "duckdb/aggregates.hpp"
#include "duckdb/tiles.hpp"

DUCKDB_EXTENSION_EXTERN

namespace steadfold::duckdb {
namespace {

using Error = duckdb_v2_error_info_handle;

/// Calls a function of DuckDB. Throws if it fails.
template <class Function, class... Arguments>
void call(Function function, const Arguments&... arguments) {
  Error error = nullptr;
  if (function(arguments..., &error) == DUCKDB_V2_ERROR_NONE) return;
  duckdb_v2_str text{.ptr = "", .len = 0};
  duckdb_v2_error_info_get_text(error, &text);
  const std::string copy(text.ptr, text.len);
  duckdb_v2_error_info_destroy(&error);
  throw std::runtime_error(copy);
}

/// Returns the result of a function of DuckDB, which is its last parameter.
template <class Result, class Function, class... Arguments>
Result result_of(Function function, const Arguments&... arguments) {
  Result result{};
  call(function, arguments..., &result);
  return result;
}

duckdb_v2_str view_of(std::string_view text) noexcept { return {.ptr = text.data(), .len = text.size()}; }

/// Runs a function in the promised floating-point environment. If the function throws, the query fails.
template <class Function>
void guarded(Error* error, const Function& function) noexcept {
  const auto fail = [error](DUCKDB_V2_ERROR code, std::string_view why) {
    const duckdb_v2_str text = view_of(why);
    duckdb_v2_error_info_set_code(*error, code);
    duckdb_v2_error_info_set_text(*error, &text);
  };
  try {
    const arithmetic::PromisedEnvironment promised;
    function();
  } catch (const std::bad_alloc&) {
    fail(DUCKDB_V2_ERROR_RESOURCE_OUT_OF_MEMORY, "out of memory (an accumulator could not be allocated)");
  } catch (const std::exception& problem) {
    fail(DUCKDB_V2_ERROR_INPUT_INVALID, problem.what());
  }
}

/// Calls `visit(state, place)` for every state of an array, and prefetches later states.
template <class State, class Visit>
void for_each_state(void** states, std::size_t count, const Visit& visit) {
  constexpr std::size_t ahead = 16;  // number of states
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = static_cast<const char*>(states[std::min(i + ahead, count - 1)]);
    for (std::size_t byte = 0; byte < sizeof(State); byte += 64) __builtin_prefetch(next + byte, 1);
    visit(*static_cast<State*>(states[i]), i);
  }
}

/// Whether there are at least 256 rows, all of one group.
bool are_of_one_group(void* const* states, std::size_t count) noexcept {
  constexpr std::size_t many = 256;
  if (count < many || states[0] != states[count - 1]) return false;
  bool are_equal = true;
  for (std::size_t i = 0; i < count; ++i) are_equal &= states[i] == states[0];
  return are_equal;
}

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
void destroy(duckdb_v2_aggregate_function_handle* function) { duckdb_v2_aggregate_function_destroy(function); }
void destroy(duckdb_v2_logical_type_handle* type) { duckdb_v2_logical_type_destroy(type); }
void destroy(duckdb_v2_value_handle* value) { duckdb_v2_value_destroy(value); }
using Function = Owned<duckdb_v2_aggregate_function_handle, destroy>;
using LogicalType = Owned<duckdb_v2_logical_type_handle, destroy>;
using Value = Owned<duckdb_v2_value_handle, destroy>;

std::string name_of(const LogicalType& type) {
  const auto name = result_of<duckdb_v2_identifier_t>(duckdb_v2_logical_type_get_name, type);
  return {name.ptr, name.len};
}

/// Returns the width (0) or the scale (1) of a DECIMAL.
std::uint8_t parameter_of(const LogicalType& type, idx_t index) {
  duckdb_v2_identifier_t name;
  const Value value(result_of<duckdb_v2_value_handle>(duckdb_v2_logical_type_get_param, type, index, &name));
  return result_of<std::uint8_t>(duckdb_v2_value_get_utinyint, value);
}

Operand operand_of(const LogicalType& type, const char* name) {
  switch (result_of<DUCKDB_V2_LOGICAL_TYPE_ID>(duckdb_v2_logical_type_get_id, type)) {
    case DUCKDB_V2_LOGICAL_TYPE_ID_UNKNOWN:  // a parameter; DuckDB binds the call again when the parameter is given
    case DUCKDB_V2_LOGICAL_TYPE_ID_SQLNULL:  // no element is read
    case DUCKDB_V2_LOGICAL_TYPE_ID_DOUBLE: return numbers<double>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_FLOAT: return numbers<float>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_TINYINT: return numbers<std::int8_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_SMALLINT: return numbers<std::int16_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_INTEGER: return numbers<std::int32_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_BIGINT: return numbers<std::int64_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_HUGEINT: return numbers<Int128>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_UTINYINT: return numbers<std::uint8_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_USMALLINT: return numbers<std::uint16_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_UINTEGER: return numbers<std::uint32_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT: return numbers<std::uint64_t>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_UHUGEINT: return numbers<Uint128>();
    case DUCKDB_V2_LOGICAL_TYPE_ID_DECIMAL: {
      const int width = parameter_of(type, 0);
      const int scale = parameter_of(type, 1);
      if (width <= 4) return decimals<std::int16_t>(scale);
      if (width <= 9) return decimals<std::int32_t>(scale);
      return width <= 18 ? decimals<std::int64_t>(scale) : decimals<Int128>(scale);
    }
    default: break;
  }
  throw std::invalid_argument(std::string(name) + " does not take " + name_of(type) +
                              " (only integers, FLOAT, DOUBLE and DECIMAL), cast the operand to DOUBLE");
}

/// What DuckDB keeps for each call in a query: the operands of the call, and the accumulators of its states.
template <std::size_t operand_count>
struct Call {
  std::array<Operand, operand_count> operands;
  Accumulators accumulators;
};

/// The functions that DuckDB calls for an aggregate function.
template <class State>
struct Callbacks {
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>);
  using Call = duckdb::Call<State::operands>;

  /// Returns the object that `bind` made.
  template <class Get, class Info>
  static Call& call_of(Get get, Info info) {
    return *static_cast<Call*>(result_of<void*>(get, info));
  }

  static void bind(duckdb_v2_function_bind_info_handle info, duckdb_v2_aggregate_function_bind_info_handle /*result*/,
                   duckdb_v2_context_handle /*context*/, Error* error) {
    guarded(error, [&] {
      auto made = std::make_unique<Call>();
      for (idx_t i = 0; i < made->operands.size(); ++i) {
        const LogicalType type(result_of<duckdb_v2_logical_type_handle>(duckdb_v2_function_bind_get_arg_type, info, i));
        made->operands[i] = operand_of(type, State::name);
      }
      duckdb_v2_opaque owned{
          .ptr = made.get(),
          .destroy = [](void* call) { delete static_cast<Call*>(call); },
          .equals = [](void* /*one*/, void* /*other*/) { return true; },  // the operands of equal calls are the same
      };
      call(duckdb_v2_function_bind_set_bind_data, info, &owned);
      made.release();
    });
  }
  static void size(duckdb_v2_aggregate_function_size_info_handle info, Error* error) {
    guarded(error, [&] { call(duckdb_v2_aggregate_function_size_set_state_size, info, sizeof(State)); });
  }
  static void begin(duckdb_v2_aggregate_function_init_info_handle info, Error* error) {
    guarded(error, [&] {
      const auto count = result_of<idx_t>(duckdb_v2_aggregate_function_init_get_state_count, info);
      void** const states = result_of<void**>(duckdb_v2_aggregate_function_init_get_states, info);
      for (idx_t i = 0; i < count; ++i) new (states[i]) State;
    });
  }
  static void update(duckdb_v2_aggregate_function_update_info_handle info, Error* error) {
    guarded(error, [&] {
      auto& [operands, owner] = call_of(duckdb_v2_aggregate_function_update_get_bind_data, info);
      std::array<Column, State::operands> columns;
      for (idx_t i = 0; i < columns.size(); ++i) {
        const auto vector = result_of<duckdb_v2_vector_handle>(duckdb_v2_aggregate_function_update_get_arg, info, i);
        call(duckdb_v2_vector_flatten, vector);
        const auto view = result_of<duckdb_v2_vector_view>(duckdb_v2_vector_get_view, vector);
        columns[i] = {.elements = static_cast<const std::byte*>(view.data), .validity = view.validity};
      }
      const auto rows = result_of<idx_t>(duckdb_v2_aggregate_function_update_get_row_count, info);
      Tiles<State::operands> tiles(columns, operands, rows);
      tiles.for_each(result_of<void**>(duckdb_v2_aggregate_function_update_get_states, info), [&](const Tile& tile) {
        if (are_of_one_group(tile.states, tile.rows))
          return static_cast<State*>(tile.states[0])->add_rows(tile.x, tile.y, tile.rows, owner);
        for_each_state<State>(tile.states, tile.rows, [&](State& state, std::size_t i) {
          state.add(tile.x[i], State::operands == 2 ? tile.y[i] : 0, owner);
        });
      });
    });
  }
  static void merge(duckdb_v2_aggregate_function_combine_info_handle info, Error* error) {
    guarded(error, [&] {
      Accumulators& owner = call_of(duckdb_v2_aggregate_function_combine_get_bind_data, info).accumulators;
      const auto count = result_of<idx_t>(duckdb_v2_aggregate_function_combine_get_state_count, info);
      void** const sources = result_of<void**>(duckdb_v2_aggregate_function_combine_get_sources, info);
      void** const targets = result_of<void**>(duckdb_v2_aggregate_function_combine_get_targets, info);
      for_each_state<State>(targets, count, [&](State& target, std::size_t i) {
        target.merge(*static_cast<const State*>(sources[i]), owner);
      });
    });
  }
  static void finish(duckdb_v2_aggregate_function_finalize_info_handle info, Error* error) {
    guarded(error, [&] {
      const auto count = result_of<idx_t>(duckdb_v2_aggregate_function_finalize_get_state_count, info);
      const auto offset = result_of<idx_t>(duckdb_v2_aggregate_function_finalize_get_result_offset, info);
      const auto results = result_of<duckdb_v2_vector_handle>(duckdb_v2_aggregate_function_finalize_get_result, info);
      auto* const values = static_cast<double*>(result_of<void*>(duckdb_v2_vector_get_data_mutable, results));
      auto* const validity = result_of<std::uint64_t*>(duckdb_v2_vector_flat_get_validity_mutable, results);
      void** const states = result_of<void**>(duckdb_v2_aggregate_function_finalize_get_states, info);
      for_each_state<State>(states, count, [&](const State& state, std::size_t i) {
        const idx_t row = offset + i;
        const std::optional<double> value = state.finish();
        values[row] = value.value_or(0);
        if (!value) validity[row / 64] &= ~(std::uint64_t{1} << row % 64);
      });
    });
  }
  static void destroy(duckdb_v2_aggregate_function_destroy_info_handle info, Error* error) {
    guarded(error, [&] {
      Accumulators& owner = call_of(duckdb_v2_aggregate_function_destroy_get_bind_data, info).accumulators;
      const auto count = result_of<idx_t>(duckdb_v2_aggregate_function_destroy_get_state_count, info);
      void** const states = result_of<void**>(duckdb_v2_aggregate_function_destroy_get_states, info);
      for (idx_t i = 0; i < count; ++i) static_cast<State*>(states[i])->give_back(owner);
    });
  }
};

/// Registers a function.
template <class State>
void register_function(duckdb_v2_extension_handle extension, duckdb_v2_factory_handle factory) {
  using Calls = Callbacks<State>;
  const auto type = [factory](DUCKDB_V2_LOGICAL_TYPE_ID id) {
    return LogicalType(result_of<duckdb_v2_logical_type_handle>(duckdb_v2_factory_create_type_from_id, factory, id,
                                                                nullptr, nullptr, idx_t{0}));
  };
  const Function function(result_of<duckdb_v2_aggregate_function_handle>(duckdb_v2_aggregate_function_create, factory));
  const duckdb_v2_str name = view_of(State::name);
  call(duckdb_v2_aggregate_function_set_name, function, &name);
  const auto signature =
      result_of<duckdb_v2_function_signature_handle>(duckdb_v2_aggregate_function_get_signature, function);
  for (int i = 0; i < State::operands; ++i) {
    const duckdb_v2_str operand = view_of(i == 0 ? "x" : "y");
    call(duckdb_v2_function_signature_add_parameter, signature, &operand, type(DUCKDB_V2_LOGICAL_TYPE_ID_ANY), nullptr,
         DUCKDB_V2_FUNCTION_PARAMETER_KIND_POSITIONAL_ONLY);
  }
  call(duckdb_v2_function_signature_set_return_type, signature, type(DUCKDB_V2_LOGICAL_TYPE_ID_DOUBLE));
  call(duckdb_v2_aggregate_function_set_bind_callback, function, Calls::bind);
  call(duckdb_v2_aggregate_function_set_size_callback, function, Calls::size);
  call(duckdb_v2_aggregate_function_set_init_callback, function, Calls::begin);
  call(duckdb_v2_aggregate_function_set_update_callback, function, Calls::update);
  call(duckdb_v2_aggregate_function_set_combine_callback, function, Calls::merge);
  call(duckdb_v2_aggregate_function_set_finalize_callback, function, Calls::finish);
  call(duckdb_v2_aggregate_function_set_destroy_callback, function, Calls::destroy);
  call(duckdb_v2_extension_register_aggregate_function, extension, function);
}

}  // namespace
}  // namespace steadfold::duckdb

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_v2_extension_handle extension, duckdb_v2_context_handle context,
                            duckdb_v2_error_info_handle* error) {
  using namespace steadfold::duckdb;
  guarded(error, [&] {
    const auto factory = result_of<duckdb_v2_factory_handle>(duckdb_v2_context_get_factory, context);
    register_function<Sum<1>>(extension, factory);
    register_function<Sum<2>>(extension, factory);
    register_function<Average>(extension, factory);
    register_function<SampleVariance<false>>(extension, factory);
    register_function<SampleVariance<true>>(extension, factory);
    register_function<Correlation>(extension, factory);
  });
}
