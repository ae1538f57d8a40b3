// The C functions that need no MPI.
// Rank order: that of the call. Cost: that of the call. Source: ours.
#include "capi/boundary.hpp"
#include "collective/local.hpp"

namespace {

thread_local std::string error_text;

}  // namespace

using steadfold::capi::bytes;

extern "C" {

sf_call sf_call_default(void) {
  sf_call call{};
  call.columns = 1;
  call.root = SF_ALL_RANKS;
  call.element_count = SF_UNKNOWN;
  return call;
}

sf_status sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result) {
  return steadfold::capi::guarded([&] {
    const auto [translated, failure] = steadfold::capi::translated(call);
    if (failure) throw *failure;
    steadfold::collective::reduce_locally(translated, bytes(first), bytes(second), bytes(result));
  });
}

const char* sf_error_text(void) { return error_text.c_str(); }

void sf_set_error_text(const char* text) {
  try {
    error_text = text;
  } catch (const std::bad_alloc&) {
    error_text.clear();
  }
}

const char* sf_version(void) { return "0.1.0"; }
}
