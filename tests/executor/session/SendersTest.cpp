// A sender continues at once, and waits only before it overwrites what it has sent.
#include <atomic>
#include <chrono>
#include <thread>

#include "executor/session/BoundEntry.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc {
namespace {

using package::Package;
using package::PackageData;
using package::transferPackage;
using namespace std::chrono_literals;
using namespace test;
namespace transfers = package::transfers;

TEST(Senders, SenderDoesNotWaitForItsReceiver) {
  std::atomic<bool> firstIsOn{false};
  SessionOptions options = withHook([&](const DeviceMoment &moment) {
    if (moment.entry != "step")
      return;
    if (moment.device == 0 && moment.launch == transfers::firstProduct(2))
      firstIsOn = true;
    if (moment.device == 1 && moment.launch == transfers::kReceiveX)
      while (!firstIsOn && !moment.stopped)
        std::this_thread::yield();
  });
  options.deadline = 10s;
  auto session = makeSession(2, options);
  EXPECT_EQ(trainedHash(*session), trainedHash(*makeSession(2)));
  EXPECT_TRUE(firstIsOn);
}

/// The steps of a device's program as letters: Launches with their count, Send, Receive, Await.
std::string stepsOf(const PackageData &data, uint32_t device) {
  auto package = Package::open(package::serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
  session::Devices devices = session::shareable(
      std::move(*makeDevices(std::to_string(data.devices.size()) + "xcpu", {1})));
  for (size_t i = 0; i < devices.size(); ++i)
    EXPECT_TRUE(devices[i]->allocate(data.devices[i].arenaBytes).ok());
  auto entry = session::bindEntry(**package, 0, devices);
  EXPECT_TRUE(entry.ok()) << entry.error().text();
  std::string text;
  const session::BoundProgram &program = entry->programs[device];
  for (size_t i = 0; i < program.segments.size(); ++i) {
    const session::Segment &segment = program.segments[i];
    if (i == program.commitSegment)
      text += "| ";
    int64_t number = entry->messages.empty() ? 0 : entry->messages[segment.message].message.number;
    switch (segment.kind) {
    case session::Segment::Kind::Launches:
      text += fmt::format("L{} ", segment.last - segment.first);
      break;
    case session::Segment::Kind::Send:
      text += fmt::format("S{} ", number);
      break;
    case session::Segment::Kind::Receive:
      text += fmt::format("R{} ", number);
      break;
    case session::Segment::Kind::Await:
      text += fmt::format("A{} ", number);
      break;
    }
  }
  return text;
}

TEST(Senders, WaitsStandInFrontOfTheLaunchThatWritesOverAMessage) {
  // The input is never written, and w only after the commit; the product is overwritten at once.
  PackageData data = transferPackage(2);
  EXPECT_EQ(stepsOf(data, 0), "S2 S3 L1 R101 L2 | A3 L1 S201 ");
  EXPECT_EQ(stepsOf(data, 1), "R2 R3 L1 S101 A101 L1 | R201 ");

  // Another buffer takes over the place from then on, or only some of its bytes.
  auto withNext = [&](uint64_t offset) {
    PackageData next = data;
    package::DeviceProgram &program = next.entries[0].programs[1];
    uint32_t product = program.launches[transfers::kSendProduct].operands[0].buffer;
    package::Buffer own = next.buffers[product];
    next.buffers[product].to = transfers::kSendProduct;
    own.bytes = 256;
    own.shape = {64};
    own.from = own.to = transfers::kClear;
    // After all other buffers of the device; the product is moved there too.
    next.buffers[product].offset = next.devices[1].arenaBytes;
    own.offset = next.devices[1].arenaBytes + offset - 64;
    next.buffers.push_back(own);
    program.launches[transfers::kClear].operands[0] = {
        uint32_t(next.buffers.size() - 1), 0, {64}, {}};
    next.devices[1].arenaBytes = own.offset + own.bytes;
    return next;
  };
  EXPECT_EQ(stepsOf(withNext(64), 1), "R2 R3 L1 S101 A101 L1 | R201 ");
  EXPECT_EQ(stepsOf(withNext(128), 1), "R2 R3 L1 S101 L1 | R201 ");
}

TEST(Senders, LateReceiverGetsWhatWasSent) {
  for (uint32_t late : {0u, 1u, 2u}) {
    auto session = makeSession(3, withHook([late](const DeviceMoment &moment) {
                                 if (moment.device == late)
                                   std::this_thread::sleep_for(1ms);
                               }));
    EXPECT_EQ(trainedHash(*session), trainedHash(*makeSession(3))) << late;
  }
}

} // namespace
} // namespace lstmc
