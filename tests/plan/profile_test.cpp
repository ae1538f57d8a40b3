// Profiles of networks: what a file may say, and that choices and blocks go by it.
#include "plan/profile.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "plan/choice.hpp"
#include "plan/segmentation.hpp"

namespace steadfold::test::profile_test {
namespace {

using call::Call;
using call::Method;
using order::Count;
using order::Rank;
using plan::network_in;
using transport::LogGP;

std::string fault_of(const std::string& text) {
  try {
    network_in(text);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

TEST(Profile, HasFiguresAndSaysWhereTheyComeFrom) {
  const LogGP link =
      network_in(
          "# measured\nprocessor = AMD EPYC\nmpi=Open MPI # 4.1\n\n latency = 1.5e-6\r\ngap=2e-7\nper_byte = 1e-10\n"
          "eager_limit = 65408\nrendezvous = 3e-6\nlong_from=0\nlong_per_byte = 2e-10\nrelease = 0.1\ndate = "
          "today\nresidual = 0.1")
          .link;
  EXPECT_EQ(link.latency, 1.5e-6);
  EXPECT_EQ(link.gap, 2e-7);
  EXPECT_EQ(link.per_byte, 1e-10);
  EXPECT_EQ(link.eager_limit, 65408u);
  EXPECT_EQ(link.rendezvous, 3e-6);
  EXPECT_EQ(link.long_from, 0u);
  EXPECT_EQ(link.long_per_byte, 2e-10);
  const LogGP plain = network_in("latency=1\ngap=0\nper_byte=0").link;
  EXPECT_EQ(plain.rendezvous, 0);
  EXPECT_EQ(plain.long_from, LogGP::no_limit);
}

TEST(Profile, HasTheLinkInsideNodesAndRatesWhereTheyAreKnown) {
  const std::string link = "latency = 1e-5\ngap = 2e-7\nper_byte = 1e-9\neager_limit = 1984\nrendezvous = 1e-5\n";
  const plan::Network alone = network_in(link);
  EXPECT_EQ(alone.inside.latency, 1e-5);
  EXPECT_EQ(alone.inside.eager_limit, 1984u);
  EXPECT_EQ(alone.rates[1].merge_per_byte, plan::assumed_rates[1].merge_per_byte);
  const plan::Network both = network_in(link + "node.latency = 1e-7\nnode.gap = 0\nnode.per_byte = 1e-10\n" +
                                        "node.long_from = 4032\nnode.long_per_byte = 5e-11\n" +
                                        "values.merge_per_byte = 1\nbins.finish_per_byte = 2\n");
  EXPECT_EQ(both.link.latency, 1e-5);
  EXPECT_EQ(both.inside.latency, 1e-7);
  EXPECT_EQ(both.inside.rendezvous, 0) << "none is said";
  EXPECT_EQ(both.inside.long_from, 4032u);
  EXPECT_EQ(both.link.long_from, LogGP::no_limit);
  EXPECT_EQ(both.rates[0].merge_per_byte, 1);
  EXPECT_EQ(both.rates[0].finish_per_byte, plan::assumed_rates[0].finish_per_byte);
  EXPECT_EQ(both.rates[2].finish_per_byte, 2);
  for (const plan::Network& network : {alone, both}) {
    const std::string text = text_of(network);
    EXPECT_EQ(text.find("node.") == std::string::npos, network.link == network.inside);
    EXPECT_EQ(text_of(network_in(text)), text);
    EXPECT_EQ(network_in(text).inside, network.inside);
  }
}

/// A job on one node has the links inside alone: between parts of the node, and in them.
TEST(Profile, TellsWhatOneNodeHas) {
  const std::string link = "latency = 1e-5\ngap = 0\nper_byte = 1e-9\n";
  const std::string node = "node.latency = 1e-6\nnode.gap = 0\nnode.per_byte = 1e-10\n";
  const std::string part = "part.latency = 1e-7\npart.gap = 0\npart.per_byte = 1e-11\nbins.merge_per_byte = 1\n";
  const plan::Network all = network_in(link + node + part);
  EXPECT_EQ(all.inside_part.per_byte, 1e-11);
  EXPECT_EQ(text_of(network_in(text_of(all))), text_of(all));
  EXPECT_EQ(all.of_one_node().link, all.inside);
  EXPECT_EQ(all.of_one_node().inside, all.inside_part);
  EXPECT_EQ(all.of_one_node().rates[2].merge_per_byte, 1);
  const plan::Network of_node = network_in(link + part);  // as `tune` says it that ran on one node
  EXPECT_EQ(of_node.inside, of_node.link);
  EXPECT_EQ(of_node.of_one_node().link.latency, 1e-5);
  EXPECT_EQ(of_node.of_one_node().inside.latency, 1e-7);
  EXPECT_EQ(network_in(link).of_one_node().inside, network_in(link).link);
}

TEST(Profile, SaysWhatIsWrong) {
  const std::string good = "latency = 1e-6\ngap = 0\nper_byte = 1e-10\n";
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
           {"", "latency, gap and per_byte are all needed"},
           {"latency = 1e-6\ngap = 0\n", "are all needed"},
           {good + "eager_limit = 4096\n", "must be given together"},
           {good + "rendezvous = 1e-6\n", "must be given together"},
           {good + "long_from = 4096\n", "long_from and long_per_byte must be given together"},
           {good + "part.latency = 1\npart.gap = 0\npart.per_byte = 0\npart.long_per_byte = 1\n",
            "must be given together"},
           {good + "node.long_from = 1\n", "node.latency, node.gap and node.per_byte are all needed"},
           {good + "bins.long_from = 1\n", "line 4 has an unknown key ('bins.long_from')"},
           {good + "gap = 1\n", "line 4 says gap a second time"},
           {good + "bandwidth = 1\n", "line 4 has an unknown key ('bandwidth')"},
           {good + "node.gap = 1\n", "node.latency, node.gap and node.per_byte are all needed"},
           {good + "node.latency = 0\nnode.gap = 0\nnode.per_byte = 1\n", "node.latency and node.gap are both 0"},
           {good + "node.node.gap = 1\n", "line 4 has an unknown key ('node.node.gap')"},
           {good + "part.gap = 1\n", "part.latency, part.gap and part.per_byte are all needed"},
           {good + "values = 1\n", "line 4 has an unknown key ('values')"},
           {good + "bins.latency = 1\n", "line 4 has an unknown key ('bins.latency')"},
           {good + "bins.merge_per_byte = -1\n", "line 4 cannot be used ('-1' is not a number"},
           {good + "some text\n", "line 4 is not of the form `key = value` ('some text')"},
           {"latency = fast\n", "line 1 cannot be used ('fast' is not a number from 0 to 1e12)"},
           {"latency = -1\n", "'-1' is not a number"},
           {"latency = nan\n", "'nan' is not a number"},
           {"latency = inf\n", "'inf' is not a number"},
           {"latency = 1 s\n", "'1 s' is not a number"},
           {"latency =\n", "'' is not a number"},
           {"latency = 0\ngap = 0\nper_byte = 1\n", "latency and gap are both 0"},
       }) {
    const std::string fault = fault_of(text);
    EXPECT_NE(fault.find(told), std::string::npos) << text << " -> " << fault;
    EXPECT_NE(fault.find("), write the profile with `steadfold tune`"), std::string::npos) << fault;
  }
}

TEST(Profile, OfAFileThatIsNone) {
  EXPECT_THROW(plan::network_of_file("/no/such/file"), std::invalid_argument);
  EXPECT_THROW(plan::network_of_file("/"), std::invalid_argument);
  const std::string path = std::filesystem::temp_directory_path() / "steadfold_profile_test";
  const std::string figures = "latency = 1\ngap = 1\nper_byte = 1\n#";
  for (const std::size_t size : {std::size_t{65536}, std::size_t{65537}, std::size_t{100000}}) {
    std::ofstream(path) << figures << std::string(size - figures.size(), ' ');
    std::string fault;
    try {
      EXPECT_EQ(plan::network_of_file(path).link.gap, 1);
    } catch (const std::invalid_argument& wrong) {
      fault = wrong.what();
    }
    EXPECT_EQ(
        fault,
        size <= 65536
            ? ""
            : path + " is not a profile (the file has more than 64 KiB), write the profile with `steadfold tune`");
  }
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);  // whose reader waits until somebody writes
  EXPECT_THROW(plan::network_of_file(path), std::invalid_argument);
  std::filesystem::remove(path);
}

/// Settings in the environment, as long as it lives.
class Settings {
 public:
  using Values = std::map<std::string, std::string>;
  explicit Settings(const Values& values) {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "STEADFOLD_PROFILE"}) {
      const char* const before = std::getenv(name);
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      const auto own = values.find(name);
      set(name, own == values.end() ? std::nullopt : std::optional(own->second));
    }
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    for (const auto& [name, value] : before_) set(name, value);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

class ProfileInItsPlace : public testing::Test {
 protected:
  ProfileInItsPlace()
      : folder_(std::filesystem::temp_directory_path() / ("steadfold_places_" + std::to_string(::getpid()))) {}
  ~ProfileInItsPlace() override { std::filesystem::remove_all(folder_); }

