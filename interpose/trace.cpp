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

#include "settings.hpp"
#include "site.hpp"

namespace steadfold::interpose {
namespace {

struct Traced {
  CallName name;
  std::uint64_t input;
  std::uint64_t result;
};
static_assert(sizeof(Traced) == 24);

/// The beginning of a record. A run that ends without MPI_Finalize leaves `calls` as it was at the beginning.
struct TraceHead {
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  std::array<char, 8> what = {'s', 'f', 't', 'r', 'a', 'c', 'e', '2'};
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::uint64_t calls = no_end;  // number of calls that follow
};
static_assert(sizeof(TraceHead) == 24);

/// The first call of a rank that differs from the other run.
struct Parting {
  enum Kind : std::int32_t { none, unread, cut, absent, fewer, inputs, results } kind = none;
  std::int32_t rank = 0;
  std::uint64_t order = 0;  // number of the call among this rank's calls
  std::uint64_t call = 0;   // key of the call, the same on all of its ranks
  std::array<char, 32> function{};
  std::array<char, 256> place{};
};

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
  int size = 0, integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Aint begin = 0, extent = 0, true_begin = 0, true_extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &begin, &extent);
  PMPI_Type_get_true_extent(type, &true_begin, &true_extent);
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED && extent == size && true_begin == 0 && true_extent == size)
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

  void add(const Traced& traced, const Place& place) {
    const std::lock_guard held(lock_);
    const bool was_open = is_open_;  // false if begin() was not called
    open();
    if (!was_open && !fault_.empty()) say(fault_);
    ++calls_;
    if (out_ != nullptr) is_whole_ &= std::fwrite(&traced, sizeof traced, 1, out_) == 1;
    if (!compared_.empty() && is_readable_ && parting_.kind == Parting::none) compare(traced, place);
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
    if (!compared_.empty() && !is_spawned()) tell();
  }

 private:
  static void say(const std::string& text) { std::fprintf(stderr, "steadfold: %s\n", text.c_str()); }
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
      is_readable_ = false;
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
    if (!compared_.empty()) read(head);
  }

  void write_first(const TraceHead& head) {
    std::setvbuf(out_, nullptr, _IONBF, 0);  // a process that is killed must not take calls along
    is_whole_ = std::fwrite(&head, sizeof head, 1, out_) == 1;
  }

  void read(const TraceHead& expected) {
    std::FILE* const in = std::fopen(file(compared_).c_str(), "rb");
    TraceHead head;
    const bool is_record = in != nullptr && std::fread(&head, sizeof head, 1, in) == 1 && head.what == expected.what;
    if (!is_record || head.rank != expected.rank || head.ranks != expected.ranks) {
      is_readable_ = false;
      say("nothing of rank " + std::to_string(rank_) + " is compared (" + file(compared_) +
          (in == nullptr ? " cannot be read"
           : is_record   ? " is of another number of ranks"
                         : " is not a record") +
          "), record the other run first");
    } else {
      std::array<Traced, 1024> some;
      for (std::size_t got = 0; (got = std::fread(some.data(), sizeof(Traced), some.size(), in)) > 0;)
        others_.insert(others_.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
      is_cut_ = head.calls != others_.size();
      std::ranges::sort(others_, {}, key);
    }
    if (in != nullptr) std::fclose(in);
  }

  static std::uint64_t key(const Traced& traced) noexcept {
    return std::uint64_t{traced.name.communicator} << 32 | traced.name.number;
  }

  void compare(const Traced& mine, const Place& place) {
    const auto other = std::ranges::lower_bound(others_, key(mine), {}, key);
    Parting::Kind kind = Parting::none;
    if (other == others_.end() || key(*other) != key(mine))
      kind = is_cut_ ? Parting::cut : Parting::absent;
    else if (other->input != mine.input)
      kind = Parting::inputs;
    else if (other->result != mine.result)
      kind = Parting::results;
    if (kind == Parting::none) return;
    parting_.kind = kind;
    parting_.rank = rank_;
    parting_.order = calls_;
    parting_.call = key(mine);
    std::snprintf(parting_.function.data(), parting_.function.size(), "%s", name_of(place.function));
    std::snprintf(parting_.place.data(), parting_.place.size(), "%s", places_of({place.site}).front().c_str());
  }

  /// Prints the findings of all ranks on rank 0.
  void tell() {
    std::vector<Parting> all(static_cast<std::size_t>(rank_ == 0 ? ranks_ : 0));
    if (!is_readable_) parting_.kind = Parting::unread;
    if (parting_.kind == Parting::none && (calls_ < others_.size() || is_cut_)) {
      parting_.kind = calls_ < others_.size() ? Parting::fewer : Parting::cut;
      parting_.rank = rank_;
      parting_.order = calls_ + 1;
    }
    PMPI_Gather(&parting_, sizeof parting_, MPI_BYTE, all.data(), sizeof parting_, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank_ == 0) tell_all(std::move(all));
  }

  /// Prints the findings of these ranks, earliest calls first. A record that ends early is no difference.
  static void tell_all(std::vector<Parting> all) {
    const auto ranks = all.size();
    const auto unread = std::erase_if(all, [](const Parting& each) { return each.kind == Parting::unread; });
    std::erase_if(all, [](const Parting& each) { return each.kind == Parting::none; });
    const bool differs = std::ranges::any_of(all, [](const Parting& each) { return each.kind != Parting::cut; });
    if (unread == ranks) return say("nothing was compared (no rank has a record of the other run)");
    if (unread > 0)
      say(std::to_string(unread) + " of " + std::to_string(ranks) + " ranks were not compared" +
          (all.empty() ? "; no compared rank differs" : ""));
    else if (all.empty())
      say("the reductions of both runs are the same on all ranks, with the same contributions and results");
    if (all.empty()) return;
    std::ranges::stable_sort(all, {}, &Parting::order);
    say(std::string(differs ? "the runs differ; the first different reduction of each rank follows"
                            : "the reductions of both runs are the same as far as the records go") +
        (all.size() > most_told ? " (only the earliest ranks)" : ""));
    for (std::size_t i = 0; i < std::min(all.size(), most_told); ++i) {
      const Parting& each = all[i];
      std::fprintf(stderr, "rank %d, reduction number %llu%s%s%s%s: %s%s\n", each.rank,
                   static_cast<unsigned long long>(each.order), each.function[0] == '\0' ? "" : ", ",
                   each.function.data(), each.place[0] == '\0' ? "" : " in ", each.place.data(), text_of(each.kind),
                   cause_of(each, all).c_str());
    }
  }

  /// Returns why a result differs if another rank contributed differently to the same call.
  static std::string cause_of(const Parting& parting, const std::vector<Parting>& all) {
    if (parting.kind != Parting::results) return "";
    const auto other = std::ranges::find_if(
        all, [&](const Parting& each) { return each.kind == Parting::inputs && each.call == parting.call; });
    return other == all.end() ? "" : ", since the contribution of rank " + std::to_string(other->rank) + " differs";
  }

  static const char* text_of(Parting::Kind kind) noexcept {
    switch (kind) {
      case Parting::none:
      case Parting::unread: break;
      case Parting::cut:
        return "the record ends before this call: its run did not reach MPI_Finalize, or the file is cut";
      case Parting::absent: return "the recorded run does not have this call";
      case Parting::fewer: return "only the recorded run has this call";
      case Parting::inputs: return "the contribution of this rank or the call differs";
      case Parting::results: return "the contribution is the same, but the result differs";
    }
    return "";
  }

  static constexpr std::size_t most_told = 8;
  std::mutex lock_;
  std::string record_, compared_;
  std::string fault_;
  bool is_open_ = false, is_whole_ = true, is_readable_ = true;
  bool is_cut_ = false;  // whether the compared record has no end, or lacks calls
  int rank_ = 0, ranks_ = 1;
  std::FILE* out_ = nullptr;
  std::vector<Traced> others_;
  std::uint64_t calls_ = 0;
  Parting parting_;
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

void trace(const CallName& name, std::uint64_t input, std::uint64_t result, const Place& place) {
  traces().add({name, input, result}, place);
}

void end_trace() { traces().end(); }

}  // namespace steadfold::interpose
