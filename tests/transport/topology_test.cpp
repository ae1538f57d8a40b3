// Times of messages worked out by hand, and the words for topologies that cannot be. Times are sums and products of
// powers of two here, so that equality is exact.
#include "transport/simulated/topology.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace steadfold::transport::topology_test {
namespace {

constexpr LogGP link{.latency = 0.5, .gap = 0.25, .per_byte = 0.125};  // 8 bytes keep a port for 1.25

TEST(Topology, FlatIsTheLinkItself) {
  const auto flat = make_topology("flat", link, 4);
  EXPECT_EQ(flat->duration(0, 3, 8), 1.25);
  EXPECT_EQ(flat->arrival(0, 3, 2, 8), 2.5);
  EXPECT_EQ(flat->arrival(1, 3, 2, 8), 2.5);
  EXPECT_FALSE(flat->shares_links());
}

/// Bytes beyond the first eight of a message take half as long here; inside a node that has a rate of its own, none
/// does.
TEST(Topology, OfLongMessagesTheBytesBeyondALimitTakeAnotherTime) {
  LogGP quick = link;
  quick.long_from = 8;
  quick.long_per_byte = 0.0625;
  for (const auto& [bytes, seconds] : {std::pair(0, 0.25), {8, 1.25}, {9, 1.3125}, {24, 2.25}})
    EXPECT_EQ(make_topology("flat", quick, 4)->duration(0, 1, static_cast<Bytes>(bytes)), seconds) << bytes;
  quick.long_from = 0;
  EXPECT_EQ(quick.duration(Bytes{8}), 0.75) << "all bytes";
  const auto nodes = make_topology("two_level:size=2:per_byte=0.25", quick, 4);
  EXPECT_EQ(nodes->duration(0, 1, 24), 6.25);
  EXPECT_EQ(nodes->duration(0, 2, 24), 1.75);
  EXPECT_EQ(make_topology("two_level:size=2:gap=0", quick, 4)->duration(0, 1, 24), 1.5) << "as between nodes";
}

TEST(Topology, SaysHowManyRanksStandTogether) {
  for (const auto& [text, ranks] :
       {std::pair("flat", 1), {"two_level:size=3", 3}, {"fat_tree:arity=4", 4}, {"torus:sides=4x2", 1}})
    EXPECT_EQ(make_topology(text, link, 8)->ranks_per_node(), ranks) << text;
}

TEST(Topology, TwoLevelKnowsNodes) {
  const auto nodes = make_topology("two_level:size=4:latency=0.0625:per_byte=0.03125:gap=0", link, 10);
  EXPECT_EQ(nodes->duration(0, 3, 8), 0.25);
  EXPECT_EQ(nodes->arrival(0, 3, 2, 8), 2.0625);
  EXPECT_EQ(nodes->duration(3, 4, 8), 1.25);
  EXPECT_EQ(nodes->arrival(3, 4, 2, 8), 2.5);
  EXPECT_EQ(nodes->arrival(9, 8, 0, 8), 0.0625);
  EXPECT_EQ(make_topology("two_level:size=4", link, 10)->duration(0, 3, 8), 1.25);  // as between nodes
}

TEST(Topology, RanksOfANodeShareItsLinks) {
  const auto nodes = make_topology("two_level:size=2:links=1:latency=0.0625", link, 8);
  EXPECT_TRUE(nodes->shares_links());
  EXPECT_FALSE(make_topology("two_level:size=2", link, 8)->shares_links());
  EXPECT_EQ(nodes->arrival(0, 2, 0, 8), 0.5);     // takes the links of nodes 0 and 1 for 1.25
  EXPECT_EQ(nodes->arrival(0, 1, 0, 8), 0.0625);  // needs none
  EXPECT_EQ(nodes->arrival(1, 4, 0, 8), 1.75);    // waits for the one out of node 0
  EXPECT_EQ(nodes->arrival(6, 3, 0, 8), 1.75);    // waits for the one into node 1
  EXPECT_EQ(nodes->arrival(2, 0, 0, 8), 0.5);     // out and in are not the same
  EXPECT_EQ(nodes->arrival(7, 5, 100, 8), 100.5);
  const auto two = make_topology("two_level:size=3:links=2", link, 6);
  EXPECT_EQ(two->arrival(0, 3, 0, 8), 0.5);
  EXPECT_EQ(two->arrival(1, 4, 0, 8), 0.5);
  EXPECT_EQ(two->arrival(2, 5, 0, 8), 1.75);
}

// 8 ranks under switches of two, four of which stand under two, and those under one: with twice fewer links up than
// down, one link leads out of every switch.
TEST(Topology, AFatTreeWithFewerLinksUpMakesMessagesWait) {
  const auto tree = make_topology("fat_tree:arity=2:oversubscription=2", link, 8);
  EXPECT_TRUE(tree->shares_links());
  EXPECT_EQ(tree->arrival(0, 1, 0, 8), 0.5);      // below one switch: no links shared
  EXPECT_EQ(tree->arrival(0, 2, 0, 8), 0.5);      // takes the link up for 1.25
  EXPECT_EQ(tree->arrival(1, 3, 0, 8), 1.75);     // waits for it
  EXPECT_EQ(tree->arrival(4, 7, 0, 8), 0.5);      // another part of the tree
  EXPECT_EQ(tree->arrival(1, 2, 1, 8), 3.0);      // two are before it
  EXPECT_EQ(tree->arrival(2, 0, 0, 8), 0.5);      // links up and links down are not the same
  EXPECT_EQ(tree->arrival(0, 2, 100, 8), 100.5);  // all is quiet again
}

TEST(Topology, AFatTreeWithAllLinksMakesNobodyWait) {
  const auto tree = make_topology("fat_tree:arity=2", link, 8);
  for (const Rank source : {0, 1, 2, 3}) EXPECT_EQ(tree->arrival(source, source + 4, 0, 8), 0.5);
  const auto hops = make_topology("fat_tree:arity=2:hop=0.125", link, 8);
  EXPECT_EQ(hops->arrival(0, 1, 0, 8), 0.5);
  EXPECT_EQ(hops->arrival(0, 2, 0, 8), 0.75);  // one switch up, one down
  EXPECT_EQ(hops->arrival(1, 7, 0, 8), 1.0);
}

// Three links for six ranks: the fourth message waits for the first that is free.
TEST(Topology, LinksServeTheFirstThatComes) {
  const auto tree = make_topology("fat_tree:arity=6:oversubscription=2", link, 12);
  EXPECT_EQ(tree->arrival(0, 6, 0, 8), 0.5);
  EXPECT_EQ(tree->arrival(1, 7, 0, 16), 0.5);
  EXPECT_EQ(tree->arrival(2, 8, 0.5, 8), 1.0);
  EXPECT_EQ(tree->arrival(3, 9, 1, 8), 1.75);   // for rank 0's, free at 1.25
  EXPECT_EQ(tree->arrival(4, 10, 1, 8), 2.25);  // for rank 2's, free at 1.75
}

// Messages wait for those before them on any of their links.
TEST(Topology, ATorusSharesEveryLinkOnTheWay) {
  const auto ring = make_topology("torus:sides=8", link, 8);
  EXPECT_TRUE(ring->shares_links());
  EXPECT_EQ(ring->duration(0, 5, 8), 1.25);
  EXPECT_EQ(ring->arrival(0, 3, 0, 8), 0.5);      // takes the links from 0, 1 and 2 for 1.25
  EXPECT_EQ(ring->arrival(2, 4, 0, 8), 1.75);     // waits for the one from 2, free at 1.25
  EXPECT_EQ(ring->arrival(3, 4, 0, 8), 0.5);      // passes before that one is there
  EXPECT_EQ(ring->arrival(3, 4, 0, 1), 3.0);      // waits for both
  EXPECT_EQ(ring->arrival(4, 5, 0, 8), 0.5);      // nobody was here
  EXPECT_EQ(ring->arrival(3, 0, 0, 8), 0.5);      // the other way has links of its own
  EXPECT_EQ(ring->arrival(0, 2, 100, 8), 100.5);  // all is quiet again
}

TEST(Topology, ATorusHasNoEnds) {
  const auto ring = make_topology("torus:sides=8:hop=0.125", link, 8);
  EXPECT_EQ(ring->arrival(7, 0, 0, 8), 0.5);
  EXPECT_EQ(ring->arrival(0, 7, 0, 8), 0.5);
  EXPECT_EQ(ring->arrival(6, 1, 10, 8), 10.75);  // 6 to 7, 0 and 1
  EXPECT_EQ(ring->arrival(1, 6, 10, 8), 10.75);
  EXPECT_EQ(ring->arrival(6, 2, 20, 8), 20.875);  // both ways are as long: not round the end
  EXPECT_EQ(ring->arrival(5, 6, 20, 8), 20.5);    // so none is on its way up
  EXPECT_EQ(ring->arrival(5, 4, 20, 8), 21.875);  // and one passed here on its way down, from 20.125 to 21.375
  const auto pair = make_topology("torus:sides=2:half_duplex=1", link, 2);
  EXPECT_EQ(pair->arrival(0, 1, 0, 8), 0.5);
  EXPECT_EQ(pair->arrival(1, 0, 0, 8), 1.75);  // two neighbours have one link
}

// Places of 4 x 3: 0 to 3, 4 to 7, 8 to 11.
TEST(Topology, ATorusGoesAlongOneSideAfterTheOther) {
  const auto torus = make_topology("torus:sides=4x3:hop=0.125", link, 12);
  EXPECT_EQ(torus->arrival(0, 8, 0, 8), 0.5);      // up and round
  EXPECT_EQ(torus->arrival(0, 9, 10, 8), 10.625);  // to 1, from there to 9
  EXPECT_EQ(torus->arrival(1, 9, 10, 8), 11.875);  // waits for it, which left 1 at 10.125
  EXPECT_EQ(torus->arrival(0, 8, 10, 8), 10.5);    // another line
  EXPECT_EQ(torus->arrival(3, 6, 20, 8), 20.625);  // to 2, then to 6
  EXPECT_EQ(torus->arrival(7, 6, 20, 8), 20.5);
  EXPECT_EQ(torus->arrival(5, 5, 20, 8), 20.5);
}

TEST(Topology, TheTwoWaysOfAHalfDuplexLinkShareIt) {
  const auto full = make_topology("torus:sides=4x4", link, 16);
  const auto half = make_topology("torus:sides=4x4:half_duplex=1", link, 16);
  for (const auto& [torus, second] : {std::pair{full.get(), 0.5}, std::pair{half.get(), 1.75}}) {
    EXPECT_EQ(torus->arrival(5, 6, 0, 8), 0.5);
    EXPECT_EQ(torus->arrival(6, 5, 0, 8), second);
    EXPECT_EQ(torus->arrival(13, 1, 0, 8), 0.5);  // round the end
    EXPECT_EQ(torus->arrival(1, 13, 0, 8), second);
  }
}

TEST(Topology, NeighboursThatShareNoLinkAreAsFastAsOnAFlatNetwork) {
  const auto flat = make_topology("flat", link, 64);
  const auto torus = make_topology("torus:sides=4x4x4:hop=0.125", link, 64);
  for (const Rank distance : {1, 4, 16}) {
    for (Rank place = 0; place < 64; ++place) {
      const Rank next = place / distance % 4 == 3 ? place - 3 * distance : place + distance;
      EXPECT_EQ(torus->arrival(place, next, 1, 8), flat->arrival(place, next, 1, 8));
      EXPECT_EQ(torus->arrival(next, place, 1, 8), flat->arrival(next, place, 1, 8));
    }
  }
}

std::string why_not(std::string_view text) {
  try {
    make_topology(text, link, 8);
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(Topology, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(why_not("ring"),
            "topology 'ring' cannot be used (the known topologies are flat, two_level, fat_tree and torus), choose one "
            "of these");
  EXPECT_EQ(why_not("torus:sides=3x2"),
            "topology 'torus:sides=3x2' cannot be used (sides must be whole numbers that multiply to 8 to 4194304 "
            "places), write sides=4x4x2 for 32 places");
  EXPECT_EQ(why_not("two_level"), "topology 'two_level' cannot be used (it needs parameter size), write size=8");
  for (const char* text : {"",
                           "flat:size=8",
                           "flat:",
                           "two_level:size=0",
                           "two_level:size=1.5",
                           "two_level:size=x",
                           "two_level:size=4:size=4",
                           "two_level:size=4:latency=-1",
                           "two_level:size=4:latency=nan",
                           "two_level:size=4:links=0",
                           "two_level:size=4:links=1.5",
                           "fat_tree",
                           "fat_tree:arity=1",
                           "fat_tree:arity=4:oversubscription=0.5",
                           "fat_tree:arity=4:hop",
                           "fat_tree:arity=1e30",
                           "two_level:size=8:",
                           "torus",
                           "torus:sides=",
                           "torus:sides=0x8",
                           "torus:sides=8x",
                           "torus:sides=x8",
                           "torus:sides=4x4x",
                           "torus:sides=4.5x4",
                           "torus:sides=-4x-4",
                           "torus:sides=4y4",
                           "torus:sides=99999999999999999999",
                           "torus:sides=4294967296x4294967296",
                           "torus:sides=2048x2049",
                           "torus:sides=8:half_duplex=0.5",
                           "torus:sides=8:half_duplex=7",
                           "torus:sides=8:hop=-1",
                           "torus:sides=8:sides=8"}) {
    EXPECT_NE(why_not(text).find(" (", 0), std::string::npos) << text << ": " << why_not(text);
    EXPECT_NE(why_not(text).find("), ", 0), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace steadfold::transport::topology_test
