/* Names: what the library knows, to be listed and looked up, and options of a call that are set by name. For files and
 * command lines that users write, for other languages, and for options that came after a program was compiled. Needs no
 * MPI. All functions are local; any thread may call them. */
#ifndef STEADFOLD_STEADFOLD_NAMES_H
#define STEADFOLD_STEADFOLD_NAMES_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many entries the list has; 0 if there is no such list. Later releases append entries. */
size_t sf_list_size(sf_list list);

/* The name of an entry, counted from 0. Entries are the enumerators of the enumeration in their order: entry 2 of
 * SF_LIST_METHODS is (sf_method)2, SF_EXACT, and has the name "exact". (A guarantee is 1 << entry.) Schedules and
 * options have no numbers. NULL if there is no such entry. The text stays for ever. */
const char* sf_list_name(sf_list list, size_t entry);

/* What there is to know about an entry under a heading. "about", one sentence, is there for all. Options have "values",
 * what they can be set to, and "arguments": in Fortran "arrays" say it in every call, or "vectors" in those of MPI's
 * shape, such as sf_allreduce, and there it is no option. Schedules have "parameters", "collectives", "methods" and
 * "examples", names with spaces between them, "restrictions" and "source". Every entry of a list has the same headings,
 * some texts are empty. NULL if there is no such entry or heading. The text stays for ever. */
const char* sf_list_text(sf_list list, size_t entry, const char* heading);

/* Writes which entry has that name, or had it in an older release. SF_INVALID_ARGUMENT if none has; the error text says
 * which names there are. */
sf_status sf_list_find(sf_list list, const char* name, size_t* entry);

/* Sets a field of a call that has been initialised: `option` is the field's name, `value` a number, the name of an
 * enumerator, "all" for the root, "unknown" for the number of elements, or guarantees with commas between them. Fields
 * that point to something cannot be set so, but for `schedule` and `operator_name`, which keep the pointer `value`.
 * SF_INVALID_ARGUMENT, and nothing is changed, if there is no such option or value. SF_UNSUPPORTED: the program was
 * compiled with an older release, and its sf_call has no place for the option. */
sf_status sf_call_set(sf_call* call, const char* option, const char* value);

#ifdef __cplusplus
}
#endif

#endif
