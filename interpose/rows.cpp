#include "rows.hpp"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "steadfold/steadfold_names.h"

namespace steadfold::interpose {
namespace {

/// Classes of types, by how a sum, product or extreme depends on the order.
enum class Family { other, integer, number, wide, pair };

}  // namespace

struct KnownType {
  Family family = Family::other;
  sf_type number = SF_BYTES;  // libsteadfold's type; for a complex binary128, the type of its two parts
  bool is_complex = number == SF_COMPLEX_F64 || number == SF_COMPLEX_F32;
};

namespace {

/// Whether libsteadfold has arithmetic of binary128, which depends on the compiler that built it.
bool has_binary128() noexcept {
  static const bool has = [] {
    alignas(16) const std::array<std::byte, 16> zero{};
    alignas(16) std::array<std::byte, 16> sum{};
    sf_call call = sf_call_default();
    call.method = SF_TREE;
    call.type = SF_FLOAT128;
    call.rows = 1;
    return sf_reduce_local(&call, zero.data(), nullptr, sum.data()) == SF_OK;
  }();
  return has;
}

/// Returns Fortran's real(16) or complex(16). The MPI library's arithmetic of these types is wrong in Open MPI 4.1.4
/// and in MPICH 4.0.2.
KnownType binary128(bool is_complex) noexcept {
  return {.family = Family::wide, .number = has_binary128() ? SF_FLOAT128 : SF_BYTES, .is_complex = is_complex};
}

KnownType known(MPI_Datatype type) noexcept;

/// Returns a type without a name that is like a named one: a duplicate, or made by MPI_Type_create_f90_real or
/// MPI_Type_create_f90_complex.
KnownType unnamed(MPI_Datatype type) noexcept {
  const int combiner = combiner_of(type);
  if (combiner == MPI_COMBINER_DUP) {
    MPI_Datatype original = MPI_DATATYPE_NULL;
    PMPI_Type_get_contents(type, 0, 0, 1, nullptr, nullptr, &original);
    const KnownType found = known(original);
    if (combiner_of(original) != MPI_COMBINER_NAMED) PMPI_Type_free(&original);
    return found;
  }
  const bool is_complex = combiner == MPI_COMBINER_F90_COMPLEX;
  if (!is_complex && combiner != MPI_COMBINER_F90_REAL) return {};
  return {.family = Family::wide, .is_complex = is_complex};
}

/// Returns the known types of a library, the most frequent first. Types that the library lacks are MPI_DATATYPE_NULL.
KnownType known(MPI_Datatype type) noexcept {
  const auto is_one_of = [type](auto... types) { return ((type == types) || ...); };
  if (type == MPI_DOUBLE) return {Family::number, SF_F64};
  if (is_one_of(MPI_INT, MPI_LONG, MPI_INT64_T, MPI_INT32_T, MPI_UINT64_T, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                MPI_INTEGER))
    return {Family::integer};
  if (type == MPI_DATATYPE_NULL) return {};
  if (type == MPI_FLOAT) return {Family::number, SF_F32};
  if (is_one_of(MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX16, MPI_CXX_DOUBLE_COMPLEX)) return {Family::number, SF_COMPLEX_F64};
  if (is_one_of(MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_COMPLEX8, MPI_CXX_FLOAT_COMPLEX))
    return {Family::number, SF_COMPLEX_F32};
  if (type == MPI_REAL8) return {Family::number, SF_F64};
  if (type == MPI_REAL4) return {Family::number, SF_F32};
  if (is_one_of(MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX)) {
    const bool is_complex = is_one_of(MPI_COMPLEX, MPI_DOUBLE_COMPLEX);
    int size = 0;  // bytes of an element; compiler options may change it
    PMPI_Type_size(type, &size);
    if (is_complex) size /= 2;
    if (size == sizeof(double)) return {Family::number, is_complex ? SF_COMPLEX_F64 : SF_F64};
    if (size == sizeof(float)) return {Family::number, is_complex ? SF_COMPLEX_F32 : SF_F32};
    return {.family = Family::wide, .is_complex = is_complex};
  }
  if (type == MPI_REAL16 || type == MPI_COMPLEX32) return binary128(type == MPI_COMPLEX32);
  if (is_one_of(MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX))
    return {.family = Family::wide, .is_complex = true};
  if (type == MPI_LONG_DOUBLE) return {Family::wide};
#ifdef MPI_REAL2
  if (type == MPI_REAL2) return {Family::wide};
#endif
#ifdef MPIX_C_FLOAT16
  if (type == MPIX_C_FLOAT16) return {Family::wide};
#endif
#ifdef MPI_COMPLEX4
  if (type == MPI_COMPLEX4) return {.family = Family::wide, .is_complex = true};
#endif
  if (is_one_of(MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION))
    return {Family::pair};
  return unnamed(type);
}

struct NamedOp {
  MPI_Op op;
  const char* name;
};

/// Returns the operators predefined by MPI.
const auto& named_ops() noexcept {
  static const std::array<NamedOp, 14> all = {{{MPI_SUM, "MPI_SUM"},
                                               {MPI_PROD, "MPI_PROD"},
                                               {MPI_MAX, "MPI_MAX"},
                                               {MPI_MIN, "MPI_MIN"},
                                               {MPI_MAXLOC, "MPI_MAXLOC"},
                                               {MPI_MINLOC, "MPI_MINLOC"},
                                               {MPI_LAND, "MPI_LAND"},
                                               {MPI_LOR, "MPI_LOR"},
                                               {MPI_LXOR, "MPI_LXOR"},
                                               {MPI_BAND, "MPI_BAND"},
                                               {MPI_BOR, "MPI_BOR"},
                                               {MPI_BXOR, "MPI_BXOR"},
                                               {MPI_REPLACE, "MPI_REPLACE"},
                                               {MPI_NO_OP, "MPI_NO_OP"}}};
  return all;
}

bool is_named(MPI_Op op) noexcept {
  return std::ranges::any_of(named_ops(), [op](const NamedOp& each) { return each.op == op; });
}

/// Returns libsteadfold's operation for an operator of MPI; SF_USER if the MPI library's operator must be called.
sf_operation own_operation(MPI_Op op, const KnownType& type, const Arithmetic& arithmetic) noexcept {
  const bool is_binary128 = type.number == SF_FLOAT128;
  if (type.number == SF_BYTES) return SF_USER;
  if (op == MPI_SUM) return SF_SUM;
  if (op == MPI_PROD && !(is_binary128 && type.is_complex)) return SF_PRODUCT;
  if (op == MPI_MIN && (is_binary128 || arithmetic.has_ieee_extremes)) return SF_MIN;
  if (op == MPI_MAX && (is_binary128 || arithmetic.has_ieee_extremes)) return SF_MAX;
  return SF_USER;
}

/// The arguments to call the MPI library's operator from libsteadfold's tree, whose elements are whole rows.
struct LibraryOperator {
  MPI_Op op;
  MPI_Datatype type;
  int count;
  MPI_Aint begin;   // offset of a row's bytes from the address that the MPI library takes
  MPI_Aint stride;  // distance in bytes from one row to the next
};

int apply_by_library(const void* left, const void* right, void* result, std::size_t rows, void* context) {
  const auto& own = *static_cast<const LibraryOperator*>(context);
  static_cast<void>(right);  // `right` is not used, because it is the same memory as the result
  for (std::size_t row = 0; row < rows; ++row) {
    const MPI_Aint at = own.stride * static_cast<MPI_Aint>(row) - own.begin;
    const int code = PMPI_Reduce_local(static_cast<const std::byte*>(left) + at, static_cast<std::byte*>(result) + at,
                                       own.count, own.type, own.op);
    if (code != MPI_SUCCESS) return code;
  }
  return 0;
}

/// Whether rounding, subnormal numbers and traps have their default settings; false if unknown.
bool is_promised_environment() noexcept {
#ifdef __SSE2__
  constexpr unsigned flags = 0x3F, as_a_program_begins = 0x1F80;
  constexpr unsigned short x87_as_a_program_begins = 0x037F;  // default control word of the x87, for long doubles
  unsigned short x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~flags) == as_a_program_begins && x87 == x87_as_a_program_begins;
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control == 0;
#else
  return false;
#endif
}

/// While the object lives, this thread rounds to nearest and keeps subnormal numbers. The destructor restores the
/// program's settings, and keeps the exception flags that were raised.
class PromisedEnvironment {
 public:
  PromisedEnvironment() noexcept : is_changed_(!is_promised_environment()) {
    if (!is_changed_) return;
    std::fegetenv(&programs_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PromisedEnvironment() {
    if (!is_changed_) return;
    std::fexcept_t raised;
    const int which = std::fetestexcept(FE_ALL_EXCEPT);
    std::fegetexceptflag(&raised, which);
    std::fesetenv(&programs_);
#ifdef __SSE2__  // std::fesetexceptflag would raise x87 flags, which trap if the program has unmasked them
    _mm_setcsr(_mm_getcsr() | static_cast<unsigned>(which));
#else
    std::fesetexceptflag(&raised, which);
#endif
  }
  PromisedEnvironment(const PromisedEnvironment&) = delete;
  PromisedEnvironment& operator=(const PromisedEnvironment&) = delete;

 private:
  bool is_changed_;
  std::fenv_t programs_ = {};
};

/// The largest number of doubles for a sum without a library call. The function below sums a few doubles as
/// libsteadfold's tree does: neighbours add, level by level, the lower on the left. Avoids a library call, which takes
/// longer than the sum. Every NaN result has the same bits. Needs PromisedEnvironment.
constexpr int most_few = 64;
void sum_few(const double* rows, int row_count, int count, double* result) {
  std::array<double, most_few> level;
  for (int c = 0; c < count; ++c) {
    for (int r = 0; r < row_count; ++r) level[static_cast<std::size_t>(r)] = rows[r * count + c];
    for (std::size_t width = static_cast<std::size_t>(row_count); width > 1; width = (width + 1) / 2) {
      for (std::size_t i = 0; i < width / 2; ++i) level[i] = level[2 * i] + level[2 * i + 1];
      if (width % 2 == 1) level[width / 2] = level[width - 1];
    }
    result[c] = std::isnan(level[0]) ? std::numeric_limits<double>::quiet_NaN() : level[0];
  }
}

void require(sf_status status, const char* what) {
  if (status != SF_OK) throw Fault(std::string(what) + " failed: " + sf_error_text());
}

void require_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS)
    throw Fault(std::string(what) + " failed (MPI error " + std::to_string(code) +
                "), see the messages of the MPI library");
}

}  // namespace

