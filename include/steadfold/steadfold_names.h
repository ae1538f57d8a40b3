/* Lists of the names that the library knows, and options of a call that are set by name. For files and command lines
 * that users write, for other languages, and for options that are newer than the program. Needs no MPI. All functions
 * are local; any thread may call them. */
#ifndef STEADFOLD_STEADFOLD_NAMES_H
#define STEADFOLD_STEADFOLD_NAMES_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of entries of a list; 0 if there is no such list. Later releases append entries. */
size_t sf_list_size(sf_list list);

/* Returns the name of an entry, counted from 0. The entries are the enumerators of the enumeration in their order:
 * entry 2 of SF_LIST_METHODS is (sf_method)2, SF_EXACT, and its name is "exact". (A guarantee is 1 << entry.) Schedules
 * and options have no numbers. NULL if the entry does not exist. The text is valid for ever. */
const char* sf_list_name(sf_list list, size_t entry);

/* Returns the text about an entry under a heading. Every entry has "about", one sentence. Options have "values", the
 * values that they accept, and "arguments", which tells where Fortran takes the value from the arguments, so that it is
 * no option: "arrays" in every call, "vectors" in calls in MPI's shape, such as sf_allreduce. Schedules have
 * "parameters", "collectives", "methods" and "examples", which are names separated by spaces, and "restrictions" and
 * "source". All entries of a list have the same headings; some texts are empty. NULL if the entry or the heading does
 * not exist. The text is valid for ever. */
const char* sf_list_text(sf_list list, size_t entry, const char* heading);

/* Finds the entry that has a name, or had it in an older release, and writes its number to `*entry`. If there is none,
 * returns SF_INVALID_ARGUMENT; the error text lists the names. */
sf_status sf_list_find(sf_list list, const char* name, size_t* entry);

/* Sets a field of an initialised call. `option` is the name of the field. `value` is a number, the name of an
 * enumerator, "all" for the root, "unknown" for the number of elements, or guarantees separated by commas. Pointer
 * fields cannot be set, except `schedule` and `operator_name`, which keep the pointer `value`. If the option or the
 * value does not exist, returns SF_INVALID_ARGUMENT and changes nothing. If the program was compiled with an older
 * release, whose sf_call lacks the field, returns SF_UNSUPPORTED. */
sf_status sf_call_set(sf_call* call, const char* option, const char* value);

#ifdef __cplusplus
}
#endif

#endif
