// Draws the binary tree. Elements are at the bottom, and every node is above the middle of its children. Source: Stelz
// 2022, figure 2.2.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "order/distribution.hpp"
#include "order/pe_intersecting.hpp"
#include "pictures/pictures.hpp"

namespace steadfold::command::pictures {
namespace {

using order::Count;
using order::Index;
using order::Interval;
using order::Rank;

constexpr double edge = 16;
constexpr double spacing = 26;
constexpr double level_height = 44;
constexpr double node_radius = 10;

class TreePicture {
 public:
  TreePicture(std::span<const Count> counts, const std::string& distribution)
      : counts_(counts), distribution_(distribution), starts_(order::starts_of(counts)) {
    for (const Count count : counts) elements_ += count;
    const int levels = order::ceil_log2(elements_);
    width_ = std::max({2 * edge + spacing * static_cast<double>(elements_), 2 * edge + text_width(title(), 15), 560.0});
    leaves_ = 110 + level_height * levels;
  }

  std::string document() {
    drawing_.text({edge, edge + 12}, title(), "title");
    add_paragraph(drawing_, {edge, edge + 32}, sentence(), width_ - 2 * edge, "");
    add_ranks();
    const Point root = add_edges({0, elements_});
    for (const Inner& node : nodes_) add_node(node);
    for (Index x = 0; x < elements_; ++x) add_element(x);
    drawing_.text({root.x, root.y - 18}, "result", "strong", Anchor::middle);
    const double height = add_legend();
    return svg({.title = title(),
                .sentence = sentence(),
                .attributes = fmt::format("data-elements=\"{}\" data-ranks=\"{}\"", elements_, counts_.size()),
                .style = std::string(common_style) + style,
                .width = width_,
                .height = height + edge},
               drawing_);
  }

 private:
  /// A node over several elements.
  struct Inner {
    Point place;
    Interval elements;
    Rank rank = 0;
    bool is_crossing = false;  // whether its children are on different ranks
  };

  static constexpr const char* style =
      ".edge{stroke:#555;stroke-width:1.2}"
      ".sent{stroke:#0b3d75;stroke-width:1.8;stroke-dasharray:5 3}path.sent{fill:#0b3d75;stroke-dasharray:none}"
      ".boundary{stroke:#bbb;stroke-dasharray:2 3}"
      ".band{fill:#eee;stroke:#777}.other{fill:#d4d4d4}"
      ".leaf,.inner{fill:#fff;stroke:#555}.crossing{fill:#fff;stroke:#0b3d75;stroke-width:2.6}";

  Rank owner(Index x) const { return order::rank_of(starts_, x); }
  Point place_of(Index x) const { return {edge + spacing * (static_cast<double>(x) + 0.5), leaves_}; }
  Count crossing() const { return order::pe_intersecting_nodes(starts_, elements_); }

