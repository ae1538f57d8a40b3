// Ranks are horizontal lines, and a round is a column with two zones. The left zone has the arrows. The right zone
// names the content that arrives, below the line of the receiving rank. So no arrow crosses a text. Rounds that do not
// fit the width follow below, in another band.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "pictures/pictures.hpp"
#include "pictures/timeline.hpp"

namespace steadfold::command::pictures {
namespace {

constexpr double font_size = 11;
constexpr double line_height = 13;
constexpr double margin = 16;

enum class Use : std::uint8_t { merged, kept, value };

/// The look of one kind of message: the class of the arrows, their heads, and the text of the legend.
struct Look {
  const char* name;
  Head head;
  const char* meaning;
};
constexpr std::array<Look, 3> looks = {
    {{"merged", Head::filled, "a partial result that the receiver merges with its own: + received = new content"},
     {"kept", Head::open, "a partial result that the receiver keeps without merging"},
     {"value", Head::open, "finished results"}}};
const Look& look_of(Use use) { return looks[static_cast<std::size_t>(use)]; }

Use use_of(const Message& message) {
  if (std::ranges::any_of(message.parts, [](const Part& part) { return part.merged.has_value(); })) return Use::merged;
  return std::ranges::all_of(message.parts, &Part::is_value) ? Use::value : Use::kept;
}

/// Writes ascending numbers as text, with consecutive numbers as a range: "0-2,4".
std::string text_of_numbers(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    text += (text.empty() ? "" : ",") + text_of_run(numbers[begin], end - begin);
  }
  return text;
}

/// Describes the contents of slots in words.
class Words {
 public:
  explicit Words(const schedule::Context& context) : context_(context) {}

  bool names_rows() const { return context_.layout != nullptr; }

  /// Returns a line for each different content, with the segments that have it.
  std::vector<std::string> lines(const std::vector<Part>& parts) const {
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> contents;
    for (const Part& part : parts) {
      const std::string content = content_of(part);
      if (contents.empty() || contents.back().first != content) contents.push_back({content, {}});
      contents.back().second.push_back(part.segment);
    }
    std::vector<std::string> lines;
    for (auto& [content, segments] : contents) {
      std::ranges::sort(segments);
      lines.push_back(context_.segments == 1 ? content : fmt::format("{} [{}]", content, text_of_numbers(segments)));
    }
    return lines;
  }

 private:
  std::string content_of(const Part& part) const {
    const std::string rows = text_of(part.covers);
    if (part.is_value) return part.covers.ranks.count == 0 && !part.covers.is_part() ? "result" : "result " + rows;
    return part.merged ? fmt::format("+ {} = {}", rows, text_of(*part.merged)) : rows;
  }

  std::string text_of(const schedule::Covers& covers) const {
    if (names_rows()) return text_of_rows(covers.rows(*context_.layout));
    const std::string apart = text_of(covers.apart);
    return text_of(covers.ranks) + (apart.empty() ? "" : "," + apart);
  }

  std::string text_of(schedule::RankRange run) const {
    if (run.count == 0) return "";
    if (run.count == context_.rank_count && run.count > 1) return "all";
    const auto first = static_cast<order::Index>(run.first);
    const auto count = static_cast<Count>(run.count);
    const Count before_the_end = std::min(count, context_.ranks() - first);
    const std::string text = text_of_run(first, before_the_end);
    return before_the_end == count ? text : text + "," + text_of_run(0, count - before_the_end);
  }

  std::string text_of_rows(const order::IntervalSet& rows) const {
    if (rows.empty()) return "none";
    if (rows.size() == context_.layout->element_count() && rows.size() > 1) return "all";
    std::string text;
    for (const order::Interval& each : rows.intervals())
      text += (text.empty() ? "" : ",") + text_of_run(each.begin, each.size());
    return text;
  }

  const schedule::Context& context_;
};

/// Returns the size of the content that the receiver has after it has merged the message. The merges of one round are
/// listed in their order.
Count size_after_merging(const Message& message) {
  Count size = 0;
  for (const Part& part : message.parts) {
    if (!part.merged) continue;
    const schedule::Covers& merged = *part.merged;
    const auto ranks = static_cast<Count>(merged.ranks.count) + static_cast<Count>(merged.apart.count);
    size = std::max(size, merged.is_part() ? merged.part.size() : ranks);
  }
  return size;
}

/// A message as the picture draws it.
struct Arrow {
  const Message* message;
  Use use;
  std::vector<std::string> lines;
};

struct Column {
  double down = 0;  // distance, in pixels, from the first band to the band of this round
  double begin = 0;
  double arrows_end = 0;
  double labels_width = 0;
};

double widest(const std::vector<std::string>& lines) {
  double width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, font_size));
  return width;
}

