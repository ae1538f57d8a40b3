/* The calls of the C interface over a group: what every_call.hpp compares with those of C++. */
#ifndef STEADFOLD_TESTS_EVERY_CALL_C_H
#define STEADFOLD_TESTS_EVERY_CALL_C_H

#include <stddef.h>
#include <stdint.h>

#include "steadfold/steadfold_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's part of the data, as calls.hpp has them. */
struct values {
  const double *x, *y;
  const unsigned char* mask;
  uint64_t count, count_of_job;
  const double* row;      /* 12 */
  const uint64_t* blocks; /* one per rank */
  int is_finite;          /* every element of any rank */
};

#define ONE_VALUE SIZE_MAX

/* Who is told what calls came to. */
struct notes {
  /* A list of `count` values of `size` bytes, or ONE_VALUE; `text` if `status` is not SF_OK. */
  void (*take)(struct notes* self, const char* name, sf_status status, const char* text, const void* values,
               size_t size, size_t count);
  void (*fail)(struct notes* self, const char* what);
};

void every_call_in_c(const struct values* v, sf_group* group, struct notes* notes);

#ifdef __cplusplus
}
#endif

#endif
