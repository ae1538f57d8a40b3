/* This library is preloaded, or linked before the MPI library, and intercepts MPI's reductions. At the first call it
 * finds out which MPI library the process has loaded, loads the layer for that library, and jumps into the layer.
 *
 * This file includes no mpi.h, and the library links to no MPI library, because launchers and shells inherit a
 * preloaded library. Handles are pointers in one MPI library and ints in another. The shim passes them on as the words
 * in registers and on the stack, which the calling conventions of x86-64 and AArch64 preserve. */
#define _GNU_SOURCE /* for RTLD_NEXT, dladdr and dl_iterate_phdr */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

typedef steadfold_interpose_function function;

#define NAME(prefix, name, arguments) #name,
#define WHOLE_NAME(prefix, name, arguments) #prefix #name,
#define FORTRAN_NAME(prefix, name, capitals, arguments) #prefix "_" #name,
#define CAPITAL_NAME(prefix, name, capitals, arguments) #capitals,
static const char* const names[] = {STEADFOLD_INTERPOSE_HANDLED(NAME) STEADFOLD_INTERPOSE_COUNTED(
    NAME) STEADFOLD_INTERPOSE_FORTRAN(FORTRAN_NAME) STEADFOLD_INTERPOSE_FORTRAN(FORTRAN_NAME)};
static const char* const whole_names[] = {STEADFOLD_INTERPOSE_HANDLED(WHOLE_NAME) STEADFOLD_INTERPOSE_COUNTED(
    WHOLE_NAME) STEADFOLD_INTERPOSE_FORTRAN(FORTRAN_NAME) STEADFOLD_INTERPOSE_FORTRAN(FORTRAN_NAME)};
static const char* const capital_names[] = {STEADFOLD_INTERPOSE_FORTRAN(CAPITAL_NAME)};
/* The functions of the MPI library, and of a profiling tool that is loaded behind this library and has one of them. */
static function of_library[steadfold_interpose_count];
static function of_tool[steadfold_interpose_count];
static function wrapper[steadfold_interpose_count]; /* the layer's wrappers of the functions, or NULL */
/* The wrapper of each function, else the MPI library's function; NULL if there is none. */
static function target[steadfold_interpose_count];
static unsigned long long counts[steadfold_interpose_count];

/* --- which MPI library there is --- */

struct paths {
  char* list[64];
  int count;
};

/* Stores the names of loaded libraries that may be MPI's. The libraries are opened later, because the loader is locked
 * during this call. */
static int remember(struct dl_phdr_info* info, size_t size, void* context) {
  struct paths* const paths = context;
  const char* const slash = strrchr(info->dlpi_name, '/');
  (void)size;
  if (strncmp(slash == NULL ? info->dlpi_name : slash + 1, "libmpi", 6) == 0 && paths->count < 64)
    paths->list[paths->count++] = strdup(info->dlpi_name);
  return 0;
}

/* Returns a handle for dlsym of the MPI library that has this function. The order of look-up after this library does
 * not include libraries loaded with RTLD_LOCAL, as Python loads its modules. */
