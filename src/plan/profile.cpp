#include "plan/profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "transport/hardware.hpp"

namespace steadfold::plan {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr const char* write_it = "write the profile with `steadfold tune`";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

[[noreturn]] void refuse(const std::string& problem, const std::string& why) {
  throw std::invalid_argument(problem + " (" + why + "), " + write_it);
}

constexpr const char* latency = "latency";
constexpr const char* gap = "gap";
constexpr const char* per_byte = "per_byte";
constexpr auto link_keys = [] {
  std::array<std::string_view, 3 + 2 * link_limits.size()> keys = {latency, gap, per_byte};
  std::size_t next = 3;
  for (const LinkLimit& each : link_limits) {
    keys[next++] = each.limit_name;
    keys[next++] = each.name;
  }
  return keys;
}();
constexpr const char* merge_key = ".merge_per_byte";
constexpr const char* finish_key = ".finish_per_byte";

/// Returns the prefix of the keys of a link inside a node.
std::string prefix_of(const LinkInside& link) { return std::string(link.name) + "."; }

bool is_link_key(std::string_view key, std::string_view prefix) {
  return key.starts_with(prefix) && std::ranges::find(link_keys, key.substr(prefix.size())) != link_keys.end();
}

bool is_figure(std::string_view key) {
  for (const std::string_view content : content_names)
    if (key.starts_with(content))
      return key.substr(content.size()) == merge_key || key.substr(content.size()) == finish_key;
  const auto has_key = [&](const LinkInside& link) { return is_link_key(key, prefix_of(link)); };
  return is_link_key(key, "") || std::ranges::any_of(links_inside, has_key);
}

/// The figures of a profile, by key.
class Figures {
 public:
  bool has(const std::string& key) const { return figures_.contains(key); }
  double of(const std::string& key) const { return figures_.at(key); }
  double of(const std::string& key, double otherwise) const { return has(key) ? of(key) : otherwise; }
  /// Adds a figure. Returns false if the key exists already.
  bool add(const std::string& key, double figure) { return figures_.emplace(key, figure).second; }

 private:
  std::map<std::string, double> figures_;
};

double number_in(std::string_view value, const std::string& where) {
  double number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failed != std::errc() || end != value.data() + value.size() || !(number >= 0) || !(number < 1e12))
    refuse(where + " cannot be used", "'" + std::string(value) + "' is not a number from 0 to 1e12");
  return number;
}

bool tells_origin(std::string_view key) {
  for (const std::string_view each : {"processor", "mpi", "release", "date", "residual"})
    if (key == each) return true;
  return false;
}

void take_line(std::string_view line, int number, Figures& figures) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return;
  const std::string where = "line " + std::to_string(number);
  const std::size_t sign = line.find('=');
  if (sign == std::string_view::npos)
    refuse(where + " is not of the form `key = value`", "'" + std::string(line.substr(0, 40)) + "'");
  const std::string_view key = trimmed(line.substr(0, sign));
  const std::string_view value = trimmed(line.substr(sign + 1));
  if (is_figure(key)) {
    if (!figures.add(std::string(key), number_in(value, where)))
      refuse(where + " says " + std::string(key) + " a second time", "an earlier line has the same key");
  } else if (!tells_origin(key)) {
    refuse(where + " has an unknown key", "'" + std::string(key.substr(0, 40)) + "'");
  }
}

/// Sets the limit and its figure if the profile has them.
void take_limit(const Figures& figures, const std::string& prefix, const LinkLimit& each, transport::LogGP& link) {
  const std::string limit = prefix + std::string(each.limit_name);
  const std::string figure = prefix + std::string(each.name);
  if (figures.has(limit) != figures.has(figure))
    refuse("figures are missing", limit + " and " + figure + " must be given together");
  if (!figures.has(limit)) return;
  link.*each.limit = static_cast<transport::Bytes>(figures.of(limit));
  link.*each.figure = figures.of(figure);
}

/// Reads the link whose keys have this prefix.
transport::LogGP link_in(const Figures& figures, const std::string& prefix) {
  if (!figures.has(prefix + latency) || !figures.has(prefix + gap) || !figures.has(prefix + per_byte))
    refuse("figures are missing",
           prefix + latency + ", " + prefix + gap + " and " + prefix + per_byte + " are all needed");
  transport::LogGP link{.latency = figures.of(prefix + latency),
                        .gap = figures.of(prefix + gap),
                        .per_byte = figures.of(prefix + per_byte)};
  if (link.latency + link.gap <= 0)
    refuse("figures cannot be used", prefix + latency + " and " + prefix + gap + " are both 0");
  for (const LinkLimit& each : link_limits) take_limit(figures, prefix, each, link);
  return link;
}

std::string line_of(const std::string& key, double figure) {
  char text[32] = "";
  std::snprintf(text, sizeof text, "%.4g", figure);
  return key + " = " + text + "\n";
}

