/* Included before everything in the build of mutants: an edit is in force where STEADFOLD_MUTANT holds its number.
 * It includes no header, since the feature macros of a source, such as _GNU_SOURCE, would then come too late. */
#ifndef STEADFOLD_MUTANTS_SWITCH_H
#define STEADFOLD_MUTANTS_SWITCH_H

#ifdef __cplusplus
extern "C" {
#endif
/* getenv by another name: <stdlib.h> declares its own. */
char* steadfold_mutant_getenv(const char* name) __asm__("getenv");
#ifdef __cplusplus
}
#endif

static unsigned steadfold_mutant;

__attribute__((constructor)) static void steadfold_choose_mutant(void) {
  const char* digit = steadfold_mutant_getenv("STEADFOLD_MUTANT");
  for (; digit && *digit >= '0' && *digit <= '9'; ++digit)
    steadfold_mutant = steadfold_mutant * 10 + (unsigned)(*digit - '0');
}

/* Constant expressions are those of the source as it stands. */
#ifdef __cplusplus
#define STEADFOLD_MUTANT(number) (!__builtin_is_constant_evaluated() && steadfold_mutant == (number))
#else
#define STEADFOLD_MUTANT(number) (steadfold_mutant == (number))
#endif

#endif
