#include "transport/simulated/topology.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace steadfold::transport {
namespace {

using order::Count;

class Flat final : public Topology {
 public:
  explicit Flat(const LogGP& link) : link_(link) {}
  double duration(Rank, Rank, Bytes bytes) const override { return link_.duration(bytes); }
  double arrival(Rank, Rank, double start, Bytes) override { return start + link_.latency; }

 private:
  LogGP link_;
};

/// Equal links between two switches. A message takes the first free link; it cannot choose its route.
class Links {
 public:
  /// Sends a message over the first free link and returns the time when it has passed. `count` is the number of links.
  double serve(double ready, double duration, Count count) {
    const bool reuses = busy_.size() == count || (!busy_.empty() && busy_.front() <= ready);
    if (reuses) {
      std::ranges::pop_heap(busy_, std::greater());
      ready = std::max(ready, busy_.back());
      busy_.back() = ready + duration;
    } else {
      busy_.push_back(ready + duration);  // uses a link that was not used before
    }
    std::ranges::push_heap(busy_, std::greater());
    return ready;
  }

 private:
  std::vector<double> busy_;  // times when the links are free again, the earliest first
};

/// Returns the links of one switch or node, and makes them at their first use.
Links& links_of(std::vector<Links>& links, Count number) {
  if (number >= links.size()) links.resize(number + 1);
  return links[number];
}

/// Nodes of several ranks. If the ranks of a node share links, a message between nodes waits for a link out of its node
/// and for a link into the target's node.
class TwoLevel final : public Topology {
 public:
  TwoLevel(Rank size, Count links, const LogGP& inside, const LogGP& between)
      : size_(size), links_(links), inside_(inside), between_(between) {}
  double duration(Rank source, Rank target, Bytes bytes) const override { return link(source, target).duration(bytes); }
  bool shares_links() const noexcept override { return links_ > 0; }
  Rank ranks_per_node() const noexcept override { return size_; }
  double arrival(Rank source, Rank target, double start, Bytes bytes) override {
    if (links_ > 0 && node(source) != node(target)) {
      const double duration = between_.duration(bytes);
      start = links_of(out_, node(source)).serve(start, duration, links_);
      start = links_of(in_, node(target)).serve(start, duration, links_);
    }
    return start + link(source, target).latency;
  }

 private:
  Count node(Rank rank) const { return static_cast<Count>(rank / size_); }
  const LogGP& link(Rank source, Rank target) const { return node(source) == node(target) ? inside_ : between_; }

  Rank size_;
  Count links_;  // links per node; 0: every rank has a link
  LogGP inside_;
  LogGP between_;
  std::vector<Links> out_;
  std::vector<Links> in_;
};

/// A message climbs from its source's switch to the lowest switch above both ranks, and descends. A message waits for
/// links up and down, which serve messages in the order of their sending times.
class FatTree final : public Topology {
 public:
  FatTree(Rank arity, double oversubscription, double hop, const LogGP& link, Rank rank_count)
      : arity_(static_cast<Count>(arity)), hop_(hop), link_(link) {
    double links = 1;
    for (Count below = arity_; below < static_cast<Count>(rank_count); below *= arity_) {
      links *= static_cast<double>(arity) / oversubscription;
      levels_.push_back(
          {.below = below, .links = static_cast<Count>(std::max(1.0, std::floor(links))), .up = {}, .down = {}});
    }
  }

  double duration(Rank, Rank, Bytes bytes) const override { return link_.duration(bytes); }
  bool shares_links() const noexcept override { return true; }
  Rank ranks_per_node() const noexcept override { return static_cast<Rank>(arity_); }

  double arrival(Rank source, Rank target, double start, Bytes bytes) override {
    const double duration = link_.duration(bytes);
    double time = start;
    std::size_t level = 0;
    Count from = static_cast<Count>(source) / arity_;
    for (Count to = static_cast<Count>(target) / arity_; from != to; from /= arity_, to /= arity_, ++level) {
      Level& crossed = levels_[level];
      time = links_of(crossed.up, from).serve(time, duration, crossed.links) + hop_;
    }
    for (; level > 0; --level) {
      Level& crossed = levels_[level - 1];
      time = links_of(crossed.down, static_cast<Count>(target) / crossed.below).serve(time, duration, crossed.links) +
             hop_;
    }
    return time + link_.latency;
  }

 private:
  /// The links above every switch of a level.
  struct Level {
    Count below;  // number of ranks below one switch
    Count links;  // number of links above one switch
    std::vector<Links> up;
    std::vector<Links> down;
  };

