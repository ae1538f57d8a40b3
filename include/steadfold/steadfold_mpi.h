/* Reductions over MPI communicators: the C interface. There is one library per MPI implementation.
 *
 * A communicator stands for a group of ranks. steadfold_group.h describes the functions of groups, and how calls fail.
 * All functions with a communicator are collective: every rank calls them, in the same order. */
#ifndef STEADFOLD_STEADFOLD_MPI_H
#define STEADFOLD_STEADFOLD_MPI_H

#include <mpi.h>

#include "steadfold/steadfold_group.h"
#include "steadfold/steadfold_team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks at link time that program and library use the same MPI. MPI handles differ between MPI libraries, so code
 * compiled with one library's mpi.h must not be linked with the Steadfold built for another. Every source that includes
 * this file refers to the variable named here, and each Steadfold library defines only its own variable. A mismatch
 * therefore gives an undefined reference when the program is linked. */
#if defined(OPEN_MPI)
#define SF_MPI_LINK sf_compiled_with_open_mpi_so_link_libsteadfold_openmpi
#elif defined(MPICH_VERSION) /* also libraries derived from MPICH, which share its handles */
#define SF_MPI_LINK sf_compiled_with_mpich_so_link_libsteadfold_mpich
#elif defined(MPI_ABI_VERSION) /* the binary interface of the MPI standard, in any library */
#define SF_MPI_LINK sf_compiled_with_the_mpi_abi_so_link_libsteadfold_mpi_abi
#else
#define SF_MPI_LINK sf_compiled_with_another_mpi_so_link_its_libsteadfold_mpi
#endif
extern const char SF_MPI_LINK;
#if defined(__has_attribute)
#if __has_attribute(retain) /* keeps the reference in linkers that drop unused data */
static const char* const sf_mpi_link __attribute__((used, retain)) = &SF_MPI_LINK;
#elif __has_attribute(used)
static const char* const sf_mpi_link __attribute__((used)) = &SF_MPI_LINK;
#endif
#endif

/* Returns the group of a communicator, the same that functions with a communicator use. The group lives as long as the
 * communicator, at most until MPI is finalised. The first use of a communicator is collective: it duplicates the
 * communicator. Later uses are local. */
sf_status sf_group_of(MPI_Comm comm, sf_group** group);

/* Makes one team of the workers of all ranks of `comm`: `workers` on this rank, 1 to SF_TEAM_MOST. Other ranks may have
 * a different number. Each worker is a rank of the team's groups: first the workers of rank 0, then the workers of rank
 * 1, and so on. The functions of steadfold_team.h count the workers of this rank.
 *
 * Workers of one rank reduce through shared memory, and send messages to workers of other ranks. With
 * MPI_THREAD_MULTIPLE each worker sends its own messages. Otherwise the thread of worker 0, which should be the thread
 * that may call MPI, sends the messages of all workers of its rank while it is inside calls of the team, and its calls
 * end when the calls of the other workers end. The schedule `native` is refused, since MPI would combine the data of
 * ranks, not of workers.
 *
 * Collective: one thread of every rank calls it. sf_team_free must be called on every rank, too, before MPI is
 * finalised. */
sf_status sf_team_create_over(MPI_Comm comm, int32_t workers, sf_team** team);

/* Reduce over a communicator, and find its rank order, as sf_group_reduce and sf_group_rank_order of steadfold_group.h
 * do for its group. */
sf_status sf_reduce(const sf_call* call, const void* first, const void* second, void* result, MPI_Comm comm);
sf_status sf_rank_order(uint64_t rows, MPI_Comm comm, sf_interval* mine, uint64_t* element_count);

/* Bind a plan, or a bundle, over a communicator, as sf_group_bind does over a group. */
sf_status sf_plan_bind(const sf_call* call, MPI_Comm comm, sf_plan** plan);
sf_status sf_bundle_bind(const sf_call* calls, size_t count, MPI_Comm comm, sf_plan** plan);

/* Handles with which MPI_Allreduce, MPI_Reduce, MPI_Scan, MPI_Exscan and similar functions merge accumulators
 * (steadfold_accumulator.h). One element of the type is the output of sf_accumulator_pack, for all accumulators of the
 * same shape as `accumulator`. The operation merges any number of packed accumulators. The operation is commutative,
 * and the bytes of the result do not depend on the order that the MPI library chooses. If the ranks' accumulators have
 * different shapes, sf_accumulator_unpack fails; if the packed sizes differ, MPI itself may fail. The type is
 * committed. Free it with MPI_Type_free, and the operation with MPI_Op_free. Call both functions after MPI_Init.
 * Returns SF_UNSUPPORTED if a packed accumulator has 16 GiB or more. Local. */
struct sf_accumulator;
sf_status sf_accumulator_mpi_type(const struct sf_accumulator* accumulator, MPI_Datatype* type);
sf_status sf_accumulator_mpi_op(MPI_Op* op);

/* Returns the name and version of the MPI library, as the library itself gives them. */
const char* sf_mpi_library(void);

#ifdef __cplusplus
}
#endif

#endif
