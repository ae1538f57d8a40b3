// A reduction within one process: no schedule, no transport.
// Rank order: that of the indices. Cost: the builder's; allocates where the shape is not that of the last call.
// Source: ours.
#pragma once

#include <memory>

#include "agreement/call.hpp"

namespace steadfold::session {

using agreement::Call;
using agreement::Description;
using order::Count;

/// Reduces calls of one process one after the other. Keeps the memory that the last one needed, since calls of one
/// shape come one after the other. One thread at a time; an operator may reduce something itself.
class LocalReducer {
 public:
  LocalReducer();
  ~LocalReducer();
  LocalReducer(const LocalReducer&) = delete;
  LocalReducer& operator=(const LocalReducer&) = delete;

  /// Reduces the call's rows into `result`. Throws Failure. Whether `repeat` serves calls that differ in nothing but
  /// their rows from now on, until the next `reduce`.
  bool reduce(const Call& call, const std::byte* first, const std::byte* second, std::byte* result);

  /// Reduces `rows` other rows by the last call, which is neither looked at nor described again. False where anything
  /// is unusual: then `reduce` is to be called, which tells what. In the promised environment.
  bool repeat(Count rows, const std::byte* first, const std::byte* second, std::byte* result);

 private:
  class Workspace;
  class Taken;

  Workspace& workspace_for(const Call& call, const Description& description);

  std::unique_ptr<Workspace> workspace_;
  bool is_taken_ = false;  // by a call whose operator reduces something itself
};

}  // namespace steadfold::session
