// Profiles of networks: what a file may say, and that choices and blocks go by it.
#include "agreement/profile.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "agreement/choice.hpp"

namespace steadfold::test::profile_test {
namespace {

using agreement::Call;
using agreement::link_in;
using agreement::Method;
using order::Count;
using order::Rank;
using transport::LogGP;

std::string fault_of(const std::string& text) {
  try {
    link_in(text);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

TEST(Profile, HasFiguresAndSaysWhereTheyComeFrom) {
  const LogGP link = link_in(
      "# measured\nprocessor = AMD EPYC\nmpi=Open MPI # 4.1\n\n latency = 1.5e-6\r\ngap=2e-7\nper_byte = 1e-10\n"
      "eager_limit = 65408\nrendezvous = 3e-6\nrelease = 0.1\ndate = today\nresidual = 0.1");
  EXPECT_EQ(link.latency, 1.5e-6);
  EXPECT_EQ(link.gap, 2e-7);
  EXPECT_EQ(link.per_byte, 1e-10);
  EXPECT_EQ(link.eager_limit, 65408u);
  EXPECT_EQ(link.rendezvous, 3e-6);
  EXPECT_EQ(link_in("latency=1\ngap=0\nper_byte=0").rendezvous, 0);
}

TEST(Profile, SaysWhatIsWrong) {
  const std::string good = "latency = 1e-6\ngap = 0\nper_byte = 1e-10\n";
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
           {"", "latency, gap and per_byte are all needed"},
           {"latency = 1e-6\ngap = 0\n", "are all needed"},
           {good + "eager_limit = 4096\n", "belong together"},
           {good + "rendezvous = 1e-6\n", "belong together"},
           {good + "gap = 1\n", "line 4 says gap again"},
           {good + "bandwidth = 1\n", "line 4 has an unknown key ('bandwidth')"},
           {good + "some text\n", "line 4 is no `key = value` ('some text')"},
           {"latency = fast\n", "line 1 cannot be used ('fast' is no number from 0 to 1e12)"},
           {"latency = -1\n", "'-1' is no number"},
           {"latency = nan\n", "'nan' is no number"},
           {"latency = inf\n", "'inf' is no number"},
           {"latency = 1 s\n", "'1 s' is no number"},
           {"latency =\n", "'' is no number"},
           {"latency = 0\ngap = 0\nper_byte = 1\n", "latency and gap are both 0"},
       }) {
    const std::string fault = fault_of(text);
    EXPECT_NE(fault.find(told), std::string::npos) << text << " -> " << fault;
    EXPECT_NE(fault.find("), let `steadfold tune` write it"), std::string::npos) << fault;
  }
}

TEST(Profile, OfAFileThatIsNone) {
  EXPECT_THROW(agreement::link_of_file("/no/such/file"), std::invalid_argument);
  EXPECT_THROW(agreement::link_of_file("/"), std::invalid_argument);
  const std::string path = std::filesystem::temp_directory_path() / "steadfold_profile_test";
  std::ofstream(path) << std::string(100000, '#');
  EXPECT_THROW(agreement::link_of_file(path), std::invalid_argument);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);  // whose reader waits until somebody writes
  EXPECT_THROW(agreement::link_of_file(path), std::invalid_argument);
  std::filesystem::remove(path);
}

std::string chosen(Count columns, Rank ranks, const LogGP& link) {
  const auto description = agreement::describe(Call{.method = Method::tree, .columns = columns});
  const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(ranks), 1));
  return agreement::chosen_schedule("auto", std::span(&description, 1), layout, link);
}

/// Few rounds where starts are dear, few bytes where bytes are: [S1] section 2.3.
TEST(Profile, DecidesWhatIsChosen) {
  const LogGP slow_starts{.latency = 1e-3, .gap = 1e-4, .per_byte = 1e-12};
  const LogGP slow_bytes{.latency = 1e-9, .gap = 1e-9, .per_byte = 1e-6};
  EXPECT_EQ(chosen(10000, 16, slow_starts), "recursive_doubling");
  const std::string of_bytes = chosen(10000, 16, slow_bytes);
  EXPECT_TRUE(of_bytes == "transpose" || of_bytes == "ring" || of_bytes == "halving_doubling") << of_bytes;
  LogGP waits{.latency = 1e-6, .gap = 1e-7, .per_byte = 1e-11};
  EXPECT_NE(chosen(4000, 16, waits), "recursive_doubling");  // 32 KB at once
  waits.eager_limit = 1024;
  waits.rendezvous = 1e-3;
  const std::string of_waits = chosen(4000, 16, waits);  // of many rounds each would wait
  EXPECT_TRUE(of_waits == "recursive_doubling" || of_waits == "halving_doubling") << of_waits;
}

TEST(Profile, DecidesHowVectorsAreCut) {
  LogGP link{.latency = 1e-6, .gap = 0, .per_byte = 1e-9};
  const auto blocks = agreement::best_pipeline(16, 2, 1'000'000, link).blocks;
  link.eager_limit = 1000;
  link.rendezvous = 99e-6;  // every block starts a hundred times later
  EXPECT_NEAR(agreement::best_pipeline(16, 2, 1'000'000, link).blocks, blocks / 10, 1e-9 * blocks);
  EXPECT_GT(blocks, 50);
}

}  // namespace
}  // namespace steadfold::test::profile_test
