#include "report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "settings.hpp"
#include "site.hpp"

namespace steadfold::interpose {
namespace {

/// Calls with equal function, operator, type and treatment.
struct Line {
  steadfold_interpose_index function;
  std::string op;
  std::string type;
  Treatment treatment;
  sf_method method;
  Addresses addresses;
  unsigned long long calls = 0;
  unsigned long long bytes = 0;
  double seconds = 0;
  Difference difference = {};
};

std::mutex lock;
/// Returns the lines of the report. The lines are never destroyed, because destructors of a program's static objects
/// may finalise MPI.
std::vector<Line>& lines() {
  static std::vector<Line>& all = *new std::vector<Line>;
  return all;
}

/// Returns the number of bytes of the rows that this rank contributes.
unsigned long long bytes_of(const Call& call) {
  const MPI_Count count = call.input_count();
  int size = static_cast<int>(call.elements.bytes());
  if (call.elements.treatment() == Treatment::order_free) PMPI_Type_size(call.elements.type(), &size);
  return count <= 0 || size <= 0 ? 0 : static_cast<unsigned long long>(count) * static_cast<unsigned long long>(size);
}

/// Whether all calls whose bits may depend on the order were handled. The caller must hold the lock.
bool is_all_handled(const steadfold_interpose_shim& of) {
  const auto may_change = [](const Line& line) {
    return line.treatment == Treatment::across || line.treatment == Treatment::outside ||
           line.treatment == Treatment::too_large || line.treatment == Treatment::plain;
  };
  return std::ranges::none_of(lines(), may_change) &&
         std::all_of(of.counts, of.counts + steadfold_interpose_count, [](auto count) { return count == 0; });
}

/// Returns why the calls that the shim counted were passed on.
const char* reason_of_count(int function) noexcept {
  const bool is_one_sided = function >= MPI_Accumulate_index && function < steadfold_interpose_fortran;
  return is_one_sided ? "passed on: one-sided" : "passed on: by a tool, not with a PMPI function";
}

/// Whether the line names only a place in a library, although callers could be named.
bool is_in_library(const Line& line) {
  return line.addresses[0] != nullptr && line.addresses[1] == nullptr && !is_in_program(line.addresses[0]);
}

bool is_diagnosed(const Line& line) { return line.difference.compared > 0; }

std::string formatted(const char* format, auto... values) {
  std::array<char, 1024> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Describes a difference: "12 of 300, 5 ulps, 1.1e-16 of the largest term".
std::string text_of(const Difference& difference) {
  if (difference.compared == 0) return {};
  std::string text = std::to_string(difference.differing) + " of " + std::to_string(difference.compared);
  if (difference.differing == 0) return text;
  return text + (difference.most_ulps == Difference::not_a_number
                     ? ", a NaN"
                     : ", " + std::to_string(difference.most_ulps) + " ulps" +
                           formatted(", %.2g of the largest term", difference.most_relative));
}

std::string text_of_sums(sf_method method) {
  return text_of(method == SF_PLAIN ? Treatment::plain : Treatment::by_method, method);
}

std::string table(const steadfold_interpose_shim& shim, sf_method method, int rank, int size,
                  const std::vector<std::string>& places) {
  const bool has_differences = std::ranges::any_of(lines(), is_diagnosed);
  std::string text = formatted(
      "steadfold: the reductions of rank %d of %d. Sums: %s. These calls give the same bits on every run with this "
      "number of ranks%s.\n",
      rank, size, text_of_sums(method).c_str(),
      is_all_handled(shim) ? ""
                           : ", except for calls that were passed on to the MPI library although their order of "
                             "combining may change bits");
  if (lines().empty())
    text +=
        "This rank made no reduction that the interposer can see. It cannot see reductions of Python objects by mpi4py "
        "(comm.allreduce), because mpi4py sends messages for them.\n";
  const auto add = [&](const char* function, const std::string& op, const std::string& type, const std::string& calls,
                       const std::string& bytes, const std::string& seconds, const std::string& done,
                       const std::string& differing, const std::string& place) {
    text += formatted("%-26s %-12s %-22s %10s %14s %9s  %-42s", function, op.c_str(), type.c_str(), calls.c_str(),
                      bytes.c_str(), seconds.c_str(), done.c_str());
    if (has_differences) text += formatted("  %-48s", differing.c_str());
    text += "  " + place;
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  add("function", "operator", "type", "calls", "bytes", "seconds", "what was done", "differs from MPI", "where");
  auto place = places.begin();
  for (const Line& line : lines())
    add(shim.names[line.function], line.op, line.type, std::to_string(line.calls), std::to_string(line.bytes),
        formatted("%.3g", line.seconds), text_of(line.treatment, line.method), text_of(line.difference), *place++);
  for (int i = 0; i < steadfold_interpose_count; ++i)
    if (shim.counts[i] > 0)
      add(shim.names[i], "any", "any", std::to_string(shim.counts[i]), "", "", reason_of_count(i), "", "");
  if (std::ranges::any_of(lines(), is_in_library))
    text +=
        "Some of these places are in libraries. STEADFOLD_INTERPOSE_CALLERS=2, or steadfold run --callers 2, names the "
        "functions outside the library that called them.\n";
  return text;
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) < 32)
      all += formatted("\\u%04x", static_cast<unsigned>(c));
    else
      all += c;
  }
  return all + "\"";
}

std::string json(const steadfold_interpose_shim& shim, sf_method method, int rank, int size,
                 const std::vector<std::string>& places) {
  std::string text =
      formatted("{\"rank\": %d, \"ranks\": %d, \"sums\": %s, \"same_bits_again\": %s, \"calls\": [", rank, size,
                quoted(text_of_sums(method)).c_str(), is_all_handled(shim) ? "true" : "false");
  const char* between = "\n";
  auto place = places.begin();
  for (const Line& line : lines()) {
    text += between + formatted(
                          "  {\"function\": \"%s\", \"operator\": %s, \"type\": %s, \"calls\": %llu, \"bytes\": %llu, "
                          "\"seconds\": %.9g, ",
                          shim.names[line.function], quoted(line.op).c_str(), quoted(line.type).c_str(), line.calls,
                          line.bytes, line.seconds);
    if (is_diagnosed(line)) {
      text += formatted("\"compared\": %llu, \"differing\": %llu, ",
                        static_cast<unsigned long long>(line.difference.compared),
                        static_cast<unsigned long long>(line.difference.differing));
      text +=
          "\"most_ulps\": " +
          (line.difference.most_ulps == Difference::not_a_number ? "null" : std::to_string(line.difference.most_ulps)) +
          formatted(", \"most_relative\": %.3g, ", line.difference.most_relative);
    }
    text += "\"done\": " + quoted(text_of(line.treatment, line.method)) + ", \"where\": " + quoted(*place++) + "}";
    between = ",\n";
  }
  for (int i = 0; i < steadfold_interpose_count; ++i) {
    if (shim.counts[i] == 0) continue;
    text += between + formatted("  {\"function\": \"%s\", \"calls\": %llu, \"done\": \"%s\"}", shim.names[i],
                                shim.counts[i], reason_of_count(i));
    between = ",\n";
  }
  return text + "\n]}\n";
}

bool write_to(int descriptor, const std::string& text) {
  std::FILE* const out = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (out == nullptr) return false;
  const bool is_written = std::fputs(text.c_str(), out) >= 0;
  return std::fclose(out) == 0 && is_written;
}

/// Writes a temporary file and renames it, so that no incomplete report remains. Writes directly into a pipe or a
/// device, unless nobody reads the pipe.
bool write_whole(const std::string& file, const std::string& text) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return write_to(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), text);
  const std::string beside = file + ".part";
  const bool is_written = write_to(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), text) &&
                          std::rename(beside.c_str(), file.c_str()) == 0;
  if (!is_written) std::remove(beside.c_str());
  return is_written;
}

}  // namespace