namespace {

/// Passes a program's elements to functions that refuse a null address. If MPI_BOTTOM is null, the functions get an
/// address in this object, and one element of a type whose displacements lead from there to the program's elements.
class NeverAtBottom {
 public:
  NeverAtBottom(void* buffer, int element_count, MPI_Datatype element_type)
      : address(buffer), count(element_count), type(element_type) {
    if (buffer != nullptr) return;
    MPI_Aint here = 0;
    PMPI_Get_address(&anchor_, &here);
    const MPI_Aint to_bottom = -here;
    PMPI_Type_create_hindexed(1, &element_count, &to_bottom, element_type, &made_);
    PMPI_Type_commit(&made_);
    address = &anchor_;
    count = 1;
    type = made_;
  }
  ~NeverAtBottom() {
    if (made_ != MPI_DATATYPE_NULL) PMPI_Type_free(&made_);
  }
  NeverAtBottom(const NeverAtBottom&) = delete;
  NeverAtBottom& operator=(const NeverAtBottom&) = delete;

  void* address;
  int count;
  MPI_Datatype type;

 private:
  char anchor_ = 0;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

}  // namespace

int combiner_of(MPI_Datatype type) noexcept {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner;
}

int pack_elements(const void* from, int count, MPI_Datatype type, std::byte* packed, int size) {
  const NeverAtBottom source(const_cast<void*>(from), count, type);
  int position = 0;
  return PMPI_Pack(source.address, source.count, source.type, packed, size, &position, MPI_COMM_SELF);
}

int unpack_elements(const std::byte* packed, int size, void* to, int count, MPI_Datatype type) {
  const NeverAtBottom target(to, count, type);
  int position = 0;
  return PMPI_Unpack(packed, size, &position, target.address, target.count, target.type, MPI_COMM_SELF);
}

constinit thread_local Memory* Memory::first_listed = nullptr;

/// Frees the listed memories when a thread ends. The list has no destructor, because memory may be taken after this
/// object is destroyed.
struct Memory::AtThreadEnd {
  AtThreadEnd() = default;
  AtThreadEnd(const AtThreadEnd&) = delete;
  AtThreadEnd& operator=(const AtThreadEnd&) = delete;
  ~AtThreadEnd() {
    for (Memory* each = first_listed; each != nullptr; each = each->next_) each->release();
  }
  void list(Memory& memory) const noexcept {
    memory.next_ = first_listed;
    first_listed = &memory;
  }
};

void Memory::release() noexcept {
  delete[] bytes_;
  bytes_ = nullptr;
  size_ = 0;
}

void Memory::grow(std::size_t bytes) {
  release();
  bytes_ = new std::byte[bytes];
  size_ = bytes;
  if (is_listed_) return;
  is_listed_ = true;
  thread_local const AtThreadEnd at_thread_end;  // constructed when a thread first adds a memory to the list
  at_thread_end.list(*this);
}

std::string text_of(Treatment treatment, sf_method method) {
  switch (treatment) {
    case Treatment::by_method:
      // `plain` passes calls on, `tree` combines in rank order, and all other methods round once.
      if (method == SF_TREE) return "rank order, method tree";
      return std::string("rounded once, ") + sf_list_name(SF_LIST_METHODS, method);
    case Treatment::by_library: return "rank order, method tree, with the MPI library's operator";
    case Treatment::by_program: return "rank order, method tree, with the program's operator";
    case Treatment::plain: return "passed on: method plain";
    case Treatment::order_free: return "passed on: the order cannot change bits";
    case Treatment::one_rank: return "passed on: one rank";
    case Treatment::no_elements: return "passed on: no elements";
    case Treatment::across: return "passed on: processes of two worlds, or an intercommunicator";
    case Treatment::outside: return "passed on: before MPI_Init or after MPI_Finalize";
    case Treatment::refused: return "passed on: an invalid argument";
    case Treatment::too_large: return "passed on: too large";
  }
  return "";
}

const char* name_of(MPI_Op op) noexcept {
  for (const NamedOp& each : named_ops())
    if (each.op == op) return each.name;
  return "user";
}

Elements::Elements(MPI_Datatype type, MPI_Op op, const Arithmetic& arithmetic)
    : type_(type), op_(op), treatment_(Treatment::order_free) {
  if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL) {
    treatment_ = Treatment::refused;
    return;
  }
  const bool is_extreme = op == MPI_MAX || op == MPI_MIN;
  const bool is_location = op == MPI_MAXLOC || op == MPI_MINLOC;
  if (op == MPI_SUM || op == MPI_PROD || is_extreme || is_location) {
    const KnownType found = known(type);
    const bool is_number = found.family == Family::number || found.family == Family::wide;
    if (is_extreme && found.is_complex)
      treatment_ = Treatment::refused;
    else if (const sf_operation own = own_operation(op, found, arithmetic); own != SF_USER)
      set_number(own, found, arithmetic);
    else if (is_location ? found.family == Family::pair : is_number)
      set_by_operator(Treatment::by_library);
  } else if (!is_named(op)) {
    set_by_operator(Treatment::by_program);
  }
  if (arithmetic.sums == SF_PLAIN && !is_passed_on(treatment_)) treatment_ = Treatment::plain;
}

