// The exception that collective calls throw inside the library. The C boundary turns it into a status and a text.
// Cost: only when a call fails.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "arithmetic/rows/strides.hpp"
#include "order/message.hpp"

namespace steadfold::call {

/// The error of a call: its status and a text. `what()` reads "problem (why), suggestion".
class Failure : public std::runtime_error {
 public:
  Failure(Status status, const std::string& text) : std::runtime_error(text), status_(known(status)) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Returns the text that names a call of a bundle in an error: "call 2: ". Empty for a call outside a bundle.
std::string in_bundle(std::size_t call, std::size_t calls);

/// Returns the text for a status of which this rank knows no details.
std::string text_of(Status status);

/// Returns the text for an exception that is not a Failure. The text lives as long as the exception. Does not allocate.
const char* text_of(const std::exception& wrong) noexcept;

/// Returns the exception being handled; converts it if it is not a Failure.
Failure caught_failure();
/// Returns the exception being handled as a Failure, or `nullopt` if memory runs out. Always sets `status`.
std::optional<Failure> caught_failure(Status& status) noexcept;

/// Makes the failure of the rank on which the user's operator failed.
Failure operator_failure();
/// Makes the failure for labels that name none of the groups. Its text names the first of these labels in `rows` rows.
/// Cost: reads the labels again.
Failure label_failure(const arithmetic::Strides& strides, const arithmetic::Operands& data, order::Count rows);

}  // namespace steadfold::call
