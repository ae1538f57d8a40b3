// Reductions within one process, without a schedule and without a transport. Rank order: rows are reduced in the order
// of their indices. Cost: that of the builder. A call allocates memory if the call before had another shape.
#pragma once

#include <memory>
#include <optional>

#include "call/description.hpp"
#include "order/message.hpp"

namespace steadfold::group {

using call::Call;
using call::Data;
using call::Description;
using order::Count;

/// Reduces the calls of one process, one after the other. The reducer keeps the memory of the last call, because calls
/// of one shape often follow each other. Use the object from one thread at a time. A user operator may itself reduce
/// with this object.
class LocalReducer {
 public:
  LocalReducer();
  ~LocalReducer();
  LocalReducer(const LocalReducer&) = delete;
  LocalReducer& operator=(const LocalReducer&) = delete;

  /// Reduces the rows of a call, and ignores its root. Throws Failure. Returns whether `repeat`, until the next
  /// `reduce`, can reduce calls that differ from this call only in their rows.
  bool reduce(const Call& call, const Data& data);

  /// Reduces `rows` other rows in the same way as the last call, without checks. Returns false if `repeat` cannot do
  /// this; then call `reduce`, which throws the reason if there is an error. The caller must have set the promised
  /// floating-point environment.
  bool repeat(Count rows, const Data& data);

 private:
  class Workspace;
  class WideRowsReducer;
  class WorkspaceInUse;

  /// Reduces the columns of an array one after the other. Each column is reduced as rows of one element.
  /// Reduces the rows of a call with an initial value, and combines the value with the results.
  void reduce_from_initial(const Call& given, const Data& data);
  bool reduce_columns(const Call& call, const Description& description, const Data& data);
  /// Reduces rows one after the other without a builder. Returns an empty result if the kind of partial needs a
  /// builder.
  std::optional<Status> reduce_wide_rows(const Call& call, const Description& description, const Data& data);
  Workspace& workspace_for(const Call& call, const Description& description);

  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<WideRowsReducer> wide_rows_;
  bool repeats_wide_rows_ = false;  // whether `repeat` uses the reducer of wide rows; otherwise it uses the workspace
  bool is_taken_ = false;           // set while the operator of a call under way may itself reduce with this object
};

}  // namespace steadfold::group
