// Carries out the proof of checker.hpp: checks the form of steps, matches sends and receives, runs steps with symbols.
// Rank order: a symbol is one or two cyclic runs of rows, in the order merged. A rank holds one row, or as many as the
// layout says. If there are nodes, rows are in the order of their ranks' places. Cost: O(steps of all ranks).
#include "schedule/checker/checker.hpp"

#include <algorithm>
#include <deque>

#include "schedule/algorithms/blocks.hpp"
#include "schedule/checker/checker_cell.hpp"
#include "schedule/checker/matching.hpp"
#include "schedule/compiler.hpp"
#include "schedule/form.hpp"
#include "schedule/interpreter.hpp"
#include "schedule/ports.hpp"

namespace steadfold::schedule {
// Proves one case after the other. This class is the Machine of all ranks in turn; `rank_` is the current rank. Vectors
// stay allocated from case to case.
class Prover::Proof final : public Machine {
 public:
  // Returns the fault, or an empty text if the case is proved.
  std::string run(const Algorithm& algorithm, const Context& context) {
    begin(algorithm, context);
    compile();
    if (failure_.empty()) {
      matching_.match(programs());
      fail(matching_.fault());
      if (failure_.empty()) drive();
      if (failure_.empty()) judge_values();
      if (failure_.empty()) judge_cost();
    }
    return failure_;
  }

 private:
  friend class Interpreter;  // so that the interpreter's calls need no virtual dispatch
  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }
  Rank rank_count() const { return context_.rank_count; }
  std::span<const Program> programs() const { return std::span(programs_).first(at(rank_count())); }
  const Program& program(Rank rank) const { return programs_[at(rank)]; }
  Cell& cell(Rank rank, std::uint32_t index) { return cells_[first_cell_[at(rank)] + index]; }
  Cell& target_cell(Rank rank, const Step& step) { return cell(rank, program(rank).slot_indices(step).target); }

  Count row_count() const { return starts_.back(); }
  RowSet rows_of(const Covers& covers) const {
    if (covers.is_part()) return RowRun{covers.part.begin, covers.part.size()};
    return *circle_.joined(run_of(covers.ranks), run_of(covers.apart));
  }
  RowRun run_of(RankRange ranks) const {
    const Index begin = starts_[at(ranks.first)];
    const Rank end = ranks.first + ranks.count;
    const Index first = begin < row_count() ? begin : 0;
    if (end <= rank_count()) return {first, starts_[at(end)] - begin};
    return {first, row_count() - begin + starts_[at(end - rank_count())]};
  }
  RowRun own_rows() const { return run_of({context_.nodes ? context_.nodes->place_of(rank_) : rank_, 1}); }
  std::string words(RowRun rows) const {
    if (!context_.layout) return text_of(RankRange{static_cast<Rank>(rows.first), static_cast<Rank>(rows.count)});
    return std::to_string(rows.count) + " rows from " + std::to_string(rows.first);
  }
  std::string words(const RowSet& rows) const {
    return words(rows.run) + (rows.apart.count > 0 ? " and " + words(rows.apart) : "");
  }
  bool same_rows(const RowSet& a, const RowSet& b) const { return circle_.same(a, b); }
  bool same_rows(const RowSet& a, const Covers& b) const { return same_rows(a, rows_of(b)); }

  // Keeps only the first failure, since later failures may be its consequences.
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  void fail(Rank rank, const std::string& what) { fail("rank " + std::to_string(rank) + " " + what); }
  void fail(Rank rank, const Step& step, const std::string& what) {
    fail(rank, "step " + std::to_string(program(rank).index_of(step)) + " (" + text_of(step.kind) + "): " + what);
  }

