// Every kind of partial that a call can use, with one column and with several columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/description.hpp"
#include "call/failure.hpp"
#include "call/kinds.hpp"

namespace steadfold::test {

inline constexpr order::Count most_columns = 3;

struct Kind {
  call::Call call;
  std::unique_ptr<arithmetic::PartialKind> partial;

  order::Bytes element_bytes() const { return arithmetic::size_of(call.type); }
  order::Bytes row_bytes() const { return call.columns * element_bytes(); }
  bool is_masked() const { return call.operation == arithmetic::Operation::masked_sum; }
  std::string name() const {
    return std::string(arithmetic::name_of(call.operation)) + " of " + std::string(arithmetic::name_of(call.type)) +
           " to " + std::string(arithmetic::name_of(call.result_type)) + " by " +
           std::string(call::name_of(call.method)) +
           (call.parameters.sweep == arithmetic::Sweep::double_sweep ? ", two sweeps" : "") + ", " +
           std::to_string(call.columns) + " columns";
  }
};

/// All kinds that the library offers for the method.
inline std::vector<Kind> kinds_of(call::Method method, arithmetic::Sweep sweep) {
  std::vector<Kind> kinds;
  for (std::uint32_t operation = 0; operation <= static_cast<std::uint32_t>(arithmetic::Operation::dotc); ++operation) {
    for (std::uint32_t type = 0; type <= 32; ++type) {
      for (std::uint32_t result = 0; result <= 32; ++result) {
        for (const order::Count columns : {order::Count{1}, most_columns}) {
          call::Call call{.operation = static_cast<arithmetic::Operation>(operation),
                          .method = method,
                          .type = static_cast<arithmetic::Type>(type),
                          .result_type = static_cast<arithmetic::Type>(result),
                          .columns = columns,
                          .parameters = {.sweep = sweep}};
          if (call.operation == arithmetic::Operation::user || arithmetic::size_of(call.type) == 0) continue;
          if (arithmetic::size_of(call.result_type) == 0) continue;
          try {
            const auto described = call::describe(call);
            auto partial = call::make_kind(described, call::operator_of(described, call.user), columns);
            kinds.push_back({call, std::move(partial)});
          } catch (const call::Failure&) {  // the library does not offer this kind
          }
        }
      }
    }
  }
  return kinds;
}

}  // namespace steadfold::test
