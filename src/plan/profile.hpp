// A profile: the costs of messages and partials on a machine, in a file that `steadfold tune` writes and people may
// edit.
#pragma once

#include <string>
#include <string_view>

#include "plan/network.hpp"

namespace steadfold::plan {

/// Reads a profile: lines `key = value`, and comments that begin with `#`. A link has the keys latency, gap and
/// per_byte (all three are needed), and the keys of link_limits in pairs: eager_limit with rendezvous, long_from with
/// long_per_byte. Keys of the link between nodes have no prefix. Keys of the link inside nodes begin with `node.`, and
/// keys of the link inside parts of nodes with `part.`. The costs of handling partials have the keys merge_per_byte and
/// finish_per_byte, after `values.`, `accumulators.` or `bins.` (content_names). Missing figures have the assumed
/// values. The keys processor, mpi, release, date and residual say how the figures were obtained. Throws
/// std::invalid_argument with "problem (why), suggestion".
Network network_in(std::string_view profile);
/// Writes the lines of a profile for this network, with four digits per figure, without the keys that say how the
/// figures were obtained.
std::string text_of(const Network& network);

/// Reads the profile in a file. Throws std::invalid_argument if the file cannot be read, or as network_in does.
Network network_of_file(const std::string& path);

/// Returns the path at which a profile of this machine is looked for first, and to which `steadfold tune` writes it.
/// The path is in XDG's configuration directory of the user. Its name has the kind of processor and the MPI library,
/// since machines may share home directories. `library` may have a version. Returns an empty text if there is neither a
/// directory nor a home.
std::string own_profile(std::string_view library);

/// Returns the path of the profile in use: the path in STEADFOLD_PROFILE, otherwise the first existing profile of the
/// user or of the system (XDG_CONFIG_DIRS). The path is empty if there is none.
std::string profile_of(std::string_view library);

/// A network, and the reason why the profile in use was ignored. The reason is empty if the profile was not ignored, or
/// if there is no profile.
struct FoundNetwork {
  Network network = {};
  std::string unused_profile = {};
};
/// Returns the network of the profile in use, or the assumed network if there is no profile or if it is invalid.
FoundNetwork network_of(std::string_view library);

}  // namespace steadfold::plan
