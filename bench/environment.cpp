// The facts about machine and build that are recorded with every figure.
#include <sched.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench.hpp"
#include "kernels/target.hpp"
#include "program/mpi_library.hpp"
#include "read.hpp"
#include "steadfold/steadfold.h"
#include "transport/hardware.hpp"

namespace steadfold::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the first line of a file, or "unknown".
std::string line_in(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  return std::getline(file, line) ? line : "unknown";
}

/// Describes the first core's caches, as in "L1 Data 48K".
Json caches() {
  Json found = Json::array();
  for (int i = 0; i < 8; ++i) {
    const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string level = line_in(cache + "/level");
    if (level != "unknown")
      found.push_back("L" + level + " " + line_in(cache + "/type") + " " + line_in(cache + "/size"));
  }
  return found;
}

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;  // the text includes the compiler's name
#else
  return std::string("GCC ") + __VERSION__;
#endif
}

/// Returns the number of cores on which this process may run; 0 if the system does not say.
int allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

Json environment() {
  utsname system{};
  uname(&system);
  const auto cores = std::thread::hardware_concurrency();
  const int allowed = allowed_cores();
  return {{"date", date()},
          {"cpu", transport::processor_name()},
          {"caches", caches()},
          {"cores", cores},
          {"allowed_cores", allowed},
          {"pinned", allowed > 0 && static_cast<unsigned>(allowed) < cores},
          {"governor", line_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"huge_pages", line_in("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"load", line_in("/proc/loadavg")},
          {"system", std::string(system.sysname) + " " + system.release},
          {"compiler", compiler()},
          {"flags", STEADFOLD_FLAGS},
          {"widest_target", widest_target()},
          {"target", kernels::name_of(kernels::chosen())},
          {"forced_target", kernels::forced()},
          {"mpi", command::mpi_library().version},
          {"steadfold", sf_version()}};
}

}  // namespace steadfold::bench
