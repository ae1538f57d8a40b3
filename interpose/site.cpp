#include "site.hpp"

#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace steadfold::interpose {
namespace {

/// The environment without what is preloaded: the program that is asked knows no MPI.
std::vector<char*> environment_without_preload() {
  std::vector<char*> left;
  for (char** each = environ; *each != nullptr; ++each)
    if (std::strncmp(*each, "LD_PRELOAD=", 11) != 0) left.push_back(*each);
  left.push_back(nullptr);
  return left;
}

/// What addr2line prints of an address in a file: two lines, function and place; empty where it cannot be asked.
std::string asked_of_addr2line(std::string file, std::uintptr_t offset) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(offset));
  std::array<char, 10> program{"addr2line"};
  std::array<char, 5> options{"-fCe"};
  const std::array<char*, 5> words = {program.data(), options.data(), file.data(), text.data(), nullptr};
  std::vector<char*> environment = environment_without_preload();
  pid_t child = 0;
  const int code = posix_spawnp(&child, program.data(), &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string printed;
  std::array<char, 512> some{};
  for (ssize_t got = 0; code == 0 && (got = read(ends[0], some.data(), some.size())) > 0;)
    printed.append(some.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  if (code == 0) waitpid(child, nullptr, 0);
  return printed;
}

std::string_view name_of_file(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::string place_of(const void* address) {
  if (address == nullptr) return {};
  Dl_info found{};
  link_map* loaded = nullptr;
  if (dladdr1(address, &found, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0) return {};
  // The main program has no name in the loader's list; what is not position-independent is loaded at 0.
  const std::string file = loaded->l_name[0] == '\0' ? "/proc/self/exe" : loaded->l_name;
  std::array<char, 4096> real{};
  const ssize_t length = readlink(file.c_str(), real.data(), real.size() - 1);
  const std::string path = length > 0 && file == "/proc/self/exe" ? std::string(real.data()) : file;
  const std::string module(name_of_file(path));
  if (module.rfind("libmpi", 0) == 0) return "a call through " + module;  // of Fortran
  // One byte before, since a call may be the last of a line.
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - loaded->l_addr;
  const std::string printed = asked_of_addr2line(path, offset - 1);
  const std::size_t first_end = printed.find('\n');
  const std::string function = first_end == std::string::npos ? "??" : printed.substr(0, first_end);
  std::string place = first_end == std::string::npos ? "??" : printed.substr(first_end + 1);
  place = place.substr(0, place.find_first_of(" \n"));
  if (place.rfind("??", 0) != 0 && place.find(":?") == std::string::npos)
    return function + " (" + std::string(name_of_file(place)) + ")";
  if (function != "??") return function + " in " + module;
  if (found.dli_sname != nullptr) return std::string(found.dli_sname) + " in " + module;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "+0x%llx", static_cast<unsigned long long>(offset));
  return module + text.data();
}

}  // namespace steadfold::interpose
