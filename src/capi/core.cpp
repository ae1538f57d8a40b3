// The C functions that need no MPI.
// Rank order and cost: those of the call.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "capi/boundary.hpp"
#include "capi/sized.hpp"
#include "group/local.hpp"

namespace {

using steadfold::call::Data;
using steadfold::capi::data_of;
using steadfold::capi::number;

/// The text of this thread's last failing call. The class has no destructor, because objects that are destroyed when a
/// thread or the process ends may still make calls and read the text.
class ErrorText {
 public:
  const char* get() const noexcept { return text_.data(); }

  /// Stores the text, truncated to the available bytes. `text` may be the stored text itself.
  void set(std::string_view text) noexcept {
    std::size_t size = std::min(text.size(), text_.size() - 1);
    while (size < text.size() && size > 0 && is_inside_character(text[size])) --size;
    if (size > 0) std::memmove(text_.data(), text.data(), size);  // the data of an empty text may be null
    text_[size] = '\0';
  }

 private:
  /// Whether a byte is not the first byte of a character. UTF-8 text is truncated between characters.
  static bool is_inside_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

  std::array<char, 4096> text_{};
};
constinit thread_local ErrorText error_text;
static_assert(std::is_trivially_destructible_v<ErrorText>);

/// Data about a thread's last local call. The struct has no destructor, so an access need not check whether it has been
/// constructed.
struct LastCall {
  sf_call call;
  // Reduces calls that differ only in their rows, without reading their other fields; null if there is no earlier call.
  steadfold::group::LocalReducer* reducer;
  bool is_over;  // whether the thread is ending and the reducer is destroyed
};
constinit thread_local LastCall last_call{};

/// The reducer of a thread, constructed by the thread's first call. Destructors of other objects may still call the
/// library after the reducer is destroyed.
struct OwnReducer {
  steadfold::group::LocalReducer reducer;
  OwnReducer() = default;
  OwnReducer(const OwnReducer&) = delete;
  OwnReducer& operator=(const OwnReducer&) = delete;
  ~OwnReducer() {
    last_call.reducer = nullptr;
    last_call.is_over = true;
  }
};
thread_local OwnReducer of_this_thread;

/// Whether all fields of two calls between two offsets are equal. There must be no padding between the fields.
template <std::size_t begin, std::size_t end>
bool same_bytes(const sf_call& a, const sf_call& b) noexcept {
  return std::memcmp(reinterpret_cast<const char*>(&a) + begin, reinterpret_cast<const char*>(&b) + begin,
                     end - begin) == 0;
}
static_assert(offsetof(sf_call, root) - offsetof(sf_call, operation) == 24 &&
              offsetof(sf_call, collective) - offsetof(sf_call, threads) == 12 &&
              offsetof(sf_call, initial) - offsetof(sf_call, writes_right) == 8);
// New fields take reserved bytes, which follow `initial` without padding. `are_alike` compares their bytes; a new
// pointer must be null in both calls, as `initial` is.
static_assert(sizeof(sf_call) - offsetof(sf_call, initial) == sizeof(void*) + 2 * sizeof(std::uint32_t));

/// Whether two calls with a built-in operator differ only in their rows.
bool are_alike(const sf_call& a, const sf_call& b) noexcept {
  return same_bytes<offsetof(sf_call, operation), offsetof(sf_call, root) + sizeof a.root>(a, b) &&
         a.element_count == b.element_count && number(a.layout) == number(b.layout) && a.require == b.require &&
         same_bytes<offsetof(sf_call, threads), offsetof(sf_call, collective) + sizeof a.collective>(a, b) &&
         same_bytes<offsetof(sf_call, writes_right), offsetof(sf_call, initial)>(a, b) && a.schedule == nullptr &&
         b.schedule == nullptr && a.arrays == nullptr && b.arrays == nullptr && a.initial == nullptr &&
         b.initial == nullptr && same_bytes<offsetof(sf_call, initial) + sizeof a.initial, sizeof(sf_call)>(a, b);
}

bool is_repeated(const sf_call& call, const Data& data) {
  const LastCall& last = last_call;
  return last.reducer != nullptr && are_alike(call, last.call) && last.reducer->repeat(call.rows, data);
}

void reduce_anew(const sf_call& call, const Data& data) {
  last_call.reducer = nullptr;  // the objects to which it points may be destroyed
  steadfold::call::HeldArguments arguments;
  const steadfold::call::Call own = steadfold::capi::converted_call(&call, arguments);
  if (last_call.is_over) {
    steadfold::group::LocalReducer().reduce(own, data);
  } else if (of_this_thread.reducer.reduce(own, data)) {
    last_call = {.call = call, .reducer = &of_this_thread.reducer, .is_over = false};
  }
}

}  // namespace

extern "C" {

sf_status sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result) {
  using steadfold::arithmetic::Rounding;
  // Whether the environment needs no change, which is usually true.
  const bool is_promised = Rounding::now() == Rounding{};
  return steadfold::capi::caught([&] {
    if (call == nullptr) throw steadfold::capi::no_call();
    sf_call room;
    const sf_call& known = steadfold::capi::whole(*call, room);
    const Data data = data_of(first, second, result);
    if (is_promised && is_repeated(known, data)) return;
    const steadfold::arithmetic::PromisedEnvironment environment;
    if (!is_promised && is_repeated(known, data)) return;
    reduce_anew(known, data);
  });
}

const char* sf_error_text(void) { return error_text.get(); }

void sf_set_error_text(const char* text) { error_text.set(text == nullptr ? std::string_view() : text); }

const char* sf_version(void) { return STEADFOLD_VERSION; }
}