  void begin(const Algorithm& algorithm, const Context& context) {
    algorithm_ = &algorithm;
    context_ = context;
    failure_.clear();
    starts_.clear();
    for (Rank rank = 0; rank <= rank_count(); ++rank)
      starts_.push_back(context.layout ? context.layout->start(rank) : static_cast<Index>(rank));
    circle_ = Circle(row_count());
    counts_once_ = counts_of(algorithm, context_.spec) == Counts::once;
    keeps_order_ = algorithm.keeps_rank_order != KeepsRankOrder::never;
    queue_.clear();
    rank_ = 0;
    moved_ = false;
    ports_in_order_ = true;
    rounds_ = 0;
  }

  void compile() {
    first_cell_.clear();
    std::size_t cells = 0;
    for (Rank rank = 0; rank < rank_count(); ++rank) {
      Context own = context_;
      own.rank = rank;
      if (at(rank) == programs_.size()) programs_.emplace_back();
      compiler_.compile(algorithm_->steps(own), context_.segments, programs_[at(rank)]);
      first_cell_.push_back(cells);
      cells += program(rank).slots().size();
      for (const std::string& fault : {fault_of_messages(program(rank)), fault_of_waves(program(rank).steps())})
        if (!fault.empty()) fail(rank, "has a fault: " + fault);
      if (!program(rank).waves().empty() && !merges_on_arrival(*algorithm_, context_.spec))
        fail(rank, "merges in the order of arrival, which the schedule's entry in the registry does not declare");
      for (const Step& step : program(rank).steps()) {
        const std::string form = fault_of_form(step, own);
        if (!form.empty()) fail(rank, step, form);
        if (step.covers.part.end > row_count()) fail(rank, step, "covers rows that do not exist");
      }
    }
    cells_.assign(cells, {});
  }

  // Runs every rank that may be able to continue, until all ranks are done or no rank can continue.
  void drive() {
    for (Rank rank = 0; rank < rank_count(); ++rank) {
      if (at(rank) < interpreters_.size()) interpreters_[at(rank)].reset(program(rank));
      if (at(rank) == interpreters_.size()) interpreters_.emplace_back(program(rank));
    }
    started_.assign(matching_.size(), {});
    additions_.assign(matching_.addition_count(), {});
    carried_.assign(context_.segments, {});
    port_count_ = algorithm_->port_count(context_);
    send_ports_.assign(at(rank_count()) * port_count_, 0);
    receive_ports_.assign(at(rank_count()) * port_count_, 0);
    first_receive_.assign(at(rank_count()), 0);
    ended_.resize(std::max(ended_.size(), at(rank_count())));
    for (std::vector<std::uint32_t>& each : ended_) each.clear();
    done_.assign(at(rank_count()), 0);
    is_queued_.assign(at(rank_count()), 0);
    wake_all();
    while (failure_.empty()) {
      if (queue_.empty() && (all_done() || !relax_ports())) break;
      rank_ = queue_.front();
      queue_.pop_front();
      is_queued_[at(rank_)] = 0;
      if (queue_.size() > 1) interpreters_[at(queue_[1])].fetch_ahead();
      moved_ = false;
      done_[at(rank_)] = interpreters_[at(rank_)].advance<Proof>(*this) ? 1 : 0;
      if (moved_) wake(rank_);
    }
    if (!failure_.empty()) return;
    if (!all_done()) fail_deadlock();
    if (!ports_in_order_)
      fail("the rounds cannot be counted: the order of a rank's receives contradicts the order of its sends");
  }

  bool all_done() const { return std::find(done_.begin(), done_.end(), 0) == done_.end(); }
  void wake(Rank rank) {
    if (is_queued_[at(rank)] || done_[at(rank)]) return;
    is_queued_[at(rank)] = 1;
    queue_.push_back(rank);
  }
  void wake_all() {
    for (Rank rank = 0; rank < rank_count(); ++rank) wake(rank);
  }

  // Drops, once, the order of receive ports, which may be why no rank can continue. Returns whether it did so.
  bool relax_ports() {
    if (!ports_in_order_) return false;
    ports_in_order_ = false;
    wake_all();
    return true;
  }

