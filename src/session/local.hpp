// A reduction within one process: no schedule, no transport.
// Rank order: that of the indices. Cost: the builder's; allocates if the last call had another shape.
#pragma once

#include <memory>
#include <optional>

#include "agreement/description.hpp"
#include "order/message.hpp"

namespace steadfold::session {

using agreement::Call;
using agreement::Data;
using agreement::Description;
using order::Count;

/// Reduces calls of one process, one after the other. Keeps the memory of the last call, since calls of one shape
/// follow each other. One thread at a time; an operator may reduce something itself.
class LocalReducer {
 public:
  LocalReducer();
  ~LocalReducer();
  LocalReducer(const LocalReducer&) = delete;
  LocalReducer& operator=(const LocalReducer&) = delete;

  /// Reduces the call's rows; its root counts for nothing. Throws Failure. Returns whether `repeat` serves calls that
  /// differ from this one only in their rows, until the next `reduce`.
  bool reduce(const Call& call, const Data& data);

  /// Reduces `rows` other rows as the last call did, without checking or describing it again. False if anything is
  /// unusual: then call `reduce`, which says what. In the promised environment.
  bool repeat(Count rows, const Data& data);

 private:
  class Workspace;
  class WideRowsReducer;
  class WorkspaceInUse;

  /// The columns of an array one after the other, each as rows of one element.
  bool reduce_columns(const Call& call, const Description& description, const Data& data);
  /// Rows one after the other without a builder. Nothing: their kind wants it.
  std::optional<Status> reduce_wide_rows(const Call& call, const Description& description, const Data& data);
  Workspace& workspace_for(const Call& call, const Description& description);

  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<WideRowsReducer> wide_rows_;
  bool repeats_wide_rows_ = false;  // else those of the workspace
  bool is_taken_ = false;           // by a call whose operator reduces something itself
};

}  // namespace steadfold::session
