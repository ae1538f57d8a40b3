// The C functions over MPI: they make groups from communicators. All other work is done in libsteadfold. Rank order:
// that of the call. Cost: a look-up of the communicator's attribute, some nanoseconds.
#include "transport/mpi/node_memory.hpp"
#include "transport/mpi/outside.hpp"
#include "transport/mpi/rma.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

#include "capi/layer.hpp"
#include "steadfold/steadfold_accumulator.h"
#include "steadfold/steadfold_fortran.h"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::capi {
namespace {

const LayerTable& table() {
  static const void* const found = sf_layer_table(STEADFOLD_VERSION);
  if (found == nullptr)
    throw std::runtime_error(std::string("libsteadfold has version ") + sf_version() +
                             " (its library for MPI has version " STEADFOLD_VERSION "), install both from one release");
  return *static_cast<const LayerTable*>(found);
}

/// Thrown if no group was made. libsteadfold has set the error text.
struct NoGroup {
  sf_status status;
};

class AttachedGroup final : public transport::Attached {
 public:
  explicit AttachedGroup(std::unique_ptr<transport::MpiTransport> messages) {
    const sf_status status = make_group(std::move(messages));
    if (status == SF_OK) return;
    if (window_) window_->end();
    throw NoGroup{status};
  }
  ~AttachedGroup() override {
    table().free_group(group_);
    if (window_) window_->end();
  }
  AttachedGroup(const AttachedGroup&) = delete;
  AttachedGroup& operator=(const AttachedGroup&) = delete;

  sf_group* group() const noexcept { return group_; }

 private:
  /// Makes a group over the transport that the environment asks for.
  sf_status make_group(std::unique_ptr<transport::MpiTransport> messages) {
    using transport::TransportChoice;
    const transport::AskedTransport asked = transport::asked_transport(*messages);
    if (asked.way == TransportChoice::rma) {
      const transport::RmaSettings settings = {.reads = asked.reads};
      window_ = transport::make_window(messages->comm(), settings.window_bytes, settings.reads);
      return table().make_group(std::make_unique<transport::RmaTransport>(std::move(messages), window_, settings),
                                nullptr, &group_);
    }
    if (asked.way == TransportChoice::messages) return table().make_group(std::move(messages), nullptr, &group_);
    const transport::NodeOfRank node = transport::make_node_memory(*messages);
    const bool is_shared = node.among.memory != nullptr;
    if (!is_shared && asked.way == TransportChoice::shared)
      throw std::runtime_error("transport shared cannot be used (" + node.why + "), set STEADFOLD_TRANSPORT=mpi");
    return table().make_group(std::move(messages), is_shared ? &node.among : nullptr, &group_);
  }

  std::shared_ptr<transport::Window> window_;  // the transport's window, if it has one
  sf_group* group_ = nullptr;
};

std::unique_ptr<transport::Attached> make_attached(std::unique_ptr<transport::MpiTransport> transport) {
  return std::make_unique<AttachedGroup>(std::move(transport));
}

/// Runs `body`, which returns a status, and converts exceptions to a status.
template <class Body>
sf_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const NoGroup& refused) {
    return refused.status;
  } catch (const std::runtime_error& unusable) {
    sf_set_error_text(unusable.what());
    return SF_INVALID_ARGUMENT;
  } catch (...) {
    sf_set_error_text("out of memory (no group could be made of the communicator), free memory or use fewer ranks");
    return SF_INTERNAL;
  }
}

/// Merges packed accumulators, as an operation of MPI.
void merge_packed(void* from, void* into, int* count, MPI_Datatype* type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(*type, &size);
  for (int i = 0; i < *count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(size) * i;
    sf_accumulator_merge_packed(static_cast<std::byte*>(from) + at, static_cast<std::byte*>(into) + at,
                                static_cast<std::uint64_t>(size));
  }
}

/// Converts the result of a local MPI call to a status.
sf_status status_of(int code, const char* what) {
  if (code == MPI_SUCCESS) return SF_OK;
  sf_set_error_text(
      (std::string(what) + " failed (MPI error " + std::to_string(code) + "), see the messages of the MPI library")
          .c_str());
  return SF_TRANSPORT_FAILED;
}

/// Returns the communicator that has this number in Fortran.
MPI_Comm communicator_of(int32_t number) noexcept {
#ifdef STEADFOLD_MPI_ABI
  return PMPI_Comm_fromint(number);  // MPI_Comm_f2c is not part of the standard's binary interface
#else
  return MPI_Comm_f2c(number);
#endif
}

/// Runs `body` on the communicator that has this number in Fortran. Refuses before MPI is initialised and after it is
/// finalised, because the MPI library would end the program.
template <class Body>
sf_status over_fortran(int32_t comm, Body body) noexcept {
  return guarded([&] {
    transport::require_mpi();
    return body(communicator_of(comm));
  });
}

