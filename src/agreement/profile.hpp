// A profile: what messages and partials cost on a machine, in a file that `steadfold tune` writes and people may edit.
#pragma once

#include <string>
#include <string_view>

#include "agreement/network.hpp"

namespace steadfold::agreement {

/// Lines `key = value`, and comments from `#` on. A link has the keys latency, gap and per_byte (all three), and
/// those of link_limits in pairs: eager_limit with rendezvous, long_from with long_per_byte. They stand alone for the
/// link between nodes, behind `node.` for the one inside nodes, behind `part.` for the one inside parts of nodes. What
/// handling partials takes has the keys merge_per_byte and finish_per_byte, behind `values.`, `accumulators.` or
/// `bins.` (content_names); what is missing is as assumed. processor, mpi, release, date and residual say where the
/// figures come from. Throws std::invalid_argument, "problem (why), suggestion".
Network network_in(std::string_view profile);
/// The lines of a profile that say so, without where the figures come from; four digits of each.
std::string text_of(const Network& network);

/// That of a file. Throws std::invalid_argument if it cannot be read, or as above.
Network network_of_file(const std::string& path);

/// Where a profile of this machine is looked for first, and where `steadfold tune` writes it: in XDG's folder of
/// settings, a file for each kind of processor and MPI library, since machines share homes. `library`: with its version
/// or without. Empty if there is no such folder, nor a home.
std::string own_profile(std::string_view library);

/// The profile that counts: what STEADFOLD_PROFILE names, else the first that is there, of the user and of the system
/// (XDG_CONFIG_DIRS). Empty: none.
std::string profile_of(std::string_view library);

/// A network, and why it is not that of the profile which counts; empty if it is, or there is none.
struct FoundNetwork {
  Network network = {};
  std::string unused_profile = {};
};
/// The network of the profile that counts; the assumed one if there is none, or it is broken.
FoundNetwork network_of(std::string_view library);

}  // namespace steadfold::agreement
