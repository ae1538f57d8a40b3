// A rank's loops, dealt to threads that are made for the loop.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace solver {

/// Calls body(part, begin, end) for that many equal parts of 0..count-1, the first one on the calling thread.
template <class Body>
void in_parts(unsigned threads, std::uint64_t count, const Body& body) {
  const auto bound = [&](unsigned part) { return count * part / threads; };
  std::vector<std::jthread> others;
  for (unsigned part = 1; part < threads; ++part)
    others.emplace_back([&body, part, begin = bound(part), end = bound(part + 1)] { body(part, begin, end); });
  body(0U, std::uint64_t{0}, bound(1));
}

}  // namespace solver
