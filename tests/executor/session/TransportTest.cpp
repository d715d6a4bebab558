// Messages by themselves: the in-process transport, and copies by the host.
#include <atomic>
#include <numeric>
#include <thread>

#include "executor/session/Binding.h"
#include "executor/session/InProcessTransport.h"
#include "tests/executor/session/Allocations.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc::test {
namespace {

using session::HostCopy;
using session::InProcessTransport;
using session::MessageId;

/// Two devices with an arena of 4 x 6 floats each; the first one's are 0 to 23, the other's -1.
struct Pair {
  explicit Pair(std::string_view names)
      : devices(session::shareable(std::move(*makeDevices(names, {1})))) {
    std::vector<float> content(24);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(devices[i]->allocate(24 * sizeof(float)).ok());
      std::iota(content.begin(), content.end(), 0.0f);
      if (i == 1)
        std::fill(content.begin(), content.end(), -1.0f);
      devices[i]->copyIn(0, std::as_bytes(std::span(content)));
    }
  }
  std::vector<float> received() const {
    std::vector<float> content(24);
    devices[1]->copyOut(0, std::as_writable_bytes(std::span(content)));
    return content;
  }
  DeviceTensor view(size_t device, int64_t offset, std::vector<int64_t> strides) const {
    package::PackageData data;
    data.buffers.emplace_back();
    data.buffers[0].bytes = 24 * sizeof(float);
    return session::view(data, {0, offset, {2, 3}, std::move(strides)}, *devices[device]);
  }

  session::Devices devices;
};

const std::string_view kPairs[] = {"2xcpu", "cpu:0,trap:0", "trap:0,cpu:0", "2xtrap"};

/// Elements 0 to 5 of where they go, and what stands there.
struct Layout {
  std::vector<int64_t> strides;
  int64_t at(int64_t r, int64_t c) const {
    return strides.empty() ? 3 * r + c : strides[0] * r + strides[1] * c;
  }
};

TEST(HostCopy, MovesAnyViewAndNothingBesideIt) {
  // Dense, with holes, transposed.
  const Layout layouts[] = {{{}}, {{6, 1}}, {{1, 6}}, {{12, 2}}};
  for (std::string_view names : kPairs)
    for (const Layout &from : layouts)
      for (const Layout &to : layouts) {
        Pair pair(names);
        HostCopy copy(pair.view(0, 4, from.strides), pair.view(1, 5, to.strides));
        const size_t before = allocations();
        copy.run();
        EXPECT_EQ(allocations(), before) << names;
        std::vector<float> want(24, -1.0f);
        for (int64_t r = 0; r < 2; ++r)
          for (int64_t c = 0; c < 3; ++c)
            want[size_t(5 + to.at(r, c))] = float(4 + from.at(r, c));
        EXPECT_EQ(pair.received(), want) << names;
      }
}

/// A transport with one message, and who was woken.
struct OneMessage : Pair {
  explicit OneMessage(std::string_view names = "2xcpu")
      : Pair(names), transport(devices, [this](size_t device) { ++woken[device]; }),
        id(*transport.add({0, 7, 0, 1, view(0, 0, {6, 1}), view(1, 0, {})})) {}
  std::atomic<int> woken[2] = {0, 0};
  InProcessTransport transport;
  MessageId id;
};

TEST(Transport, AMessageIsPostedTakenAndSent) {
  for (std::string_view names : kPairs) {
    OneMessage one(names);
    for (int round = 1; round <= 3; ++round) {
      one.transport.begin();
      EXPECT_FALSE(one.transport.arrived(one.id));
      EXPECT_TRUE(one.transport.sent(one.id)); // nobody will read it
      one.transport.post(one.id);
      EXPECT_EQ(one.woken[1], round);
      EXPECT_EQ(one.woken[0], round - 1);
      EXPECT_TRUE(one.transport.arrived(one.id));
      EXPECT_FALSE(one.transport.sent(one.id));
      LaunchInterval time;
      one.transport.take(one.id, &time);
      EXPECT_NE(time.begin, LaunchInterval::Clock::time_point());
      EXPECT_LE(time.begin, time.end);
      EXPECT_TRUE(one.transport.sent(one.id));
      EXPECT_EQ(one.woken[0], round);
      const std::vector<float> got = one.received();
      EXPECT_EQ(std::vector(got.begin(), got.begin() + 6), (std::vector<float>{0, 1, 2, 6, 7, 8}));
    }
  }
}

TEST(Transport, WhatWasNotTakenIsForgottenInTheNextRound) {
  OneMessage one;
  one.transport.begin();
  one.transport.post(one.id);
  one.transport.begin();
  EXPECT_FALSE(one.transport.arrived(one.id));
  EXPECT_TRUE(one.transport.sent(one.id));
}

TEST(Transport, TheFirstErrorEndsTheRoundAndWakesAll) {
  OneMessage one;
  one.transport.begin();
  EXPECT_TRUE(one.transport.status().ok());
  one.transport.abort(fail(ErrorCode::E0802, "first"));
  one.transport.abort(fail(ErrorCode::E0803, "second"));
  EXPECT_TRUE(one.transport.aborted());
  EXPECT_EQ(one.transport.status().error().text(), "error[E0802]: first");
  EXPECT_EQ(one.woken[0], 2);
  EXPECT_EQ(one.woken[1], 2);
  one.transport.begin();
  EXPECT_FALSE(one.transport.aborted());
  EXPECT_TRUE(one.transport.status().ok());
}

TEST(Transport, OneProcessVotesAsItSays) {
  OneMessage one;
  EXPECT_TRUE(one.transport.vote(true));
  EXPECT_FALSE(one.transport.vote(false));
}

} // namespace
} // namespace lstmc::test
