// Programs of two devices, simulated by hand: which device waits for what, and how long.
#include <gtest/gtest.h>

#include "backends/cpu/compiler/CostModel.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {
namespace {

using target::Machine;

/// A machine on which copying n floats takes n seconds. A message of n floats takes n / 2 seconds
/// to send, and 10 more to arrive.
Machine machine() {
  Machine machine = cpu::withTerms({}, KernelId::Copy, {0, 0, 0, 1.0 / 8, 0, 0, 0, 0});
  machine.link = {.seconds = 10, .bytesPerSecond = 8};
  return machine;
}

package::Launch copy(int64_t floats) {
  package::Launch launch;
  launch.kernel = KernelId::Copy;
  launch.operands = {{0, 0, {floats}, {}}, {0, 0, {floats}, {}}};
  return launch;
}

package::Launch transfer(KernelId kernel, int64_t peer, int64_t message, int64_t floats) {
  package::Launch launch;
  launch.kernel = kernel;
  launch.operands = {{0, 0, {floats}, {}}};
  setArguments(launch, TransferArguments{.peer = peer, .message = message});
  return launch;
}

package::PackageData oneBuffer() {
  package::PackageData data;
  data.buffers.resize(1);
  for (const char *name : {"cpu:0", "cpu:1", "cpu:2"})
    data.devices.emplace_back().name = name;
  return data;
}

TEST(Forecast, AReceiverWaitsForWhatIsSent) {
  package::Entry entry;
  entry.programs = {{0, {copy(5), transfer(KernelId::Send, 1, 0, 6), copy(1)}, 3},
                    {1, {copy(2), transfer(KernelId::Receive, 0, 0, 6), copy(4)}, 3}};
  EntryTimes times = forecast(oneBuffer(), entry, {machine()});
  // The sender continues at 5. The receiver, which is at 2 by then, has the message at 15, copies
  // until 18 and ends at 22.
  EXPECT_EQ(times.programs[0].launches.back().end, 6);
  EXPECT_EQ(times.programs[1].launches[1].begin, 15);
  EXPECT_EQ(times.programs[1].launches[1].end, 18);
  EXPECT_EQ(times.seconds, 22);
  EXPECT_EQ(times.programs[1].busy, 2 + 3 + 4);
  EXPECT_DOUBLE_EQ(times.idleFraction(1), 1 - 9.0 / 22);
  EXPECT_DOUBLE_EQ(times.idleFraction(0), 1 - 6.0 / 22);
  EXPECT_EQ(times.idleFraction(2), 1);
  EXPECT_EQ(times.sentBytes(), 24);
  EXPECT_EQ(times.programs[0].sentBytes, 24);
}

TEST(Forecast, WhatADeviceSendsLeavesOneAfterTheOther) {
  package::Entry entry;
  entry.programs = {
      {0, {transfer(KernelId::Send, 1, 0, 6), transfer(KernelId::Send, 2, 1, 4), copy(1)}, 3},
      {1, {transfer(KernelId::Receive, 0, 0, 6)}, 1},
      {2, {transfer(KernelId::Receive, 0, 1, 4)}, 1}};
  EntryTimes times = forecast(oneBuffer(), entry, {machine()});
  // The sender does not wait; the second message is sent at 3, after the first one.
  EXPECT_EQ(times.programs[0].launches[2].begin, 0);
  EXPECT_EQ(times.programs[1].launches[0].begin, 10);
  EXPECT_EQ(times.programs[2].launches[0].begin, 13);
  EXPECT_EQ(times.programs[2].launches[0].end, 15);
}

TEST(Forecast, AMessageThatIsThereIsTakenAtOnce) {
  package::Entry entry;
  entry.programs = {{1, {copy(50), transfer(KernelId::Receive, 0, 3, 2)}, 2},
                    {0, {transfer(KernelId::Send, 1, 3, 2)}, 1}};
  EntryTimes times = forecast(oneBuffer(), entry, {machine()});
  EXPECT_EQ(times.programs[0].launches[1].begin, 50);
  EXPECT_EQ(times.seconds, 51);
}

TEST(Forecast, AllComeToCommitBeforeAnyGoesOn) {
  package::Entry entry;
  entry.programs = {{0, {copy(3), copy(2)}, 1}, {1, {copy(7), copy(1)}, 1}};
  EntryTimes times = forecast(oneBuffer(), entry, {machine()});
  EXPECT_EQ(times.programs[0].launches[1].begin, 7);
  EXPECT_EQ(times.seconds, 9);
  // If nothing is committed, no device waits.
  entry.programs[0].commit = entry.programs[1].commit = 2;
  EXPECT_EQ(forecast(oneBuffer(), entry, {machine()}).programs[0].launches[1].begin, 3);
}

/// On a GPU.
class Streams : public testing::Test {
protected:
  static EntryTimes times(std::vector<package::Launch> launches) {
    package::PackageData data = oneBuffer();
    data.devices[0].name = "emu:0";
    const auto count = uint32_t(launches.size());
    package::Entry entry;
    entry.programs = {{0, std::move(launches), count}};
    return forecast(data, entry, {Machine()});
  }
  static package::Launch on(uint32_t stream, package::Launch launch) {
    launch.stream = stream;
    return launch;
  }
  /// With 8 rows, too few to fill a GPU.
  static package::Launch product() {
    package::Launch launch;
    launch.kernel = KernelId::Product;
    launch.operands.assign(5, {package::kNoBuffer, 0, {}, {}});
    launch.operands[ProductOperand::x] = {0, 0, {1, 8, 4096}, {}};
    launch.operands[ProductOperand::y] = {0, 0, {1, 8, 64}, {}};
    return launch;
  }
};

TEST_F(Streams, LaunchesThatKeepTheMemoryBusyFollowOneAnother) {
  const package::Launch large = copy(1 << 24);
  const double one = times({large}).seconds, starting = times({copy(0)}).seconds;
  EXPECT_GT(starting, 0);
  EXPECT_DOUBLE_EQ(times({large, large}).seconds, 2 * one);
  // The second one starts while the first is under way.
  const EntryTimes both = times({large, on(1, large)});
  EXPECT_DOUBLE_EQ(both.seconds, 2 * one - starting);
  EXPECT_DOUBLE_EQ(both.programs[0].busy, both.seconds);
  EXPECT_DOUBLE_EQ(both.idleFraction(0), 0);
}

TEST_F(Streams, SmallProductsRunSideBySide) {
  const double one = times({product()}).seconds;
  EXPECT_DOUBLE_EQ(times({product(), product()}).seconds, 2 * one);
  const EntryTimes both = times({product(), on(1, product())});
  EXPECT_DOUBLE_EQ(both.seconds, one);
  EXPECT_DOUBLE_EQ(both.programs[0].busy, one);
  // Launches on eight streams without pause.
  std::vector<package::Launch> many;
  for (uint32_t i = 0; i < 400; ++i)
    many.push_back(on(i % 8, product()));
  EXPECT_GT(times(many).seconds, 50 * one * 0.99);
}

TEST_F(Streams, EventsAndMessagesHaveAnOrder) {
  const double one = times({product()}).seconds;
  package::Launch first = product(), second = on(1, product());
  first.event = 0;
  second.waits = {0};
  EXPECT_DOUBLE_EQ(times({first, second}).seconds, 2 * one);
  // A message cuts the graph: what comes after it begins after all that came before.
  const EntryTimes cut =
      times({on(1, product()), transfer(KernelId::Send, 1, 0, 1), on(2, product())});
  EXPECT_DOUBLE_EQ(cut.programs[0].launches[2].begin, one);
}

TEST(Forecast, EveryDeviceHasItsOwnMachine) {
  package::Entry entry;
  entry.programs = {{0, {copy(4)}, 1}, {1, {copy(4)}, 1}};
  Machine slow = cpu::withTerms(machine(), KernelId::Copy, {0, 0, 0, 3.0 / 8, 0, 0, 0, 0});
  EntryTimes times = forecast(oneBuffer(), entry, {machine(), slow});
  EXPECT_EQ(times.programs[0].busy, 4);
  EXPECT_EQ(times.programs[1].busy, 12);
}

TEST(Forecast, ALinkMayDependOnWhoSends) {
  package::Entry entry;
  entry.programs = {
      {0, {transfer(KernelId::Send, 2, 0, 6)}, 1},
      {1, {transfer(KernelId::Send, 2, 1, 6)}, 1},
      {2, {transfer(KernelId::Receive, 0, 0, 6), transfer(KernelId::Receive, 1, 1, 6)}, 2}};
  Machine receiver = machine();
  receiver.links = {{.seconds = 1, .bytesPerSecond = 24}, {.seconds = 7, .bytesPerSecond = 12}};
  EntryTimes times = forecast(oneBuffer(), entry, {machine(), machine(), receiver});
  EXPECT_EQ(times.programs[2].launches[0].begin, 1);
  EXPECT_EQ(times.programs[2].launches[0].end, 2);
  EXPECT_EQ(times.programs[2].launches[1].begin, 7);
  EXPECT_EQ(times.programs[2].launches[1].end, 9);
}

TEST(Forecast, ANetworkBringsWhatWasSentWhileItsReceiverWorks) {
  package::Entry entry;
  entry.programs = {
      {0, {transfer(KernelId::Send, 1, 0, 6), transfer(KernelId::Send, 1, 1, 2)}, 2},
      {1,
       {copy(20), transfer(KernelId::Receive, 0, 0, 6), transfer(KernelId::Receive, 0, 1, 2)},
       3}};
  Machine receiver = machine();
  EXPECT_EQ(forecast(oneBuffer(), entry, {machine(), receiver}).seconds, 20 + 3 + 1);
  receiver.links.assign(2, receiver.link);
  EXPECT_EQ(forecast(oneBuffer(), entry, {machine(), receiver}).seconds, 20);
  entry.programs[1].launches[0] = copy(11); // the first arrives at 13, the second later
  EXPECT_EQ(forecast(oneBuffer(), entry, {machine(), receiver}).seconds, 14);
}

} // namespace
} // namespace lstmc::planning
