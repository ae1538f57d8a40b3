// The form of the terms that kernels distribute to bins, and the choice of a kernel by form and number of bins.
// Cost: none.
#pragma once

#include <cstdint>

namespace steadfold::kernels {

/// The form of terms: elements, products of two elements, or squares of elements.
enum class TermForm : std::uint8_t { element, product, square };

/// Calls `choose.template operator()<form, bin_count>()`. Without bins, squares are treated as the elements.
template <TermForm form, class Choose>
auto of_form(int bin_count, const Choose& choose) noexcept {
  switch (bin_count) {
    case 2: return choose.template operator()<form, 2>();
    case 3: return choose.template operator()<form, 3>();
    case 4: return choose.template operator()<form, 4>();
    default: break;
  }
  return choose.template operator() < form == TermForm::square ? TermForm::element : form, 0 > ();
}

template <class Choose>
auto of_form(TermForm form, int bin_count, const Choose& choose) noexcept {
  switch (form) {
    case TermForm::product: return of_form<TermForm::product>(bin_count, choose);
    case TermForm::square: return of_form<TermForm::square>(bin_count, choose);
    case TermForm::element: break;
  }
  return of_form<TermForm::element>(bin_count, choose);
}

}  // namespace steadfold::kernels
