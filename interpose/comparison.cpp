#include "comparison.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <unordered_set>

#include "report.hpp"
#include "settings.hpp"

namespace steadfold::interpose {
namespace {

using Kind = Comparison::Kind;
using Finding = Comparison::Finding;

constexpr std::size_t most_sent = 64;  // number of findings that a rank sends
constexpr std::size_t most_ranks = 8;  // number of ranks whose first finding is printed

template <std::size_t size>
void set(std::array<char, size>& field, const std::string& text) {
  std::snprintf(field.data(), size, "%s", text.c_str());
}

const char* text_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::cut: return "the record ends before this call: its run did not reach MPI_Finalize, or the file is cut";
    case Kind::absent: return "the recorded run does not have this call";
    case Kind::fewer: return "only the recorded run has this call";
    case Kind::inputs: return "the contribution of this rank or the call differs";
    case Kind::results: return "the contribution is the same, but the result differs";
  }
  return "";
}

/// Returns the words of STEADFOLD_INTERPOSE_SKIP, which commas separate.
std::vector<std::string> skipped_words() {
  std::vector<std::string> words;
  const std::string all = setting("STEADFOLD_INTERPOSE_SKIP");
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    if (end > begin) words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool is_skipped(const Finding& finding, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == finding.op.data() || word == finding.type.data() ||
           std::string_view(finding.place.data()).find(word) != std::string_view::npos;
  });
}

bool are_at_one_place(const Finding& a, const Finding& b) {
  return a.function == b.function && a.op == b.op && a.type == b.type && a.place == b.place;
}

/// Returns why a result differs if another rank contributed differently to the same call.
std::string cause_of(const Finding& finding, const std::vector<Finding>& all) {
  if (finding.kind != Kind::results) return "";
  const auto other = std::ranges::find_if(
      all, [&](const Finding& each) { return each.kind == Kind::inputs && each.key == finding.key; });
  return other == all.end() ? "" : ", since the contribution of rank " + std::to_string(other->rank) + " differs";
}

/// The subject of each line of a list.
enum class By { rank, place };