  void fail_deadlock() {
    std::string text = "deadlock: these ranks wait forever:";
    for (Rank rank = 0, named = 0; rank < rank_count() && named < 4; ++rank) {
      if (done_[at(rank)]) continue;
      const auto steps = program(rank).steps();
      const std::uint32_t next = interpreters_[at(rank)].next_step();
      const bool ended = next == steps.size();
      text += (named++ ? ", rank " : " rank ") + std::to_string(rank) +
              (ended ? " at the end" : " before step " + std::to_string(next) + " (" + text_of(steps[next].kind) + ")");
    }
    fail(text);
  }

  // Returns the cell that a step reads. Returns null and records a failure if the step may not read it.
  Cell* read(const Step& step, std::uint32_t index) {
    Cell& own = cell(rank_, index);
    if (!own.filled || own.in_flight) {
      fail(rank_, step,
           "reads " + text_of(program(rank_).slots()[index]) +
               (own.in_flight ? " while a message that is under way may change it" : ", to which nothing was written"));
    }
    own.unread = false;
    return failure_.empty() ? &own : nullptr;
  }

  void write(const Step& step, const Cell& content) {
    if (holds_partial(step.target) && !same_rows(content.rows, step.covers)) {
      fail(rank_, step, "covers " + words(content.rows) + ", not " + words(rows_of(step.covers)) + " as declared");
    }
    Cell& target = target_cell(rank_, step);
    if (target.being_sent > 0) fail(rank_, step, "overwrites " + text_of(step.target) + " while it is sent");
    target = content;
    target.being_sent = 0;
  }

  bool compute(const Step& step) override {
    moved_ = true;
    if (failure_.empty()) carry_out(step);
    return true;
  }

  void carry_out(const Step& step) {
    const Program::SlotIndices& indices = program(rank_).slot_indices(step);
    if (step.kind == StepKind::lift) return lift(step);
    const Cell* left = read(step, indices.left);
    if (!left) return;
    if (step.kind == StepKind::merge) {
      if (const Cell* right = read(step, indices.right)) write(step, merged(step, *left, *right));
      return;
    }
    if (step.kind == StepKind::finish && !same_rows(left->rows, finished_rows(step)))
      fail(rank_, step, "finishes " + words(left->rows) + " only");
    write(step, *left);
  }

  RowSet finished_rows(const Step& step) const {
    const bool says_nothing = step.covers.ranks.count == 0 && !step.covers.is_part();
    return says_nothing ? RowSet(RowRun{0, row_count()}) : rows_of(step.covers);
  }

  void lift(const Step& step) {
    const RowRun own = own_rows();
    const RowRun lifted = step.covers.is_part() ? rows_of(step.covers).run : own;
    if (lifted.first < own.first || lifted.first + lifted.count > own.first + own.count)
      fail(rank_, step, "takes " + words(lifted) + ", which this rank does not hold");
    write(step, {.rows = lifted, .filled = true, .tree = joined_tree(lifted.first + 1, lifted.count)});
  }

  Cell merged(const Step& step, const Cell& left, const Cell& right) {
    if (left.rows.count() == 0 || right.rows.count() == 0) {
      Cell result = left.rows.count() == 0 ? right : left;
      result.ready = std::max(left.ready, right.ready);
      return result;
    }
    const auto fail_merge = [&](const std::string& how) {
      fail(rank_, step, "merges " + how + " " + words(left.rows) + " with " + words(right.rows));
    };
    const std::optional<RowSet> rows = circle_.joined(left.rows, right.rows);
    const bool may_be_two = !keeps_order_ && step.covers.apart.count > 0;
    if (counts_once_ && circle_.overlap(left.rows, right.rows)) fail_merge("overlapping ranks,");
    if (!rows || (rows->apart.count > 0 && !may_be_two)) fail_merge("ranks that are not adjacent,");
    if (keeps_order_ && !circle_.follows(left.rows, right.rows)) fail_merge("ranks out of order,");
    Cell result = left;
    result.rows = rows.value_or(left.rows);
    result.tree = joined_tree(left.tree, right.tree);
    result.ready = std::max(left.ready, right.ready);
    return result;
  }

