/* One bit of one result is wrong: of call number STEADFOLD_TEST_FLIP, from 1, of sf_reduce_local. Linked into a copy of
 * the command by the linker's --wrap; or preloaded into Python, which loads the shared library STEADFOLD_LIBRARY for
 * itself alone. */
#include <dlfcn.h>
#include <stdlib.h>

#include "steadfold/steadfold.h"

#ifdef STEADFOLD_WRAPPED
#define FLIPPED __wrap_sf_reduce_local
sf_status __real_sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result);
sf_status __wrap_sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result);
#else
#define FLIPPED sf_reduce_local
#endif

sf_status FLIPPED(const sf_call* call, const void* first, const void* second, void* result) {
  static long calls = 0;
  const char* const number = getenv("STEADFOLD_TEST_FLIP");
#ifdef STEADFOLD_WRAPPED
  const sf_status status = __real_sf_reduce_local(call, first, second, result);
#else
  sf_status (*real)(const sf_call*, const void*, const void*, void*) = NULL;
  *(void**)&real = dlsym(dlopen(STEADFOLD_LIBRARY, RTLD_LAZY | RTLD_NOLOAD), "sf_reduce_local");
  const sf_status status = real(call, first, second, result);
#endif
  if (number != NULL && ++calls == strtol(number, NULL, 10)) *(unsigned char*)result ^= 1;
  return status;
}
