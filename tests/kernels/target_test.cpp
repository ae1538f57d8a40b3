// Which instruction sets there are, and which one runs.
#include "kernels/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/highway.hpp"

namespace steadfold::test::target_test {
namespace {

TEST(Targets, BeginWithTheReference) {
  ASSERT_FALSE(kernels::available().empty());
  EXPECT_EQ(kernels::available().front(), kernels::Target::scalar);
}

TEST(Targets, TheBestIsChosenUnlessOneIsForced) {
  const char* const forced = std::getenv("STEADFOLD_TARGET");
  if (forced == nullptr || *forced == '\0') {
    EXPECT_EQ(kernels::chosen(), kernels::available().back());
    EXPECT_TRUE(kernels::forced_is_available());
  } else {
    EXPECT_EQ(kernels::forced(), std::string_view(forced));
    EXPECT_TRUE(kernels::forced_is_available()) << forced;
    EXPECT_EQ(kernels::name_of(kernels::chosen()), std::string_view(forced));
  }
}

#if defined(__x86_64__) && defined(__linux__)
/// The system's own list, which leaves out what it does not keep between threads.
TEST(Targets, AreThoseThatTheSystemLists) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  ASSERT_TRUE(line.starts_with("flags")) << "/proc/cpuinfo has no flags";
  std::istringstream words(line);
  const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
  const auto lists = [&](std::initializer_list<const char*> names) {
    return std::ranges::all_of(names, [&](const char* name) { return flags.contains(name); });
  };
  const auto is_available = [](kernels::Target target) {
    return std::ranges::find(kernels::available(), target) != kernels::available().end();
  };
  const bool sse4 = lists({"sse4_1", "sse4_2", "pclmulqdq", "aes"});
  const bool avx2 = sse4 && lists({"avx", "avx2", "bmi1", "bmi2", "fma", "f16c"});
  const bool avx512 = avx2 && lists({"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"});
  for (const auto& [target, is_listed] :
       {std::pair(kernels::Target::sse4, sse4), {kernels::Target::avx2, avx2}, {kernels::Target::avx512, avx512}})
    EXPECT_EQ(is_available(target), kernels::is_built(target) && is_listed) << kernels::name_of(target);
}
#endif

}  // namespace
}  // namespace steadfold::test::target_test
