// What is known of a machine's network, from a file that `steadfold tune` writes and people may edit: which schedule is
// chosen and how vectors are cut go by it. It changes times, never bits.
// Source: the LogGP model; messages above the eager limit wait for the receiver's leave (MPI libraries' rendezvous).
#pragma once

#include <string>
#include <string_view>

#include "agreement/segmentation.hpp"

namespace steadfold::agreement {

struct Profile {
  transport::LogGP link = assumed_link;  // between two ranks, by messages
  std::string origin;                    // processor, MPI library and date, in one line; empty if the file does not say
};

/// Lines `key = value`, and comments from `#` on. Keys: latency, gap, per_byte (all three), eager_limit with
/// rendezvous; processor, mpi, release, date, residual, which only say where the figures come from. Throws
/// std::invalid_argument, "problem (why), suggestion".
Profile profile_in(std::string_view text);

/// The file's profile. Throws std::invalid_argument if it cannot be read, or as above.
Profile read_profile(const std::string& path);

/// The link that STEADFOLD_PROFILE names, else the assumed one; which also serves if the file is broken: then one line
/// on standard error says so, once in a process.
transport::LogGP link_from_environment();

}  // namespace steadfold::agreement
