// A profile: what a message costs on a network, in a file that `steadfold tune` writes and people may edit. Which
// schedule is chosen and how vectors are cut follow from it, bits do not (of plain floating-point sums, which have a
// schedule's). Source: the LogGP model; messages above the eager limit wait for the receiver's leave (MPI libraries'
// rendezvous).
#pragma once

#include <string>
#include <string_view>

#include "agreement/segmentation.hpp"

namespace steadfold::agreement {

/// The link between two ranks. Lines `key = value`, and comments from `#` on. Keys: latency, gap, per_byte (all three),
/// eager_limit with rendezvous; processor, mpi, release, date and residual say where the figures come from. Throws
/// std::invalid_argument, "problem (why), suggestion".
transport::LogGP link_in(std::string_view profile);

/// That of a file. Throws std::invalid_argument if it cannot be read, or as above.
transport::LogGP link_of_file(const std::string& path);

/// Where a profile of this machine is looked for first, and where `steadfold tune` writes it: in XDG's folder of
/// settings, a file for each kind of processor and MPI library, since machines share homes. `library`: with its version
/// or without. Empty if there is no such folder, nor a home.
std::string own_profile(std::string_view library);

/// The profile that counts: what STEADFOLD_PROFILE names, else the first that is there, of the user and of the system
/// (XDG_CONFIG_DIRS). Empty: none.
std::string profile_of(std::string_view library);

/// Its link, else the assumed one; which also serves if the file is broken: then one line on standard error says so,
/// once in a process.
transport::LogGP link_of(std::string_view library);

}  // namespace steadfold::agreement
