#include "site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

namespace steadfold::interpose {
namespace {

/// Returns the environment without LD_PRELOAD, for a helper program that does not use MPI.
std::vector<char*> environment_without_preload() {
  std::vector<char*> left;
  for (char** each = environ; *each != nullptr; ++each)
    if (std::strncmp(*each, "LD_PRELOAD=", 11) != 0) left.push_back(*each);
  left.push_back(nullptr);
  return left;
}

/// Starts a program, which is looked up in PATH. Returns a file descriptor to read its output, or -1 if it cannot
/// start.
int start(std::vector<std::string> words, pid_t& child) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_without_preload();
  const int code = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code == 0) return ends[0];
  close(ends[0]);
  return -1;
}

/// Returns the lines that a program prints.
std::vector<std::string> lines_of(const std::vector<std::string>& words) {
  pid_t child = 0;
  const int from = start(words, child);
  if (from < 0) return {};
  std::vector<std::string> lines(1);
  std::array<char, 512> some{};
  for (ssize_t got = 0; (got = read(from, some.data(), some.size())) != 0;) {
    if (got < 0 && errno != EINTR) break;
    for (ssize_t i = 0; i < got; ++i)
      some[static_cast<std::size_t>(i)] == '\n' ? void(lines.emplace_back())
                                                : lines.back().push_back(some[static_cast<std::size_t>(i)]);
  }
  close(from);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return lines;
}

/// Removes template arguments, parameters and anonymous namespaces from the name of a function. Operators keep their
/// names.
std::string without_arguments(std::string name) {
  if (name.find("operator") != std::string::npos) return name;
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  std::string text;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (c == '(' && depth == 0) break;
    if (depth == 0) text += c;
    if (c == '>') --depth;
  }
  return text.substr(text.rfind(' ') + 1);  // demangled templates begin with the type of the result
}

std::string_view name_of_file(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// Whether a file has the symbols of all its functions. In a stripped file addr2line names the exported function
/// before the address, however far away it is.
bool has_all_symbols(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  ElfW(Ehdr) head{};
  bool found = false;
  if (std::fread(&head, sizeof head, 1, file) == 1 && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      std::fseek(file, static_cast<long>(head.e_shoff), SEEK_SET) == 0) {
    ElfW(Shdr) section{};
    for (int i = 0; i < head.e_shnum && !found && std::fread(&section, sizeof section, 1, file) == 1; ++i)
      found = section.sh_type == SHT_SYMTAB;
  }
  std::fclose(file);
  return found;
}

/// Returns the name of a C++ function without its template arguments and parameters, other names as they are.
std::string short_name(const char* symbol) {
  int status = 0;
  char* const whole = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = whole == nullptr ? symbol : whole;
  std::free(whole);
  return without_arguments(name);
}

/// The file of an address, and the address relative to the file.
struct Found {
  std::string file;
  std::uintptr_t offset = 0;
  std::string symbol;  // name of the exported function that has the address; may be empty
};

Found found_in_memory(const void* address) {
  Dl_info info{};
  link_map* loaded = nullptr;
  if (address == nullptr || dladdr1(address, &info, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0) return {};
  Found found{.file = loaded->l_name,
              .offset = reinterpret_cast<std::uintptr_t>(address) - loaded->l_addr,
              .symbol = info.dli_sname == nullptr ? "" : short_name(info.dli_sname)};
  if (!found.file.empty()) return found;
  // The loader gives the main program no name, so its name is read from /proc.
  std::array<char, 4096> real{};
  const ssize_t length = readlink("/proc/self/exe", real.data(), real.size() - 1);
  found.file = length > 0 ? std::string(real.data()) : "the program";
  return found;
}

/// Describes a place. `told` and `place` are addr2line's output: "??" and "??:0" if unknown. `is_stripped`: only
/// exported functions have names.
std::string text_of(const Found& found, const std::string& told, std::string place, bool is_stripped) {
  const std::string function = without_arguments(told);
  const std::string module(name_of_file(found.file));
  place = place.substr(0, place.find(' '));  // addr2line may add "(discriminator 3)"
  const bool has_line = place.find('?') == std::string::npos && place.find(':') != std::string::npos;
  if (has_line) return function + " (" + std::string(name_of_file(place)) + ")";
  if (!found.symbol.empty()) return found.symbol + " in " + module;
  if (function != "??" && !is_stripped) return function + " in " + module;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "+0x%llx", static_cast<unsigned long long>(found.offset));
  return module + text.data();
}

/// Returns the beginning of the file in memory that has the address; null if there is none.
const void* beginning_of_file(const void* address) {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Returns the place of each return address.
std::vector<std::string> places_of_addresses(const std::vector<const void*>& addresses) {
  std::vector<std::string> places(addresses.size());
  std::map<std::string, std::vector<std::pair<std::size_t, Found>>> by_file;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Found found = found_in_memory(addresses[i]);
    if (found.file.empty()) continue;
    if (name_of_file(found.file).starts_with("libmpi"))  // a Fortran library of MPI, not the program
      places[i] = "a call through " + std::string(name_of_file(found.file));
    else
      by_file[found.file].emplace_back(i, found);
  }
  for (const auto& [file, all] : by_file) {
    std::vector<std::string> words = {"addr2line", "-fCe", file};
    for (const auto& [i, found] : all) {
      std::array<char, 32> text{};
      // The address is one byte lower, because the return address may belong to the next line.
      std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(found.offset - 1));
      words.emplace_back(text.data());
    }
    std::vector<std::string> lines = lines_of(words);
    if (lines.size() < 2 * all.size()) lines.assign(2 * all.size(), "??");
    const bool is_stripped = !has_all_symbols(file);
    for (std::size_t k = 0; k < all.size(); ++k)
      places[all[k].first] = text_of(all[k].second, lines[2 * k], lines[2 * k + 1], is_stripped);
  }
  return places;
}

