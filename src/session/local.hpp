// Reductions within one process, without a schedule and without a transport.
// Rank order: the order of the indices. Cost: as the builder; allocates if the last call had another shape.
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

/// Reduces calls of one process, one after the other. It keeps the memory of the last call, because calls of one shape
/// often follow each other. One thread at a time; a user operator may itself reduce with this object.
class LocalReducer {
 public:
  LocalReducer();
  ~LocalReducer();
  LocalReducer(const LocalReducer&) = delete;
  LocalReducer& operator=(const LocalReducer&) = delete;

  /// Reduces the call's rows; its root is ignored. Throws Failure. Returns whether, until the next `reduce`, `repeat`
  /// can reduce calls that differ from this call only in their rows.
  bool reduce(const Call& call, const Data& data);

  /// Reduces `rows` other rows in the same way as the last call, without checks. Returns false if `repeat` cannot do
  /// this; then call `reduce`, which throws the reason if there is an error. Needs the promised environment.
  bool repeat(Count rows, const Data& data);

 private:
  class Workspace;
  class WideRowsReducer;
  class WorkspaceInUse;

  /// Reduces the columns of an array one after the other, each as rows of one element.
  bool reduce_columns(const Call& call, const Description& description, const Data& data);
  /// Reduces rows one after the other without a builder. Returns an empty result if the kind of partial needs a
  /// builder.
  std::optional<Status> reduce_wide_rows(const Call& call, const Description& description, const Data& data);
  Workspace& workspace_for(const Call& call, const Description& description);

  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<WideRowsReducer> wide_rows_;
  bool repeats_wide_rows_ = false;  // otherwise `repeat` uses the workspace
  bool is_taken_ = false;           // taken by a call whose operator itself reduces
};

}  // namespace steadfold::session
