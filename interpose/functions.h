/* The MPI functions that the interposer intercepts, and the interface between its two halves: the shim, which knows no
 * MPI library, and the layer for one MPI library. To add a function, add one line here. To do more than count its
 * calls, also add a wrapper in calls.cpp. */
#ifndef STEADFOLD_INTERPOSE_FUNCTIONS_H
#define STEADFOLD_INTERPOSE_FUNCTIONS_H

/* The handled functions, as X(prefix, name, number of arguments). Every argument fits a register: a handle, an address
 * or a number. Reductions come in groups of six in one order, which calls.cpp uses. Functions with large counts follow
 * their counterparts with int counts. */
#define STEADFOLD_INTERPOSE_HANDLED(X)    \
  X(MPI_, Init, 2)                        \
  X(MPI_, Init_thread, 4)                 \
  X(MPI_, Finalize, 0)                    \
  X(MPI_, Abort, 2)                       \
  X(MPI_, Allreduce, 6)                   \
  X(MPI_, Reduce, 7)                      \
  X(MPI_, Reduce_scatter, 6)              \
  X(MPI_, Reduce_scatter_block, 6)        \
  X(MPI_, Scan, 6)                        \
  X(MPI_, Exscan, 6)                      \
  X(MPI_, Allreduce_c, 6)                 \
  X(MPI_, Reduce_c, 7)                    \
  X(MPI_, Reduce_scatter_c, 6)            \
  X(MPI_, Reduce_scatter_block_c, 6)      \
  X(MPI_, Scan_c, 6)                      \
  X(MPI_, Exscan_c, 6)                    \
  X(MPI_, Iallreduce, 7)                  \
  X(MPI_, Ireduce, 8)                     \
  X(MPI_, Ireduce_scatter, 7)             \
  X(MPI_, Ireduce_scatter_block, 7)       \
  X(MPI_, Iscan, 7)                       \
  X(MPI_, Iexscan, 7)                     \
  X(MPI_, Iallreduce_c, 7)                \
  X(MPI_, Ireduce_c, 8)                   \
  X(MPI_, Ireduce_scatter_c, 7)           \
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
  X(MPI_, Reduce_scatter_init_c, 8)       \
  X(MPI_, Reduce_scatter_block_init_c, 8) \
  X(MPI_, Scan_init_c, 8)                 \
  X(MPI_, Exscan_init_c, 8)               \
  X(MPIX_, Allreduce_init, 8)             \
  X(MPIX_, Reduce_init, 9)                \
  X(MPIX_, Reduce_scatter_init, 8)        \
  X(MPIX_, Reduce_scatter_block_init, 8)  \
  X(MPIX_, Scan_init, 8)                  \
  X(MPIX_, Exscan_init, 8)                \
  X(MPI_, Wait, 2)                        \
  X(MPI_, Waitall, 3)                     \
  X(MPI_, Waitany, 4)                     \
  X(MPI_, Waitsome, 5)                    \
  X(MPI_, Test, 3)                        \
  X(MPI_, Testall, 4)                     \
  X(MPI_, Testany, 5)                     \
  X(MPI_, Testsome, 5)                    \
  X(MPI_, Request_get_status, 3)          \
  X(MPI_, Request_free, 1)                \
  X(MPI_, Start, 1)                       \
  X(MPI_, Startall, 2)                    \
  X(MPI_, Op_free, 1)
enum { steadfold_interpose_group = 6 };

/* Functions that are passed on unchanged. Their calls are counted, so that a report lists calls whose order is not
 * fixed. */
#define STEADFOLD_INTERPOSE_COUNTED(X) \
  X(MPI_, Accumulate, 9)               \
  X(MPI_, Get_accumulate, 12)          \
  X(MPI_, Raccumulate, 10)             \
  X(MPI_, Rget_accumulate, 13)         \
  X(MPI_, Fetch_and_op, 7)             \
  X(MPI_, Accumulate_c, 9)             \
  X(MPI_, Get_accumulate_c, 12)        \
  X(MPI_, Raccumulate_c, 10)           \
  X(MPI_, Rget_accumulate_c, 13)

/* Fortran's functions: X(prefix, name, name in capitals, number of arguments). Compilers write x, x_, x__ or X. The
 * module mpi_f08 has separate functions x_f08_ with the same arguments, in which omitted arguments have other
 * addresses. */
