/* Included before everything in the build of mutants: an edit is in force where STEADFOLD_MUTANT holds its number. */
#ifndef STEADFOLD_MUTANTS_SWITCH_H
#define STEADFOLD_MUTANTS_SWITCH_H

#include <stdlib.h>

static unsigned steadfold_mutant;

__attribute__((constructor)) static void steadfold_choose_mutant(void) {
  const char* const number = getenv("STEADFOLD_MUTANT");
  steadfold_mutant = number ? (unsigned)strtoul(number, NULL, 10) : 0;
}

/* Constant expressions are those of the source as it stands. */
#ifdef __cplusplus
#define STEADFOLD_MUTANT(number) (!__builtin_is_constant_evaluated() && steadfold_mutant == (number))
#else
#define STEADFOLD_MUTANT(number) (steadfold_mutant == (number))
#endif

#endif
