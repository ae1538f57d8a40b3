/* Stands in for ReproBLAS in tests: its functions as binned.h and binnedBLAS.h of version 2.1 declare them. A partial
   sum is a sum and a mark. The mark is wrong if the partial was never zeroed, or if only half of it was sent. */
#include <stdlib.h>

static const double mark = 20.25;

static void check(int fold, const double* partial) {
  if (fold != 3 || partial[1] != mark) abort();
}

#ifdef NO_PARTIALS
int binned_dbnum(int fold) { return 0 * fold; }
#else
int binned_dbnum(int fold) { return fold == 3 ? 2 : 0; }
#endif
void binned_dbsetzero(int fold, double* partial) {
  partial[0] = 0;
  partial[1] = fold == 3 ? mark : 0;
}
void binnedBLAS_dbdsum(int fold, int count, const double* values, int stride, double* partial) {
  check(fold, partial);
  for (int i = 0; i < count; ++i) partial[0] += values[i * stride];
}
void binned_dbdbadd(int fold, const double* from, double* into) {
  check(fold, from);
  check(fold, into);
#ifndef ADDS_NOTHING
  into[0] += from[0];
#endif
}
double binned_ddbconv(int fold, const double* partial) {
  check(fold, partial);
  return partial[0];
}