  std::span<Count> ports_of(std::vector<Count>& all) const {
    return std::span(all).subspan(at(rank_) * port_count_, port_count_);
  }

  void start(const Step& step, std::uint32_t ticket) override {
    moved_ = true;
    if (!failure_.empty()) return;
    const std::uint32_t own = matching_.number(rank_, ticket);
    started_[own].yes = true;
    switch (step.kind) {
      case StepKind::send: return start_send(own);
      case StepKind::receive: return start_receive(own);
      default: return start_addition(step, own);
    }
  }

  void start_send(std::uint32_t own) {
    Count ready = 0;
    for (const Step& step : matching_.message(own)) {
      Cell* content = read(step, program(rank_).slot_indices(step).left);
      if (!content) return;
      ++content->being_sent;
      Carried& carried = carried_[step.left.segment];
      ++(holds_partial(step.left) ? carried.partials : carried.values);
      ready = std::max(ready, content->ready);
    }
    started_[own].round = serve(ports_of(send_ports_), ready, Count{1});
    if (started_[matching_[own].partner].yes) deliver(own);
  }

  void start_receive(std::uint32_t own) {
    for (const Step& step : matching_.message(own)) {
      Cell& target = target_cell(rank_, step);
      if (target.being_sent > 0) fail(rank_, step, "overwrites " + text_of(step.target) + " while it is sent");
      if (target.unread) fail(rank_, step, "overwrites " + text_of(step.target) + ", whose content no step has read");
      target.in_flight = true;
    }
    const std::uint32_t send = matching_[own].partner;
    if (started_[send].yes) deliver(send);
  }

  // Delivers a message whose two sides have started: copies the cells as they are now, and wakes both ranks.
  void deliver(std::uint32_t send) {
    const std::uint32_t receive = matching_[send].partner;
    const Rank source = matching_[send].rank;
    const Rank target = matching_[receive].rank;
    for (std::size_t i = 0; i < matching_.message(send).size(); ++i) {
      const Step& receiving = matching_.message(receive)[i];
      Cell content = cell(source, program(source).slot_indices(matching_.message(send)[i]).left);
      if (holds_partial(receiving.target) && !same_rows(content.rows, receiving.covers)) {
        fail(target, receiving,
             "brings " + words(content.rows) + ", not " + words(rows_of(receiving.covers)) + " as declared");
      }
      content.in_flight = content.unread = true;
      content.being_sent = 0;
      target_cell(target, receiving) = content;
    }
    ended_[at(source)].push_back(send);
    started_[receive].arrived = true;
    wake(source);
    wake(target);
  }

  void start_addition(const Step& step, std::uint32_t own) {
    Cell* content = read(step, program(rank_).slot_indices(step).left);
    if (!content) return;
    ++content->being_sent;
    if (!same_rows(content->rows, own_rows())) fail(rank_, step, "adds " + words(content->rows) + ", not its own rows");
    Addition& addition = additions_[matching_[own].partner];
    if (!addition.started.empty() && addition.segment != step.target.segment) {
      fail(rank_, step, "adds a different segment than lower ranks do at this point");
    }
    addition.segment = step.target.segment;
    addition.started.push_back(own);
    target_cell(rank_, step).in_flight = true;
    if (addition.started.size() < at(rank_count())) return;
    for (const std::uint32_t each : addition.started) ended_[at(matching_[each].rank)].push_back(each);
    wake_all();
  }

  void poll(Tickets& tickets) override {
    std::vector<std::uint32_t>& ended = ended_[at(rank_)];
    for (const std::uint32_t own : ended) end(own, tickets);
    ended.clear();
    end_receives(tickets);
  }