  Count arity_;
  double hop_;
  LogGP link_;
  std::vector<Level> levels_;
};

/// One link. Messages pass it in the order in which they were sent. If other links delay a message on its way, the
/// messages that reach the link earlier pass first.
class Link {
 public:
  /// Sends a message over the link and returns the time when it has passed. The message was sent at time `sent`; later
  /// calls must not have an earlier `sent`.
  double serve(double sent, double ready, double duration) {
    std::erase_if(busy_, [sent](const Passage& each) { return each.end <= sent; });
    auto next = busy_.begin();
    for (; next != busy_.end() && next->begin < ready + duration; ++next) ready = std::max(ready, next->end);
    busy_.insert(next, {ready, ready + duration});
    return ready;
  }

 private:
  struct Passage {
    double begin;
    double end;
  };
  std::vector<Passage> busy_;  // times when the link is busy, in ascending order
};

/// A message moves along the first side, then along the second, and so on. On each side it takes the shorter way. If
/// both ways are equally long, it does not cross the ends. A message waits for every link on its way. While it waits,
/// it occupies no previous link.
class Torus final : public Topology {
 public:
  Torus(std::vector<Count> sides, double hop, bool half_duplex, const LogGP& link)
      : sides_(std::move(sides)), hop_(hop), half_duplex_(half_duplex), link_(link) {}

  double duration(Rank, Rank, Bytes bytes) const override { return link_.duration(bytes); }
  bool shares_links() const noexcept override { return true; }

  double arrival(Rank source, Rank target, double start, Bytes bytes) override {
    const double duration = link_.duration(bytes);
    Count position = static_cast<Count>(source);
    Count stride = 1;  // difference of the ranks of two neighbours along this side
    double time = start;
    for (std::size_t side = 0; side < sides_.size(); stride *= sides_[side++]) {
      const Count length = sides_[side];
      const Count from = position / stride % length;
      const Count to = static_cast<Count>(target) / stride % length;
      const Count way = from < to ? to - from : from - to;  // way that does not cross the ends
      const bool climbs = (from < to) == (2 * way <= length);
      for (Count left = std::min(way, length - way); left > 0; --left) {
        const Count next = climbs ? after(position, stride, length) : before(position, stride, length);
        if (position != static_cast<Count>(source)) time += hop_;
        time = link(climbs ? position : next, side, climbs).serve(start, time, duration);
        position = next;
      }
    }
    return time + link_.latency;
  }

 private:
  static Count after(Count position, Count stride, Count length) {
    const Count at = position / stride % length;
    return at + 1 < length ? position + stride : position - at * stride;
  }
  static Count before(Count position, Count stride, Count length) {
    const Count at = position / stride % length;
    return at > 0 ? position - stride : position + (length - 1) * stride;
  }
  /// Returns the link from a position to the next position, or back; makes it at its first use.
  Link& link(Count lower, std::size_t side, bool climbs) {
    const Count number = (lower * sides_.size() + side) * 2 + (climbs || half_duplex_ ? 0 : 1);
    if (number >= links_.size()) links_.resize(number + 1);
    return links_[number];
  }

  std::vector<Count> sides_;
  double hop_;
  bool half_duplex_;
  LogGP link_;
  std::vector<Link> links_;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why, const std::string& suggestion) {
  throw std::invalid_argument("topology '" + std::string(text) + "' cannot be used (" + why + "), " + suggestion);
}

/// The parameters after a topology's name: `key=value`, separated by colons, each key at most once.
class Parameters {
 public:
  Parameters(std::string_view text, std::string_view rest) : text_(text) {
    while (!rest.empty()) {
      rest.remove_prefix(1);  // skips the colon
      const std::string_view one = rest.substr(0, rest.find(':'));
      rest.remove_prefix(one.size());
      const std::size_t equals = one.find('=');
      const bool is_new = equals < one.size() && values_.emplace(one.substr(0, equals), one.substr(equals + 1)).second;
      if (!is_new)
        refuse(text_, "'" + std::string(one) + "' is not of the form key=value, or repeats a key",
               "write each parameter once");
    }
  }

