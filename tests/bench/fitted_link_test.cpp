// The model of a link, fitted to times that a link made up.
#include <gtest/gtest.h>

#include "bench/link.hpp"

namespace steadfold::bench {
namespace {

using transport::LogGP;

LinkTimes times_of(const LogGP& link, double noise = 0) {
  LinkTimes times;
  double sign = 1;
  for (std::size_t bytes = 8; bytes <= 1 << 21; bytes *= 2, sign = -sign) {
    times.bytes.push_back(bytes);
    times.one_way.push_back((link.latency + link.duration(bytes)) * (1 + sign * noise));
  }
  times.in_stream = link.gap;
  return times;
}

void expect_near(const LogGP& found, const LogGP& link, double part) {
  EXPECT_NEAR(found.latency, link.latency, part * link.latency);
  EXPECT_NEAR(found.gap, link.gap, part * link.gap);
  EXPECT_NEAR(found.per_byte, link.per_byte, part * link.per_byte);
  EXPECT_NEAR(found.rendezvous, link.rendezvous, part * link.rendezvous);
  EXPECT_NEAR(found.long_per_byte, link.long_per_byte, part * link.long_per_byte);
  EXPECT_EQ(found.eager_limit, link.eager_limit);
  EXPECT_EQ(found.long_from, link.long_from);
}

TEST(FittedLink, IsTheOneThatMadeTheTimes) {
  const LogGP plain{.latency = 1.2e-6, .gap = 3e-7, .per_byte = 1e-10};
  expect_near(fitted(times_of(plain)).link, plain, 1e-6);
  EXPECT_EQ(fitted(times_of(plain)).link.rendezvous, 0);
  EXPECT_LT(fitted(times_of(plain)).residual, 1e-9);
  const LogGP waiting{.latency = 1.2e-6, .gap = 3e-7, .per_byte = 1e-10, .eager_limit = 4096, .rendezvous = 5e-6};
  expect_near(fitted(times_of(waiting)).link, waiting, 1e-6);
}

/// A bucket that is empty, copies that leave a cache, and a protocol of long messages that copies once.
TEST(FittedLink, KnowsARateOfLongMessages) {
  const LogGP bucket{.latency = 5e-5, .gap = 5e-6, .per_byte = 4.2e-8, .long_from = 65536, .long_per_byte = 8.3e-8};
  const LogGP cache{.latency = 1e-6,
                    .gap = 3e-7,
                    .per_byte = 1e-10,
                    .eager_limit = 4096,
                    .rendezvous = 5e-6,
                    .long_from = 1 << 19,
                    .long_per_byte = 4e-10};
  const LogGP one_copy{.latency = 1e-6,
                       .gap = 3e-7,
                       .per_byte = 4e-10,
                       .eager_limit = 8192,
                       .rendezvous = 2e-6,
                       .long_from = 8192,
                       .long_per_byte = 1e-10};
  for (const LogGP& link : {bucket, cache, one_copy}) {
    const FittedLink found = fitted(times_of(link));
    expect_near(found.link, link, 1e-6);
    EXPECT_LT(found.residual, 1e-9);
    EXPECT_LT(fitted(times_of(link, 0.02)).residual, 0.03);
  }
}

/// A bucket that fills while an answer is on its way. A stream that takes only somewhat longer changes nothing.
TEST(FittedLink, GoesByAStreamThatTakesMuchLonger) {
  LogGP bucket{.latency = 5e-5, .gap = 5e-6, .per_byte = 4.2e-8, .long_from = 65536, .long_per_byte = 8.3e-8};
  LinkTimes times = times_of(bucket);
  times.byte_in_stream = 5e-8;
  expect_near(fitted(times).link, bucket, 1e-6);
  times.byte_in_stream = 8e-8;
  const FittedLink found = fitted(times);
  EXPECT_LT(found.residual, 1e-9);
  bucket.per_byte = 8e-8;
  bucket.long_from = LogGP::no_limit;
  bucket.long_per_byte = 0;
  expect_near(found.link, bucket, 1e-6);
}

/// Where long messages run into the limit, they may look as if they waited for leave. Short ones that wait do.
TEST(FittedLink, OfAStreamHasTheWaitsOfShortMessagesAlone) {
  LinkTimes times =
      times_of({.latency = 5e-5, .gap = 5e-6, .per_byte = 4.2e-8, .eager_limit = 262144, .rendezvous = 2e-2});
  times.byte_in_stream = 8e-8;
  expect_near(fitted(times).link, {.latency = 5e-5, .gap = 5e-6, .per_byte = 8e-8}, 1e-6);
  LogGP waiting{.latency = 5e-5, .gap = 5e-6, .per_byte = 4.2e-8, .eager_limit = 4096, .rendezvous = 1e-3};
  times = times_of(waiting);
  times.byte_in_stream = waiting.per_byte = 2e-7;
  expect_near(fitted(times).link, waiting, 1e-6);
}

TEST(FittedLink, KeepsARateOfLongMessagesThatAreSlowerThanTheStream) {
  LogGP link{.latency = 5e-5, .gap = 5e-6, .per_byte = 4.2e-8, .long_from = 65536, .long_per_byte = 5e-7};
  LinkTimes times = times_of(link);
  times.byte_in_stream = link.per_byte = 8e-8;
  expect_near(fitted(times).link, link, 1e-6);
}

/// A byte takes longer alone, too, where the latency of its message is long.
TEST(FittedLink, GoesByMessagesWhereTheirLatencyIsLonger) {
  const LogGP fast{.latency = 1e-5, .gap = 1e-6, .per_byte = 1e-10};
  LinkTimes times = times_of(fast);
  times.byte_in_stream = 6e-10;  // alone 4.4e-10
  expect_near(fitted(times).link, fast, 1e-6);
}

/// Three lengths have no limits, lengths that are all alike no rate.
TEST(FittedLink, OfFewLengthsIsALineOrLess) {
  LinkTimes times{.bytes = {8, 1000, 2000}, .one_way = {1e-6, 2e-6, 9e-6}};
  EXPECT_EQ(fitted(times).link.long_from, LogGP::no_limit);
  EXPECT_EQ(fitted(times).link.eager_limit, LogGP::no_limit);
  times.bytes = {8, 8, 8};
  times.one_way = {1e-6, 1e-6, 1e-6};
  EXPECT_NEAR(fitted(times).link.latency + fitted(times).link.duration(8.0), 1e-6, 1e-12);
}

TEST(FittedLink, SaysHowFarItIsOff) {
  const LogGP link{.latency = 1.2e-6, .gap = 3e-7, .per_byte = 1e-10};
  const FittedLink found = fitted(times_of(link, 0.5));
  EXPECT_GT(found.residual, 0.3);
  const FittedLink less = fitted(times_of(link, 0.05));
  EXPECT_NEAR(less.residual, 0.05, 0.02);
  expect_near(less.link, link, 0.1);
}

TEST(FittedLink, OfSeveralLaunchesIsThatOfTheirMedians) {
  std::vector<LinkTimes> launches(3, times_of({.latency = 1e-6, .gap = 1e-7, .per_byte = 1e-10}));
  launches[1].one_way[3] *= 100;
  launches[2].in_stream *= 100;
  launches[0].byte_in_stream = 1;
  EXPECT_EQ(median_of(launches).one_way, launches[0].one_way);
  EXPECT_EQ(median_of(launches).in_stream, launches[0].in_stream);
  EXPECT_EQ(median_of(launches).byte_in_stream, 0);
}

}  // namespace
}  // namespace steadfold::bench