  std::string place(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes a profile of that latency where it is looked for below a folder.
  void write(const std::string& folder, const std::string& latency) const {
    std::filesystem::create_directories(place(folder) + "/steadfold");
    const Settings settings(Settings::Values{{"XDG_CONFIG_HOME", place(folder)}});
    std::ofstream(plan::own_profile(library)) << "latency = " << latency << "\ngap = 0\nper_byte = 0\n";
  }

  static constexpr std::string_view library = "Open MPI v4.1.4, package: Debian";
  std::filesystem::path folder_;
};

TEST_F(ProfileInItsPlace, IsNamedAfterProcessorAndLibrary) {
  const Settings settings(Settings::Values{{"XDG_CONFIG_HOME", "/x"}});
  const auto ending = [](std::string_view of) {
    const std::string path = plan::own_profile(of);
    EXPECT_TRUE(path.starts_with("/x/steadfold/")) << path;
    const std::string name = path.substr(path.rfind('/') + 1);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos) << name;
    return name.substr(name.find('.'));
  };
  EXPECT_EQ(ending("Open MPI v4.1.4, package: Debian OpenMPI"), ".open-mpi.profile");
  EXPECT_EQ(ending("Open MPI v5.0.7rc1"), ".open-mpi.profile");
  EXPECT_EQ(ending("MPICH Version:      4.0.2"), ".mpich.profile");
  EXPECT_EQ(ending("Intel(R) MPI Library 2021.10 for Linux* OS"), ".intel-r-mpi-library.profile");
  EXPECT_EQ(ending("MPI VERSION    : CRAY MPICH version 8.1.28.29"), ".mpi-cray-mpich.profile");
}

TEST_F(ProfileInItsPlace, OfTheUserComesBeforeThoseOfTheSystem) {
  write("user", "1");
  write("home/.config", "2");
  write("system", "3");
  const auto latency = [&](const Settings::Values& values) {
    const Settings settings(values);
    return plan::network_of(library).network.link.latency;
  };
  const std::string dirs = place("none") + ":relative:" + place("system");
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("user")}, {"HOME", place("home")}, {"XDG_CONFIG_DIRS", dirs}}), 1);
  EXPECT_EQ(latency({{"HOME", place("home")}, {"XDG_CONFIG_DIRS", dirs}}), 2);
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", "relative"}, {"HOME", place("home")}}), 2) << "as XDG says";
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("none")}, {"HOME", place("home")}, {"XDG_CONFIG_DIRS", dirs}}), 3);
  EXPECT_EQ(latency({{"XDG_CONFIG_DIRS", dirs}}), 3);
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("none")}}), plan::assumed_link.latency);
  const std::string of_another = plan::profile_of("MPICH Version:\t4.0.2");
  EXPECT_EQ(of_another, "") << "that library has none";

  std::ofstream(place("named")) << "latency = 4\ngap = 0\nper_byte = 0\n";
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("user")}, {"STEADFOLD_PROFILE", place("named")}}), 4);
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("user")}, {"STEADFOLD_PROFILE", ""}}), 1);
  EXPECT_EQ(latency({{"XDG_CONFIG_HOME", place("user")}, {"STEADFOLD_PROFILE", place("gone")}}),
            plan::assumed_link.latency)
      << "and none of another place, of which nobody thinks";
  const Settings gone({{"STEADFOLD_PROFILE", place("gone")}});
  EXPECT_EQ(
      plan::network_of(library).unused_profile,
      "the profile " + place("gone") + " is not used: " + place("gone") +
          " cannot be read (the file does not exist or is not readable), write the profile with `steadfold tune`");
  const Settings found({{"STEADFOLD_PROFILE", place("named")}});
  EXPECT_EQ(plan::network_of(library).unused_profile, "");
  const Settings homeless(Settings::Values{});
  EXPECT_EQ(plan::own_profile(library), "") << "the system's place is not the user's";
}

