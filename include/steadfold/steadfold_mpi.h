/* Steadfold over MPI: the C interface. One library per MPI implementation.
 *
 * A communicator stands for a group of ranks; steadfold_group.h says what groups can do, and how calls fail. All
 * functions with a communicator are collective: every rank calls them, in the same order. */
#ifndef STEADFOLD_STEADFOLD_MPI_H
#define STEADFOLD_STEADFOLD_MPI_H

#include <mpi.h>

#include "steadfold/steadfold_group.h"
#include "steadfold/steadfold_team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPI handles differ between MPI libraries, so code compiled with one library's mpi.h must not be linked with the
 * Steadfold built for another. Every source that includes this file refers to the variable named here, and each
 * Steadfold library defines only its own: a mismatch is an undefined reference when the program is linked. */
#if defined(OPEN_MPI)
#define SF_MPI_LINK sf_compiled_with_open_mpi_so_link_libsteadfold_openmpi
#elif defined(MPICH_VERSION) /* also those derived from it, which share its handles */
#define SF_MPI_LINK sf_compiled_with_mpich_so_link_libsteadfold_mpich
#elif defined(MPI_ABI_VERSION) /* the standard's own binary interface, whichever library it is */
#define SF_MPI_LINK sf_compiled_with_the_mpi_abi_so_link_libsteadfold_mpi_abi
#else
#define SF_MPI_LINK sf_compiled_with_another_mpi_so_link_its_libsteadfold_mpi
#endif
extern const char SF_MPI_LINK;
#if defined(__has_attribute)
#if __has_attribute(retain) /* by linkers that drop what nobody refers to */
static const char* const sf_mpi_link __attribute__((used, retain)) = &SF_MPI_LINK;
#elif __has_attribute(used)
static const char* const sf_mpi_link __attribute__((used)) = &SF_MPI_LINK;
#endif
#endif

/* The communicator as a group: what functions with a communicator use. It lives as long as the communicator, and ends
 * when MPI is finalised. The first use of a communicator is collective: it duplicates it. Later ones are local. */
sf_status sf_group_of(MPI_Comm comm, sf_group** group);

/* Makes one team of the workers of all ranks of `comm`: `workers` on this rank, 1 to SF_TEAM_MOST; other ranks may have
 * another number. Each is a rank of the team's groups: those of rank 0 first, then those of rank 1, and so on. The
 * functions of steadfold_team.h count the workers of this rank.
 * Workers of one rank reduce through cache lines, and send messages to those of others. With MPI_THREAD_MULTIPLE each
 * sends its own. With less the thread of worker 0, which should be the one that may call MPI, sends those of all
 * workers of its rank while it is in calls of the team, and its calls end when the others' do. The schedule `native` is
 * refused: MPI adds what ranks have, not workers. Collective: one thread of every rank calls it. sf_team_free, too, is
 * called on every rank, before MPI is finalised. */
sf_status sf_team_create_over(MPI_Comm comm, int32_t workers, sf_team** team);

/* The functions of steadfold_group.h, for the group of a communicator. */
sf_status sf_reduce(const sf_call* call, const void* first, const void* second, void* result, MPI_Comm comm);
sf_status sf_rank_order(uint64_t rows, MPI_Comm comm, sf_interval* mine, uint64_t* element_count);

/* Plans and bundles over a communicator: as sf_group_bind binds them. */
sf_status sf_plan_bind(const sf_call* call, MPI_Comm comm, sf_plan** plan);
sf_status sf_bundle_bind(const sf_call* calls, size_t count, MPI_Comm comm, sf_plan** plan);

/* Accumulators (steadfold_accumulator.h) in anybody's MPI_Allreduce, MPI_Reduce, MPI_Scan, MPI_Exscan and the like:
 * what sf_accumulator_pack writes is one element of the type, for all accumulators of the shape of this one; the
 * operation merges packed ones, any number of elements. It is commutative, and whatever order the library takes, the
 * bytes are the same. Ranks whose accumulators have different shapes are found out where they unpack (different sizes:
 * where MPI does). Local, after MPI_Init. The type is committed; free it with MPI_Type_free, the operation with
 * MPI_Op_free. SF_UNSUPPORTED: packed accumulators of 16 GiB and more. */
struct sf_accumulator;
sf_status sf_accumulator_mpi_type(const struct sf_accumulator* accumulator, MPI_Datatype* type);
sf_status sf_accumulator_mpi_op(MPI_Op* op);

/* The MPI library's own name and version. */
const char* sf_mpi_library(void);

#ifdef __cplusplus
}
#endif

#endif