/// Prints one line for each rank, or for each place, under a heading. `all` has the causes.
void print(const std::string& heading, const std::vector<Finding>& some, const std::vector<Finding>& all, By by) {
  if (some.empty()) return;
  const std::size_t most = std::min(some.size(), by == By::rank ? most_ranks : most_sent);
  const bool is_part = most < some.size();
  say(heading +
      (is_part ? " (only the earliest " + std::to_string(most) + " of " + std::to_string(some.size()) + ")" : ""));
  for (std::size_t i = 0; i < most; ++i) {
    const Finding& each = some[i];
    std::string line = "rank " + std::to_string(each.rank) + ", reduction number " + std::to_string(each.order);
    if (each.function[0] != '\0') line += std::string(", ") + each.function.data();
    if (each.place[0] != '\0') line += std::string(" in ") + each.place.data();
    line += std::string(": ") + text_of(each.kind) + cause_of(each, all);
    if (by == By::place)
      line += std::string(" (") + each.op.data() + " of " + each.type.data() +
              ", calls that differ: " + std::to_string(each.calls) + ")";
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

/// Returns the first finding of each rank.
std::vector<Finding> first_of_ranks(const std::vector<Finding>& sorted) {
  std::vector<Finding> firsts;
  std::unordered_set<std::int32_t> ranks;
  for (const Finding& each : sorted)
    if (ranks.insert(each.rank).second) firsts.push_back(each);
  return firsts;
}

/// Returns one finding of each place that `told` lacks. A finding that shows the cause comes first.
std::vector<Finding> other_places(const std::vector<Finding>& sorted, const std::vector<Finding>& told) {
  std::vector<Finding> places;
  for (const Finding& each : sorted) {
    const auto is_here = [&](const Finding& other) { return are_at_one_place(each, other); };
    if (each.kind == Kind::cut || std::ranges::any_of(told, is_here)) continue;
    const auto found = std::ranges::find_if(places, is_here);
    if (found == places.end())
      places.push_back(each);
    else if (found->kind == Kind::results && each.kind == Kind::inputs && each.key == found->key)
      *found = each;
  }
  return places;
}

/// Prints findings, sorted by order. `left_out` follows the first heading. Returns whether a call differs: a record
/// that ends early is no difference.
bool print_findings(const std::vector<Finding>& all, const std::string& left_out) {
  std::vector<Finding> integers, others;
  for (const Finding& each : all) (each.is_integer != 0 && each.kind != Kind::cut ? integers : others).push_back(each);
  const std::vector<Finding> firsts = first_of_ranks(others);
  const bool others_differ = std::ranges::any_of(others, [](const Finding& each) { return each.kind != Kind::cut; });
  print(others_differ ? "the runs differ; the first different reduction of each rank follows" + left_out
                      : "the reductions of both runs are the same as far as the records go" + left_out,
        firsts, all, By::rank);
  print("other places that differ, each with its first different reduction", other_places(others, firsts), all,
        By::place);
  print(others_differ ? "reductions of integers, logical values or bits that differ"
                      : "the runs differ only in reductions of integers, logical values or bits" + left_out,
        other_places(integers, {}), all, By::place);
  return others_differ || !integers.empty();
}

/// Prints the findings of `ranks` ranks, of which `unread` had no record. `where` names these ranks. Returns the
/// outcome.
Outcome print_all(std::vector<Finding> all, int ranks, int unread, const std::string& where) {
  const std::vector<std::string> words = skipped_words();
  const auto skipped = std::erase_if(all, [&](const Finding& each) { return is_skipped(each, words); });
  const std::string left_out =
      words.empty() ? "" : ", apart from calls that --skip leaves out (findings: " + std::to_string(skipped) + ")";
  std::ranges::stable_sort(all, {}, &Finding::order);
  if (unread == ranks)
    say("nothing was compared (no rank has a record of the other run)");
  else if (unread > 0)
    say(std::to_string(unread) + " of " + std::to_string(ranks) + " ranks were not compared" +
        (all.empty() ? "; no compared rank differs" + left_out : ""));
  else if (all.empty())
    say("the reductions of both runs are the same on " + where + ", with the same contributions and results" +
        left_out);
  const bool differs = print_findings(all, left_out);
  return differs ? Outcome::differs : unread > 0 ? Outcome::not_compared : Outcome::same;
}

}  // namespace

std::string Comparison::read(const std::string& file, const TraceHead& expected) {
  std::FILE* const in = std::fopen(file.c_str(), "rb");
  if (in == nullptr) return file + " cannot be read";
  TraceHead head;
  std::string why;
  if (std::fread(&head, sizeof head, 1, in) != 1 || head.what != expected.what) {
    why = file + " is not a record";
  } else if (head.rank != expected.rank || head.ranks != expected.ranks) {
    why = file + " is of another number of ranks";
  } else {
    std::array<Traced, 1024> some;
    for (std::size_t got = 0; (got = std::fread(some.data(), sizeof(Traced), some.size(), in)) > 0;)
      others_.insert(others_.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
    is_cut_ = head.calls != others_.size();
    std::ranges::sort(others_, {}, &Traced::key);
    is_read_ = true;
  }
  std::fclose(in);
  return why;
}

void Comparison::compare(std::uint64_t order, const Traced& mine, const Call& call) {
  if (!is_read_) return;
  const auto other = std::ranges::lower_bound(others_, mine.key(), {}, &Traced::key);
  if (other == others_.end() || other->key() != mine.key())
    take(is_cut_ ? Kind::cut : Kind::absent, order, mine.key(), call);
  else if (other->input != mine.input)
    take(Kind::inputs, order, mine.key(), call);
  else if (other->result != mine.result)
    take(Kind::results, order, mine.key(), call);
}

void Comparison::take(Kind kind, std::uint64_t order, std::uint64_t key, const Call& call) {
  if (kind == Kind::cut && !cut_.empty()) return;
  Site fresh{.addresses = call.place.addresses, .finding = {.kind = kind, .order = order, .key = key}};
  Finding& finding = fresh.finding;
  finding.is_integer = call.elements.treatment() == Treatment::order_free ? 1 : 0;
  set(finding.function, name_of(call.place.function));
  set(finding.op, name_of(call.elements.op()));
  set(finding.type, name_of_type(call.elements.type()));
  if (kind == Kind::cut) return cut_.push_back(fresh);
  const auto found = std::ranges::find_if(sites_, [&](const Site& site) {
    return site.addresses == fresh.addresses && are_at_one_place(site.finding, finding);
  });
  found == sites_.end() ? sites_.push_back(fresh) : void(++found->finding.calls);
}

/// Returns the findings of this rank with their places, the earliest first.
std::vector<Finding> Comparison::findings(int rank) const {
  std::vector<Site> sites = sites_;
  sites.insert(sites.end(), cut_.begin(), cut_.end());
  std::ranges::stable_sort(sites, {}, [](const Site& site) { return site.finding.order; });
  std::vector<Addresses> calls;
  calls.reserve(sites.size());
  for (const Site& site : sites) calls.push_back(site.addresses);
  const std::vector<std::string> places = places_of(calls);
  std::vector<Finding> found;
  found.reserve(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    found.push_back(sites[i].finding);
    found.back().rank = rank;
    set(found.back().place, places[i]);
  }
  return found;
}

void Comparison::tell(int rank, int ranks, std::uint64_t calls) {
  std::vector<Finding> own = findings(rank);
  if (own.empty() && is_read_ && (calls < others_.size() || is_cut_))
    own.push_back({.kind = calls < others_.size() ? Kind::fewer : Kind::cut, .rank = rank, .order = calls + 1});
  own.resize(std::min(own.size(), most_sent));
  const int bytes = static_cast<int>(own.size() * sizeof(Finding));
  const int mine = is_read_ ? bytes : -1;
  std::vector<int> sizes(static_cast<std::size_t>(rank == 0 ? ranks : 0)), begins(sizes.size());
  PMPI_Gather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int unread = static_cast<int>(std::ranges::count(sizes, -1));
  int total = 0;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    sizes[r] = std::max(sizes[r], 0);
    begins[r] = total;
    total += sizes[r];
  }
  std::vector<Finding> all(static_cast<std::size_t>(total) / sizeof(Finding));
  PMPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) note_outcome(print_all(std::move(all), ranks, unread, "all ranks"));
}

void Comparison::tell_alone(int rank) {
  if (!is_read_) return;
  std::fprintf(stderr, "steadfold: rank %d ends without MPI_Finalize; this rank's reductions until then follow\n",
               rank);
  note_outcome(print_all(findings(rank), 1, 0, "this rank"));
}

}  // namespace steadfold::interpose
