/* Flips one bit of one result. The result is that of call number STEADFOLD_TEST_FLIP (from 1) of sf_reduce_local and
 * sf_group_reduce, on rank STEADFOLD_TEST_RANK or on all ranks. The file is linked into a copy of the command with the
 * linker's --wrap, or preloaded into Python, which loads the shared library STEADFOLD_LIBRARY with RTLD_LOCAL. */
#include <dlfcn.h>
#include <stdlib.h>

#include "steadfold/steadfold_group.h"

#ifdef STEADFOLD_WRAPPED
#define FLIPPED(name) __wrap_##name
#define REAL(name) __real_##name
#else
#define FLIPPED(name) name
#define REAL(name) real
#endif

typedef sf_status Local(const sf_call* call, const void* first, const void* second, void* result);
typedef sf_status OfGroup(const sf_call* call, const void* first, const void* second, void* result, sf_group* group);
#ifdef STEADFOLD_WRAPPED
Local __real_sf_reduce_local, __wrap_sf_reduce_local;
OfGroup __real_sf_group_reduce, __wrap_sf_group_reduce;
#endif

static void count(void* result) {
  static long calls = 0;
  const char* const number = getenv("STEADFOLD_TEST_FLIP");
  const char* const only = getenv("STEADFOLD_TEST_RANK");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  if (number == NULL || ++calls != strtol(number, NULL, 10)) return;
  if (only == NULL || (rank != NULL && strtol(only, NULL, 10) == strtol(rank, NULL, 10))) *(unsigned char*)result ^= 1;
}

#ifndef STEADFOLD_WRAPPED
static void* found(const char* name) { return dlsym(dlopen(STEADFOLD_LIBRARY, RTLD_LAZY | RTLD_NOLOAD), name); }
#endif

sf_status FLIPPED(sf_reduce_local)(const sf_call* call, const void* first, const void* second, void* result) {
#ifndef STEADFOLD_WRAPPED
  Local* real = NULL;
  *(void**)&real = found("sf_reduce_local");
#endif
  const sf_status status = REAL(sf_reduce_local)(call, first, second, result);
  count(result);
  return status;
}

sf_status FLIPPED(sf_group_reduce)(const sf_call* call, const void* first, const void* second, void* result,
                                   sf_group* group) {
#ifndef STEADFOLD_WRAPPED
  OfGroup* real = NULL;
  *(void**)&real = found("sf_group_reduce");
#endif
  const sf_status status = REAL(sf_group_reduce)(call, first, second, result, group);
  count(result);
  return status;
}
