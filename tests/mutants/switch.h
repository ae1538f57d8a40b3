/* Included before everything in the build of mutants: an edit is in force where STEADFOLD_MUTANT holds its number.
 * Where STEADFOLD_MUTANT_REACHED names a file, the number of every edit that is reached is added to it
 * (tests/matrix.py). It includes no header, since the feature macros of a source, such as _GNU_SOURCE, would then come
 * too late. */
#ifndef STEADFOLD_MUTANTS_SWITCH_H
#define STEADFOLD_MUTANTS_SWITCH_H

#ifdef __cplusplus
extern "C" {
#endif
/* Functions by other names: the headers declare their own. */
char* steadfold_mutant_getenv(const char* name) __asm__("getenv");
int steadfold_mutant_open(const char* path, int flags, ...) __asm__("open");
long steadfold_mutant_write(int file, const void* data, unsigned long size) __asm__("write");
int steadfold_mutant_close(int file) __asm__("close");
#ifdef __cplusplus
}
#endif

static unsigned steadfold_mutant;
static const char* steadfold_mutant_reached; /* the file's name */

__attribute__((constructor)) static void steadfold_choose_mutant(void) {
  const char* digit = steadfold_mutant_getenv("STEADFOLD_MUTANT");
  for (; digit && *digit >= '0' && *digit <= '9'; ++digit)
    steadfold_mutant = steadfold_mutant * 10 + (unsigned)(*digit - '0');
  steadfold_mutant_reached = steadfold_mutant_getenv("STEADFOLD_MUTANT_REACHED");
}

/* Records the number, once for each object file but for chance: two numbers of a place are told apart by 20 bits. */
__attribute__((noinline, unused)) static int steadfold_record_mutant(unsigned number) {
  static unsigned char known[1u << 20];
  unsigned place = number & ((1u << 20) - 1);
  if (!known[place]) {
    int file = steadfold_mutant_open(steadfold_mutant_reached, 02001); /* O_WRONLY | O_APPEND of Linux */
    known[place] = 1;
    if (file >= 0) {
      (void)!steadfold_mutant_write(file, &number, sizeof number);
      steadfold_mutant_close(file);
    }
  }
  return 0;
}

#define STEADFOLD_MUTANT_IS(number) \
  (steadfold_mutant == (number) || (steadfold_mutant_reached && steadfold_record_mutant(number)))

/* Constant expressions are those of the source as it stands. */
#ifdef __cplusplus
#define STEADFOLD_MUTANT(number) (!__builtin_is_constant_evaluated() && STEADFOLD_MUTANT_IS(number))
#else
#define STEADFOLD_MUTANT(number) STEADFOLD_MUTANT_IS(number)
#endif

#endif