void say(const std::string& text) { std::fprintf(stderr, "steadfold: %s\n", text.c_str()); }

void note_outcome(Outcome outcome) {
  static constexpr std::array names = {"reported\n", "same\n", "differs\n", "not_compared\n"};
  const std::string file = setting("STEADFOLD_INTERPOSE_OUTCOME");
  if (file.empty()) return;
  // On another machine there is no file, and nothing is written.
  write_to(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), names.at(static_cast<std::size_t>(outcome)));
}

// All user-defined types have one name, because a type may have the handle of an older type.
std::string name_of_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return "none";
  if (combiner_of(type) != MPI_COMBINER_NAMED) return "derived";
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Type_get_name(type, name.data(), &length);
  return name.data();
}

void note(const Call& call, Treatment treatment, double seconds, const Difference& difference) {
  const MPI_Op op = call.elements.op();
  const std::string op_name = op == MPI_OP_NULL ? "none" : name_of(op);
  const std::string type_name = name_of_type(call.elements.type());
  const unsigned long long bytes = bytes_of(call);
  const std::lock_guard held(lock);
  auto found = std::ranges::find_if(lines(), [&](const Line& line) {
    return line.function == call.place.function && line.addresses == call.place.addresses &&
           line.treatment == treatment && line.op == op_name && line.type == type_name;
  });
  if (found == lines().end())
    found = lines().insert(found, {.function = call.place.function,
                                   .op = op_name,
                                   .type = type_name,
                                   .treatment = treatment,
                                   .method = call.elements.method(),
                                   .addresses = call.place.addresses});
  ++found->calls;
  found->bytes += bytes;
  found->seconds += seconds;
  found->difference.add(difference);
}

std::string fault_of_report(const std::string& file) {
  if (file.empty()) return "";
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  struct stat status {};
  const bool exists = ::stat(file.c_str(), &status) == 0;
  const bool is_folder = exists && S_ISDIR(status.st_mode);
  const bool is_replaced = !exists || S_ISREG(status.st_mode);  // a pipe or a device is written directly
  if (!is_folder && access(is_replaced ? folder.c_str() : file.c_str(), W_OK) == 0) return "";
  return "cannot write the report " + file + " (" + (is_folder ? "it is a folder" : std::strerror(errno)) +
         "), name another file";
}

void write_report(const steadfold_interpose_shim& shim, sf_method method, int rank, int size, const std::string& file) {
  const std::lock_guard held(lock);
  std::vector<Addresses> calls;
  for (const Line& line : lines()) calls.push_back(line.addresses);
  const std::vector<std::string> places = places_of(calls);  // places of calls in the source, one for each line
  if (file.empty()) {
    // Written with one call, so that other output does not split the table.
    std::fputs(table(shim, method, rank, size, places).c_str(), stderr);
    return;
  }
  if (!write_whole(file, json(shim, method, rank, size, places)))
    std::fprintf(stderr, "steadfold: no report is written (%s cannot be written), name another file\n", file.c_str());
}

}  // namespace steadfold::interpose
