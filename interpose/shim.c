/* Preloaded, or linked before the MPI library: stands before the functions of MPI that reduce. It finds out at the
 * first call which MPI library the process has loaded, loads the layer for that one, and jumps there.
 *
 * It knows no mpi.h and is linked to no MPI library, since launchers and shells inherit what is preloaded. Handles are
 * pointers in one library and ints in the other: they are passed on as the words that registers and stack hold, which
 * the calling conventions of x86-64 and AArch64 leave as they were. */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr, dl_iterate_phdr */
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
static const char* const names[] = {STEADFOLD_INTERPOSE_HANDLED(NAME) STEADFOLD_INTERPOSE_COUNTED(NAME)};
static const char* const whole_names[] = {STEADFOLD_INTERPOSE_HANDLED(WHOLE_NAME)
                                              STEADFOLD_INTERPOSE_COUNTED(WHOLE_NAME)};
static function next[steadfold_interpose_count];
static function target[steadfold_interpose_count]; /* the layer's wrapper, else the next definition */
static unsigned long long counts[steadfold_interpose_count];

/* --- which MPI library there is --- */

struct paths {
  char* list[64];
  int count;
};

/* Remembers loaded libraries that may be MPI's. They are opened later, since the loader is locked here. */
static int remember(struct dl_phdr_info* info, size_t size, void* context) {
  struct paths* const paths = context;
  const char* const slash = strrchr(info->dlpi_name, '/');
  (void)size;
  if (strncmp(slash == NULL ? info->dlpi_name : slash + 1, "libmpi", 6) == 0 && paths->count < 64)
    paths->list[paths->count++] = strdup(info->dlpi_name);
  return 0;
}

#define VERSION_OF_LIBRARY "PMPI_Get_library_version"

/* A handle of the MPI library for dlsym. One that was loaded with RTLD_LOCAL, as Python does with its modules, is not
 * behind this library in the order of look-up. */