  // Ends receives in the order of the steps, unless this order made all ranks wait (see relax_ports).
  void end_receives(Tickets& tickets) {
    std::uint32_t& first = first_receive_[at(rank_)];
    for (std::uint32_t ticket = first; ticket < program(rank_).ticket_count(); ++ticket) {
      const std::uint32_t own = matching_.number(rank_, ticket);
      const bool is_receive = matching_.step(own).kind == StepKind::receive;
      if (is_receive && !started_[own].arrived && ports_in_order_) return;
      if (is_receive && started_[own].arrived) end(own, tickets);
      if (ports_in_order_) first = ticket + 1;
      started_[own].arrived = false;
    }
  }

  void end(std::uint32_t own, Tickets& tickets) {
    const Step& step = matching_.step(own);
    if (step.kind == StepKind::receive)
      end_receive(own);
    else if (step.kind == StepKind::add_words)
      write(step, {.rows = RowRun{0, row_count()}, .filled = true});
    for (const Step& each : matching_.message(own))
      if (step.kind != StepKind::receive) --cell(rank_, program(rank_).slot_indices(each).left).being_sent;
    tickets.complete(matching_.ticket(own));
    moved_ = true;
  }

  void end_receive(std::uint32_t own) {
    const Count sent = started_[matching_[own].partner].round;
    const Count ready = serve(ports_of(receive_ports_), sent, Count{1}) + 1;
    for (const Step& step : matching_.message(own)) {
      Cell& landed = target_cell(rank_, step);
      landed.in_flight = false;
      landed.ready = ready;
    }
    rounds_ = std::max(rounds_, ready);
  }

  // Whether a rank must have the value of a segment at the end.
  bool is_due(Rank rank, std::uint32_t segment) const {
    switch (context_.collective) {
      case Collective::reduce: return rank == context_.root;
      case Collective::reduce_scatter:
        return segment >= Blocks(context_).begin(rank) && segment < Blocks(context_).end(rank);
      case Collective::exscan: return rank > 0;
      default: return true;
    }
  }
  // Returns the rows that the values of a rank must cover.
  RowRun due_rows(Rank rank) const {
    if (!context_.is_scan()) return {0, row_count()};
    return run_of({0, rank + (context_.collective == Collective::scan ? 1 : 0)});
  }

  void judge_values() {
    trees_.assign(context_.segments, 0);
    for (Rank rank = 0; rank < rank_count(); ++rank) {
      const auto slots = program(rank).slots();
      std::uint32_t values = 0;
      for (std::uint32_t index = 0; index < slots.size(); ++index) {
        const Cell& own = cell(rank, index);
        if (own.unread) fail(rank, "never reads " + text_of(slots[index]));
        if (slots[index].kind != SlotKind::value || slots[index].number != 0) continue;
        ++values;
        if (!is_due(rank, slots[index].segment)) fail(rank, "has " + text_of(slots[index]) + ", which is not its own");
        judge_value(rank, slots[index].segment, own);
      }
      std::uint32_t due = 0;
      for (std::uint32_t s = 0; s < context_.segments; ++s) due += is_due(rank, s) ? 1 : 0;
      if (values != due) fail(rank, "has " + std::to_string(values) + " values, not " + std::to_string(due));
    }
  }

  void judge_value(Rank rank, std::uint32_t segment, const Cell& own) {
    const Rank root = context_.rooted() ? context_.root : 0;
    if (!same_rows(own.rows, due_rows(rank)))
      fail(rank, "has the result of " + words(own.rows) + ", not of " + words(due_rows(rank)));
    if (algorithm_->keeps_order(root) && own.rows.run.first != 0) {
      fail(rank, "has a result merged cyclically from " + std::string(context_.layout ? "row " : "rank ") +
                     std::to_string(own.rows.run.first) + " on, not in rank order");
    }
    if (context_.collective != Collective::allreduce || !same_on_all_ranks(*algorithm_, context_.spec)) return;
    if (rank == 0) trees_[segment] = own.tree;
    if (trees_[segment] != own.tree) fail(rank, "has a result merged along a different tree than on rank 0");
  }

