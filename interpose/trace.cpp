#include "trace.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace steadfold::interpose {
namespace {

std::uint64_t mixed(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  return x ^ x >> 32;
}

std::uint64_t digest_of(std::uint64_t digest, const std::byte* bytes, std::size_t size) noexcept {
  for (; size >= 8; bytes += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    digest = mixed(digest ^ word);
  }
  std::uint64_t rest = size;
  std::memcpy(&rest, bytes, size);
  return mixed(digest ^ rest ^ std::uint64_t{size} << 56);
}

/// Computes a digest of long doubles, whose last bytes are padding.
std::uint64_t digest_of_long_doubles(std::uint64_t digest, const std::byte* numbers, MPI_Count count) noexcept {
  constexpr std::size_t bytes = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  for (MPI_Count i = 0; i < count; ++i) digest = digest_of(digest, numbers + i * MPI_Count{sizeof(long double)}, bytes);
  return digest;
}

/// Computes a digest of elements in the program's memory.
std::uint64_t digest_of(std::uint64_t digest, const void* buffer, MPI_Count count, MPI_Datatype type) {
  thread_local Memory memory;
  if (count <= 0) return digest;
  const auto* const bytes = static_cast<const std::byte*>(buffer);
  if (type == MPI_LONG_DOUBLE) return digest_of_long_doubles(digest, bytes, count);
  if (type == MPI_C_LONG_DOUBLE_COMPLEX) return digest_of_long_doubles(digest, bytes, 2 * count);
  int size = 0;
  MPI_Aint begin = 0, extent = 0, true_begin = 0, true_extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &begin, &extent);
  PMPI_Type_get_true_extent(type, &true_begin, &true_extent);
  if (combiner_of(type) == MPI_COMBINER_NAMED && extent == size && true_begin == 0 && true_extent == size)
    return digest_of(digest, bytes, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
  // The elements are packed in pieces, because MPI_Pack counts bytes in ints.
  const auto most = std::max<MPI_Count>((1 << 20) / std::max(size, 1), 1);
  for (MPI_Count first = 0; first < count; first += most) {
    const auto now = static_cast<int>(std::min(most, count - first));
    std::byte* const packed = memory.take(static_cast<std::size_t>(size) * static_cast<std::size_t>(now));
    pack_elements(bytes + extent * first, now, type, packed, size * now);
    digest = digest_of(digest, packed, static_cast<std::size_t>(size) * static_cast<std::size_t>(now));
  }
  return digest;
}

class Trace {
 public:
  Trace() : record_(setting("STEADFOLD_INTERPOSE_RECORD")), compared_(setting("STEADFOLD_INTERPOSE_COMPARE")) {}

  bool is_recorded() const noexcept { return !record_.empty(); }
  bool is_compared() const noexcept { return !compared_.empty(); }
  bool is_on() const noexcept { return is_recorded() || is_compared(); }

  /// Begins a record. Every rank calls it before its first reduction. Returns why the record cannot be written; empty
  /// if it can.
  std::string begin() {
    const std::lock_guard held(lock_);
    open();
    return fault_;
  }

  void drop() {
    const std::lock_guard held(lock_);
    if (out_ == nullptr) return;
    std::fclose(out_);
    out_ = nullptr;
    std::remove(file(record_).c_str());
  }

  void add(const Traced& traced, const Call& call) {
    const std::lock_guard held(lock_);
    const bool was_open = is_open_;  // false if begin() was not called
    open();
    if (!was_open && !fault_.empty()) say(fault_);
    ++calls_;
    if (out_ != nullptr) is_whole_ &= std::fwrite(&traced, sizeof traced, 1, out_) == 1;
    if (is_compared()) comparison_.compare(calls_, traced, call);
  }

  void end() {
    const std::lock_guard held(lock_);
    if (!is_on()) return;
    open();
    if (out_ != nullptr) {
      is_whole_ &= std::fseek(out_, offsetof(TraceHead, calls), SEEK_SET) == 0 &&
                   std::fwrite(&calls_, sizeof calls_, 1, out_) == 1;
      is_whole_ &= std::fclose(out_) == 0;
      out_ = nullptr;
      if (!is_whole_) {
        std::remove(file(record_).c_str());
        say("no record is written of rank " + std::to_string(rank_) + " (" + file(record_) +
            " cannot be written completely), free space on the disk");
      }
    }
    if (is_compared() && !is_spawned()) comparison_.tell(rank_, ranks_, calls_);
  }

  /// Ends the trace of a process that does not call MPI_Finalize. Makes no call of MPI.
  void end_alone() {
    const std::lock_guard held(lock_);
    if (is_compared() && is_open_) comparison_.tell_alone(rank_);
  }

 private:
  std::string file(const std::string& name) const { return name + "." + std::to_string(rank_); }

  void open() {
    if (is_open_) return;
    is_open_ = true;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    TraceHead head;
    head.rank = rank_;
    head.ranks = ranks_;
    if (is_spawned()) {
      say(std::string("nothing is ") + (record_.empty() ? "compared" : "recorded") +
          " (another process with the same rank spawned this process)");
      return;
    }
    if (!record_.empty()) {
      // O_EXCL makes sure that no older record is overwritten and no pipe blocks.
      const int opened = ::open(file(record_).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      const int why = errno;
      out_ = opened < 0 ? nullptr : fdopen(opened, "wb");
      if (out_ == nullptr)
        fault_ = "cannot write the record " + file(record_) + " (" +
                 (why == EEXIST ? "it exists already" : std::strerror(why)) + "), name another file";
      else
        write_first(head);
    }
    if (!is_compared()) return;
    if (const std::string why = comparison_.read(file(compared_), head); !why.empty())
      say("nothing of rank " + std::to_string(rank_) + " is compared (" + why + "), record the other run first");
  }

  void write_first(const TraceHead& head) {
    std::setvbuf(out_, nullptr, _IONBF, 0);  // a process that is killed must not take calls along
    is_whole_ = std::fwrite(&head, sizeof head, 1, out_) == 1;
  }

  std::mutex lock_;
  std::string record_, compared_;
  std::string fault_;
  bool is_open_ = false, is_whole_ = true;
  int rank_ = 0, ranks_ = 1;
  std::FILE* out_ = nullptr;
  std::uint64_t calls_ = 0;
  Comparison comparison_;
};

/// Returns the trace. The trace is never destroyed, because destructors of a program's static objects may reduce.
Trace& traces() {
  static Trace& only = *new Trace;
  return only;
}

}  // namespace

bool is_recorded() { return traces().is_recorded(); }
bool is_compared() { return traces().is_compared(); }
std::string open_trace() { return traces().is_on() ? traces().begin() : ""; }
void drop_trace() { traces().drop(); }
bool is_traced() { return traces().is_on(); }

std::uint64_t input_digest(const Call& call) {
  const MPI_Count count = call.input_count();
  std::uint64_t digest = mixed(static_cast<std::uint64_t>(call.collective) << 32 ^ static_cast<std::uint64_t>(count));
  const std::string_view name = name_of(call.elements.op());
  digest = digest_of(digest, reinterpret_cast<const std::byte*>(name.data()), name.size());
  return digest_of(digest, call.input(), count, call.elements.type());
}

std::uint64_t result_digest(const Call& call, const Communicator& comm) {
  return digest_of(0, call.to, call.result_count(comm.rank), call.elements.type());
}

void trace(const CallName& name, std::uint64_t input, std::uint64_t result, const Call& call) {
  traces().add({name, input, result}, call);
}

void end_trace() { traces().end(); }
void end_trace_alone() { traces().end_alone(); }

}  // namespace steadfold::interpose
