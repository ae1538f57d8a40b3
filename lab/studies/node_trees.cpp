// A model of cache lines: what it takes until a line that was written is read by a core of the same socket, or of the
// other one. A worker reads one line at a time. SingleNotify waits for its children in turn and then merges; as [S2]
// has it, it waits for a count to which they add one after the other, and then reads their lines. MultiNotify merges
// whatever has come. Reductions, and allreduces by reduce and broadcast or by dissemination. Source: [S2]; its machine
// has two sockets of eight cores.
#include <algorithm>
#include <numeric>

#include "node.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr std::size_t cores_per_socket = 8;

/// Where workers are: socket after socket, or dealt to the sockets in turn. `aware`: socket after socket, with a tree
/// in each, so that only their roots look across.
enum class Places : std::uint8_t { aware, by_socket, in_turn };

const char* name_of(Places places) {
  if (places == Places::aware) return "tree per socket";
  return places == Places::by_socket ? "by socket" : "in turn";
}

bool are_near(std::size_t a, std::size_t b, Places places) {
  return places == Places::in_turn ? a % 2 == b % 2 : a / cores_per_socket == b / cores_per_socket;
}

Tree tree_for(const Shape& shape, std::size_t workers, Places places) {
  if (places != Places::aware) return tree_of(shape, workers);
  std::vector<int> sockets;
  for (std::size_t worker = 0; worker < workers; ++worker)
    sockets.push_back(static_cast<int>(worker / cores_per_socket));
  return tree_per_socket(shape, sockets);
}

enum class Notify : std::uint8_t { single, counted, multi };

struct Arrival {
  std::size_t child;
  double written;
};

/// Workers at their places, and what lines take between them.
struct Model {
  Places places;
  MessageTimes times;

  double time_to_read(std::size_t from, std::size_t to) const {
    return are_near(from, to, places) ? times.near : times.far;
  }
  double time_of_count(const std::vector<Arrival>& arrivals, std::size_t worker) const;
  double time_of_sum(const Tree& tree, std::size_t worker, Notify notify) const;
  double time_of_broadcast(const Tree& tree, std::size_t worker) const;
  double time_of_dissemination(std::size_t workers) const;
};

/// When the worker has read a count to which all of them have added, one after the other.
double Model::time_of_count(const std::vector<Arrival>& arrivals, std::size_t worker) const {
  double now = 0;
  std::size_t holder = worker;  // of the line with the count
  for (const Arrival& arrival : arrivals) {
    now = std::max(now, arrival.written) + time_to_read(holder, arrival.child);
    holder = arrival.child;
  }
  return now + time_to_read(holder, worker);
}

/// When a worker has its subtree's sum, if all begin at time 0.
double Model::time_of_sum(const Tree& tree, std::size_t worker, Notify notify) const {
  std::vector<Arrival> arrivals;
  for (const std::size_t child : children_of(tree, worker))
    arrivals.push_back({child, time_of_sum(tree, child, notify)});
  if (arrivals.empty()) return 0;
  if (notify != Notify::single) std::ranges::stable_sort(arrivals, {}, &Arrival::written);
  double now = notify == Notify::counted ? time_of_count(arrivals, worker) : 0;
  for (const Arrival& arrival : arrivals)
    now = std::max(now, arrival.written) + time_to_read(arrival.child, worker) +
          (notify == Notify::multi ? times.merge : 0);
  return notify == Notify::multi ? now : now + times.merge * static_cast<double>(arrivals.size());
}

/// When the last worker has read what its parent passed on.
double Model::time_of_broadcast(const Tree& tree, std::size_t worker) const {
  double last = 0;
  for (const std::size_t child : children_of(tree, worker))
    last = std::max(last, time_to_read(worker, child) + time_of_broadcast(tree, child));
  return last;
}

double Model::time_of_dissemination(std::size_t workers) const {
  std::vector<double> now(workers, 0.0);
  for (std::size_t distance = 1; distance < workers; distance *= 2) {
    const std::vector<double> before = now;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const std::size_t from = (worker + workers - distance) % workers;
      now[worker] = std::max(before[worker], before[from]) + time_to_read(from, worker) + times.merge;
    }
  }
  return *std::ranges::max_element(now);
}

std::size_t far_edges(const Tree& tree, Places places) {
  std::size_t count = 0;
  for (std::size_t worker = 1; worker < tree.parents.size(); ++worker)
    count += are_near(worker, tree.parents[worker], places) ? 0 : 1;
  return count;
}

Json row_of(std::size_t workers, Places places, std::string_view tree, std::string_view protocol, double seconds,
            const Json& cross_socket) {
  return {{"part", "trees"},      {"threads", workers}, {"places", name_of(places)},         {"tree", tree},
          {"protocol", protocol}, {"seconds", seconds}, {"cross_socket_edges", cross_socket}};
}

}  // namespace

double predicted_reduce(std::size_t workers, bool is_multi, const MessageTimes& times) {
  const Tree tree = tree_for(shapes[binary], workers, Places::aware);
  return Model{Places::aware, times}.time_of_sum(tree, 0, is_multi ? Notify::multi : Notify::single);
}
double predicted_broadcast(std::size_t workers, const MessageTimes& times) {
  return Model{Places::aware, times}.time_of_broadcast(tree_for(shapes[binary], workers, Places::aware), 0);
}

Findings trees(const Asked& /*asked*/) {
  Findings found;
  for (const std::size_t workers : {2u, 4u, 8u, 16u}) {
    for (const Places places : {Places::aware, Places::by_socket, Places::in_turn}) {
      const Model model{places, of_two_sockets};
      for (const Shape& shape : shapes) {
        const Tree tree = tree_for(shape, workers, places);
        const Json edges = far_edges(tree, places);
        const double single = model.time_of_sum(tree, 0, Notify::single);
        const double counted = model.time_of_sum(tree, 0, Notify::counted);
        const double multi = model.time_of_sum(tree, 0, Notify::multi);
        const double back = model.time_of_broadcast(tree, 0);
        found.rows.push_back(row_of(workers, places, shape.name, "single_notify", single, edges));
        found.rows.push_back(row_of(workers, places, shape.name, "counted_notify", counted, edges));
        found.rows.push_back(row_of(workers, places, shape.name, "multi_notify", multi, edges));
        found.rows.push_back(row_of(workers, places, shape.name, "multi_notify, broadcast", multi + back, edges));
      }
      found.rows.push_back(
          row_of(workers, places, "none", "dissemination", model.time_of_dissemination(workers), nullptr));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::node
