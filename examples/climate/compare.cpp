// The comparison; see compare.hpp.
#include "compare.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/launch.hpp"
#include "table.hpp"

namespace climate {
namespace {

/// An empty directory for as long as it lives.
class Room {
 public:
  Room() {
    std::string name = (std::filesystem::temp_directory_path() / "climate-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(fmt::format("cannot make {} (mkdtemp failed), set TMPDIR", name));
    path = name;
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { std::filesystem::remove_all(path); }

  std::string path;
};

Record run(int ranks, const std::string& arguments, std::uint64_t steps) {
  return example::run_ranks(ranks, fmt::format("{} --steps {}", arguments, steps));
}

/// The first half of the steps on some ranks, the rest on others.
Record run_with_restart(int before, int after, const std::string& arguments, std::uint64_t steps) {
  const Room room;
  run(before, fmt::format("{} --save '{}'", arguments, room.path), steps / 2);
  return run(after, fmt::format("{} --load '{}'", arguments, room.path), steps - steps / 2);
}

template <class Run>
Pair both(std::string label, const std::string& arguments, Run run) {
  return {.label = std::move(label), .plain = run(arguments + " --plain"), .steadfold = run(arguments)};
}

}  // namespace

int compare(const std::string& arguments, std::uint64_t steps, const std::vector<int>& rank_counts) {
  example::prepare_environment();
  std::vector<Pair> pairs;
  const auto show = [&](Pair pair) {
    pairs.push_back(std::move(pair));
    if (pairs.size() == 1) fmt::print("{}", table_head(pairs.front()));
    fmt::print("{}", table_row(pairs.back(), pairs.front()));
    std::fflush(stdout);
  };
  for (const int ranks : rank_counts)
    show(both(std::to_string(ranks), arguments, [&](const std::string& words) { return run(ranks, words, steps); }));
  const int before = rank_counts.back(), after = rank_counts.front();
  show(both(fmt::format("{}, then {}", before, after), arguments,
            [&](const std::string& words) { return run_with_restart(before, after, words, steps); }));
  fmt::print("\n{}", conclude(pairs));
  return same_by_steadfold(pairs) ? 0 : 1;
}

}  // namespace climate