  bool has(const std::string& key) const { return values_.contains(key); }
  /// Returns a number, at least `least`; `fallback` if the parameter is missing.
  double take(const std::string& key, double fallback, Rank least) {
    const auto found = values_.find(key);
    if (found == values_.end()) return fallback;
    const std::string value = found->second;
    values_.erase(found);
    double number = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool read = failed == std::errc() && end == value.data() + value.size();
    if (read && std::isfinite(number) && number >= least) return number;
    refuse(text_, key + " must be a number, " + std::to_string(least) + " or more", "give a number in this range");
  }
  /// Returns a whole number, at least `least`; 0 if the parameter is missing.
  Rank take_whole(const std::string& key, Rank least) {
    const double number = take(key, 0, least);
    if (number != std::floor(number) || number > 1 << 30)
      refuse(text_, key + " must be a whole number, at most 2^30", "write " + key + "=8");
    return static_cast<Rank>(number);
  }
  /// Whether the parameter is given; its value must be 1.
  bool take_flag(const std::string& key) {
    if (!values_.contains(key)) return false;
    if (values_.extract(key).mapped() != "1") refuse(text_, key + " must be 1 if it is given", "write " + key + "=1");
    return true;
  }
  /// Returns a whole number, at least `least`. The parameter is required.
  Rank take_ranks(const std::string& key, Rank least) {
    if (!values_.contains(key)) refuse(text_, "it needs parameter " + key, "write " + key + "=8");
    return take_whole(key, least);
  }
  /// Returns whole numbers separated by x, as in 4x4x2, with a product from `least` to `most`. The parameter is
  /// required.
  std::vector<Count> take_sides(const std::string& key, Count least, Count most) {
    const std::string text = values_.contains(key) ? values_.extract(key).mapped() : "";
    std::vector<Count> sides;
    Count product = 1;
    for (const char* at = text.data(); product > 0 && product <= most;) {
      const auto [end, failed] = std::from_chars(at, text.data() + text.size(), sides.emplace_back());
      product = failed == std::errc() && sides.back() <= most ? product * sides.back() : 0;
      if (end == text.data() + text.size()) break;
      if (*end != 'x') product = 0;
      at = end + 1;
    }
    if (product >= least && product <= most) return sides;
    const std::string numbers = std::to_string(least) + " to " + std::to_string(most);
    refuse(text_, key + " must be whole numbers that multiply to " + numbers + " places",
           "write " + key + "=4x4x2 for 32 places");
  }
  void require_none_left() const {
    if (!values_.empty()) refuse(text_, "it has no parameter " + values_.begin()->first, "leave out the parameter");
  }

 private:
  std::string_view text_;
  std::map<std::string, std::string> values_;
};

std::unique_ptr<Topology> made(std::string_view name, Parameters& parameters, const LogGP& link, LogGP inside,
                               Rank rank_count) {
  if (name == "flat") return std::make_unique<Flat>(link);
  if (name == "two_level") {
    const Rank size = parameters.take_ranks("size", 1);
    inside.latency = parameters.take("latency", inside.latency, 0);
    inside.gap = parameters.take("gap", inside.gap, 0);
    // A given per_byte holds for messages of all sizes.
    if (parameters.has("per_byte")) inside.long_from = LogGP::no_limit;
    inside.per_byte = parameters.take("per_byte", inside.per_byte, 0);
    return std::make_unique<TwoLevel>(size, static_cast<Count>(parameters.take_whole("links", 1)), inside, link);
  }
  if (name == "torus") {
    // Limit of the number of places; about 600 MB of links in three dimensions.
    constexpr Count most_places = Count{1} << 22;
    std::vector<Count> sides = parameters.take_sides("sides", static_cast<Count>(rank_count), most_places);
    const double hop = parameters.take("hop", 0, 0);
    return std::make_unique<Torus>(std::move(sides), hop, parameters.take_flag("half_duplex"), link);
  }
  if (name != "fat_tree") return nullptr;
  const Rank arity = parameters.take_ranks("arity", 2);
  const double oversubscription = parameters.take("oversubscription", 1, 1);
  return std::make_unique<FatTree>(arity, oversubscription, parameters.take("hop", 0, 0), link, rank_count);
}

}  // namespace

std::unique_ptr<Topology> make_topology(std::string_view text, const LogGP& link, const LogGP& inside,
                                        Rank rank_count) {
  const std::string_view name = text.substr(0, text.find(':'));
  Parameters parameters(text, text.substr(name.size()));
  std::unique_ptr<Topology> topology = made(name, parameters, link, inside, rank_count);
  if (!topology) refuse(text, "the known topologies are flat, two_level, fat_tree and torus", "choose one of these");
  parameters.require_none_left();
  return topology;
}

}  // namespace steadfold::transport
