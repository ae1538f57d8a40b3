/* Words that look random, the same for the same input. */
#ifndef STEADFOLD_TESTS_MIXED_H
#define STEADFOLD_TESTS_MIXED_H

#include <stdint.h>

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

#endif
