// Launches on several streams: one case per check, and that every event that is left out is missed.
#include <gtest/gtest.h>

#include "executor/abi/Streams.h"
#include "executor/package/Package.h"
#include "executor/package/Streams.h"
#include "tests/executor/package/RefusalCase.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/package/TransferPackage.h"

namespace lstmc::package {
namespace {

using namespace sample;

/// The step on two streams: pack, product (event 0), and beside them after it the loss; then the
/// weights' gradient, its norm, commit, and the update on the other stream.
PackageData streamedPackage() {
  PackageData data = samplePackage();
  stepLaunch(data, 1).event = 0;
  stepLaunch(data, 2).stream = 1;
  stepLaunch(data, 2).waits = {0};
  stepLaunch(data, 5).stream = 1;
  return data;
}

TEST(Streams, AreKeptAsTheyAre) {
  PackageData data = streamedPackage();
  auto package = Package::open(serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  data.abi = (*package)->data().abi;
  EXPECT_EQ((*package)->data(), data);
}

class StreamRefusals : public testing::TestWithParam<RefusalCase> {};

TEST_P(StreamRefusals, NameFieldFoundAndWant) { expectRefused(streamedPackage(), GetParam()); }

const RefusalCase kCases[] = {
    {"ReadBesideTheWrite", [](auto &d) { stepLaunch(d, 2).waits.clear(); }, "E0611",
     "entries[2].programs[0].launches[2].waits: found none that orders it after launches[1], which "
     "is on stream 0 and touches bytes that this one does too, want one"},
    {"ReadBesideThePacking",
     [](auto &d) {
       // The product reads what is packed.
       stepLaunch(d, 0).stream = 1;
     },
     "E0611",
     "entries[2].programs[0].launches[1].waits: found none that orders it after launches[0], which "
     "is on stream 1 and touches bytes that this one does too, want one"},
    {"StreamOutside", [](auto &d) { stepLaunch(d, 2).stream = kMaxStreams; }, "E0611",
     "entries[2].programs[0].launches[2].stream: found 8, want below 8"},
    {"EventNegative", [](auto &d) { stepLaunch(d, 2).event = -2; }, "E0611",
     "entries[2].programs[0].launches[2].event: found -2, want -1 to 5"},
    {"EventOutside", [](auto &d) { stepLaunch(d, 2).event = 6; }, "E0611",
     "entries[2].programs[0].launches[2].event: found 6, want -1 to 5"},
    {"EventTwice", [](auto &d) { stepLaunch(d, 2).event = 0; }, "E0611",
     "entries[2].programs[0].launches[2].event: found 0 again, want it once"},
    {"EventOfNobody", [](auto &d) { stepLaunch(d, 2).waits = {0, 3}; }, "E0611",
     "entries[2].programs[0].launches[2].waits[1]: found event 3, want one that a launch before "
     "records"},
    {"EventOfALaterLaunch",
     [](auto &d) {
       stepLaunch(d, 3).event = 3;
       stepLaunch(d, 2).waits = {0, 3};
     },
     "E0611",
     "entries[2].programs[0].launches[2].waits[1]: found event 3, want one that a launch before "
     "records"},
    {"EventOfTheOwnStream", [](auto &d) { stepLaunch(d, 3).waits = {0}; }, "E0611",
     "entries[2].programs[0].launches[3].waits[0]: found event 0 of launches[1], want one of "
     "another stream, on the same side of `commit`"},
    {"EventAcrossCommit", [](auto &d) { stepLaunch(d, 5).waits = {0}; }, "E0611",
     "entries[2].programs[0].launches[5].waits[0]: found event 0 of launches[1], want one of "
     "another stream, on the same side of `commit`"},
    {"InitialValues", [](auto &d) { d.parameters[0].initialise.stream = 1; }, "E0611",
     "parameters[0].initialise: found a stream or an event, want neither"},
};

INSTANTIATE_TEST_SUITE_P(Checks, StreamRefusals, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

TEST(Streams, TransfersStayOnTheFirst) {
  PackageData data = transferPackage(2);
  data.entries[0].programs[1].launches[transfers::kReceiveX].stream = 1;
  auto package = Package::open(serialize(data));
  ASSERT_FALSE(package.ok());
  EXPECT_EQ(package.error().message,
            "entries[0].programs[1].launches[0].stream: found 1 of a transfer, want 0");
}

// ---- the order alone ----

/// Launches of which each touches one range of bytes.
struct Program {
  std::vector<StreamPlace> places;
  std::vector<ByteAccess> accesses;
  uint32_t commit = ~0u;

  void add(uint32_t stream, std::vector<uint32_t> waits, bool writes, uint64_t begin,
           uint64_t end) {
    const auto now = uint32_t(places.size());
    places.push_back({stream, int32_t(now), std::move(waits)});
    accesses.push_back({now, writes, begin, end});
  }
  /// "2 1": launch 2 is not ordered after launch 1; "" where all are.
  std::string fault() const {
    auto found = findStreamFault(places, commit, accesses);
    if (!found)
      return "";
    const std::string after = "launches[";
    const size_t at = found->text.find(after) + after.size();
    return fmt::format("{} {}", found->launch, found->text.substr(at, found->text.find(']') - at));
  }
};

TEST(Streams, OrderFollowsThroughOtherLaunches) {
  Program program; // 0 -> 1 -> 2 on three streams
  program.add(0, {}, true, 0, 64);
  program.add(1, {0}, true, 64, 128);
  program.add(2, {1}, false, 0, 64);
  EXPECT_EQ(program.fault(), "");
  program.places[1].waits.clear();
  EXPECT_EQ(program.fault(), "2 0");
}

TEST(Streams, BothReadersAreAwaitedByWhoWritesNext) {
  Program program;
  program.add(0, {}, true, 0, 64);
  program.add(1, {0}, false, 0, 8);
  program.add(2, {0}, false, 56, 64);
  program.add(0, {1, 2}, true, 0, 64);
  EXPECT_EQ(program.fault(), "");
  program.places[3].waits = {2};
  EXPECT_EQ(program.fault(), "3 1");
  program.places[3].waits = {1};
  EXPECT_EQ(program.fault(), "3 2");
}

TEST(Streams, ReadersAndNeighboursNeedNoOrder) {
  Program program;
  program.add(0, {}, false, 0, 64);
  program.add(1, {}, false, 0, 64);
  program.add(2, {}, true, 64, 128);
  program.add(3, {}, true, 128, 129);
  EXPECT_EQ(program.fault(), "");
  program.accesses[3].begin = 127;
  EXPECT_EQ(program.fault(), "3 2");
}

TEST(Streams, CommitOrdersAll) {
  Program program;
  program.add(0, {}, true, 0, 64);
  program.add(1, {}, true, 0, 64);
  EXPECT_EQ(program.fault(), "1 0");
  program.commit = 1;
  EXPECT_EQ(program.fault(), "");
}

TEST(Streams, TooManyOperandsAreRefused) {
  Program program;
  for (uint32_t i = 0; i <= kMaxStreamedOperands; ++i)
    program.add(i % 2, {}, false, 64 * i, 64 * i + 64);
  EXPECT_EQ(findStreamFault(program.places, program.commit, program.accesses)->text,
            "found 262145 in a program of several streams, want at most 262144");
  program.places.pop_back();
  program.accesses.pop_back();
  EXPECT_FALSE(findStreamFault(program.places, program.commit, program.accesses));
}

} // namespace
} // namespace lstmc::package