std::string chosen(Count columns, Rank ranks, const LogGP& link) {
  const auto description = call::describe(Call{.method = Method::tree, .columns = columns});
  const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(ranks), 1));
  return plan::chosen_schedule("auto", std::span(&description, 1), layout, {.link = link}).schedule;
}

/// Few rounds where starts are dear, few bytes where bytes are: [S1] section 2.3.
TEST(Profile, DecidesWhatIsChosen) {
  const LogGP slow_starts{.latency = 1e-4, .gap = 1e-3, .per_byte = 1e-12};
  const LogGP slow_bytes{.latency = 1e-9, .gap = 1e-9, .per_byte = 1e-6};
  EXPECT_EQ(chosen(10000, 16, slow_starts), "recursive_doubling");
  const std::string of_bytes = chosen(10000, 16, slow_bytes);
  EXPECT_TRUE(of_bytes == "transpose" || of_bytes == "ring" || of_bytes == "halving_doubling") << of_bytes;
  LogGP waits{.latency = 1e-6, .gap = 1e-7, .per_byte = 1e-11};
  EXPECT_NE(chosen(20000, 16, waits), "recursive_doubling");  // 160 KB at once
  waits.eager_limit = 1024;
  waits.rendezvous = 1e-3;
  EXPECT_EQ(chosen(20000, 16, waits), "doubly_pipelined_tree") << "no block of 1 KB waits";
  waits.eager_limit = 64;
  EXPECT_EQ(chosen(20000, 16, waits), "recursive_doubling") << "in each of many rounds something would wait";
}