class SchedulePicture {
 public:
  SchedulePicture(const schedule::Spec& spec, const schedule::Context& context, double most_width)
      : spec_(spec),
        context_(context),
        words_(context),
        timeline_(timeline_of(*spec.algorithm, context)),
        most_width_(most_width) {
    for (const Message& message : timeline_.messages) arrows_.push_back({&message, use_of(message), lines_of(message)});
    std::ranges::stable_sort(arrows_, {}, [](const Arrow& arrow) {
      return std::tuple(arrow.message->received, arrow.message->target, size_after_merging(*arrow.message));
    });
    for (const auto& parts : timeline_.results) results_.push_back(words_.lines(parts));
    place_rows();
    place_columns();
  }

  std::string document() {
    add_heading();
    add_grid();
    for (const Arrow& arrow : arrows_) add_arrow(arrow);
    for (std::size_t rank = 0; rank < results_.size(); ++rank)
      add_lines(results_[rank], {end_ + 6, y_[rank] + down_ + 4});
    const double height = add_legend();
    const std::string attributes = fmt::format("data-messages=\"{}\" data-rounds=\"{}\" data-segments=\"{}\"",
                                               arrows_.size(), timeline_.rounds, context_.segments);
    return svg({.title = title(),
                .sentence = summary(),
                .attributes = attributes,
                .style = std::string(common_style) + style,
                .width = width_,
                .height = height + margin},
               drawing_);
  }