void Elements::set_number(sf_operation operation, const KnownType& type, const Arithmetic& arithmetic) {
  operation_ = operation;
  number_ = type.number;
  const bool is_binary128 = number_ == SF_FLOAT128;
  treatment_ = Treatment::by_method;
  if (operation == SF_SUM && !is_binary128 && arithmetic.sums != SF_PLAIN) method_ = arithmetic.sums;
  parts_ = is_binary128 && type.is_complex ? 2 : 1;
  const bool has_16_bytes = number_ == SF_COMPLEX_F64 || is_binary128;
  bytes_ = parts_ * (number_ == SF_F32 ? 4 : has_16_bytes ? 16 : 8);
  extent_ = static_cast<MPI_Aint>(bytes_);
}

void Elements::set_by_operator(Treatment treatment) {
  treatment_ = treatment;
  int size = 0;
  MPI_Aint begin = 0;
  if (PMPI_Type_size(type_, &size) != MPI_SUCCESS || PMPI_Type_get_extent(type_, &begin, &extent_) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent(type_, &true_begin_, &true_extent_) != MPI_SUCCESS) {
    treatment_ = Treatment::refused;
    return;
  }
  bytes_ = static_cast<std::size_t>(size);
  // A type with as many bytes as its extent may still have these bytes in another order.
  are_packed_ =
      combiner_of(type_) == MPI_COMBINER_NAMED && extent_ == size && true_begin_ == 0 && true_extent_ == extent_;
}