std::string text_of(const transport::LogGP& link, const std::string& prefix) {
  std::string text = line_of(prefix + latency, link.latency) + line_of(prefix + gap, link.gap) +
                     line_of(prefix + per_byte, link.per_byte);
  for (const LinkLimit& each : link_limits) {
    if (link.*each.limit == transport::LogGP::no_limit) continue;
    text.append(prefix).append(each.limit_name).append(" = ").append(std::to_string(link.*each.limit)).append("\n");
    text.append(line_of(prefix + std::string(each.name), link.*each.figure));
  }
  return text;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the user's configuration directory as XDG defines it, or an empty path if there is no home directory. A
/// relative path is ignored, as XDG demands.
std::string own_folder() {
  std::string named = variable("XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  if (named.starts_with('/')) return named;
  return home.starts_with('/') ? home + "/.config" : "";
}

std::string ours_in(const std::string& folder) { return folder + "/steadfold/"; }

/// Returns this project's directories within XDG's configuration directories; the user's directory comes first.
std::vector<std::string> settings_folders() {
  const std::string dirs = variable("XDG_CONFIG_DIRS");
  const std::string listed = own_folder() + ":" + (dirs.empty() ? "/etc/xdg" : dirs) + ":";
  std::vector<std::string> folders;
  for (std::size_t begin = 0, end = 0; (end = listed.find(':', begin)) != std::string::npos; begin = end + 1)
    if (listed[begin] == '/') folders.push_back(ours_in(listed.substr(begin, end - begin)));
  return folders;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Rewrites a name for use in file names: "AMD EPYC 9B14" becomes "amd-epyc-9b14". If `kind` is set, the name ends
/// before its version: "Open MPI v4.1.4", like any other version, becomes "open-mpi".
std::string words_of(std::string_view name, bool kind) {
  std::string words;
  std::string word;
  for (const char c : std::string(name) + " ") {
    if (kind && is_digit(c)) break;
    if (is_letter(c) || is_digit(c)) {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else {
      if (!word.empty() && !(kind && word == "version")) words += (words.empty() ? "" : "-") + word;
      word.clear();
    }
  }
  return words;
}

std::string file_name_of(std::string_view processor, std::string_view library) {
  return words_of(processor, false) + "." + words_of(library, true) + ".profile";
}

}  // namespace

Network network_in(std::string_view profile) {
  Figures figures;
  for (int number = 1; !profile.empty(); ++number) {
    const std::size_t end = profile.find('\n');
    take_line(profile.substr(0, end), number, figures);
    profile.remove_prefix(end == std::string_view::npos ? profile.size() : end + 1);
  }
  Network network{.link = link_in(figures, "")};
  for (const LinkInside& each : links_inside) {
    const std::string prefix = prefix_of(each);
    const auto is_told = [&](std::string_view key) { return figures.has(prefix + std::string(key)); };
    network.*each.link = std::ranges::any_of(link_keys, is_told) ? link_in(figures, prefix) : network.*each.around;
  }
  for (std::size_t i = 0; i < network.rates.size(); ++i) {
    const std::string content(content_names[i]);
    Rates& rates = network.rates[i];
    rates.merge_per_byte = figures.of(content + merge_key, rates.merge_per_byte);
    rates.finish_per_byte = figures.of(content + finish_key, rates.finish_per_byte);
  }
  return network;
}

std::string text_of(const Network& network) {
  std::string text = text_of(network.link, "");
  for (const LinkInside& each : links_inside)
    if (network.*each.link != network.*each.around) text += text_of(network.*each.link, prefix_of(each));
  for (std::size_t i = 0; i < network.rates.size(); ++i) {
    const std::string content(content_names[i]);
    text += line_of(content + merge_key, network.rates[i].merge_per_byte) +
            line_of(content + finish_key, network.rates[i].finish_per_byte);
  }
  return text;
}

namespace {

std::string text_of_file(const std::string& path) {
  std::error_code ignored;  // reading from a pipe or another special file may block for ever
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path, std::ios::binary);
  constexpr std::size_t most = 1 << 16;
  std::string text(most + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) refuse(path + " cannot be read", "the file does not exist or is not readable");
  if (text.size() > most) refuse(path + " is not a profile", "the file has more than 64 KiB");
  return text;
}

}  // namespace

Network network_of_file(const std::string& path) {
  const std::string text = text_of_file(path);
  try {
    return network_in(text);
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(path + ": " + fault.what());
  }
}

std::string own_profile(std::string_view library) {
  const std::string folder = own_folder();
  return folder.empty() ? "" : ours_in(folder) + file_name_of(transport::processor_name(), library);
}

std::string profile_of(std::string_view library) {
  if (std::string named = variable("STEADFOLD_PROFILE"); !named.empty()) return named;
  const std::string name = file_name_of(transport::processor_name(), library);
  std::error_code ignored;
  for (const std::string& folder : settings_folders())
    if (std::filesystem::exists(folder + name, ignored)) return folder + name;
  return "";
}

FoundNetwork network_of(std::string_view library) {
  const std::string path = profile_of(library);
  if (path.empty()) return {};
  try {
    return {.network = network_in(text_of_file(path))};
  } catch (const std::invalid_argument& fault) {
    return {.unused_profile = "the profile " + path + " is not used: " + fault.what()};
  }
}

}  // namespace steadfold::plan
