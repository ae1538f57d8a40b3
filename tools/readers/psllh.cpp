// Reads per-site log-likelihoods from text. psllh: a count, then this number of numbers. sitelh, which RAxML, IQ-TREE
// and TREE-PUZZLE write: the numbers of trees and of sites, then for each tree its name and one number per site.
// Numbers are between any blanks, also on several lines.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "choice.hpp"
#include "formats.hpp"
#include "text_source.hpp"

namespace steadfold::readers {
namespace {

/// The numbers of a region, and how many numbers the file announces.
struct Likelihoods {
  Format format = Format::psllh;
  Region region;
  std::uint64_t announced = 0;
};

class LikelihoodSource final : public TextSource {
 public:
  LikelihoodSource(std::unique_ptr<File> file, const Likelihoods& likelihoods, const Options& options)
      : TextSource(std::move(file), likelihoods.region, Records::tokens, options), likelihoods_(likelihoods) {}

  Format format() const noexcept override { return likelihoods_.format; }

 private:
  void check_total(std::uint64_t total) const override {
    const std::uint64_t announced = likelihoods_.announced;
    if (total == announced) return;
    throw file().fault(std::string(total < announced ? "truncated: " : "too long: ") + std::to_string(announced) +
                           " numbers are announced, but " + std::to_string(total) + " were found",
                       "check that the whole file was copied, or correct the count at its beginning");
  }
  Field field_of(std::string_view record, std::uint64_t) const override { return {Content::number, record}; }

  Likelihoods likelihoods_;
};

bool is_count(std::string_view text, std::uint64_t& count) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  return failed == std::errc() && end == text.data() + text.size();
}

std::uint64_t parse_count(const File& file, std::string_view text) {
  std::uint64_t count = 0;
  if (is_count(text, count)) return count;
  const bool negative = text.starts_with('-');
  throw file.fault("it begins with " + shown(text) + (negative ? ", a negative count" : ", which is not a count"),
                   "write the number of elements at the beginning of the file");
}

std::uint64_t end_of(const Walk& walk) { return walk.offset() + walk.record().size(); }

/// Walks over the trees of a sitelh file.
class TreeWalk {
 public:
  TreeWalk(const File& file, const Options& options)
      : file_(file),
        all_{behind_byte_order_mark(file), file.size()},
        walk_(file, all_, Records::tokens, all_.begin, options.block_bytes) {
    trees_ = header();
    sites_ = header();
    if (trees_ == 0) throw file.fault("it announces 0 trees", "check the program that should have written the file");
    // A division is used, because the announced counts may be any numbers and a product could overflow.
    if (sites_ == std::numeric_limits<std::uint64_t>::max() || trees_ > file.size() / (sites_ + 1))
      throw truncated("the file is too short for them");
    names_.reserve(static_cast<std::size_t>(std::min(trees_, std::uint64_t{1024})));
    regions_.reserve(names_.capacity());
    for (std::uint64_t tree = 0; tree < trees_; ++tree) take_tree(tree);
    if (trees_ > 1 && walk_.next())
      throw file.fault("too long: " + announced() + ", but more follows",
                       "check that each tree has one number per site");
  }

  const std::vector<std::string>& names() const noexcept { return names_; }
  Likelihoods likelihoods(std::size_t tree) const { return {Format::sitelh, regions_[tree], sites_}; }

 private:
  std::uint64_t header() {
    if (!walk_.next()) throw file_.fault("truncated in its first line", "check that the whole file was copied");
    end_ = end_of(walk_);
    std::uint64_t count = 0;
    if (is_count(walk_.record(), count)) return count;
    throw file_.fault("its first line has " + shown(walk_.record()) + ", which is not a count",
                      "check that it begins with the numbers of trees and of sites, or check --format");
  }

  /// Reads one tree. The numbers of an only tree are not read, because the ranks count them, each in its part.
  void take_tree(std::uint64_t tree) {
    const std::string number = "tree " + std::to_string(tree);
    if (!walk_.next()) throw truncated(number + " is missing");
    // Every name begins a line, so a tree with too few or too many numbers is found.
    if (!begins_line())
      throw file_.fault(number + " begins with " + shown(walk_.record()) + " in the middle of a line",
                        "check that each tree has a name and one number per site, " + std::to_string(sites_));
    names_.emplace_back(walk_.record());
    Region region{end_of(walk_), all_.end};
    for (std::uint64_t site = 0; trees_ > 1 && site < sites_; ++site)
      if (!walk_.next()) throw truncated(number + " has " + std::to_string(site) + " numbers");
    end_ = end_of(walk_);
    if (trees_ > 1) region.end = end_;
    regions_.push_back(region);
  }

  /// Whether a line ends between the last two records.
  bool begins_line() const {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t blanks = walk_.offset() - end_;
    const std::string between = file_.read(walk_.offset() - std::min(blanks, most), std::min(blanks, most));
    return between.find_first_of("\r\n") != std::string::npos;
  }

  std::string announced() const {
    return std::to_string(trees_) + " trees with " + std::to_string(sites_) + " numbers each are announced";
  }
  Error truncated(const std::string& what) const {
    return file_.fault("truncated: " + announced() + ", but " + what,
                       "check that the whole file was copied, or correct the counts at its beginning");
  }

  const File& file_;
  Region all_;
  Walk walk_;
  std::uint64_t trees_ = 0, sites_ = 0;
  std::uint64_t end_ = 0;  // where the last record that was read ends
  std::vector<std::string> names_;
  std::vector<Region> regions_;
};

/// Removes the first word of a text and returns it.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
  text.remove_prefix(word.size());
  return word;
}

bool is_number(std::string_view text) {
  double ignored = 0;
  return parse_number(text, ignored) == NumberFault::none;
}

}  // namespace

bool looks_like_sitelh(const File& file) {
  constexpr std::uint64_t most = 1024;
  const std::string beginning = file.read(0, std::min(file.size(), most));
  const std::size_t line_end = std::min(beginning.find('\n'), beginning.size());
  std::string_view line = std::string_view(beginning).substr(0, line_end);
  std::string_view rest = std::string_view(beginning).substr(line_end);
  std::uint64_t trees = 0, sites = 0;
  const bool has_counts = is_count(take_word(line), trees) && is_count(take_word(line), sites);
  const std::string_view name = take_word(rest);
  return has_counts && trees > 0 && trimmed(line).empty() && !name.empty() && !is_number(name) &&
         is_number(take_word(rest));
}

std::unique_ptr<Source> open_psllh(std::unique_ptr<File> file, const Options& options) {
  const Region all{behind_byte_order_mark(*file), file->size()};
  Walk walk(*file, all, Records::tokens, all.begin, options.block_bytes);
  if (!walk.next()) throw file->fault("it is blank", "write the number of elements at the beginning of the file");
  const Likelihoods likelihoods{Format::psllh, {end_of(walk), all.end}, parse_count(*file, walk.record())};
  return std::make_unique<LikelihoodSource>(std::move(file), likelihoods, options);
}

std::unique_ptr<Source> open_sitelh(std::unique_ptr<File> file, const Options& options) {
  const TreeWalk trees(*file, options);
  const std::size_t chosen = Choosable(*file, "tree", trees.names()).chosen(options);
  const Likelihoods likelihoods = trees.likelihoods(chosen);
  Found found{.tree = trees.names()[chosen]};
  auto source = std::make_unique<LikelihoodSource>(std::move(file), likelihoods, options);
  source->set_found(std::move(found));
  return source;
}

}  // namespace steadfold::readers