  std::string title() const {
    return fmt::format("tree: {} on {} ({})", counted(elements_, "element"), counted(counts_.size(), "rank"),
                       distribution_);
  }
  std::string sentence() const {
    std::string empty;
    Count without = 0;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] > 0) continue;
      empty += (without++ == 0 ? "" : ", ") + std::to_string(rank);
    }
    if (without > 0) empty = fmt::format(" Without elements: {} {}.", without == 1 ? "rank" : "ranks", empty);
    return fmt::format("{}, {} of them PE-intersecting.{}", counted(elements_ - 1, "inner node"), crossing(), empty);
  }

  /// Draws the ranks below the elements that they hold. Dotted lines between ranks continue upwards through the tree.
  void add_ranks() {
    bool is_other = false;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] == 0) continue;
      const double begin = place_of(starts_[rank]).x - spacing / 2;
      const double width = spacing * static_cast<double>(counts_[rank]);
      if (starts_[rank] > 0) drawing_.line({begin, 90}, {begin, leaves_ + 18}, "boundary");
      drawing_.box({begin, leaves_ + 18}, width, 20, is_other ? "band other" : "band");
      const std::string name = fmt::format("rank {}", rank);
      const bool fits = text_width(name, 11) < width;
      drawing_.text({begin + width / 2, leaves_ + 32}, fits ? name : std::to_string(rank), "", Anchor::middle);
      is_other = !is_other;
    }
  }

  /// Adds the subtree below a node, and the node, to the list. Returns the node's position. The recursion is at most 7
  /// levels deep.
  Point add_edges(Interval elements) {
    if (elements.size() == 1) return place_of(elements.begin);
    const Index middle = elements.begin + (Count{1} << (order::ceil_log2(elements.size()) - 1));
    const Point left = add_edges({elements.begin, middle});
    const Point right = add_edges({middle, elements.end});
    const int level = order::max_level(middle) + 1;
    const Inner node{.place = {(left.x + right.x) / 2, leaves_ - level_height * level},
                     .elements = elements,
                     .rank = owner(elements.begin),
                     .is_crossing = owner(middle) != owner(elements.begin)};
    drawing_.line(left, node.place, "edge");
    if (node.is_crossing) {
      // The arrow head is outside the node, because the node is drawn over the end of the line.
      const double part = (node_radius + 5) / std::hypot(right.x - node.place.x, right.y - node.place.y);
      const Point end = {node.place.x + part * (right.x - node.place.x),
                         node.place.y + part * (right.y - node.place.y)};
      drawing_.arrow(right, end, Head::filled, "sent");
    } else {
      drawing_.line(right, node.place, "edge");
    }
    nodes_.push_back(node);
    return node.place;
  }

  void add_node(const Inner& node) {
    const std::string who = fmt::format("elements {}-{}, reduced on rank {}{}", node.elements.begin,
                                        node.elements.end - 1, node.rank, node.is_crossing ? ", PE-intersecting" : "");
    drawing_.open(node.is_crossing ? "node pe-intersecting" : "node", who, fmt::format("data-rank=\"{}\"", node.rank));
    add_shape(node.place, node.is_crossing);
    drawing_.text({node.place.x, node.place.y + 4}, std::to_string(node.rank), "", Anchor::middle);
    drawing_.close();
  }

  void add_shape(Point place, bool is_crossing) {
    if (!is_crossing) return drawing_.circle(place, node_radius, "inner");
    drawing_.box({place.x - node_radius, place.y - node_radius}, 2 * node_radius, 2 * node_radius, "crossing");
  }

  void add_element(Index x) {
    const Point place = place_of(x);
    drawing_.open("element", fmt::format("element {}, on rank {}", x, owner(x)),
                  fmt::format("data-element=\"{}\" data-rank=\"{}\"", x, owner(x)));
    drawing_.box({place.x - spacing / 2 + 1, place.y - 9}, spacing - 2, 18, "leaf");
    drawing_.text({place.x, place.y + 4}, std::to_string(x), "", Anchor::middle);
    drawing_.close();
  }

  double add_legend() {
    double y = leaves_ + 64;
    const auto add = [&](bool is_crossing, const std::string& meaning) {
      add_shape({edge + node_radius, y - 4}, is_crossing);
      y = add_paragraph(drawing_, {edge + 30, y}, meaning, width_ - 2 * edge - 30, "") + 8;
    };
    add(false, "A node of the tree. The rank that holds its first element reduces the node.");
    add(true,
        "PE-intersecting node: its children are on different ranks, so the right child is sent (dashed). Below are the "
        "numbers of the elements, and their ranks.");
    return y - 8;
  }

  std::span<const Count> counts_;
  const std::string& distribution_;
  std::vector<Index> starts_;
  Count elements_ = 0;
  Drawing drawing_;
  std::vector<Inner> nodes_;
  double width_ = 0;
  double leaves_ = 0;  // y coordinate of the elements
};

}  // namespace

std::string tree_picture(std::span<const Count> counts, const std::string& distribution) {
  return TreePicture(counts, distribution).document();
}

}  // namespace steadfold::command::pictures
