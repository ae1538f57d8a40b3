// What a collective call throws inside the library; the C boundary turns it into a status and a text.
// Cost: failing paths only.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "arithmetic/rows/strides.hpp"
#include "order/message.hpp"

namespace steadfold::agreement {

/// `what()` reads "problem (why), suggestion".
class Failure : public std::runtime_error {
 public:
  Failure(Status status, const std::string& text) : std::runtime_error(text), status_(known(status)) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Where in a bundle something is wrong: "call 2: "; nothing for a call by itself.
std::string in_bundle(std::size_t call, std::size_t calls);

/// A sentence for a status that nobody on this rank can say more about.
std::string text_of(Status status);

/// What is said of an exception that is no Failure: a text that lives as long as the exception. Does not allocate.
const char* text_of(const std::exception& wrong) noexcept;

/// The exception being handled as a failure: itself, if it is one.
Failure caught_failure();
/// The exception being handled as a failure, and its status; `nullopt` if memory runs out. `status` is always set.
std::optional<Failure> caught_failure(Status& status) noexcept;

/// What the rank says whose operator failed.
Failure operator_failure();
/// What is said where a label names none of the groups: the first one of so many rows. Cost: reads them again.
Failure label_failure(const arithmetic::Strides& strides, const arithmetic::Operands& data, order::Count rows);

}  // namespace steadfold::agreement