#define STEADFOLD_INTERPOSE_FORTRAN(X)                                  \
  X(mpi, init, MPI_INIT, 1)                                             \
  X(mpi, init_thread, MPI_INIT_THREAD, 3)                               \
  X(mpi, finalize, MPI_FINALIZE, 1)                                     \
  X(mpi, abort, MPI_ABORT, 3)                                           \
  X(mpi, allreduce, MPI_ALLREDUCE, 7)                                   \
  X(mpi, reduce, MPI_REDUCE, 8)                                         \
  X(mpi, reduce_scatter, MPI_REDUCE_SCATTER, 7)                         \
  X(mpi, reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK, 7)             \
  X(mpi, scan, MPI_SCAN, 7)                                             \
  X(mpi, exscan, MPI_EXSCAN, 7)                                         \
  X(mpi, iallreduce, MPI_IALLREDUCE, 8)                                 \
  X(mpi, ireduce, MPI_IREDUCE, 9)                                       \
  X(mpi, ireduce_scatter, MPI_IREDUCE_SCATTER, 8)                       \
  X(mpi, ireduce_scatter_block, MPI_IREDUCE_SCATTER_BLOCK, 8)           \
  X(mpi, iscan, MPI_ISCAN, 8)                                           \
  X(mpi, iexscan, MPI_IEXSCAN, 8)                                       \
  X(mpi, allreduce_init, MPI_ALLREDUCE_INIT, 9)                         \
  X(mpi, reduce_init, MPI_REDUCE_INIT, 10)                              \
  X(mpi, reduce_scatter_init, MPI_REDUCE_SCATTER_INIT, 9)               \
  X(mpi, reduce_scatter_block_init, MPI_REDUCE_SCATTER_BLOCK_INIT, 9)   \
  X(mpi, scan_init, MPI_SCAN_INIT, 9)                                   \
  X(mpi, exscan_init, MPI_EXSCAN_INIT, 9)                               \
  X(mpix, allreduce_init, MPIX_ALLREDUCE_INIT, 9)                       \
  X(mpix, reduce_init, MPIX_REDUCE_INIT, 10)                            \
  X(mpix, reduce_scatter_init, MPIX_REDUCE_SCATTER_INIT, 9)             \
  X(mpix, reduce_scatter_block_init, MPIX_REDUCE_SCATTER_BLOCK_INIT, 9) \
  X(mpix, scan_init, MPIX_SCAN_INIT, 9)                                 \
  X(mpix, exscan_init, MPIX_EXSCAN_INIT, 9)                             \
  X(mpi, wait, MPI_WAIT, 3)                                             \
  X(mpi, waitall, MPI_WAITALL, 4)                                       \
  X(mpi, waitany, MPI_WAITANY, 5)                                       \
  X(mpi, waitsome, MPI_WAITSOME, 6)                                     \
  X(mpi, test, MPI_TEST, 4)                                             \
  X(mpi, testall, MPI_TESTALL, 5)                                       \
  X(mpi, testany, MPI_TESTANY, 6)                                       \
  X(mpi, testsome, MPI_TESTSOME, 6)                                     \
  X(mpi, request_get_status, MPI_REQUEST_GET_STATUS, 4)                 \
  X(mpi, request_free, MPI_REQUEST_FREE, 2)                             \
  X(mpi, start, MPI_START, 2)                                           \
  X(mpi, startall, MPI_STARTALL, 3)                                     \
  X(mpi, op_free, MPI_OP_FREE, 2)

#define STEADFOLD_INTERPOSE_OF_C(prefix, name, arguments) prefix##name##_index,
#define STEADFOLD_INTERPOSE_OF_FORTRAN(prefix, name, capitals, arguments) prefix##_##name##_index,
#define STEADFOLD_INTERPOSE_OF_F08(prefix, name, capitals, arguments) prefix##_##name##_f08_index,
enum steadfold_interpose_index {
  STEADFOLD_INTERPOSE_HANDLED(STEADFOLD_INTERPOSE_OF_C) STEADFOLD_INTERPOSE_COUNTED(STEADFOLD_INTERPOSE_OF_C)
      STEADFOLD_INTERPOSE_FORTRAN(STEADFOLD_INTERPOSE_OF_FORTRAN)
          STEADFOLD_INTERPOSE_FORTRAN(STEADFOLD_INTERPOSE_OF_F08) steadfold_interpose_count
};
#undef STEADFOLD_INTERPOSE_OF_C
#undef STEADFOLD_INTERPOSE_OF_FORTRAN
#undef STEADFOLD_INTERPOSE_OF_F08
/* The order of functions: C's, Fortran's, then mpi_f08's. */
enum { steadfold_interpose_fortran = mpi_init_index, steadfold_interpose_f08 = mpi_init_f08_index };

typedef void (*steadfold_interpose_function)(void); /* NOLINT(modernize-redundant-void-arg): C, too */

/* The shim's data for the layer. Arrays have one entry per function. */
struct steadfold_interpose_shim {
  const char* version;                            /* the version of Steadfold */
  const char* const* names;                       /* names of the functions, without the prefix of C's names */
  const steadfold_interpose_function* of_library; /* the functions of the MPI library, not of a profiling tool */
  const unsigned long long* counts; /* number of calls of counted functions, and of reductions that a tool has passed
                                       to the MPI library past the shim */
  const void* (*caller)(void);      /* NOLINT(modernize-redundant-void-arg): return address of this thread's call */
};

/* The layer's data for the shim: one wrapper per function, NULL for functions that are passed on. */
typedef const steadfold_interpose_function* (*steadfold_interpose_entry)(const struct steadfold_interpose_shim* shim);
#define STEADFOLD_INTERPOSE_ENTRY "steadfold_interpose_layer"

#endif
