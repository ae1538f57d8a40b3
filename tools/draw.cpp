// `steadfold draw schedule|tree|layout`: draws pictures as SVG.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "catalogue.hpp"
#include "command.hpp"
#include "output.hpp"
#include "pictures/pictures.hpp"
#include "request.hpp"
#include "schedule/checker/checker.hpp"
#include "spread.hpp"
#include "values.hpp"

namespace steadfold::command {
namespace {

using order::Count;
using order::Rank;

struct DrawOptions {
  std::string picture;
  std::string schedule;
  Rank ranks = 0;
  std::optional<Rank> root;
  std::string collective;  // collective that is drawn; empty: the schedule's default
  std::optional<std::uint32_t> segments;
  std::optional<Count> elements;
  std::optional<std::string> distribution;
  std::optional<unsigned> width;
  std::string output;

  std::string rule() const { return distribution.value_or("upper"); }
};

/// Throws Failure if an option is given that the picture does not use.
void refuse_option(bool is_given, const char* option, const std::string& picture, const char* why) {
  if (!is_given) return;
  throw Failure(fmt::format("{} cannot be used with draw {} ({}), leave out this option", option, picture, why));
}

/// Returns the number of segments with which a picture shows a schedule best.
std::uint32_t usual_segments(const schedule::Context& context) {
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  if (algorithm.segments == schedule::Segments::one || context.rank_count == 1) return 1;
  constexpr std::uint32_t shown_of_a_pipeline = 3;
  const auto unit = static_cast<std::uint32_t>(algorithm.unit_of(context));
  if (algorithm.segments == schedule::Segments::one_per_rank) return unit;
  return (shown_of_a_pipeline + unit - 1) / unit * unit;
}

constexpr std::uint32_t most_segments = 64;

std::uint32_t segments_of(const DrawOptions& options, const schedule::Context& context) {
  if (!options.segments) return usual_segments(context);
  const std::uint32_t asked = *options.segments;
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  const char* const rule = "give another number, or leave out --segments";
  if (asked > 1 && algorithm.segments == schedule::Segments::one)
    throw Failure(fmt::format("--segments cannot be used ({} sends all columns in one segment), leave out --segments",
                              algorithm.name));
  if (asked != 1 && asked % algorithm.unit_of(context) != 0)
    throw Failure(fmt::format("--segments cannot be used (schedule {} takes 1 or multiples of {} on {} ranks), {}",
                              algorithm.name, algorithm.unit_of(context), context.rank_count, rule));
  return asked;
}

/// A call for the registry. Nothing is computed, so any operator that fits the schedule may be given.
constexpr schedule::Merging of_anything = {
    .method = "exact", .is_associative = true, .may_overlap = true, .offers_words = true};

void check_schedule(const schedule::Spec& spec, const schedule::Context& context) {
  const auto kind = schedule::OperatorKind::idempotent;
  if (const auto reason = refusal(spec, context.collective, context.root, of_anything, kind)) throw Failure(*reason);
  if (const auto reason = refusal(spec, context.rank_count)) throw Failure(*reason);
  if (spec.algorithm->adds_words)
    throw Failure(fmt::format(
        "schedule '{}' cannot be drawn (only the MPI library knows which messages are sent), draw another schedule",
        spec.name));
}

/// Throws Failure if there are too many messages for a picture. Formulas give the number of messages before any step is
/// made.
void check_size(const schedule::Algorithm& algorithm, const schedule::Context& context) {
  const Count messages = algorithm.messages == nullptr ? 0 : algorithm.messages(context);
  if (messages > pictures::most_messages)
    throw Failure(fmt::format(
        "the schedule cannot be drawn ({} messages, but a picture has at most {}), use fewer ranks or segments",
        messages, pictures::most_messages));
}

/// The objects to which a context points.
struct Ground {
  std::optional<order::Layout> layout;
  std::vector<std::uint32_t> blocks;
};

/// Sets the layout of a context. Only schedules that depend on the distribution use the elements.
void place_elements(const DrawOptions& options, schedule::Context& context, Ground& ground) {
  if (context.spec->algorithm->layouts == schedule::Layouts::rank_order) {
    const Count elements = options.elements.value_or(context.ranks());
    ground.layout = order::Layout::contiguous(spread(options.rule(), elements, options.ranks));
    context.layout = &*ground.layout;
    return;
  }
  const char* const why = "the messages of this schedule do not depend on how elements are distributed";
  refuse_option(options.elements.has_value(), "--elements", "schedule", why);
  refuse_option(options.distribution.has_value(), "--distribution", "schedule", why);
}

/// Sets the blocks of a context. In reduce_scatter every rank has a block of one segment.
void cut_columns(const DrawOptions& options, schedule::Context& context, Ground& ground) {
  if (!context.scatters()) {
    context.segments = segments_of(options, context);
    return;
  }
  refuse_option(options.segments.has_value(), "--segments", "schedule", "reduce_scatter has one segment per rank");
  context.segments = static_cast<std::uint32_t>(context.rank_count);
  for (std::uint32_t block = 0; block <= context.segments; ++block) ground.blocks.push_back(block);
  context.blocks = ground.blocks;
}

constexpr unsigned usual_width = 1600;  // pixels; width of a usual screen

std::string drawn_schedule(const DrawOptions& options) {
  const schedule::Spec spec = schedule::parse(options.schedule);
  schedule::Context context{.rank_count = options.ranks, .root = options.root.value_or(0), .spec = &spec};
  context.collective =
      collective_named(options.collective.empty() ? own_collective(options.schedule) : options.collective);
  refuse_option(options.root && !context.rooted(), "--root", "schedule", "only collective reduce has a root");
  check_schedule(spec, context);
  Ground ground;
  place_elements(options, context, ground);
  cut_columns(options, context, ground);
  check_size(*spec.algorithm, context);
  if (const auto fault = schedule::check(*spec.algorithm, context))
    throw Failure("the schedule cannot be drawn (" + *fault + "), report this error");
  return pictures::schedule_picture(spec, context, options.width.value_or(usual_width));
}

std::string drawn_elements(const DrawOptions& options) {
  const bool is_tree = options.picture == "tree";
  const Count elements = options.elements.value_or(0);
  if (!options.elements)
    throw Failure(
        fmt::format("--elements is missing (draw {} shows elements), give the number of elements", options.picture));
  if (is_tree && (elements < 1 || elements > pictures::most_elements_of_a_tree))
    throw Failure(
        fmt::format("the tree cannot be drawn (the tree would have {} elements, but a picture has 1 to {}), use {}",
                    elements, pictures::most_elements_of_a_tree, elements < 1 ? "more" : "fewer"));
  const std::vector<Count> counts = spread(options.rule(), elements, options.ranks);
  return is_tree ? pictures::tree_picture(counts, options.rule()) : pictures::layout_picture(counts, options.rule());
}

void check_numbers(const DrawOptions& options) {
  if (options.root && *options.root >= options.ranks)
    throw Failure(fmt::format("--root cannot be used ({} is not one of the ranks 0 to {}), choose one of these ranks",
                              *options.root, options.ranks - 1));
}

void check_name(const std::string& schedule) {
  if (schedule.empty())
    throw Failure("no schedule is named (draw schedule needs a name), choose one that `steadfold schedules` lists");
  if (schedule::is_policy(schedule))
    throw Failure("'" + schedule + "' cannot be drawn (the schedule that it chooses depends on the call), " +
                  "name a schedule that `steadfold schedules` lists");
  schedule::parse(schedule);
}

/// Throws Failure if the name is not the name of a picture, for example if a user wrote the name of a schedule in its
/// place.
void check_picture(const std::string& picture) {
  constexpr std::array<std::string_view, 3> known = {"schedule", "tree", "layout"};
  if (std::ranges::find(known, picture) != known.end()) return;
  const std::string family = picture.substr(0, picture.find(':'));
  if (schedule::find(family) != nullptr)
    throw Failure(fmt::format("unknown picture '{}' (it is a schedule), write draw schedule {}", picture, picture));
  std::vector<std::string> names = schedule_names();
  names.insert(names.begin(), known.begin(), known.end());
  throw Failure(schedule::unknown_name("picture or schedule", family, names,
                                       "schedule NAME, tree, layout; steadfold schedules lists the names"));
}

void check(const DrawOptions& options) {
  check_numbers(options);
  if (options.picture == "schedule") return check_name(options.schedule);
  const char* const why = "this picture shows elements, not a schedule";
  refuse_option(!options.schedule.empty(), "a name", options.picture, why);
  refuse_option(options.root.has_value(), "--root", options.picture, why);
  refuse_option(!options.collective.empty(), "--collective", options.picture, why);
  refuse_option(options.segments.has_value(), "--segments", options.picture, why);
  refuse_option(options.width.has_value(), "--width", options.picture, why);
}

}  // namespace

void add_draw(CLI::App& app, Action& action) {
  CLI::App& draw =
      *app.add_subcommand("draw", "Draw a schedule, the summation tree over elements, or a layout, as SVG");
  const auto o = std::make_shared<DrawOptions>();
  check_words(*draw.add_option("PICTURE", o->picture, "schedule, tree or layout")->required(), check_picture);
  auto* const name = draw.add_option("NAME", o->schedule,
                                     "The name of a schedule that `steadfold schedules` lists, with its parameters");
  check_words(*name, [o](const std::string& schedule) {
    if (o->picture == "schedule") check_name(schedule);
  });
  draw.add_option("--ranks", o->ranks, "Number of ranks")->required()->check(from_to(1, pictures::most_ranks));
  draw.add_option("--root", o->root, "The rank that gets the result of a reduce; default: 0")
      ->check(from_to(0, pictures::most_ranks - 1));
  draw.add_option("--collective", o->collective, std::string(collective_help) + "; reduce_scatter, scan or exscan");
  draw.add_option("--segments", o->segments,
                  "Number of segments into which the columns are divided; default: one per rank, or three for a "
                  "pipelined schedule")
      ->check(from_to(1, most_segments));
  draw.add_option("--elements", o->elements,
                  "Number of elements over all ranks, such as 1000000 or 1e6; for pictures of the tree, of layouts, "
                  "and of the schedule owner (default for owner: one per rank)")
      ->check(from_to(0, most_reckoned));
  draw.add_option("--distribution", o->distribution,
                  "How many elements each rank has: lower, upper, power2, optimized[:deviation=x], balanced, or a file "
                  "with one count per rank; default: upper");
  draw.add_option("--width", o->width,
                  "Width in pixels; rounds of a schedule that do not fit are drawn below the others; default: 1600")
      ->check(from_to(500, 100000));
  draw.add_option("--output", o->output, "The file to write; default: standard output");
  draw.callback([o, &action] {
    check(*o);
    action = [o](const Job& job) {
      if (job.rank() != 0) return Result{};
      const std::vector<std::string> inputs = {o->rule()};  // the rule of distribution is an input if it is a file
      return delivered(o->picture == "schedule" ? drawn_schedule(*o) : drawn_elements(*o), o->output, inputs);
    };
  });
}

}  // namespace steadfold::command
