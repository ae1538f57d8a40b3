/* Error texts in the terms of Fortran. The texts of C name C functions and fields, call dimensions axes, and count
 * elements from 0. Ranks exchange the texts of C; they are translated when the program reads them. */
#include "texts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steadfold/steadfold.h"

/* A phrase and its translation. In `from`, # stands for a number that is one greater in `to`, and % for a number that
 * is the same in `to`. Both texts have the same number of numbers, in the same order. */
typedef struct Phrase {
  const char *from, *to;
} Phrase;

static const Phrase phrases[] = {
    {"element # is listed", "element % is listed"},
    {"elements # to # are listed", "elements % to % are listed"},
    {"of element #, counted from 0,", "of element %, counted from 1,"},
    {"of kept index #", "of kept index %"},
    {"call #: ", "reduction %: "},
    {"0..N-1", "1..N"},
    {"check begin and end", "check first and last"},
    {"check columns and element_bytes", "check the extents"},
    {"check rows, columns and element_bytes", "check the extents"},
    {"call sf_reduce with a communicator", "pass a communicator"},
    {"give the bytes that an accumulator was written to", "give the bytes that sf_write wrote"},
    {"make an accumulator of products", "call sf_add with a weight from the first call on"},
    {"(accumulators take doubles and floats)", "(accumulators take real numbers of kinds 4 and 8)"},
    {"use SF_SUM and set arrays.mask", "use operation 'sum' and pass the argument 'where'"},
    {"use dot or weighted_mean", "use operation 'dot' or 'weighted_mean'"},
    {"give a value of sf_list", "give a list such as SF_LIST_METHODS"},
    {"an axis", "a dimension"},
    {"axis", "dimension"},
    {"axes", "dimensions"},
};

static int is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the end of a phrase at the beginning of `text`, and its numbers; NULL if the text begins differently. */
static const char* end_of(const char* phrase, const char* text, unsigned long long* numbers) {
  char* end;
  for (; *phrase != '\0'; ++phrase) {
    if (*phrase == '#' || *phrase == '%') {
      if (!isdigit((unsigned char)*text)) return NULL;
      *numbers++ = strtoull(text, &end, 10) + (*phrase == '#');
      text = end;
    } else if (*phrase != *text++) {
      return NULL;
    }
  }
  return is_of_word(phrase[-1]) && is_of_word(*text) ? NULL : text;
}

/* Writes a phrase with its numbers. Returns the number of characters, at most `room`. */
static size_t write_phrase(const char* phrase, const unsigned long long* numbers, char* to, size_t room) {
  size_t used = 0;
  for (; *phrase != '\0' && used < room; ++phrase)
    used += (size_t)(*phrase == '%' ? snprintf(to + used, room - used, "%llu", *numbers++)
                                    : snprintf(to + used, room - used, "%c", *phrase));
  return used < room ? used : room;
}

const char* sf_fortran_error_text(void) {
  static _Thread_local char translated[4096];
  const char* text = sf_error_text();
  const char* const begin = text;
  const size_t room = sizeof translated - 1;
  size_t used = 0, i;
  while (*text != '\0' && used < room) {
    unsigned long long numbers[2];
    const char* end = NULL;
    const int begins_word = text == begin || !is_of_word(text[-1]);
    for (i = 0; begins_word && end == NULL && i < sizeof phrases / sizeof phrases[0]; ++i)
      end = end_of(phrases[i].from, text, numbers);
    if (end == NULL) {
      translated[used++] = *text++;
    } else {
      used += write_phrase(phrases[i - 1].to, numbers, translated + used, room - used);
      text = end;
    }
  }
  translated[used] = '\0';
  return translated;
}