/// The frames of this thread's stack, from the inside to the outside.
struct Walk {
  Addresses found;
  int wanted;  // number of addresses to find
  int count = 0;
  const void* left_out = nullptr;  // beginning of the library whose frames are left out
};

_Unwind_Reason_Code take_frame(_Unwind_Context* frame, void* given) {
  Walk& walk = *static_cast<Walk*>(given);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): libgcc has the address as a number
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  if (walk.count == 0) {
    if (address == walk.found.front()) walk.count = 1;
    return _URC_NO_REASON;
  }
  if (walk.left_out != nullptr && beginning_of_file(address) == walk.left_out) return _URC_NO_REASON;
  walk.left_out = nullptr;
  if (walk.count >= walk.wanted || address == nullptr) return _URC_END_OF_STACK;
  walk.found.at(static_cast<std::size_t>(walk.count++)) = address;
  return _URC_NO_REASON;
}

}  // namespace

bool is_in_program(const void* address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives the address as a number
  static const void* const program = beginning_of_file(reinterpret_cast<const void*>(getauxval(AT_PHDR)));
  return beginning_of_file(address) == program;
}

Addresses addresses_of(const void* site, int callers) {
  Walk walk{.found = {site}, .wanted = 1 + callers};
  if (callers == 0 || site == nullptr) return walk.found;
  if (!is_in_program(site)) walk.left_out = beginning_of_file(site);
  _Unwind_Backtrace(take_frame, &walk);
  return walk.found;
}

std::vector<std::string> places_of(const std::vector<Addresses>& calls) {
  std::vector<const void*> all;
  for (const Addresses& call : calls)
    std::ranges::copy_if(call, std::back_inserter(all), [](const void* each) { return each != nullptr; });
  const std::vector<std::string> texts = places_of_addresses(all);
  std::vector<std::string> places(calls.size());
  auto text = texts.begin();
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const void* const each : calls[i])
      if (each != nullptr) places[i] += (places[i].empty() ? "" : " < ") + *text++;
  return places;
}

}  // namespace steadfold::interpose