/// Sixteen rows are kept, and finished by each rank or a part by each; of more there are accumulators, merged on the
/// way.
TEST(Profile, DecidesByWhatPartialsTakeToo) {
  const auto chosen = [](Rank ranks, plan::Rates values, plan::Rates accumulators) {
    const auto description = call::describe(Call{.method = Method::exact, .columns = 255});
    const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(ranks), 1));
    const plan::Network network{.link = {.latency = 1e-6, .gap = 1e-7, .per_byte = 0}, .rates = {values, accumulators}};
    return plan::chosen_schedule("auto", std::span(&description, 1), layout, network).schedule;
  };
  constexpr plan::Rates nothing, dear_merges{.merge_per_byte = 1e-8}, dear_finishes{.finish_per_byte = 1e-8};
  EXPECT_NE(chosen(16, nothing, dear_finishes), "halving_doubling") << "few latencies; there are no accumulators";
  EXPECT_EQ(chosen(16, dear_finishes, nothing), "halving_doubling") << "each finishes a part";
  EXPECT_EQ(chosen(1000, nothing, nothing).find("bruck"), 0u);
  EXPECT_EQ(chosen(1000, dear_finishes, nothing), chosen(1000, nothing, nothing)) << "no rows are kept";
  EXPECT_NE(chosen(1000, nothing, dear_merges).find("bruck"), 0u) << "which merges most";
  EXPECT_EQ(chosen(1000, nothing, dear_finishes), "halving_doubling");
}

TEST(Profile, DecidesHowVectorsAreCut) {
  LogGP link{.latency = 1e-6, .gap = 0, .per_byte = 1e-9};
  const auto blocks = plan::best_pipeline(16, 2, 1'000'000, link).blocks;
  EXPECT_GT(blocks, 50);
  link.rendezvous = 99e-6;  // every block that is too long starts a hundred times later
  link.eager_limit = 100;
  const auto few = plan::best_pipeline(16, 2, 1'000'000, link);
  EXPECT_NEAR(few.blocks, blocks / 10, 1e-9 * blocks) << "of 36 bytes there would be too many";
  link.eager_limit = 1064;
  const auto eager = plan::best_pipeline(16, 2, 1'000'000, link);
  EXPECT_EQ(eager.blocks, 1000) << "with headers";
  EXPECT_LT(eager.seconds, 0.7 * few.seconds);
  link.eager_limit = 64'000;
  EXPECT_NEAR(plan::best_pipeline(16, 2, 1'000'000, link).blocks, blocks, 1e-9 * blocks) << "all are short";
  EXPECT_EQ(plan::best_pipeline(2, 2, 1'000'000, link).blocks, 16) << "nothing to overlap, but no wait";
  link.rendezvous = 1e-6;
  EXPECT_EQ(plan::best_pipeline(2, 2, 1'000'000, link).blocks, 1) << "nothing to overlap, and few waits";
  link.long_from = 250'000;
  link.long_per_byte = 1e-8;
  EXPECT_EQ(plan::best_pipeline(2, 2, 1'000'000, link).blocks, 4) << "nothing to overlap, but quick bytes";
}

}  // namespace
}  // namespace steadfold::test::profile_test
