// Makes the pictures of `steadfold draw`, each a whole SVG document.
#pragma once

#include <span>
#include <string>

#include "order/index.hpp"
#include "schedule/registry.hpp"
#include "svg.hpp"

namespace steadfold::command::pictures {

/// The largest numbers of ranks, elements and so on with which pictures can be read.
inline constexpr order::Rank most_ranks = 64;
inline constexpr order::Count most_messages = 2048;
inline constexpr order::Count most_elements_of_a_tree = 128;

/// Draws the messages of a schedule. Ranks are horizontal lines, and rounds are columns. Rounds that do not fit the
/// width continue in further bands below. A round that is wider than `most_width` gets a separate band. The checker
/// must have proved the case.
std::string schedule_picture(const schedule::Spec& spec, const schedule::Context& context, double most_width);

/// Draws the binary tree over the elements. There must be at least one element. Rank i holds counts[i] elements, in
/// rank order. `distribution` is the caller's name for the counts.
std::string tree_picture(std::span<const order::Count> counts, const std::string& distribution);

/// Draws bars that show which ranks hold which elements.
std::string layout_picture(std::span<const order::Count> counts, const std::string& distribution);

/// Draws a text in lines of at most the given width, broken at blanks, one below the other. Returns the y of the next
/// line.
double add_paragraph(Drawing& drawing, Point place, const std::string& text, double width, const char* classes);

/// Writes a range of numbers: "0-3", or "0" for a single number.
std::string text_of_run(order::Index first, order::Count count);
/// Writes a number with a noun: "1 message", "2 messages".
std::string counted(order::Count count, const std::string& what);

/// The common part of the style sheets of all pictures. No difference is shown by colour only.
inline constexpr const char* common_style =
    "text{font-family:sans-serif;font-size:11px;fill:#111}.title{font-size:15px;font-weight:bold}"
    ".strong{font-size:12px;font-weight:bold}";

}  // namespace steadfold::command::pictures
