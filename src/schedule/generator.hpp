// A lazy sequence written as a coroutine, so that an algorithm reads like its description in a textbook and never
// stores its steps. Cost: one allocation per sequence, one resume per element.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace steadfold::schedule {

/// A sequence whose elements a coroutine makes one by one. Move-only. `next` returns the next element, valid until the
/// next call of `next`, or null at the end.
template <class T>
class Generator {
 public:
  struct promise_type {
    const T* current = nullptr;
    std::exception_ptr thrown;

    Generator get_return_object() { return Generator(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    /// The yielded object stays in the coroutine until it is resumed.
    std::suspend_always yield_value(const T& element) noexcept {
      current = &element;
      return {};
    }
    void return_void() noexcept {}
    /// Before release 17, Clang does not see a coroutine that throws from here as done, and would destroy its locals
    /// twice.
    void unhandled_exception() noexcept { thrown = std::current_exception(); }
  };

  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Generator& operator=(Generator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  ~Generator() {
    if (handle_) handle_.destroy();
  }

  const T* next() {
    if (handle_.done()) return nullptr;
    handle_.resume();
    promise_type& promise = handle_.promise();
    if (!handle_.done()) return promise.current;
    if (promise.thrown) std::rethrow_exception(std::exchange(promise.thrown, nullptr));
    return nullptr;
  }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Generator(Handle handle) : handle_(handle) {}
  Handle handle_;
};

}  // namespace steadfold::schedule
