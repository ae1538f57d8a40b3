// Chooses operation, types and method of a reduction: the cells of the tables in docs/guarantees.md.
#include "case.hpp"
#include "operators.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

constexpr sf_type integers[] = {SF_I32, SF_I64, SF_U32, SF_U64};
constexpr sf_type reals[] = {SF_F64, SF_F64, SF_F64, SF_F32, SF_F32, SF_BF16, SF_F16};
constexpr sf_type complexes[] = {SF_COMPLEX_F32, SF_COMPLEX_F64};

/// The result type with tree and plain: the element's type, or a wider type.
sf_type widened(Random& random, sf_type type) {
  const bool wide = random.one_in(3);
  switch (type) {
    case SF_F32: return wide ? SF_F64 : type;
    case SF_BF16:
    case SF_F16: return wide ? SF_F64 : SF_F32;
    case SF_I32: return wide ? SF_I64 : type;
    case SF_U32: return wide ? SF_U64 : type;
    case SF_COMPLEX_F32: return wide ? SF_COMPLEX_F64 : type;
    default: return type;
  }
}

void choose_user(Random& random, Member& m) {
  m.operation = SF_USER;
  m.type = m.result_type = SF_BYTES;
  m.user = static_cast<int>(random.below(user_count));
  m.may_fail = random.one_in(2);
  m.writes_right = random.one_in(2);
  const sf_method any[] = {SF_AUTOMATIC, SF_TREE, SF_PLAIN};
  m.method = user_operator(m.user).associative ? random.one_of(any) : random.one_of({SF_AUTOMATIC, SF_TREE});
}

void choose_integers(Random& random, Member& m) {
  const sf_operation operations[] = {SF_SUM,        SF_PRODUCT,      SF_MIN,         SF_MAX,
                                     SF_MASKED_SUM, SF_MIN_LOCATION, SF_MAX_LOCATION};
  m.operation = random.one_of(operations);
  m.type = random.one_of(integers);
  const bool is_location = m.operation == SF_MIN_LOCATION || m.operation == SF_MAX_LOCATION;
  m.result_type = is_location ? m.type : widened(random, m.type);
  const bool no_tree = is_location || m.operation == SF_MASKED_SUM;
  const sf_method any[] = {SF_AUTOMATIC, SF_PLAIN, SF_TREE};
  m.method = any[random.below(no_tree ? 2 : 3)];
}

void choose_extended(Random& random, Member& m) {
  const sf_operation operations[] = {SF_SUM, SF_PRODUCT, SF_MIN, SF_MAX};
  m.operation = random.one_of(operations);
  m.method = SF_TREE;
#if defined(__SIZEOF_FLOAT128__)
  const sf_type types[] = {SF_LONG_DOUBLE, SF_FLOAT128, SF_F64, SF_F32};
  m.type = random.one_of(types);
  m.result_type = m.type == SF_FLOAT128 ? SF_FLOAT128 : SF_LONG_DOUBLE;
#else
  m.type = m.result_type = SF_LONG_DOUBLE;
#endif
}

/// Chooses method tree, or plain if the result does not depend on the order.
void choose_ordered(Random& random, Member& m) {
  const bool is_complex_one = random.one_in(5);
  m.type = is_complex_one ? random.one_of(complexes) : random.one_of(reals);
  const sf_operation operations[] = {SF_SUM, SF_SUM,     SF_PRODUCT,      SF_ABS_SUM,     SF_MIN,
                                     SF_MAX, SF_NORMINF, SF_MIN_LOCATION, SF_MAX_LOCATION};
  m.operation = operations[random.below(is_complex_one ? 3 : is_narrow(m.type) ? 7 : 9)];
  const bool is_location = m.operation >= SF_MIN_LOCATION && m.operation <= SF_MAX_LOCATION;
  m.result_type = is_location ? m.type : widened(random, m.type);
  m.method = is_location ? random.one_of({SF_AUTOMATIC, SF_PLAIN}) : SF_TREE;
  if ((m.operation == SF_MIN || m.operation == SF_MAX || m.operation == SF_NORMINF) && random.one_in(2))
    m.method = random.one_of({SF_AUTOMATIC, SF_PLAIN});
  const bool is_sum = m.operation == SF_SUM || m.operation == SF_ABS_SUM;
  if (is_sum && random.one_in(8)) {  // sums whose bits do not depend on the order, which the method does not know
    m.method = SF_PLAIN;
    m.numbers = Numbers::small_integers;
  }
}

