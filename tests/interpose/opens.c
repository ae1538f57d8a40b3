/* opens LIBRARY ARGUMENT...: runs the main function of a shared library, which is opened so that nobody else sees its
 * symbols or those of the MPI library below it, as Python opens its modules. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int (*run)(int, char**) = NULL;
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const found = library != NULL ? dlsym(library, "main") : NULL;
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  memcpy(&run, &found, sizeof run);
  return run(argc - 1, argv + 1);
}
