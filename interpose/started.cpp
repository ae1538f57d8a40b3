#include "started.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "requests.hpp"
#include "trace.hpp"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define STEADFOLD_PERSISTENT(name) PMPIX_##name##_init
#else
#define STEADFOLD_PERSISTENT(name) PMPI_##name##_init
#endif

namespace steadfold::interpose {
namespace {

constexpr std::size_t most_started = std::size_t{256} << 20;

bool is_scan(const Call& call) noexcept {
  return call.collective == Collective::scan || call.collective == Collective::exscan;
}

}  // namespace

bool may_start(const Call& call, const Communicator& comm) noexcept {
  const std::size_t bytes = call.elements.memory_bytes();
  const std::size_t copies = is_scan(call) ? 2 : 1;  // number of copies of the rows of all ranks
  const auto most = static_cast<MPI_Count>(most_started / bytes / copies / static_cast<std::size_t>(comm.size));
  if (call.collective != Collective::reduce_scatter) return call.count <= most;
  return *std::ranges::max_element(call.counts) <= most && call.total() <= static_cast<MPI_Count>(most_started / bytes);
}

Started::Started(Call call, const Communicator& comm)
    : call_(std::move(call)), comm_(comm), records_(input_bytes(), comm.size), sent_parts_(0), row_parts_(0) {
  const Elements& elements = call_.elements;
  std::size_t copied = elements.are_packed() ? 0 : input_bytes();
  std::size_t gathered = elements.bytes() * static_cast<std::size_t>(call_.result_count(comm.rank) * comm.size);
  if (is_scan(call_)) {
    copied = gathered = records_.bytes();
    record_ = std::make_unique<RecordType>(records_.bytes());
  }
  constexpr std::size_t alignment = 16;
  copied = (copied + alignment - 1) / alignment * alignment;
  memory_.reset(new std::byte[copied + gathered]);
  copy_ = copied == 0 ? nullptr : memory_.get();
  rows_ = memory_.get() + copied;
  kept_type_ = elements.kept_type();
  keep_operator(elements.kept_op());
  sent_ = copy_ == nullptr ? elements.at(call_.input(), 0) : copy_;
}

Started::~Started() {
  if (kept_type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&kept_type_);
  release_operator(call_.elements.kept_op());
}

void Started::contribute() {
  const Elements& elements = call_.elements;
  const std::byte* const from = elements.at(call_.input(), 0);
  if (is_scan(call_)) {
    elements.pack(from, static_cast<int>(call_.input_count()), records_.open(copy_, comm_.rank));
    std::memset(rows_, 0, records_.bytes());
  } else if (copy_ != nullptr) {
    elements.pack(from, static_cast<int>(call_.input_count()), copy_);
  }
  if (!is_traced()) return;
  name_ = comm_.next_call();
  input_ = input_digest(call_);
}

int Started::start(MPI_Request* request) {
  const auto bytes = static_cast<int>(input_bytes());
  const MPI_Comm comm = comm_.handle;
  switch (call_.collective) {
    case Collective::allreduce: return PMPI_Iallgather(sent_, bytes, MPI_BYTE, rows_, bytes, MPI_BYTE, comm, request);
    case Collective::reduce:
      return PMPI_Igather(sent_, bytes, MPI_BYTE, rows_, bytes, MPI_BYTE, call_.root, comm, request);
    case Collective::reduce_scatter:
      deal();
      return PMPI_Ialltoallv(sent_, sent_parts_.bytes.data(), sent_parts_.begins.data(), MPI_BYTE, rows_,
                             row_parts_.bytes.data(), row_parts_.begins.data(), MPI_BYTE, comm, request);
    case Collective::scan: return PMPI_Iscan(sent_, rows_, 1, record_->get(), merging(), comm, request);
    case Collective::exscan: return PMPI_Iexscan(sent_, rows_, 1, record_->get(), merging(), comm, request);
  }
  return MPI_ERR_INTERN;
}

/// Sets the sizes of messages, for calls that use an all-to-all of the MPI library.
void Started::deal() {
  const auto ranks = static_cast<std::size_t>(comm_.size);
  sent_parts_ = row_parts_ = Dealt(comm_.size);
  const bool is_scattered = call_.collective == Collective::reduce_scatter;
  for (std::size_t r = 0, begin = 0; r < ranks; ++r) {
    const bool gets_any = call_.collective != Collective::reduce || static_cast<int>(r) == call_.root;
    const MPI_Count count = is_scattered ? call_.counts[r] : gets_any ? call_.count : 0;
    sent_parts_.begins[r] = static_cast<int>(begin);
    sent_parts_.bytes[r] = static_cast<int>(call_.elements.bytes()) * static_cast<int>(count);
    // Otherwise all ranks get the same elements.
    if (is_scattered) begin += static_cast<std::size_t>(sent_parts_.bytes[r]);
  }
  row_parts_.deal(sent_parts_.bytes[static_cast<std::size_t>(comm_.rank)]);
}

int Started::prepare([[maybe_unused]] MPI_Info info, [[maybe_unused]] MPI_Request* request) {
#if defined(OPEN_MPI) || MPI_VERSION >= 4
  const MPI_Comm comm = comm_.handle;
  if (is_scan(call_))
    return call_.collective == Collective::scan
               ? STEADFOLD_PERSISTENT(Scan)(sent_, rows_, 1, record_->get(), merging(), comm, info, request)
               : STEADFOLD_PERSISTENT(Exscan)(sent_, rows_, 1, record_->get(), merging(), comm, info, request);
  // Persistent gathers and allgathers are not used: MPICH 4.0.2 sends the buffer's content at the request's creation.
  deal();
  return STEADFOLD_PERSISTENT(Alltoallv)(sent_, sent_parts_.bytes.data(), sent_parts_.begins.data(), MPI_BYTE, rows_,
                                         row_parts_.bytes.data(), row_parts_.begins.data(), MPI_BYTE, comm, info,
                                         request);
#else
  return MPI_ERR_INTERN;
#endif
}

void Started::finish() {
  reduce();
  if (is_traced()) trace(name_, input_, result_digest(call_, comm_), call_);
}

void Started::reduce() {
  const Elements& elements = call_.elements;
  const auto count = static_cast<int>(call_.result_count(comm_.rank));
  if (count == 0) return;
  const int rows = !is_scan(call_) ? comm_.size : comm_.rank + (call_.collective == Collective::scan ? 1 : 0);
  elements.reduce(is_scan(call_) ? records_.rows(rows_, rows) : rows_, rows, count, call_.to, 0);
}

}  // namespace steadfold::interpose
