// What a sequence of calls came to, call by call: the bytes of results, or errors with their words. Two programs that
// make the same calls have equal transcripts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "every_call/c.h"
#include "steadfold/diagnosis.hpp"

namespace steadfold::test {

class Transcript {
 public:
  struct Entry {
    std::string name;
    std::string outcome;
    bool is_of_the_job;  // the same for any number of ranks
    friend bool operator==(const Entry& a, const Entry& b) { return a.name == b.name && a.outcome == b.outcome; }
    friend std::ostream& operator<<(std::ostream& out, const Entry& entry) {
      return out << entry.name << ": " << entry.outcome;
    }
  };

  /// What follows is about this.
  void about(std::string subject) { subject_ = std::move(subject); }
  /// A call whose outcome may differ between ranks, or between numbers of ranks.
  template <class Call>
  void note(const char* name, const Call& call) {
    entries_.push_back({subject_ + ", " + name, outcome_of(call), false});
  }
  /// A call whose outcome is the same on any number of ranks.
  template <class Call>
  void note_of_job(const char* name, const Call& call) {
    entries_.push_back({subject_ + ", " + name, outcome_of(call), true});
  }

  /// A call that was made in C: its status, the error's text, and `count` values of `size` bytes, or ONE_VALUE.
  void take(const char* name, int status, const char* text, const void* values, std::size_t size, std::size_t count) {
    std::string outcome = status == SF_OK ? std::string() : "error " + std::to_string(status) + ": " + text;
    const auto* const bytes = static_cast<const unsigned char*>(values);
    if (status == SF_OK && count == ONE_VALUE) outcome = hexadecimal(bytes, size);
    for (std::size_t i = 0; status == SF_OK && count != ONE_VALUE && i < count; ++i)
      outcome += hexadecimal(bytes + i * size, size) + " ";
    entries_.push_back({subject_ + ", " + name, outcome, false});
  }

  const std::vector<Entry>& entries() const { return entries_; }
  /// That of the first call of the name; empty if there is none.
  std::string outcome_of_first(const std::string& name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
    return found == entries_.end() ? std::string() : found->outcome;
  }
  std::vector<Entry> entries_of_job() const {
    std::vector<Entry> found;
    std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(found),
                 [](const Entry& entry) { return entry.is_of_the_job; });
    return found;
  }

 private:
  template <class Call>
  static std::string outcome_of(const Call& call) {
    try {
      if constexpr (std::is_void_v<decltype(call())>)
        return call(), "done";
      else
        return text_of(call());
    } catch (const Error& error) {
      return "error " + std::to_string(error.status()) + ": " + error.what();
    }
  }

  static std::string text_of(const std::string& text) { return text; }
  template <class T>
  static std::string text_of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "results are compared by their bytes");
    std::array<unsigned char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    return hexadecimal(bytes.data(), std::is_same_v<T, long double> ? std::min<std::size_t>(10, sizeof(T)) : sizeof(T));
  }
  static std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = count; i-- > 0;)
      text += {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
    return text;
  }
  template <class T>
  static std::string text_of(const Located<T>& located) {  // without the bytes between the two
    return text_of(located.value) + " at " + std::to_string(located.index);
  }
  template <class T>
  static std::string text_of(const Diagnosis<T>& found) {
    return text_of(std::vector<T>{found.sum, found.plain, found.absolute_sum, found.difference(), found.condition(),
                                  found.tree_bound()}) +
           std::to_string(found.count);
  }
  template <class T>
  static std::string text_of(const std::vector<T>& values) {
    std::string text;
    for (const T& value : values) text += text_of(value) + " ";
    return text;
  }
  template <class A, class B>
  static std::string text_of(const std::pair<A, B>& both) {
    return text_of(both.first) + " and " + text_of(both.second);
  }

  std::string subject_;
  std::vector<Entry> entries_;
};

}  // namespace steadfold::test
