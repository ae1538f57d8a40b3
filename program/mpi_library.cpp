#include "program/mpi_library.hpp"

#include "program/launcher.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::command {
namespace {

std::string version() { return has_mpi() ? sf_mpi_library() : "none"; }

#if defined(OPEN_MPI)
MpiLibrary::Algorithm allreduce(const char* name, const char* number) {
  return {name, {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}, {"OMPI_MCA_coll_tuned_allreduce_algorithm", number}}};
}
#elif defined(MPICH_VERSION)
MpiLibrary::Algorithm allreduce(const char* name) {
  return {name, {{"MPIR_CVAR_DEVICE_COLLECTIVES", "none"}, {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", name}}};
}
#endif

}  // namespace

const MpiLibrary& mpi_library() {
  static const MpiLibrary library = {
#if defined(OPEN_MPI)
    .name = "Open MPI",
    .version = version(),
    .launcher = STEADFOLD_MPIRUN,
    .launcher_names = {"mpirun.openmpi", "mpirun", "mpiexec", "mpiexec.openmpi", "orterun"},
    .handing_on = "-x",
    .launcher_environment = {{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                             {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                             {"OMPI_MCA_mpi_yield_when_idle", "1"},
                             {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                             {"PRTE_MCA_hwloc_default_binding_policy", "none"},
                             // Seconds between the signal to the ranks and their end; the launcher's files stay until
                             // then.
                             {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
                             {"PRTE_MCA_odls_base_sigkill_timeout", "0"},
                             {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                             {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}},
    .binding = {"--bind-to", "core:overload-allowed", "--map-by", "core"},
    .binding_settings = {"OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy",
                         "PRTE_MCA_hwloc_default_binding_policy"},
    // Algorithm 5 is left out: it is a ring in segments, which Open MPI does not use for short vectors.
    .allreduce_algorithms = {allreduce("linear", "1"), allreduce("nonoverlapping", "2"),
                             allreduce("recursive_doubling", "3"), allreduce("ring", "4"),
                             allreduce("rabenseifner", "6")},
#elif defined(MPICH_VERSION)
    .name = "MPICH",
    .version = version(),
    .launcher = STEADFOLD_MPIRUN,
    .launcher_names = {"mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"},
    .binding = {"-bind-to", "core"},
    .binding_settings = {"HYDRA_BINDING"},
    .allreduce_algorithms = {allreduce("nb"), allreduce("smp"), allreduce("recursive_doubling"),
                             allreduce("reduce_scatter_allgather")},
#else
#ifdef STEADFOLD_MPI_ABI
    .name = "any MPI library with the standard binary interface (MPI ABI)",
#else
    .name = "the MPI library for which it was built",
#endif
    .version = version(),
    .launcher = STEADFOLD_MPIRUN,
    .launcher_names = {"mpiexec", "mpirun"},
#endif
  };
  return library;
}

}  // namespace steadfold::command
