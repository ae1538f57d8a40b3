// Coroutines that suspend where blocking code would wait. The source of a coroutine reads like blocking code. Cost: one
// resume per poll, however deep the calls are nested. Source: C++20 coroutines.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace steadfold::group {

/// The point at which suspended work continues, and the memory of its coroutines. The coroutine that began last ends
/// first, so their memory is a stack. If a coroutine frame does not fit the stack, it is allocated.
class Flow {
 public:
  Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Continues the work until it suspends or ends.
  void resume() { here_.resume(); }
  void continue_at(std::coroutine_handle<> here) noexcept { here_ = here; }

  void* take(std::size_t bytes) {
    const std::size_t size = rounded(bytes);
    if (size > room_.size() - used_) return ::operator new(bytes);
    return room_.data() + std::exchange(used_, used_ + size);
  }
  void give_back(void* memory, std::size_t bytes) noexcept {
    auto* const place = static_cast<std::byte*>(memory);
    if (place < room_.data() || place >= room_.data() + room_.size()) return ::operator delete(memory);
    used_ -= rounded(bytes);
  }

 private:
  static constexpr std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

  std::coroutine_handle<> here_;
  std::size_t used_ = 0;
  alignas(16) std::array<std::byte, 3200> room_;
};

namespace detail {

/// The part of a promise that differs between tasks with a value and tasks without a value.
template <class T>
struct Value {
  std::optional<T> value;
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};
template <>
struct Value<void> {
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

/// A coroutine that does a part of the work. A task begins when another task awaits it, or when it is started. A task
/// passes on its value or its exception. The first parameter of its function is the flow; in a member function the
/// object comes before the flow.
template <class T = void>
class Task {
 public:
  struct promise_type : detail::Value<T> {
    Flow* flow;
    std::coroutine_handle<> after = std::noop_coroutine();
    std::exception_ptr thrown;

    template <class Object, class... Arguments>
    promise_type(Object& /*object*/, Flow& own, Arguments&&... /*arguments*/) : flow(&own) {}
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    struct GoBack {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().after;
      }
      void await_resume() noexcept {}
    };
    GoBack final_suspend() noexcept { return {}; }

    template <class Object, class... Arguments>
    static void* operator new(std::size_t bytes, Object& /*object*/, Flow& own, Arguments&&... /*arguments*/) {
      auto* const memory = static_cast<std::byte*>(own.take(bytes + prefix));
      *new (memory) Flow* = &own;
      return memory + prefix;
    }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      auto* const begin = static_cast<std::byte*>(memory) - prefix;
      (*std::launder(reinterpret_cast<Flow**>(begin)))->give_back(begin, bytes + prefix);
    }

   private:
    static constexpr std::size_t prefix = 16;  // bytes before the frame for the pointer to the flow
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Makes this task the whole work of its flow. The task begins with the flow's next `resume`.
  void start() { handle_.promise().flow->continue_at(handle_); }
  bool done() const noexcept { return handle_.done(); }
  /// Returns the value of a task that is done, or throws its exception.
  T result() {
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return handle_.promise().take();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().after = caller;
    return handle_;
  }
  T await_resume() { return result(); }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// Suspends the work. The work continues after this point when its flow is resumed.
struct GiveWay {
  bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> here) noexcept {
    here.promise().flow->continue_at(here);
  }
  void await_resume() noexcept {}
};

}  // namespace steadfold::group
