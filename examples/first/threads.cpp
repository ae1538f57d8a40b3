// c++ threads.cpp -o threads $(pkg-config --cflags --libs steadfold-static) -pthread && ./threads
#include <cstdio>
#include <steadfold/team.hpp>
#include <thread>
#include <vector>

int main() {
  constexpr int threads = 4;
  sf::Team team(threads);  // makes no threads: they are yours
  const auto work = [&team](int t) {
    std::vector<double> x;  // this thread's elements of 1, 1/2, ..., 1/1000
    for (int i = t; i < 1000; i += threads) x.push_back(1.0 / (i + 1));

    const double total = sf::sum(x, team[t]);  // correctly rounded; every thread gets it

    if (t == 0) std::printf("sum %a (should be 0x1.df11f45f4e61ap+2)\n", total);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& other : others) other.join();
}