std::size_t Elements::memory_bytes() const noexcept {
  const MPI_Aint step = extent_ < 0 ? -extent_ : extent_;
  return std::max(bytes_, static_cast<std::size_t>(std::max(step, true_extent_)));
}

MPI_Datatype Elements::kept_type() const {
  MPI_Datatype kept = MPI_DATATYPE_NULL;
  if (combiner_of(type_) !=
      MPI_COMBINER_NAMED)  // not for duplicated types, because this would call the program's copy functions
    require_mpi(PMPI_Type_contiguous(1, type_, &kept), "keeping a type");
  return kept;
}

MPI_Op Elements::kept_op() const noexcept { return treatment_ == Treatment::by_program ? op_ : MPI_OP_NULL; }

void Elements::pack(const std::byte* from, int count, std::byte* packed) const {
  const std::size_t size = bytes_ * static_cast<std::size_t>(count);
  if (are_packed_) {
    std::memcpy(packed, from, size);
    return;
  }
  require_mpi(pack_elements(from, count, type_, packed, static_cast<int>(size)), "packing");
}

void Elements::unpack(const std::byte* packed, int count, std::byte* to) const {
  const std::size_t size = bytes_ * static_cast<std::size_t>(count);
  if (are_packed_) {
    std::memcpy(to, packed, size);
    return;
  }
  require_mpi(unpack_elements(packed, static_cast<int>(size), to, count, type_), "unpacking");
}

