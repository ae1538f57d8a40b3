// Reduces COUNT numbers with one method, CALLS times. bench/instructions.py counts the instructions.
//   counted_call tree|exact|binned f64|f32 COUNT [CALLS]
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include "steadfold/steadfold.hpp"

namespace {

/// Makes a call as programs do. callgrind counts the instructions of this function, which it finds by its name.
template <class T>
[[gnu::noinline]] T counted_call(const std::vector<T>& x, steadfold::Method method) {
  return steadfold::sum(x, method);
}

template <class T>
void reduce(steadfold::Method method, std::size_t count, std::size_t calls) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(1.0 / static_cast<double>(i % 1000 + 1));
  T sum{};
  for (std::size_t i = 0; i < calls; ++i) sum = counted_call(x, method);
  std::cout << sum << "\n";
}

steadfold::Method method_named(std::string_view name) {
  if (name == "tree") return steadfold::tree();
  if (name == "exact") return steadfold::exact();
  return steadfold::binned();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "wrong arguments (three or four are needed), give METHOD TYPE COUNT [CALLS]\n";
    return 2;
  }
  const steadfold::Method method = method_named(argv[1]);
  const std::size_t count = std::strtoull(argv[3], nullptr, 10);
  const std::size_t calls = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 1;
  if (std::string_view(argv[2]) == "f32")
    reduce<float>(method, count, calls);
  else
    reduce<double>(method, count, calls);
}