/// Chooses an operation whose terms method tree rounds and combines.
void choose_rounded_terms(Random& random, Member& m) {
  const sf_operation operations[] = {SF_DOT, SF_DOTC, SF_MEAN, SF_NORM2, SF_SUM_SQUARES};
  m.operation = random.one_of(operations);
  m.type = random.one_in(4) ? random.one_of(complexes) : random.one_of(reals);
  m.result_type = widened(random, m.type);
  if (m.operation == SF_NORM2 || m.operation == SF_SUM_SQUARES) m.result_type = part_of(m.result_type);
  m.method = SF_TREE;
}

void choose_rounded_once(Random& random, Member& m) {
  const sf_operation operations[] = {SF_SUM,
                                     SF_SUM,
                                     SF_MEAN,
                                     SF_DOT,
                                     SF_DOTC,
                                     SF_NORM2,
                                     SF_SUM_SQUARES,
                                     SF_MASKED_SUM,
                                     SF_ABS_SUM,
                                     SF_STATISTICS,
                                     SF_WEIGHTED_MEAN,
                                     SF_COVARIANCE,
                                     SF_SAMPLE_COVARIANCE,
                                     SF_CORRELATION};
  m.type = random.one_in(5) ? random.one_of(complexes) : random.one_of(reals);
  m.operation = operations[random.below(is_complex(m.type) ? 8 : std::size(operations))];
  if (m.operation == SF_STATISTICS) {
    m.method = random.one_of({SF_EXACT, SF_AUTOMATIC});
    m.result_type = SF_F64;
    return;
  }
  if (is_quotient_of_pairs(m.operation)) {
    m.method = random.one_of({SF_EXACT, SF_AUTOMATIC});
    m.result_type = random.one_of({SF_F64, SF_F32});
    return;
  }
  const sf_method methods[] = {SF_EXACT, SF_EXACT, SF_BINNED, SF_BINNED, SF_AUTOMATIC};
  m.method = random.one_of(methods);
  const bool wide = random.one_in(2);
  if (!is_complex(m.type)) {
    m.result_type = wide ? SF_F64 : SF_F32;
  } else if (m.operation == SF_NORM2 || m.operation == SF_SUM_SQUARES) {
    m.result_type = m.type == SF_COMPLEX_F64 || wide ? SF_F64 : SF_F32;
  } else {
    m.result_type = m.type == SF_COMPLEX_F64 || wide ? SF_COMPLEX_F64 : SF_COMPLEX_F32;
  }
  // If the library chooses, a sum may use method tree, which takes the type itself or a wider type.
  if (m.method == SF_AUTOMATIC && (m.operation == SF_SUM || m.operation == SF_ABS_SUM) && m.result_type == SF_F32 &&
      m.type == SF_F64)
    m.result_type = SF_F64;
  if (m.method != SF_BINNED) return;
  m.bins = static_cast<std::uint32_t>(random.below(4));
  if (m.bins == 1) m.bins = 4;
  const bool is_scan = m.collective == SF_SCAN || m.collective == SF_EXSCAN;
  if (!is_scan && random.one_in(3)) m.sweep = SF_DOUBLE_SWEEP;
}

}  // namespace

void choose_reduction(Random& random, Member& m) {
  const Numbers kinds[] = {Numbers::ordinary, Numbers::ordinary,   Numbers::ordinary,       Numbers::wide,
                           Numbers::wide,     Numbers::subnormal,  Numbers::special,        Numbers::zeros,
                           Numbers::alike,    Numbers::cancelling, Numbers::small_integers, Numbers::ties};
  m.numbers = random.one_of(kinds);
  switch (random.below(11)) {
    case 0:
    case 1: return choose_user(random, m);
    case 2: return choose_integers(random, m);
    case 3: return choose_extended(random, m);
    case 4:
    case 5:
    case 6: return choose_ordered(random, m);
    case 7: return choose_rounded_terms(random, m);
    default: return choose_rounded_once(random, m);
  }
}

}  // namespace steadfold::soak
