#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "order/distribution.hpp"
#include "pictures/pictures.hpp"

namespace steadfold::command::pictures {
namespace {

using order::Count;

constexpr double border = 16;
constexpr double bars_begin = 74;
constexpr double bars_width = 480;
constexpr double row_height = 22;
constexpr const char* bar_style =
    ".bar{fill:#c3cfdd;stroke:#0b3d75}.axis{stroke:#555}.grid{stroke:#ddd}.none{fill:#555;font-style:italic}";

std::string text_of_share(order::Index start, Count count) {
  return count == 0 ? "none" : fmt::format("{}: {}", counted(count, "element"), text_of_run(start, count));
}

/// Draws a rank's name, its bar, and the text of its elements.
void add_bar(Drawing& drawing, std::size_t rank, order::Index start, Count count, double y, double scale) {
  const std::string share = text_of_share(start, count);
  drawing.open("rank", fmt::format("rank {}, {}", rank, share),
               fmt::format("data-rank=\"{}\" data-count=\"{}\"", rank, count));
  drawing.text({border, y + 15}, fmt::format("rank {}", rank), "strong");
  drawing.line({bars_begin, y + row_height}, {bars_begin + bars_width, y + row_height}, "grid");
  if (count > 0)
    drawing.box({bars_begin + scale * static_cast<double>(start), y + 3},
                std::max(scale * static_cast<double>(count), 1.0), row_height - 6, "bar");
  drawing.text({bars_begin + bars_width + 10, y + 15}, share, count == 0 ? "none" : "");
  drawing.close();
}

}  // namespace

std::string layout_picture(std::span<const Count> counts, const std::string& distribution) {
  const std::vector<order::Index> starts = order::starts_of(counts);
  const Count all = starts.back() + counts.back();
  const double scale = bars_width / static_cast<double>(std::max(all, Count{1}));
  const std::string title =
      fmt::format("layout: {} on {} ({})", counted(all, "element"), counted(counts.size(), "rank"), distribution);
  const std::string sentence = fmt::format("Each rank holds between {} and {}.", std::ranges::min(counts),
                                           counted(std::ranges::max(counts), "element"));
  Drawing drawing;
  drawing.text({border, border + 12}, title, "title");
  drawing.text({border, border + 32}, sentence, "");
  double y = border + 46;
  double widest_share = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank, y += row_height) {
    add_bar(drawing, rank, starts[rank], counts[rank], y, scale);
    widest_share = std::max(widest_share, text_width(text_of_share(starts[rank], counts[rank]), 11));
  }
  const double bars_end = bars_begin + bars_width;
  drawing.line({bars_begin, y}, {bars_end, y}, "axis");
  drawing.text({bars_begin, y + 15}, "0", "", Anchor::middle);
  drawing.text({bars_end, y + 15}, std::to_string(all), "", Anchor::middle);
  return svg({.title = title,
              .sentence = sentence,
              .attributes = fmt::format("data-elements=\"{}\" data-ranks=\"{}\"", all, counts.size()),
              .style = std::string(common_style) + bar_style,
              .width = std::max(bars_end + 10 + widest_share + border, 2 * border + text_width(title, 15)),
              .height = y + 15 + border},
             drawing);
}

}  // namespace steadfold::command::pictures