static void* find_library(void) {
  struct paths paths = {.count = 0};
  void* found = NULL;
  if (dlsym(RTLD_NEXT, VERSION_OF_LIBRARY) != NULL) return RTLD_NEXT;
  dl_iterate_phdr(remember, &paths);
  for (int i = 0; i < paths.count; ++i) {
    void* const handle = found == NULL && paths.list[i] != NULL ? dlopen(paths.list[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle != NULL && dlsym(handle, VERSION_OF_LIBRARY) != NULL) found = handle;
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

/* Programs look whether there is a function, and find this library's. Where the MPI library does not have it, one that
 * takes the same words serves: with counts that an int holds, or before persistent calls left Open MPI's extensions. */
static function find_or_like(void* library, const char* name) {
  char like[64] = "";
  function found = find(library, name);
  const size_t length = strlen(name);
  if (found == NULL && length > 2 && strcmp(name + length - 2, "_c") == 0) {
    snprintf(like, sizeof like, "%.*s", (int)(length - 2), name);
    found = find_or_like(library, like);
  } else if (found == NULL && strncmp(name, "MPI_", 4) == 0 && strstr(name, "_init") != NULL) {
    snprintf(like, sizeof like, "MPIX_%s", name + 4);
    found = find(library, like);
  }
  return found;
}

static void say(const char* problem, const char* detail) {
  fprintf(stderr, "steadfold: MPI's reductions are left as they are: %s%s\n", problem, detail);
}

/* --- its layer --- */

/* The layer's name for the library that describes itself so; NULL: there is none. */
static const char* layer_of(const char* library) {
  if (strncmp(library, "Open MPI", 8) == 0) return "openmpi";
  if (strncmp(library, "MPICH", 5) == 0) return "mpich";
  return NULL;
}

static void load_layer(void* library) {
  static const struct steadfold_interpose_shim shim = {STEADFOLD_VERSION, names, next, counts};
  char text[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of either library */
  int length = 0;
  char place[PATH_MAX];
  char path[PATH_MAX + 64];
  Dl_info own;
  const function version = find(library, VERSION_OF_LIBRARY);
  ((int (*)(char*, int*))version)(text, &length);
  const char* const layer = layer_of(text);
  if (layer == NULL) {
    text[strcspn(text, "\n")] = '\0';
    say("there is no layer for this MPI library (Open MPI and MPICH have one): ", text);
    return;
  }
  if (dladdr(names, &own) == 0 || realpath(own.dli_fname, place) == NULL) place[0] = '\0'; /* links lead to it */
  const char* const slash = strrchr(place, '/');
  const int directory = slash == NULL ? 0 : (int)(slash + 1 - place);
  snprintf(path, sizeof path, "%.*slibsteadfold_interpose_%s.so", directory, place, layer);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    say("their layer cannot be loaded, install it beside this library: ", dlerror());
    return;
  }
  const steadfold_interpose_entry entry = (steadfold_interpose_entry)find(handle, STEADFOLD_INTERPOSE_ENTRY);
  const function* const wrappers = entry == NULL ? NULL : entry(&shim);
  if (wrappers == NULL) {
    say("another release made their layer, install both from one: ", path);
    return;
  }
  for (int i = 0; i < steadfold_interpose_count; ++i)
    if (wrappers[i] != NULL) target[i] = wrappers[i];
}

static void load(void) {
  void* const library = find_library();
  if (library == NULL) {
    fprintf(stderr,
            "steadfold: a function of MPI is called, but no MPI library is loaded (neither linked nor opened)\n");
    abort();
  }
  for (int i = 0; i < steadfold_interpose_count; ++i) {
    next[i] = find(library, whole_names[i]);
    /* A layer has its own way with handled functions that are missing. */
    target[i] = i < steadfold_interpose_first_counted ? next[i] : find_or_like(library, whole_names[i]);
  }
  load_layer(library);
}

static pthread_once_t is_loaded = PTHREAD_ONCE_INIT;

static function target_of(int index) {
  pthread_once(&is_loaded, load);
  if (target[index] != NULL) return target[index];
  fprintf(stderr, "steadfold: %s is called, but this MPI library does not have it\n", whole_names[index]);
  abort();
}

/* What is called in place of a function that is missing takes an int. */
static function counted_target(int index, intptr_t count) {
  const function found = target_of(index);
  const char* const name = names[index];
  const size_t length = strlen(name);
  __atomic_fetch_add(&counts[index], 1, __ATOMIC_RELAXED);
  if (next[index] == NULL && count > INT_MAX && strcmp(name + length - 2, "_c") == 0) {
    fprintf(stderr, "steadfold: %s is called with a large count, but this MPI library does not have it\n", name);
    abort();
  }
  return found;
}

/* --- the functions --- */

typedef intptr_t word;
#define TYPES_0 void
#define TYPES_2 word a, word b
#define TYPES_4 TYPES_2, word c, word d
#define TYPES_6 TYPES_4, word e, word f
#define TYPES_7 TYPES_6, word g
#define TYPES_8 TYPES_7, word h
#define TYPES_9 TYPES_8, word i
#define TYPES_10 TYPES_9, word j
#define TYPES_12 TYPES_10, word k, word l
#define TYPES_13 TYPES_12, word m
#define WORDS_0
#define WORDS_2 a, b
#define WORDS_4 WORDS_2, c, d
#define WORDS_6 WORDS_4, e, f
#define WORDS_7 WORDS_6, g
#define WORDS_8 WORDS_7, h
#define WORDS_9 WORDS_8, i
#define WORDS_10 WORDS_9, j
#define WORDS_12 WORDS_10, k, l
#define WORDS_13 WORDS_12, m

#define CALL(target, arguments) ((int (*)(TYPES_##arguments))(target))(WORDS_##arguments)
#define HANDLED(prefix, name, arguments) \
  int prefix##name(TYPES_##arguments);   \
  int prefix##name(TYPES_##arguments) { return CALL(target_of(prefix##name##_index), arguments); }
#define COUNTED(prefix, name, arguments) \
  int prefix##name(TYPES_##arguments);   \
  int prefix##name(TYPES_##arguments) { return CALL(counted_target(prefix##name##_index, c), arguments); }

STEADFOLD_INTERPOSE_HANDLED(HANDLED)
STEADFOLD_INTERPOSE_COUNTED(COUNTED)
