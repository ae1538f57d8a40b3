// Runs the cases of one program on one rank.
#pragma once

#include <memory>
#include <vector>

#include "buffers.hpp"
#include "library.hpp"
#include "operators.hpp"
#include "prepared.hpp"

namespace steadfold::soak {

class Runner {
 public:
  Runner(Library& library, Preparation& preparation, std::size_t rank, Tally& tally);
  ~Runner();

  void run(std::uint64_t number);

 private:
  /// The calls of this rank, with the memory to which they point.
  struct Calls {
    std::vector<sf_call> calls;
    std::vector<std::unique_ptr<UserContext>> contexts;
    std::vector<std::unique_ptr<sf_arrays>> arrays;
    std::vector<std::unique_ptr<const Placement>> placements;  // of all members; null if there is no array
    std::vector<std::unique_ptr<PlacedArrays>> placed;
    std::shared_ptr<const Prepared> prepared;  // has the intervals
  };
  /// A plan of some members of a case.
  struct Bound {
    Calls calls;
    std::vector<std::size_t> members;
    Library::Plan* plan = nullptr;
    std::uint64_t runs = 0;
    std::shared_ptr<const Prepared> data;  // data of the run under way
    std::vector<Buffers> buffers;
  };

  /// A one-shot call under way.
  struct Flying {
    Calls calls;
    std::shared_ptr<const Prepared> prepared;
    std::unique_ptr<Buffers> buffers;
    Library::Request* request = nullptr;
  };

  Calls calls_of(std::shared_ptr<const Prepared> prepared, const std::vector<std::size_t>& members);
  void give_array(const Prepared& prepared, std::size_t member, Calls& made, sf_call& call);
  std::vector<Buffers> buffers_of(const Prepared& prepared, const Bound& bound);
  static std::vector<Data> data_of(std::vector<Buffers>& buffers);

  void one_shot(const Case& made, std::size_t member, std::uint64_t run);
  Flying start_one_shot(const Case& made, std::size_t member, std::uint64_t run);
  void finish(Flying& flying);
  template <class Started>
  sf_status wait(Started* started);
  void one_shots_at_once(const Case& made);
  Bound bind(std::shared_ptr<const Prepared> prepared, const std::vector<std::size_t>& members);
  void start(Bound& bound, std::shared_ptr<const Prepared> data);
  void finish(Bound& bound);
  void finish_all(std::vector<Bound>& bound);
  void run_once(Bound& bound, std::shared_ptr<const Prepared> data);
  void check(Bound& bound, sf_status status);

  void plan(const Case& made);
  void flight(const Case& made);
  void keep(const Case& made);
  void run_kept(const Case& made);

  // runner_accumulated.cpp
  void accumulate(const Case& made);
  sf_status accumulated(const Member& member, const sf_call& call, const Data& data, bool may_undo);

  // runner_wrong.cpp: the cases of wrong.cpp
  void wrong(const Case& made);
  sf_status make_wrong(const Case& made, std::shared_ptr<const Prepared> prepared);
  void give_up(const Case& made);

  Library& library_;
  Preparation& preparation_;
  std::size_t rank_;
  Tally& tally_;
  Random own_;  // this rank's choices
  std::vector<std::unique_ptr<Bound>> kept_;
};

}  // namespace steadfold::soak
