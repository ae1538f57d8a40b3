#include "capi/arrays.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "capi/boundary.hpp"
#include "capi/sized.hpp"

namespace steadfold::capi {
namespace {

using arithmetic::Axis;
using arithmetic::Operand;
using arithmetic::Operation;
using arithmetic::Type;
using call::Array;
using call::Call;
using call::Failure;
using order::Bytes;
using order::Count;

[[noreturn]] void refuse(const std::string& text) { throw Failure(Status::invalid_argument, text); }

std::string shape_of(const sf_array& array) {
  std::string text = "(";
  for (int i = 0; i < array.axis_count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(array.shape[i]);
  return text + ")";
}

Type type_of(const sf_array& array, const char* what) {
  const unsigned type = number(array.type);
  if (type > SF_FLOAT128)
    refuse("type " + std::to_string(type) + " of " + what + " is unknown (the last type is " +
           std::to_string(SF_FLOAT128) + "), give a value of sf_type");
  return static_cast<Type>(type);
}

Bytes bytes_of(const sf_array& array, Type type) {
  return type == Type::bytes ? array.element_bytes : arithmetic::size_of(type);
}

void require_axes(const sf_array& array, const char* what) {
  if (array.axis_count < 0 || array.axis_count > SF_MOST_AXES)
    refuse(std::to_string(array.axis_count) + " axes of " + what + " (an array has 0 to " +
           std::to_string(SF_MOST_AXES) + " axes), check axis_count");
  if (array.device != 0)
    throw Failure(Status::unsupported,
                  "device " + std::to_string(array.device) + " of " + what +
                      " (the library reads only memory of the host, device 0), copy the array to the host");
}

/// Returns the stride of an operand along axis `i` of x, or 0 where the operand is repeated.
arithmetic::Stride stretched(const sf_array& array, const sf_array& x, int i, const char* what) {
  const int own = i - (x.axis_count - array.axis_count);
  if (own < 0 || (array.shape[own] == 1 && x.shape[i] != 1)) return 0;
  if (array.shape[own] != x.shape[i])
    refuse(std::string(what) + " of shape " + shape_of(array) + " for elements of shape " + shape_of(x) +
           " (from the last axis on, extents must be equal, or 1), give a shape that can be broadcast to the elements");
  return array.strides[own];
}

/// Whether the mask has kept axes, so that each result has its own number of elements: the mask differs along a kept
/// axis, or there is one result and the mask has its axis. So the result of no elements does not depend on an extent.
bool has_kept_axis(const sf_arrays& arrays, const Array& array, Count columns) {
  const std::span<const Axis> kept(&array.axes[array.row_axes], array.column_axes);
  const auto differs = [](const Axis& axis) { return axis.extent > 1 && axis.of(Operand::mask) != 0; };
  if (std::ranges::any_of(kept, differs)) return true;
  const int skipped = arrays.x.axis_count - arrays.mask.axis_count;  // number of leading axes of x that the mask lacks
  return columns == 1 && arrays.kept >> std::max(skipped, 0) != 0;
}

/// Returns the product of extents. Throws if it is larger than memory can hold.
Count times(Count count, Count extent, const sf_array& x) {
  const auto all = order::checked_product(count, extent, ~Count{0} / 512);
  if (!all) refuse("elements of shape " + shape_of(x) + " (no memory holds as many), check the extents");
  return *all;
}

/// Throws if an operand of the array would reach beyond the address space. A stride that is too large but never used is
/// set to 0.
void bound_strides(Array& array, bool is_empty) {
  constexpr Count furthest = Count{1} << 60;  // bytes; larger than any memory
  const std::span<Axis> axes(array.axes.data(), array.row_axes + array.column_axes);
  for (std::size_t operand = 0; operand < arithmetic::operand_count; ++operand) {
    Count reach = 0;
    for (Axis& axis : axes) {
      arithmetic::Stride& stride = axis.strides[operand];
      const Count step = stride < 0 ? 0 - static_cast<Count>(stride) : static_cast<Count>(stride);
      const bool is_stepped = !is_empty && axis.extent > 1;
      if (!is_stepped && step > furthest) stride = 0;
      if (!is_stepped || step == 0) continue;
      const auto more = order::checked_product(axis.extent - 1, step, furthest - reach);
      if (!more)
        refuse("an axis of " + std::to_string(axis.extent) + " indices with stride " + std::to_string(stride) +
               " (no memory holds as much), check shape and strides");
      reach += *more;
    }
  }
}

/// Whether factors and a mask are given, as the operation and the array need them.
struct Given {
  bool factors;
  bool mask;
  bool labels;
};

bool is_list(const sf_arrays& arrays) { return arrays.xs != nullptr || arrays.x_count > 0; }

void require_list(const sf_arrays& arrays, bool has_labels) {
  if (!is_list(arrays)) return;
  require_count(arrays.x_count, sizeof(void*), "arrays");
  if (arrays.x.data != nullptr)
    refuse("data of x and a list of " + std::to_string(arrays.x_count) +
           " arrays (the list says where each array begins), set the address of x to null");
  if (arrays.kept != 0 || has_labels)
    refuse("a list of " + std::to_string(arrays.x_count) + " arrays with kept axes or labels " +
           "(every array of a list has one result), make one call per array");
}

bool is_chunked(const sf_arrays& arrays) { return arrays.chunks != nullptr || arrays.chunk_count > 0; }

static_assert(sizeof(sf_chunk) == sizeof(arithmetic::Chunk) &&
              offsetof(sf_chunk, valid) == offsetof(arithmetic::Chunk, valid) &&
              offsetof(sf_chunk, bit) == offsetof(arithmetic::Chunk, bit) &&
              offsetof(sf_chunk, end) == offsetof(arithmetic::Chunk, end));

/// Checks each chunk, so that no element outside the chunks is read.
void require_chunks_of(const sf_arrays& arrays) {
  const auto chunks = list_of(arrays.chunks, arrays.chunk_count, "chunks");
  const Count elements = arrays.x.shape[0];
  Count begin = 0;
  for (Count i = 0; i < chunks.size(); ++i) {
    const sf_chunk& chunk = chunks[i];
    const auto which = [i] { return "chunk " + std::to_string(i); };
    if (chunk.end < begin)
      refuse(which() + " ends at element " + std::to_string(chunk.end) + " (it begins at element " +
             std::to_string(begin) + "), give the number of elements up to the end of each chunk");
    if (chunk.end > begin && chunk.data == nullptr)
      refuse(which() + " has no address (" + std::to_string(chunk.end - begin) +
             " elements are to be read), give the address of its first element");
    if (chunk.valid != nullptr && arrays.is_nullable == 0)
      refuse(which() + " has a bitmap (is_nullable is 0, which means that no element is null), set is_nullable");
    begin = chunk.end;
  }
  if (begin != elements)
    refuse(std::to_string(chunks.size()) + " chunks with " + std::to_string(begin) + " elements for a column of " +
           std::to_string(elements) + " (the chunks hold all elements), make the numbers equal");
}

void require_chunks(const sf_arrays& arrays) {
  if (!is_chunked(arrays)) {
    if (arrays.is_nullable != 0)
      refuse("is_nullable without chunks (bitmaps belong to chunks), give the list of chunks, or a mask");
    return;
  }
  const std::string count = std::to_string(arrays.chunk_count) + " chunks";
  if (is_list(arrays))
    refuse(count + " and a list of " + std::to_string(arrays.x_count) +
           " arrays (a column in chunks is one array), make one call per array");
  if (arrays.x.data != nullptr)
    refuse("data of x and a list of " + count +
           " (the list says where each chunk begins), set the address of x to null");
  if (arrays.x.axis_count != 1 || arrays.kept != 0)
    refuse(count + " of an array of " + std::to_string(arrays.x.axis_count) + " axes with " +
           std::to_string(std::popcount(arrays.kept)) +
           " kept (a column has one axis, which is not kept), set axis_count to 1 and kept to 0");
  if (arrays.is_nullable != 0 && is_given(arrays.mask))
    refuse(
        "a mask and a column that may have nulls (bitmaps are the mask of a column), clear the bits of the "
        "elements that the mask leaves out");
  require_chunks_of(arrays);
}

Given require_operands(const sf_arrays& arrays, const Call& call) {
  const Given given{.factors = arithmetic::has_factors(call.operation),
                    .mask = is_given(arrays.mask) || arrays.is_nullable != 0,
                    .labels = is_given(arrays.labels) || arrays.groups > 0};
  require_list(arrays, given.labels);
  require_axes(arrays.x, "the elements");
  require_chunks(arrays);
  if (given.factors) require_axes(arrays.factors, "the factors");
  if (is_given(arrays.mask)) require_axes(arrays.mask, "the mask");
  if (given.labels) require_axes(arrays.labels, "the labels");
  for (const auto& [each, name] :
       {std::pair(&arrays.factors, "factors"), std::pair(&arrays.mask, "a mask"), std::pair(&arrays.labels, "labels")})
    if (is_given(*each) && each->axis_count > arrays.x.axis_count)
      refuse(std::string(name) + " of " + std::to_string(each->axis_count) + " axes for elements of " +
             std::to_string(arrays.x.axis_count) + " (their axes are broadcast to the elements), " +
             "give no more axes than the elements have");
  if (call.operation == Operation::masked_sum)
    refuse("masked_sum of arrays (every sum of arrays can have a mask), use SF_SUM and set arrays.mask");
  if (!given.factors && is_given(arrays.factors))
    refuse("factors for " + std::string(arithmetic::name_of(call.operation)) +
           " (the operation takes no factors), use dot or weighted_mean");
  if (given.factors && type_of(arrays.factors, "the factors") != type_of(arrays.x, "the elements"))
    refuse(
        "the factors and the elements have different types (both are multiplied without conversion), convert one of "
        "them");
  return given;
}

arithmetic::Labels labels_of(const sf_arrays& arrays) {
  if (arrays.groups == 0) refuse("labels for 0 groups (labels name groups 0 to groups - 1), give the number of groups");
  if (!is_given(arrays.labels))
    refuse(std::to_string(arrays.groups) +
           " groups without labels (labels say to which group an element belongs), give the labels and the number of "
           "groups");
  const Type type = type_of(arrays.labels, "the labels");
  const Bytes bytes = bytes_of(arrays.labels, type);
  const bool is_integer = type >= Type::i32 && type <= Type::u64;
  if (!is_integer && (type != Type::bytes || (bytes != 1 && bytes != 2)))
    refuse("labels of " + std::to_string(bytes) + " bytes of type " + std::string(arithmetic::name_of(type)) +
           " (labels must be integers, or SF_BYTES of 1 or 2 bytes), convert the labels");
  return {.groups = arrays.groups, .bytes = bytes, .is_signed = type == Type::i32 || type == Type::i64};
}

Bytes mask_bytes_of(const sf_array& mask) {
  const Type type = type_of(mask, "the mask");
  const Bytes bytes = bytes_of(mask, type);
  const bool is_whole = type == Type::bytes || (type >= Type::i32 && type <= Type::u64);
  if (!is_whole || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
    refuse("a mask with elements of " + std::to_string(bytes) + " bytes of type " +
           std::string(arithmetic::name_of(type)) +
           " (a mask takes SF_BYTES of 1, 2, 4 or 8 bytes, or integers), convert the mask");
  return bytes;
}

}  // namespace

void take_arrays(const sf_arrays& callers, Call& call, Array& array) {
  sf_arrays room;
  const sf_arrays& arrays = whole(callers, room);
  const sf_array& x = arrays.x;
  const Given given = require_operands(arrays, call);
  if ((arrays.kept >> 30) == 1)  // C++ passes negative axes as a list
    refuse(
        "the axes to keep are not in ascending order (results have the order of the array's axes), list each axis "
        "once, in ascending order");
  if ((arrays.kept >> x.axis_count) != 0)
    refuse("an axis to keep does not exist (the elements have " + std::to_string(x.axis_count) +
           " axes), keep only axes of the elements");
  call.type = type_of(x, "the elements");
  if (call.type == Type::bytes) call.user.element_bytes = x.element_bytes;
  call.rows = call.columns = 1;
  array.row_axes = array.column_axes = 0;
  if (given.labels) array.labels = labels_of(arrays);
  for (const bool kept : {false, true}) {
    if (kept && given.labels) {
      if (array.row_axes + static_cast<std::size_t>(std::popcount(arrays.kept)) > arithmetic::most_axes)
        refuse("groups of an array whose " + std::to_string(x.axis_count) +
               " axes are all kept (groups take one more axis), keep fewer axes");
      array.axes[array.row_axes + array.column_axes++] = Axis{.extent = array.labels.groups};
      call.columns = times(call.columns, array.labels.groups, x);
    }
    for (int i = 0; i < x.axis_count; ++i) {
      if (((arrays.kept >> i & 1) != 0) != kept) continue;
      const Axis axis{.extent = x.shape[i],
                      .strides = {x.strides[i], given.factors ? stretched(arrays.factors, x, i, "factors") : 0,
                                  is_given(arrays.mask) ? stretched(arrays.mask, x, i, "a mask") : 0,
                                  given.labels ? stretched(arrays.labels, x, i, "labels") : 0}};
      array.axes[array.row_axes + array.column_axes] = axis;
      (kept ? array.column_axes : array.row_axes) += 1;
      Count& count = kept ? call.columns : call.rows;
      count = times(count, axis.extent, x);
      if (kept) array.labels.columns *= axis.extent;
    }
    // Counts an axis. There is at least one axis of rows and one of columns.
    std::size_t& axes = kept ? array.column_axes : array.row_axes;
    if (axes == 0) {
      array.axes[kept ? array.row_axes : 0] = Axis{.extent = 1};
      axes = 1;
    }
  }
  bound_strides(array, call.rows == 0 || call.columns == 0);
  if (is_list(arrays)) {
    call.columns = array.axes[array.row_axes].extent = arrays.x_count;
    array.is_listed = true;
  }
  array.chunk_count = arrays.chunk_count;
  array.has_bitmaps = arrays.is_nullable != 0;
  array.mask_has_columns = given.mask && has_kept_axis(arrays, array, call.columns);
  array.mask_bytes = is_given(arrays.mask) ? mask_bytes_of(arrays.mask) : given.mask ? 1 : 0;
  const void* const first = is_list(arrays)      ? static_cast<const void*>(arrays.xs)
                            : is_chunked(arrays) ? static_cast<const void*>(arrays.chunks)
                                                 : x.data;
  const void* const mask = arrays.is_nullable != 0 ? first : arrays.mask.data;
  array.data = {.first = static_cast<const std::byte*>(first),
                .second = given.factors ? static_cast<const std::byte*>(arrays.factors.data) : nullptr,
                .mask = given.mask ? static_cast<const std::byte*>(mask) : nullptr,
                .label = given.labels ? static_cast<const std::byte*>(arrays.labels.data) : nullptr};
  const auto is_aligned = [bytes = bytes_of(x, call.type)](const void* data) {
    return arithmetic::is_aligned(static_cast<const std::byte*>(data), bytes);
  };
  array.is_aligned = is_chunked(arrays) ? std::ranges::all_of(list_of(arrays.chunks, arrays.chunk_count, "chunks"),
                                                              is_aligned, &sf_chunk::data)
                                        : is_aligned(first);
  call.array = &array;
}

}  // namespace steadfold::capi
