// Memory between two protected pages. The processor traps every load or store outside of it, with every instruction set
// and without a sanitizer.
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace steadfold::test {

/// The end of an array that touches a fence.
enum class Side : bool { begin, end };

/// Memory for one array at a time, directly behind the first fence or directly before the second.
class Fenced {
 public:
  explicit Fenced(std::size_t room) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    room_ = (room + page_ - 1) / page_ * page_;
    void* const all = mmap(nullptr, room_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(all) + page_;
    if (mprotect(begin_, room_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  ~Fenced() { munmap(begin_ - page_, room_ + 2 * page_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  /// Returns memory for `count` elements. It still has the bytes of the last array.
  template <class T>
  T* array(std::size_t count, Side side) {
    if (count * sizeof(T) > room_) throw std::bad_alloc();
    return reinterpret_cast<T*>(side == Side::begin ? begin_ : begin_ + room_ - count * sizeof(T));
  }

 private:
  std::size_t page_;
  std::size_t room_ = 0;
  std::byte* begin_ = nullptr;
};

namespace fence {

inline sigjmp_buf way_back;
inline void go_back(int) { siglongjmp(way_back, 1); }

}  // namespace fence

/// Whether `call` touches no fence. `call` must hold no object with a destructor. One thread at a time.
template <class Call>
bool stays_inside(const Call& call) {
  struct sigaction mine = {};
  struct sigaction before = {};
  mine.sa_handler = fence::go_back;
  sigaction(SIGSEGV, &mine, &before);
  const bool inside = sigsetjmp(fence::way_back, 1) == 0;
  if (inside) call();
  sigaction(SIGSEGV, &before, nullptr);
  return inside;
}

}  // namespace steadfold::test
