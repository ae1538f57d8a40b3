#include "agreement/failure.hpp"

#include <new>

namespace steadfold::agreement {

std::string in_bundle(std::size_t call, std::size_t calls) {
  return calls == 1 ? "" : "call " + std::to_string(call) + ": ";
}

std::string text_of(Status status) {
  switch (status) {
    case Status::ok: return "no failure";
    case Status::empty:
      return "nothing to reduce (no rank brought an element and the operator has no neutral one), check the count "
             "first";
    case Status::gap:
      return "elements are missing (the ranks' rows do not cover 0..N-1), check the layout and the element count";
    case Status::overlap:
      return "elements were brought twice (the ranks' rows overlap or are more than N), check the layout and the "
             "element count";
    case Status::operator_failed:
      return "the user operator failed (on another rank, which knows more), see that rank's message";
    case Status::mismatch:
      return "the ranks made different calls (method, operator, type, width, layout or schedule differ), make the same "
             "call on every rank";
    case Status::invalid_argument: return "an argument is unusable (another rank knows which), see that rank's message";
    case Status::unsupported: return "the combination is not offered (another rank knows which), see its message";
    case Status::transport_failed:
      return "a message was lost or did not fit (the transport reported an error), see the MPI library's messages";
    case Status::internal:
      return "the reduction failed inside the library (out of memory or a fault), please report it";
  }
  return "unknown status";
}

const char* text_of(const std::exception& wrong) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&wrong) != nullptr)
    return "out of memory (an allocation failed), reduce fewer columns at a time";
  return wrong.what();
}

Failure operator_failure() {
  return {Status::operator_failed,
          "the user operator failed (on this rank it returned other than 0, or threw), see its own message"};
}

Failure label_failure(std::uint64_t groups) {
  return {Status::invalid_argument, "a label is " + std::to_string(groups) +
                                        " or above (there are as many groups: labels are 0 to " +
                                        std::to_string(groups - 1) + ", or below 0 for none), correct it"};
}

}  // namespace steadfold::agreement
