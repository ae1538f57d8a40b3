/* The bits that Python's are compared with: those of the C interface on contiguous rows, which C++ has too. */
#include <steadfold/steadfold.h>

static void reduce_rows(sf_type type, int operation, int method, const void* x, const void* y, size_t count,
                        void* result) {
  sf_call call = sf_call_default();
  call.operation = (sf_operation)operation;
  call.method = (sf_method)method;
  call.type = call.result_type = type;
  call.rows = count;
  sf_reduce_local(&call, x, y, result); /* what failed left the result as it was */
}

double reference_f64(int operation, int method, const double* x, const double* y, size_t count);
float reference_f32(int operation, int method, const float* x, const float* y, size_t count);

double reference_f64(int operation, int method, const double* x, const double* y, size_t count) {
  double result = -12345.0;
  reduce_rows(SF_F64, operation, method, x, y, count, &result);
  return result;
}

float reference_f32(int operation, int method, const float* x, const float* y, size_t count) {
  float result = -12345.0F;
  reduce_rows(SF_F32, operation, method, x, y, count, &result);
  return result;
}

#if defined(__SSE2__)
#include <xmmintrin.h>

/* What the start-up code of a library that was linked with -ffast-math sets on the thread that loads it: subnormal
 * numbers are taken for zeros, as operands and as results. */
void flush_subnormals(int flush);
void flush_subnormals(int flush) {
  const unsigned both = 0x8040;
  _mm_setcsr(flush ? _mm_getcsr() | both : _mm_getcsr() & ~both);
}
#endif
