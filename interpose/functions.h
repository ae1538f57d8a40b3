/* The functions of MPI that the interposer stands before, and what passes between its two halves: the shim, which knows
 * no MPI library, and the layer for one library. Adding a function is one line here, and its wrapper in calls.cpp if
 * the interposer is to do more with it than count. */
#ifndef STEADFOLD_INTERPOSE_FUNCTIONS_H
#define STEADFOLD_INTERPOSE_FUNCTIONS_H

/* X(prefix, name, number of arguments). Every argument fits a register: a handle, an address, a number. */
#define STEADFOLD_INTERPOSE_HANDLED(X) \
  X(MPI_, Init, 2)                     \
  X(MPI_, Init_thread, 4)              \
  X(MPI_, Finalize, 0)                 \
  X(MPI_, Allreduce, 6)                \
  X(MPI_, Reduce, 7)                   \
  X(MPI_, Reduce_scatter, 6)           \
  X(MPI_, Reduce_scatter_block, 6)     \
  X(MPI_, Scan, 6)                     \
  X(MPI_, Exscan, 6)                   \
  X(MPI_, Allreduce_c, 6)              \
  X(MPI_, Reduce_c, 7)                 \
  X(MPI_, Reduce_scatter_c, 6)         \
  X(MPI_, Reduce_scatter_block_c, 6)   \
  X(MPI_, Scan_c, 6)                   \
  X(MPI_, Exscan_c, 6)

/* Those that are passed on untouched and counted, so that a report says what kept its own order. Where a library lacks
 * one that ends in _c, its like with ints serves, whose third argument is a count (find_or_like in shim.c). So
 * Ireduce_scatter_c and Reduce_scatter_init_c are left out, which take an array of counts.
 */
#define STEADFOLD_INTERPOSE_COUNTED(X)    \
  X(MPI_, Iallreduce, 7)                  \
  X(MPI_, Ireduce, 8)                     \
  X(MPI_, Ireduce_scatter, 7)             \
  X(MPI_, Ireduce_scatter_block, 7)       \
  X(MPI_, Iscan, 7)                       \
  X(MPI_, Iexscan, 7)                     \
  X(MPI_, Iallreduce_c, 7)                \
  X(MPI_, Ireduce_c, 8)                   \
  X(MPI_, Ireduce_scatter_block_c, 7)     \
  X(MPI_, Iscan_c, 7)                     \
  X(MPI_, Iexscan_c, 7)                   \
  X(MPI_, Allreduce_init, 8)              \
  X(MPI_, Reduce_init, 9)                 \
  X(MPI_, Reduce_scatter_init, 8)         \
  X(MPI_, Reduce_scatter_block_init, 8)   \
  X(MPI_, Scan_init, 8)                   \
  X(MPI_, Exscan_init, 8)                 \
  X(MPI_, Allreduce_init_c, 8)            \
  X(MPI_, Reduce_init_c, 9)               \
  X(MPI_, Reduce_scatter_block_init_c, 8) \
  X(MPI_, Scan_init_c, 8)                 \
  X(MPI_, Exscan_init_c, 8)               \
  X(MPIX_, Allreduce_init, 8)             \
  X(MPIX_, Reduce_init, 9)                \
  X(MPIX_, Reduce_scatter_init, 8)        \
  X(MPIX_, Reduce_scatter_block_init, 8)  \
  X(MPIX_, Scan_init, 8)                  \
  X(MPIX_, Exscan_init, 8)                \
  X(MPI_, Accumulate, 9)                  \
  X(MPI_, Get_accumulate, 12)             \
  X(MPI_, Raccumulate, 10)                \
  X(MPI_, Rget_accumulate, 13)            \
  X(MPI_, Fetch_and_op, 7)

#define STEADFOLD_INTERPOSE_ENUMERATOR(prefix, name, arguments) prefix##name##_index,
enum steadfold_interpose_index {
  STEADFOLD_INTERPOSE_HANDLED(STEADFOLD_INTERPOSE_ENUMERATOR)
      STEADFOLD_INTERPOSE_COUNTED(STEADFOLD_INTERPOSE_ENUMERATOR) steadfold_interpose_count
};
/* Those before it are handled. */
enum { steadfold_interpose_first_counted = MPI_Iallreduce_index };
#undef STEADFOLD_INTERPOSE_ENUMERATOR

typedef void (*steadfold_interpose_function)(void);

/* What the shim gives the layer. Arrays have an entry for each function. */
struct steadfold_interpose_shim {
  const char* version;                      /* of Steadfold */
  const char* const* names;                 /* without their prefix */
  const steadfold_interpose_function* next; /* the definition behind the shim: a profiler's, or the library's */
  const unsigned long long* counts;         /* of calls of counted functions */
};

/* What the layer gives the shim: a wrapper for each function, NULL for those that are passed on. */
typedef const steadfold_interpose_function* (*steadfold_interpose_entry)(const struct steadfold_interpose_shim* shim);
#define STEADFOLD_INTERPOSE_ENTRY "steadfold_interpose_layer"

#endif
