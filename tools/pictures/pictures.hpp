// The pictures that `steadfold draw` makes, each a whole SVG document.
#pragma once

#include <span>
#include <string>

#include "order/index.hpp"
#include "schedule/registry.hpp"
#include "svg.hpp"

namespace steadfold::command::pictures {

/// The greatest sizes of readable pictures.
inline constexpr order::Rank most_ranks = 64;
inline constexpr order::Count most_messages = 2048;
inline constexpr order::Count most_elements_of_a_tree = 128;

/// A schedule's messages. Ranks are lines below each other, and rounds are side by side. If the rounds do not fit the
/// width, they continue in further bands. A round that is wider than that gets a separate band. The case must be one
/// that the checker has proved.
std::string schedule_picture(const schedule::Spec& spec, const schedule::Context& context, double most_width);

/// The binary tree over the elements. There must be at least one element. Rank i holds counts[i] elements, in rank
/// order. `distribution` is the caller's name for the counts.
std::string tree_picture(std::span<const order::Count> counts, const std::string& distribution);

/// Bars that show which ranks hold which elements.
std::string layout_picture(std::span<const order::Count> counts, const std::string& distribution);

/// Draws lines of at most that width, broken at blanks, one below the other. Returns the y of the next line.
double add_paragraph(Drawing& drawing, Point place, const std::string& text, double width, const char* classes);

/// "0-3", or "0" for a single one.
std::string text_of_run(order::Index first, order::Count count);
/// "1 message", "2 messages".
std::string counted(order::Count count, const std::string& what);

/// The common part of the style sheets of all pictures. No difference is shown by colour only.
inline constexpr const char* common_style =
    "text{font-family:sans-serif;font-size:11px;fill:#111}.title{font-size:15px;font-weight:bold}"
    ".strong{font-size:12px;font-weight:bold}";

}  // namespace steadfold::command::pictures
