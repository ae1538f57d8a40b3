// Reduces COUNT numbers once by one method; bench/instructions.py counts the instructions.
//   bench_once tree|exact|binned f64|f32 COUNT
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include "steadfold/steadfold.hpp"

namespace {

template <class T>
void reduce_once(steadfold::Method method, std::size_t count) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(1.0 / static_cast<double>(i % 1000 + 1));
  std::cout << steadfold::sum(x, method) << "\n";
}

steadfold::Method method_named(std::string_view name) {
  if (name == "tree") return steadfold::tree();
  if (name == "exact") return steadfold::exact();
  return steadfold::binned();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "wrong arguments (three are needed), give METHOD TYPE COUNT\n";
    return 2;
  }
  const steadfold::Method method = method_named(argv[1]);
  const std::size_t count = std::strtoull(argv[3], nullptr, 10);
  if (std::string_view(argv[2]) == "f32")
    reduce_once<float>(method, count);
  else
    reduce_once<double>(method, count);
}
