// A transport whose endpoints are wrapped, so that a test can read or change their messages.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "transport/forwarding.hpp"

namespace steadfold::test {

/// The constructor of `Wrapper` takes an endpoint, a reference to the test's `Context` and the number of tickets.
template <class Wrapper, class Context>
class WrappingTransport final : public transport::ForwardingTransport {
 public:
  WrappingTransport(std::shared_ptr<transport::Transport> inner, Context& context)
      : ForwardingTransport(std::move(inner)), context_(context) {}
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const order::Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder order) override {
    return std::make_unique<Wrapper>(inner().prepare(tag, capacities, tickets, order), context_, tickets);
  }

 private:
  Context& context_;
};

}  // namespace steadfold::test