 private:
  static constexpr const char* style =
      ".rank{stroke:#999}.round{stroke:#ddd}"
      ".merged{stroke:#0b3d75;stroke-width:1.6}path.merged{fill:#0b3d75}"
      ".kept{stroke:#444;stroke-width:1.2}path.kept{fill:#fff}"
      ".value{stroke:#8a3800;stroke-width:1.6;stroke-dasharray:5 3}path.value{fill:#fff;stroke-dasharray:none}";

  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }
  Column& column_of(const Message& message) { return columns_[message.received - 1]; }

  std::string title() const {
    const std::string root = context_.rooted() ? fmt::format(" to rank {}", context_.root) : "";
    return fmt::format("{}: {}{} on {}", text_of(spec_), name_of(context_.collective), root,
                       counted(context_.ranks(), "rank"));
  }
  std::string summary() const {
    std::string sentence(spec_.algorithm->sentence);
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    return sentence +
           fmt::format(". {} in {}.", counted(arrows_.size(), "message"), counted(timeline_.rounds, "round"));
  }

  std::vector<std::string> lines_of(const Message& message) const {
    std::vector<std::string> lines = words_.lines(message.parts);
    if (message.sent < message.received) lines.back() += fmt::format(" (sent in {})", message.sent);
    return lines;
  }

  /// Computes the height of each rank's line, which has room for the texts of all messages that arrive in one round.
  void place_rows() {
    std::vector<std::vector<std::size_t>> lines(at(context_.rank_count), std::vector<std::size_t>(timeline_.rounds, 0));
    for (const Arrow& arrow : arrows_)
      lines[at(arrow.message->target)][arrow.message->received - 1] += arrow.lines.size();
    double y = 0;
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
      std::size_t most = results_[rank].empty() ? 0 : results_[rank].size() - 1;
      for (const std::size_t each : lines[rank]) most = std::max(most, each);
      y_.push_back(y);
      y += 22 + line_height * static_cast<double>(most);
    }
    below_ = y;
  }

  /// Computes the widths of the columns. The farther the arrows reach, the wider their zone; otherwise the arrows would
  /// be almost vertical.
  void place_columns() {
    columns_.resize(timeline_.rounds);
    for (Column& column : columns_) column.arrows_end = 40;
    for (const Arrow& arrow : arrows_) {
      Column& column = column_of(*arrow.message);
      const double distance = std::abs(y_[at(arrow.message->target)] - y_[at(arrow.message->source)]);
      column.arrows_end = std::clamp(0.25 * distance, column.arrows_end, 160.0);
      column.labels_width = std::max({column.labels_width, widest(arrow.lines), 20.0});
    }
    double results_width = 0;
    for (const auto& lines : results_) results_width = std::max(results_width, widest(lines));
    begin_ = margin + text_width(fmt::format("rank {}", context_.rank_count - 1), 12) + 8;
    end_ = begin_;
    width_ = std::max(2 * margin + text_width(title(), 15), 520.0);
    for (Column& column : columns_) {
      const double width = column.arrows_end + column.labels_width + 12;
      const double behind = &column == &columns_.back() ? 6 + results_width + margin : margin;
      if (end_ > begin_ && end_ + width + behind > most_width_) {
        down_ += below_ + 30;
        end_ = begin_;
      }
      column.down = down_;
      column.begin = end_;
      column.arrows_end += end_;
      end_ += width;
      width_ = std::max(width_, end_ + behind);
    }
    if (columns_.empty()) width_ = std::max(width_, end_ + 6 + results_width + margin);
  }

  void add_heading() {
    drawing_.text({margin, margin + 12}, title(), "title");
    const double y = add_paragraph(drawing_, {margin, margin + 32}, summary(), width_ - 2 * margin, "");
    top_ = y + 10;
    for (double& each : y_) each += top_ + 18;
    below_ += top_ + 18;
  }

  void add_grid() {
    for (std::size_t round = 0; round < columns_.size(); ++round) {
      const Column& column = columns_[round];
      drawing_.line({column.begin, top_ + column.down - 8}, {column.begin, below_ + column.down}, "round");
      drawing_.text({column.begin + 4, top_ + column.down},
                    columns_.size() > 40 ? fmt::format("{}", round + 1) : fmt::format("round {}", round + 1), "strong");
      const bool is_last = round + 1 == columns_.size();
      if (is_last || columns_[round + 1].down > column.down)
        add_ranks(column.down, is_last ? end_ : column.arrows_end + column.labels_width + 12);
    }
    if (columns_.empty()) add_ranks(0, end_);
  }

  /// Draws the ranks of a band, with their lines.
  void add_ranks(double down, double end) {
    for (std::size_t rank = 0; rank < y_.size(); ++rank) {
      const double y = y_[rank] + down;
      drawing_.text({margin, y + 4}, fmt::format("rank {}", rank), "strong");
      drawing_.line({begin_, y}, {end, y}, "rank");
    }
  }

  void add_arrow(const Arrow& arrow) {
    const Message& message = *arrow.message;
    const Column& column = column_of(message);
    std::string content;
    for (const std::string& line : arrow.lines) content += (content.empty() ? "" : "; ") + line;
    drawing_.open("message", fmt::format("round {}, rank {} to rank {}: {}", message.received, message.source,
                                         message.target, content));
    const Look& look = look_of(arrow.use);
    drawing_.arrow({column.begin + 3, y_[at(message.source)] + column.down},
                   {column.arrows_end, y_[at(message.target)] + column.down}, look.head, look.name);
    // If a rank has several ports, the texts of earlier messages of the same round are above this text. `taken` counts
    // their lines.
    std::size_t& taken = taken_[{message.target, message.received}];
    const double y = y_[at(message.target)] + column.down + line_height * static_cast<double>(taken + 1);
    taken += arrow.lines.size();
    add_lines(arrow.lines, {column.arrows_end + 4, y});
    drawing_.close();
  }

  void add_lines(const std::vector<std::string>& lines, Point place) {
    for (const std::string& line : lines) {
      drawing_.text(place, line, "");
      place.y += line_height;
    }
  }

  /// Draws the legend, only for the signs that occur in the picture. Returns where the legend ends.
  double add_legend() {
    double y = below_ + down_ + 14;
    for (const Use use : {Use::merged, Use::kept, Use::value}) {
      if (std::ranges::none_of(arrows_, [&](const Arrow& arrow) { return arrow.use == use; })) continue;
      drawing_.arrow({margin, y - 4}, {margin + 40, y - 4}, look_of(use).head, look_of(use).name);
      y = add_paragraph(drawing_, {margin + 50, y}, look_of(use).meaning, width_ - 2 * margin - 50, "");
    }
    std::string notes = words_.names_rows() ? "Numbers are the elements that a partial result contains."
                                            : "Numbers are the ranks whose elements a partial result contains.";
    if (context_.segments > 1)
      notes += fmt::format(" Numbers in brackets are blocks of columns; there are {} blocks.", context_.segments);
    if (std::ranges::any_of(timeline_.messages, [](const Message& each) { return each.sent < each.received; }))
      notes +=
          " A message is drawn in the round in which it is received; (sent in 1) means that it was sent in round 1.";
    if (down_ > 0) notes += " Rounds that do not fit are drawn below the others.";
    return add_paragraph(drawing_, {margin, y + 4}, notes, width_ - 2 * margin, "");
  }

  const schedule::Spec& spec_;
  const schedule::Context& context_;
  const Words words_;
  const Timeline timeline_;
  Drawing drawing_;
  std::vector<Arrow> arrows_;
  std::vector<std::vector<std::string>> results_;  // by rank: texts of the results
  std::vector<double> y_;                          // y coordinates of the ranks' lines
  std::vector<Column> columns_;                    // columns of the picture, by round
  // By rank and round: number of lines of text that are already drawn.
  std::map<std::pair<Rank, Count>, std::size_t> taken_;
  double begin_ = 0;
  double end_ = 0;
  double top_ = 0;
  double below_ = 0;  // y coordinate below the first band
  double down_ = 0;   // distance, in pixels, from the first band to the last
  double width_ = 0;
  const double most_width_;
};

}  // namespace

std::string schedule_picture(const schedule::Spec& spec, const schedule::Context& context, double most_width) {
  return SchedulePicture(spec, context, most_width).document();
}

}  // namespace steadfold::command::pictures