void Elements::reduce(const std::byte* packed, int rows, int count, std::byte* result) const {
  if (count == 0 || bytes_ == 0) return;
  if (treatment_ == Treatment::by_library) {
    // Without this object, the MPI library's operators would use the program's settings.
    const PromisedEnvironment promised;
    return reduce_by_operator(packed, rows, count, result);
  }
  if (treatment_ == Treatment::by_program) return reduce_by_operator(packed, rows, count, result);
  // Doubles can be read in place: messages are aligned like allocated memory, and so are the program's doubles.
  if (method_ == SF_TREE && number_ == SF_F64 && operation_ == SF_SUM && rows <= most_few / count &&
      is_promised_environment())
    return sum_few(reinterpret_cast<const double*>(packed), rows, count, reinterpret_cast<double*>(result));
  sf_call call = sf_call_default();
  call.operation = operation_;
  call.method = method_;
  call.type = number_;
  call.columns = parts_ * static_cast<std::uint64_t>(count);
  call.rows = static_cast<std::uint64_t>(rows);
  require(sf_reduce_local(&call, packed, nullptr, result), "a reduction");
}

void Elements::reduce(const std::byte* packed, int rows, int count, void* to, MPI_Count first) const {
  if (are_packed_) return reduce(packed, rows, count, at(to, first));
  thread_local Memory memory;
  std::byte* const result = memory.take(bytes_ * static_cast<std::size_t>(count));
  reduce(packed, rows, count, result);
  unpack(result, count, at(to, first));
}

void Elements::reduce_by_operator(const std::byte* packed, int rows, int count, std::byte* result) const {
  constexpr MPI_Aint alignment = 16;
  const auto row_bytes = static_cast<MPI_Aint>(bytes_) * count;
  LibraryOperator own{.op = op_, .type = type_, .count = count, .begin = 0, .stride = row_bytes};
  sf_call call = sf_call_default();
  call.operation = SF_USER;
  call.method = SF_TREE;
  call.type = SF_BYTES;
  call.rows = static_cast<std::uint64_t>(rows);
  call.columns = 1;
  call.user = apply_by_library;
  call.context = &own;
  call.writes_right = 1;
  if (are_packed_) {
    call.element_bytes = static_cast<std::size_t>(row_bytes);
    require(sf_reduce_local(&call, packed, nullptr, result), "a reduction with an operator");
    return;
  }
  // Each row gets the memory that the operator expects, from its lowest to its highest byte.
  const MPI_Aint to_last = extent_ * (count - 1);
  const MPI_Aint lowest = true_begin_ + std::min<MPI_Aint>(0, to_last);
  const MPI_Aint highest = true_begin_ + std::max<MPI_Aint>(0, to_last) + true_extent_;
  own.begin = lowest - ((lowest % alignment) + alignment) % alignment;
  const MPI_Aint span = (highest - own.begin + alignment - 1) / alignment * alignment;
  own.stride = span;
  call.element_bytes = static_cast<std::size_t>(span);
  thread_local Memory memory;
  const std::size_t all = static_cast<std::size_t>(span) * static_cast<std::size_t>(rows + 1);
  std::byte* const spread = memory.take(all);
  std::memset(spread, 0, all);  // so that gaps between elements have the same bytes in every run
  for (int row = 0; row < rows; ++row) unpack(packed + row * row_bytes, count, spread + row * span - own.begin);
  std::byte* const reduced = spread + rows * span;
  require(sf_reduce_local(&call, spread, nullptr, reduced), "a reduction with an operator");
  pack(reduced - own.begin, count, result);
}

}  // namespace steadfold::interpose
