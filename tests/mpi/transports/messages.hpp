// What tests of transports between real processes have in common: waiting for a ticket, and messages to send.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/tested.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

inline Progress finish(Tested& endpoint, Ticket ticket, Bytes& arrived) {
  Progress progress = Progress::pending;
  while (progress == Progress::pending) progress = endpoint.test(ticket, arrived);
  return progress;
}

inline Progress finish(Tested& endpoint, Ticket ticket) {
  Bytes arrived = 0;
  return finish(endpoint, ticket, arrived);
}

inline Connection finish(Transport& connecting) {
  Connection state = Connection::pending;
  while (state == Connection::pending) state = connecting.connected();
  return state;
}

inline std::vector<std::byte> pattern(Bytes size, Rank rank, int round) {
  std::vector<std::byte> bytes(size);
  for (Bytes i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<Bytes>(rank) * 31 + static_cast<Bytes>(round));
  }
  return bytes;
}

/// The message of the std::runtime_error that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace steadfold::transport
