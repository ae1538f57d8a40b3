#include "driver.hpp"

#include <cstdio>
#include <cstdlib>

namespace steadfold::soak {
Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(argv[i + 1], &end, 0);
    if (name == "--seconds")
      options.seconds = std::strtod(argv[i + 1], &end);
    else if (name == "--seed")
      options.seed = value;
    else if (name == "--only")
      options.only = value;
    else if (name == "--programs")
      options.programs = value;
    else
      end = nullptr;
    if (end != nullptr && *end == '\0' && end != argv[i + 1]) continue;
    std::fprintf(stderr, "%s %s is no option (--seconds, --seed, --only and --programs are), give a number\n", argv[i],
                 argv[i + 1]);
    std::exit(2);
  }
  if (options.only) options.programs = 1;
  if (options.programs != ~std::uint64_t{0}) options.seconds = 1e9;
  return options;
}

int conclude(const Tally& tally, std::uint64_t programs) {
  std::printf("%llu programs, %llu cases\n%llu compared, %llu wrong\n", static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(tally.cases), static_cast<unsigned long long>(tally.compared),
              static_cast<unsigned long long>(tally.wrong));
  return tally.wrong == 0 ? 0 : 1;
}

}  // namespace steadfold::soak