  void judge_cost() {
    const auto judge = [&](std::string_view what, Count found, Count formula) {
      if (found == formula) return;
      fail(std::string(what) + ": " + std::to_string(found) + ", but the formula gives " + std::to_string(formula));
    };
    const bool is_uneven =
        algorithm_->uneven || context_.collective == Collective::reduce_scatter || context_.is_scan();
    Count partials = 0;
    for (const Carried& carried : carried_) partials += carried.partials;
    if (is_uneven && algorithm_->partial_messages) judge("partials", partials, algorithm_->partial_messages(context_));
    if (!has_even_blocks()) return;
    if (algorithm_->messages) judge("messages", matching_.message_count(), algorithm_->messages(context_));
    for (const Carried& carried : carried_) {
      if (!algorithm_->messages || !algorithm_->partial_messages || is_uneven) break;
      judge("partial results of a segment", carried.partials, bytes_of(*algorithm_, context_, {.partials = 1}));
      judge("results of a segment", carried.values, bytes_of(*algorithm_, context_, {.values = 1}));
    }
    if (!algorithm_->allows_rounds(rounds_, context_)) judge("rounds", rounds_, algorithm_->rounds(context_));
  }

  // Whether all blocks have the same number of segments. Otherwise the formulas for messages and rounds do not hold.
  bool has_even_blocks() const {
    const Count each = context_.segments / at(rank_count());
    const auto differs = [each](Count begin, Count end) { return end - begin != each; };
    return std::ranges::adjacent_find(context_.blocks, differs) == context_.blocks.end();
  }

  const Algorithm* algorithm_ = nullptr;
  Context context_;
  std::vector<Index> starts_;  // first row of every rank, and the number of rows
  Circle circle_{0};
  bool counts_once_ = true;
  bool keeps_order_ = true;
  std::string failure_;

  Compiler compiler_;
  std::vector<Program> programs_;  // program of each rank; there may be more programs than ranks
  std::vector<Interpreter> interpreters_;
  Matching matching_;
  std::vector<Cell> cells_;  // contents of the slots, rank by rank, in the order of Program::slots
  std::vector<std::size_t> first_cell_;
  std::vector<Started> started_;  // state of each communication, by its number in Matching
  std::vector<Addition> additions_;
  std::size_t port_count_ = 1;
  std::vector<Count> send_ports_;  // first round in which each send port is free, rank by rank
  std::vector<Count> receive_ports_;
  std::vector<std::uint32_t> first_receive_;       // by rank: no ticket before this ticket is an open receive
  std::vector<Carried> carried_;                   // numbers of messages, by segment
  std::vector<std::vector<std::uint32_t>> ended_;  // by rank: completed communications to report, without receives
  std::vector<std::uint64_t> trees_;               // merge trees of rank 0, by segment

  std::vector<std::uint8_t> done_;  // by rank: whether the rank is done
  std::vector<std::uint8_t> is_queued_;
  std::deque<Rank> queue_;  // ranks that may be able to continue
  Rank rank_ = 0;
  bool moved_ = false;  // whether the current rank has done a step or completed a communication
  bool ports_in_order_ = true;
  Count rounds_ = 0;
};

Prover::Prover() : proof_(std::make_unique<Proof>()) {}
Prover::~Prover() = default;

std::optional<std::string> Prover::check(const Algorithm& algorithm, const Context& context) {
  const std::string failure = proof_->run(algorithm, context);
  if (failure.empty()) return std::nullopt;
  return (context.spec ? text_of(*context.spec) : std::string(algorithm.name)) + text_of(context) + ": " + failure;
}

}  // namespace steadfold::schedule