static void* find_library(const char* name) {
  struct paths paths = {.count = 0};
  void* found = NULL;
  if (dlsym(RTLD_NEXT, name) != NULL) return RTLD_NEXT;
  dl_iterate_phdr(remember, &paths);
  for (int i = 0; i < paths.count; ++i) {
    void* const handle = found == NULL && paths.list[i] != NULL ? dlopen(paths.list[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle != NULL && dlsym(handle, name) != NULL) found = handle;
    free(paths.list[i]);
  }
  return found;
}

static function find(void* library, const char* name) {
  void* const found = dlsym(library, name);
  function as_function = NULL;
  memcpy(&as_function, &found, sizeof as_function);
  return as_function;
}

/* Open MPI had persistent calls first as extensions with another prefix. Programs that look for these functions find
 * the functions of this library. `profiling` is "P" for the names that MPI gives to tools, else "". */
static function find_either(void* library, const char* profiling, const char* name) {
  char text[64];
  snprintf(text, sizeof text, "%s%s", profiling, name);
  const function found = find(library, text);
  if (found != NULL || strncmp(name, "MPI_", 4) != 0 || strstr(name, "_init") == NULL) return found;
  snprintf(text, sizeof text, "%sMPIX_%s", profiling, name + 4);
  return find(library, text);
}

/* Stores the MPI library's function, given by its two names. The next definition is a tool's if it is not the MPI
 * library's. If the MPI library lacks the name with P, there is no tool. */
static void store(int index, function next, function profiling) {
  of_library[index] = profiling != NULL ? profiling : next;
  of_tool[index] = next != of_library[index] ? next : NULL;
}

static void say(const char* problem, const char* detail) {
  fprintf(stderr, "steadfold: MPI's reductions are not changed: %s%s\n", problem, detail);
}

/* --- where the program called --- */

/* The state of this thread. A call of an MPI function goes to the tool behind this library, if it has the function. The
 * tool then calls the PMPI function, which goes to the wrapper. Without a tool the MPI function goes to the wrapper at
 * once. The wrapper and the MPI library may call PMPI functions, too: these calls go to the MPI library. */
struct state {
  int depth;                     /* number of calls of wrappers and of the MPI library that have begun and not ended */
  int is_in_tool;                /* whether a tool has been called, and has called no PMPI function yet */
  const void* caller_in_fortran; /* return address of the Fortran call that this thread is in, or NULL */
};
static __thread struct state state;
static __thread const void* caller; /* return address of the last call in C */

/* If a Fortran function calls a C function, the address of the Fortran call counts. */
static const void* last_caller(void) { return state.caller_in_fortran != NULL ? state.caller_in_fortran : caller; }

/* Whether code at this address belongs to the MPI library or to Steadfold. Their calls of PMPI functions are not the
 * program's. MPI's libraries for Fortran pass the calls of programs on, so they do not count. Nor does this library: a
 * call that seems to come from here is a tool's, whose last action it is. */
static int is_of_library(const void* address) {
  static const char* const files[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so", "mca_", "libmca_", "libsteadfold"};
  static __thread struct {
    const void* address;
    int is;
  } known[64];
  const size_t slot = ((uintptr_t)address >> 2) % 64;
  Dl_info place, own;
  if (known[slot].address == address) return known[slot].is;
  known[slot].address = address;
  known[slot].is = 0;
  if (dladdr(address, &place) == 0 || place.dli_fname == NULL) return 0;
  if (dladdr(names, &own) != 0 && place.dli_fbase == own.dli_fbase) return 0;
  const char* const slash = strrchr(place.dli_fname, '/');
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
    known[slot].is |= strncmp(slash == NULL ? place.dli_fname : slash + 1, files[i], strlen(files[i])) == 0;
  return known[slot].is;
}

/* --- its layer --- */

/* Returns the layer's name for an MPI library with this description; NULL if there is none. A library with the
 * standard's binary interface (MPI 5) reports its version, whoever made the library; other libraries report -1. */
static const char* layer_of(void* library, const char* description) {
  const function version = find(library, "PMPI_Abi_get_version");
  int major = -1, minor = -1;
  if (version != NULL) ((int (*)(int*, int*))version)(&major, &minor);
  if (major >= 1) return "mpi_abi";
  if (strncmp(description, "Open MPI", 8) == 0) return "openmpi";
  static const char* const of_mpich[] = {"MPICH", "Intel(R) MPI", "MVAPICH"}; /* these have MPICH's binary interface */
  for (size_t i = 0; i < sizeof of_mpich / sizeof of_mpich[0]; ++i)
    if (strncmp(description, of_mpich[i], strlen(of_mpich[i])) == 0) return "mpich";
  return NULL;
}

#define VERSION_OF_LIBRARY "PMPI_Get_library_version"

/* Opens the layer in that file; on failure, returns NULL and writes the reason. The layer of a Python wheel links to no
 * MPI library and uses the program's. Python's modules load MPI only for themselves. So if the layer cannot be opened,
 * this function makes the MPI library visible to all objects and tries again. */
static void* opened(const char* path, function version, char* why, size_t size) {
  void* address;
  Dl_info place;
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle != NULL) return handle;
  snprintf(why, size, "%s", dlerror());
  memcpy(&address, &version, sizeof address);
  if (dladdr(address, &place) == 0 || dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == NULL)
    return NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void load_layer(void* library) {
  static const struct steadfold_interpose_shim shim = {STEADFOLD_VERSION, names, of_library, counts, last_caller};
  char text[8192] = ""; /* large enough for MPI_MAX_LIBRARY_VERSION_STRING of either library */
  int length = 0;
  char place[PATH_MAX];
  char path[PATH_MAX + 64];
  char why[PATH_MAX + 256];
  Dl_info own;
  const function version = find(library, VERSION_OF_LIBRARY);
  ((int (*)(char*, int*))version)(text, &length);
  const char* const layer = layer_of(library, text);
  if (layer == NULL) {
    text[strcspn(text, "\n")] = '\0';
    say("Steadfold does not support this MPI library (it supports Open MPI, MPICH and compatible libraries, and the "
        "standard ABI): ",
        text);
    return;
  }
  if (dladdr(names, &own) == 0 || realpath(own.dli_fname, place) == NULL) place[0] = '\0'; /* realpath follows links */
  const char* const slash = strrchr(place, '/');
  const int directory = slash == NULL ? 0 : (int)(slash + 1 - place);
  snprintf(path, sizeof path, "%.*slibsteadfold_interpose_%s.so", directory, place, layer);
  void* const handle = opened(path, version, why, sizeof why);
  if (handle == NULL) {
    say("the part of Steadfold for this MPI library cannot be loaded, install it next to libsteadfold_interpose.so: ",
        why);
    return;
  }
  const steadfold_interpose_entry entry = (steadfold_interpose_entry)find(handle, STEADFOLD_INTERPOSE_ENTRY);
  const function* const wrappers = entry == NULL ? NULL : entry(&shim);
  if (wrappers == NULL) {
    say("the part of Steadfold for this MPI library has another release, install both from one release: ", path);
    return;
  }
  for (int i = 0; i < steadfold_interpose_count; ++i) wrapper[i] = wrappers[i];
}

static void load(void) {
  void* const library = find_library(VERSION_OF_LIBRARY);
  if (library == NULL) {
    fprintf(stderr,
            "steadfold: a function of MPI is called, but no MPI library is loaded (neither linked nor opened)\n");
    abort();
  }
  for (int i = 0; i < steadfold_interpose_fortran; ++i)
    store(i, find_either(library, "", whole_names[i]), find_either(library, "P", whole_names[i]));
  load_layer(library);
  for (int i = 0; i < steadfold_interpose_fortran; ++i) {
    const size_t length = strlen(names[i]);
    /* Layers serve functions with large counts through functions with int counts. */
    const int is_large = length > 2 && strcmp(names[i] + length - 2, "_c") == 0;
    target[i] = wrapper[i] != NULL && (is_large || of_library[i] != NULL) ? wrapper[i] : of_library[i];
  }
}

static pthread_once_t is_loaded = PTHREAD_ONCE_INIT;

static function existing(int index) {
  if (target[index] != NULL) return target[index];
  fprintf(stderr, "steadfold: %s is called, but this MPI library does not have it\n", whole_names[index]);
  abort();
}

/* The number of spellings of a Fortran function by compilers. A library has one of these four. The module mpi_f08 has a
 * fifth. */
enum { spellings = 4, spelling_of_f08 = 4 };
static const char* spelled(int spelling, int index, char* text, size_t size) {
  static const char* const suffixes[] = {"_", "", "__", NULL, "_f08_"};
  if (suffixes[spelling] == NULL) return capital_names[index - steadfold_interpose_fortran];
  snprintf(text, size, "%s%s", names[index], suffixes[spelling]);
  return text;
}

static void find_fortran(void* library, int spelling, int first, int end) {
  char text[64], profiling[80];
  for (int i = first; i < end && library != NULL; ++i) {
    const char* const name = spelled(spelling, i, text, sizeof text);
    snprintf(profiling, sizeof profiling, "%c%s", name[0] == 'M' ? 'P' : 'p', name);
    /* The functions of mpi_f08 are compiled once for each name, so other addresses are no sign of a tool. */
    store(i, find(library, name), spelling == spelling_of_f08 ? NULL : find(library, profiling));
    target[i] = wrapper[i] != NULL && of_library[i] != NULL ? wrapper[i] : of_library[i];
  }
}

/* Loads Fortran's functions. Fortran's functions are in separate libraries, which may be loaded after the first call
 * from C. The functions of mpi_f08 may be loaded even later. */
static void load_fortran(void) {
  char text[64];
  void* library = NULL;
  int spelling = 0;
  pthread_once(&is_loaded, load);
  while (spelling < spellings && library == NULL)
    library = find_library(spelled(spelling++, steadfold_interpose_fortran, text, sizeof text));
  find_fortran(library, spelling - 1, steadfold_interpose_fortran, steadfold_interpose_f08);
}

static void load_f08(void) {
  char text[64];
  pthread_once(&is_loaded, load);
  find_fortran(find_library(spelled(spelling_of_f08, steadfold_interpose_f08, text, sizeof text)), spelling_of_f08,
               steadfold_interpose_f08, steadfold_interpose_count);
}

static pthread_once_t is_fortran_loaded = PTHREAD_ONCE_INIT;
static pthread_once_t is_f08_loaded = PTHREAD_ONCE_INIT;

/* --- the way of a call --- */

/* A call that has begun: the function to call, and the state to restore. */
struct begun {
  function target;
  int index;
  struct state before;
};

static void enter_tool(void) {
  state.depth = 0;
  state.is_in_tool = 1;
}

static void enter_library(void) {
  ++state.depth;
  state.is_in_tool = 0;
}

static struct begun begin(int index) {
  const struct begun call = {of_tool[index] != NULL ? of_tool[index] : existing(index), index, state};
  of_tool[index] != NULL ? enter_tool() : enter_library();
  return call;
}

static struct begun begin_in_c(int index, const void* from) {
  pthread_once(&is_loaded, load);
  caller = from;
  if (index >= MPI_Accumulate_index) __atomic_fetch_add(&counts[index], 1, __ATOMIC_RELAXED);
  return begin(index);
}

static struct begun begin_in_pmpi(int index, const void* from) {
  pthread_once(&is_loaded, load);
  const int is_passed_on = state.depth > 0 || is_of_library(from);
  const struct begun call = {is_passed_on && of_library[index] != NULL ? of_library[index] : existing(index), index,
                             state};
  if (!is_passed_on && !state.is_in_tool) {
    caller = from;
    if (index >= MPI_Accumulate_index) __atomic_fetch_add(&counts[index], 1, __ATOMIC_RELAXED);
  }
  enter_library();
  return call;
}

static struct begun begin_in_fortran(int index, const void* from) {
  if (index < steadfold_interpose_f08)
    pthread_once(&is_fortran_loaded, load_fortran);
  else
    pthread_once(&is_f08_loaded, load_f08);
  const struct begun call = begin(index);
  state.caller_in_fortran = from;
  return call;
}

static int is_reduction(int index) {
  return (MPI_Allreduce_index <= index && index <= MPIX_Exscan_init_index) ||
         (mpi_allreduce_index <= index && index <= mpix_exscan_init_index);
}

/* Ends a call, also if an error handler of the program throws an exception. Counts a reduction that went past this
 * library: a tool has called neither a PMPI nor an MPI function. */
static void end(const struct begun* call) {
  if (of_tool[call->index] != NULL && state.is_in_tool && is_reduction(call->index))
    __atomic_fetch_add(&counts[call->index], 1, __ATOMIC_RELAXED);
  const int is_reached = !state.is_in_tool;
  state = call->before;
  if (is_reached) state.is_in_tool = 0;
}

/* --- the functions --- */

typedef intptr_t word;
#define TYPES_0 void
#define TYPES_1 word a
#define TYPES_2 TYPES_1, word b
#define TYPES_3 TYPES_2, word c
#define TYPES_4 TYPES_3, word d
#define TYPES_5 TYPES_4, word e
#define TYPES_6 TYPES_5, word f
#define TYPES_7 TYPES_6, word g
#define TYPES_8 TYPES_7, word h
#define TYPES_9 TYPES_8, word i
#define TYPES_10 TYPES_9, word j
#define TYPES_12 TYPES_10, word k, word l
#define TYPES_13 TYPES_12, word m
#define WORDS_0
#define WORDS_1 a
#define WORDS_2 WORDS_1, b
#define WORDS_3 WORDS_2, c
#define WORDS_4 WORDS_3, d
#define WORDS_5 WORDS_4, e
#define WORDS_6 WORDS_5, f
#define WORDS_7 WORDS_6, g
#define WORDS_8 WORDS_7, h
#define WORDS_9 WORDS_8, i
#define WORDS_10 WORDS_9, j
#define WORDS_12 WORDS_10, k, l
#define WORDS_13 WORDS_12, m

#define CALL(target, arguments) ((int (*)(TYPES_##arguments))(target))(WORDS_##arguments)
#define FUNCTION(name, begin, index, arguments)                                                        \
  int name(TYPES_##arguments);                                                                         \
  int name(TYPES_##arguments) {                                                                        \
    const struct begun call __attribute__((cleanup(end))) = begin(index, __builtin_return_address(0)); \
    return CALL(call.target, arguments);                                                               \
  }
#define OF_C(prefix, name, arguments)                                 \
  FUNCTION(prefix##name, begin_in_c, prefix##name##_index, arguments) \
  FUNCTION(P##prefix##name, begin_in_pmpi, prefix##name##_index, arguments)
#define ALIAS(alias_name, name, arguments) int alias_name(TYPES_##arguments) __attribute__((alias(#name)));
#define FORTRAN(prefix, name, capitals, arguments)                                           \
  FUNCTION(prefix##_##name##_, begin_in_fortran, prefix##_##name##_index, arguments)         \
  FUNCTION(prefix##_##name##_f08_, begin_in_fortran, prefix##_##name##_f08_index, arguments) \
  ALIAS(prefix##_##name, prefix##_##name##_, arguments)                                      \
  ALIAS(prefix##_##name##__, prefix##_##name##_, arguments)                                  \
  ALIAS(capitals, prefix##_##name##_, arguments)

STEADFOLD_INTERPOSE_HANDLED(OF_C)
STEADFOLD_INTERPOSE_COUNTED(OF_C)
STEADFOLD_INTERPOSE_FORTRAN(FORTRAN)