/// Runs `body` on the communicator's group. If the group cannot be made, returns the status of the error.
template <class Body>
sf_status over(MPI_Comm comm, Body body) noexcept {
  sf_group* group = nullptr;
  const sf_status status = sf_group_of(comm, &group);
  return status == SF_OK ? body(group) : status;
}

}  // namespace
}  // namespace steadfold::capi

using steadfold::capi::guarded;
using steadfold::capi::over;
using steadfold::capi::over_fortran;

extern "C" {

const char SF_MPI_LINK = 1;

sf_status sf_group_of(MPI_Comm comm, sf_group** group) {
  namespace capi = steadfold::capi;
  return guarded([&] {
    const auto& attached = steadfold::transport::attach(comm, capi::make_attached);
    if (group == nullptr)
      throw std::runtime_error("the group cannot be returned (the address for it is null), give an address");
    *group = static_cast<const capi::AttachedGroup&>(attached).group();
    return SF_OK;
  });
}

sf_status sf_group_of_fortran(int32_t comm, sf_group** group) {
  return over_fortran(comm, [&](MPI_Comm known) { return sf_group_of(known, group); });
}

sf_status sf_team_create_over_fortran(int32_t comm, int32_t workers, sf_team** team) {
  return over_fortran(comm, [&](MPI_Comm known) { return sf_team_create_over(known, workers, team); });
}

void sf_fail_fortran(int32_t comm) {
  over_fortran(comm, [](MPI_Comm known) {
    MPI_Comm_call_errhandler(known, MPI_ERR_OTHER);
    return SF_OK;
  });
}

sf_status sf_reduce(const sf_call* call, const void* first, const void* second, void* result, MPI_Comm comm) {
  return over(comm, [&](sf_group* group) { return sf_group_reduce(call, first, second, result, group); });
}

sf_status sf_rank_order(uint64_t rows, MPI_Comm comm, sf_interval* mine, uint64_t* element_count) {
  return over(comm, [&](sf_group* group) { return sf_group_rank_order(rows, group, mine, element_count); });
}

sf_status sf_plan_bind(const sf_call* call, MPI_Comm comm, sf_plan** plan) {
  return over(comm, [&](sf_group* group) { return sf_group_bind(call, 1, group, plan); });
}

sf_status sf_bundle_bind(const sf_call* calls, size_t count, MPI_Comm comm, sf_plan** plan) {
  return over(comm, [&](sf_group* group) { return sf_group_bind(calls, count, group, plan); });
}

sf_status sf_team_create_over(MPI_Comm comm, int32_t workers, sf_team** team) {
  namespace capi = steadfold::capi;
  return guarded([&] { return capi::table().make_team(steadfold::transport::make_mpi_outside(comm), workers, team); });
}

sf_status sf_accumulator_mpi_type(const struct sf_accumulator* accumulator, MPI_Datatype* type) {
  return guarded([&] {
    steadfold::transport::require_mpi();
    if (accumulator == nullptr)
      throw std::runtime_error("no accumulator (the pointer is null), make one with sf_accumulator_create");
    if (type == nullptr)
      throw std::runtime_error("the type cannot be returned (the address for it is null), give an address");
    const std::uint64_t words = sf_accumulator_packed_size(accumulator) / sizeof(std::uint64_t);
    if (words > std::uint64_t{std::numeric_limits<int>::max()}) {
      sf_set_error_text((std::to_string(words) + " words in a packed accumulator (an MPI type has at most " +
                         std::to_string(std::numeric_limits<int>::max()) +
                         " words), divide the columns among several accumulators")
                            .c_str());
      return SF_UNSUPPORTED;
    }
    const int code = PMPI_Type_contiguous(static_cast<int>(words), MPI_UINT64_T, type);
    return steadfold::capi::status_of(code == MPI_SUCCESS ? PMPI_Type_commit(type) : code,
                                      "an MPI type for accumulators");
  });
}

sf_status sf_accumulator_mpi_op(MPI_Op* op) {
  return guarded([&] {
    steadfold::transport::require_mpi();
    if (op == nullptr)
      throw std::runtime_error("the operation cannot be returned (the address for it is null), give an address");
    constexpr int commutes = 1;
    return steadfold::capi::status_of(PMPI_Op_create(&steadfold::capi::merge_packed, commutes, op),
                                      "an MPI operation for accumulators");
  });
}

const char* sf_mpi_library(void) {
  static const auto& text = *new std::string(steadfold::transport::mpi_library());  // never destroyed: callers keep it
  return text.c_str();
}
}
