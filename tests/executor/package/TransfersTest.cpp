// Transfers between devices: one case per check, with the whole message compared.
#include <functional>

#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/package/RefusalCase.h"
#include "tests/executor/package/TransferPackage.h"

namespace lstmc::package {
namespace {

using namespace transfers;

Launch &launchOf(PackageData &data, uint32_t device, size_t index) {
  return data.entries[0].programs[device].launches[index];
}

void eraseInit(PackageData &data, size_t program, int64_t launch) {
  std::vector<Launch> &launches = data.entries[1].programs[program].launches;
  launches.erase(launches.begin() + launch);
}

class TransferRefusals : public testing::TestWithParam<RefusalCase> {};

TEST_P(TransferRefusals, NameFieldFoundAndWant) { expectRefused(transferPackage(3), GetParam()); }

// Launches of the first device: send x 2, w 3, x 4, w 5, then at 4 its product, at 5 and 7 the
// products 101 and 102, each added by the next one, the norm at 9, `commit` at 10, w 201 and 202.
const RefusalCase kCases[] = {
    {"PeerOutside", [](auto &d) { launchOf(d, 0, 0).ints[TransferInt::peer] = 3; }, "E0604",
     intOf("entries[0].programs[0].launches[0]", TransferInt::peer) +
         ": found 3, want 0 to 2 for peer of send"},
    {"PeerItself", [](auto &d) { launchOf(d, 0, 0).ints[TransferInt::peer] = 0; }, "E0611",
     intOf("entries[0].programs[0].launches[0]", TransferInt::peer) +
         ": found device 0, want another than the program's "
         "own"},
    {"PeerOfSendIsAnother", [](auto &d) { launchOf(d, 0, 0).ints[TransferInt::peer] = 2; }, "E0605",
     intOf("entries[0].programs[0].launches[0]", TransferInt::peer) +
         ": found device 2, want 1, whose program has the "
         "other end of message 2"},
    {"PeerOfReceiveIsAnother",
     [](auto &d) { launchOf(d, 1, kReceiveX).ints[TransferInt::peer] = 2; }, "E0605",
     intOf("entries[0].programs[1].launches[0]", TransferInt::peer) +
         ": found device 2, want 0, whose program has the "
         "other end of message 2"},
    {"MessageNegative", [](auto &d) { launchOf(d, 0, 0).ints[TransferInt::message] = -1; }, "E0604",
     intOf("entries[0].programs[0].launches[0]", TransferInt::message) +
         ": found -1, want 0 to 281474976710656 for message "
         "of send"},
    {"OrderOfOneDevice",
     [](auto &d) {
       std::swap(launchOf(d, 1, kReceiveX).ints[TransferInt::message],
                 launchOf(d, 1, kReceiveW).ints[TransferInt::message]);
     },
     "E0611",
     intOf("entries[0].programs[1].launches[1]", TransferInt::message) +
         ": found a receive of message 2 after message 3, want a smaller one before it"},
    // Even if both devices agree, they would wait for one another through a third one.
    {"OrderOfTheMiddle",
     [](auto &d) {
       for (auto [device, launch] : {std::pair(0, 5), {1, int(kSendProduct)}})
         launchOf(d, uint32_t(device), size_t(launch)).ints[TransferInt::message] = 150;
     },
     "E0611",
     intOf("entries[0].programs[0].launches[7]", TransferInt::message) +
         ": found a receive of message 102 after message 150, want a smaller one before it"},
    {"MessageTwiceOnOneDevice",
     [](auto &d) { launchOf(d, 0, 1).ints[TransferInt::message] = xTo(1); }, "E0611",
     intOf("entries[0].programs[0].launches[1]", TransferInt::message) +
         ": found a send of message 2 after message 2, want a smaller one before it"},
    {"SendWithoutReceive",
     [](auto &d) {
       launchOf(d, 1, kReceiveW).kernel = KernelId::Fill;
       setArguments(launchOf(d, 1, kReceiveW), FillArguments{.value = 0});
     },
     "E0611",
     intOf("entries[0].programs[0].launches[1]", TransferInt::message) +
         ": found message 3 without a receive, want one in "
         "the program of device 1"},
    {"ReceiveOfAnotherNumber",
     [](auto &d) { launchOf(d, 2, kReceiveW).ints[TransferInt::message] = 50; }, "E0611",
     intOf("entries[0].programs[0].launches[3]", TransferInt::message) +
         ": found message 5 without a receive, want one in "
         "the program of device 2"},
    {"ReceiveOfNothing",
     [](auto &d) {
       Launch &send = launchOf(d, 0, 3);
       Operand w = send.operands[0], y = launchOf(d, 0, 4).operands[2];
       send = {KernelId::Copy, {w, y}, {}, {}, kMove};
     },
     "E0611",
     intOf("entries[0].programs[2].launches[1]", TransferInt::message) +
         ": found message 5 without a send, want one in the "
         "program of device 0"},
    {"SendTwice",
     [](auto &d) {
       setArguments(launchOf(d, 1, kSendProduct), SendArguments{.peer = 2, .message = xTo(2)});
       launchOf(d, 1, kReceiveX).ints[TransferInt::message] = 0;
       launchOf(d, 1, kReceiveW).ints[TransferInt::message] = 1;
     },
     "E0612",
     intOf("entries[0].programs[1].launches[3]", TransferInt::message) +
         ": found a second send of message 4, want one"},
    {"ReceiveTwice",
     [](auto &d) {
       launchOf(d, 2, kReceiveX).ints[TransferInt::message] = xTo(1);
       launchOf(d, 2, kReceiveW).ints[TransferInt::message] = wTo(1) + 1;
     },
     "E0612",
     intOf("entries[0].programs[2].launches[0]", TransferInt::message) +
         ": found a second receive of message 2, want one"},
    {"Shape", [](auto &d) { launchOf(d, 0, 0).operands[0].shape = {2, 2}; }, "E0605",
     "entries[0].programs[1].launches[0].operands[0]: found f32[2, 3], want f32[2, 2], as message "
     "2 is sent"},
    {"Type",
     [](auto &d) {
       for (Buffer &buffer : d.buffers)
         if (buffer.name == "x" && buffer.device == 0)
           buffer.dtype = DType::I32;
       launchOf(d, 0, 4).operands[0] = launchOf(d, 0, 4).operands[1];
     },
     "E0605",
     "entries[0].programs[1].launches[0].operands[0]: found f32[2, 3], want i32[2, 3], as message "
     "2 is sent"},
    {"Commit", [](auto &d) { d.entries[0].programs[1].commit = kSendProduct; }, "E0611",
     intOf("entries[0].programs[0].launches[5]", TransferInt::message) +
         ": found message 101 on the other side of `commit` "
         "than its send, want the same"},
    {"Overlap", [](auto &d) { launchOf(d, 1, kReceiveX).operands[0].strides = {0, 1}; }, "E0604",
     "entries[0].programs[1].launches[0].operands[0].strides: found a written view that holds an "
     "element twice, want each once"},
    {"ReceivedBufferOfTheSender",
     [](auto &d) { launchOf(d, 1, kReceiveX).operands[0] = launchOf(d, 0, 4).operands[2]; },
     "E0611",
     "entries[0].programs[1].launches[0].operands[0].buffer: found buffers[6] of device 0, want "
     "one of device 1"},
    {"InitialiseBySending", [](auto &d) { d.parameters[0].initialise = launchOf(d, 0, 1); },
     "E0611",
     "parameters[0].initialise.kernel: found send, want a kernel that one device carries out"},
    {"InitialiseFromAnotherDevice",
     [](auto &d) {
       d.parameters[1].initialise.operands[0] = d.parameters[0].initialise.operands[0];
     },
     "E0611",
     "parameters[1].initialise.operands[0].buffer: found buffers[4] of device 0, want one of "
     "device 2"},

    // ---- init ----
    {"InitHasInputs", [](auto &d) { d.entries[1].inputs = {d.entries[0].inputs[1]}; }, "E0611",
     "entries[1].inputs: found 1, want none for init"},
    {"InitHasOutputs",
     [](auto &d) { d.entries[1].outputs = {{"w", d.parameters[0].buffers[0], "output", {}}}; },
     "E0611", "entries[1].outputs: found 1, want none for init"},
    {"InitHasMemory",
     [](auto &d) {
       Buffer own = d.buffers[d.parameters[0].buffers[0]];
       own.kind = Kind::Activation;
       own.offset = d.devices[0].arenaBytes;
       own.entry = 1;
       d.devices[0].arenaBytes += 64;
       d.buffers.push_back(own);
     },
     "E0611",
     "buffers[24].entry: found 1, which is init, want one that may have buffers of its own"},
    {"InitWritesWhatCounts",
     [](auto &d) {
       Launch fill{KernelId::Fill, {{d.parameters[0].buffers[0], 0, {2, 3}, {}}}, {}, {0}, 0};
       d.entries[1].programs[0].launches.push_back(fill);
     },
     "E0611",
     "entries[1].programs[0].launches[5].operands[0].buffer: found buffers[0] written by init, "
     "want "
     "a copy of a parameter or slot"},
    {"InitForgetsAParameter",
     [](auto &d) {
       eraseInit(d, 0, 0);
       eraseInit(d, 1, 0);
     },
     "E0611",
     "parameters[0].buffers[1]: found buffers[15], which init does not write, want a launch of "
     "init "
     "that does"},
    {"InitForgetsASlot",
     [](auto &d) {
       eraseInit(d, 0, 2);
       eraseInit(d, 1, 1);
     },
     "E0611",
     "parameters[0].slots[0].buffers[1]: found buffers[22], which init does not write, want a "
     "launch "
     "of init that does"},
    {"NoInit", [](auto &d) { d.entries.pop_back(); }, "E0611",
     "parameters[0].buffers[1]: found buffers[15], which init does not write, want a launch of "
     "init "
     "that does"},
    {"SlotTwiceOnADevice",
     [](auto &d) {
       std::vector<uint32_t> &buffers = d.parameters[0].slots[0].buffers;
       d.buffers.push_back(d.buffers[buffers[1]]);
       d.buffers.back().offset = d.devices[1].arenaBytes;
       d.devices[1].arenaBytes += 64;
       buffers[2] = uint32_t(d.buffers.size() - 1);
     },
     "E0605", "parameters[0].slots[0].buffers[2]: found two on device 1, want one per device"},
    {"SlotOfAnotherShape",
     [](auto &d) { d.buffers[d.parameters[0].slots[0].buffers[2]].shape = {6}; }, "E0605",
     "parameters[0].slots[0].buffers[2]: found f32[6], want f32[2, 3], as buffers[19]"},
    {"SlotInSlicesBetweenNoTiles",
     [](auto &d) {
       for (uint32_t index : d.parameters[0].slots[0].buffers)
         d.buffers[index].shape = {2};
     },
     "E0605",
     "parameters[0].slots[0].buffers[0]: found a slice of 2 elements, want all to have the "
     "parameter's 6 and to end on multiples of 4096"},
    {"SlotInOneSlice",
     [](auto &d) {
       d.parameters[0].slots[0].buffers.resize(1);
       d.buffers[d.parameters[0].slots[0].buffers[0]].shape = {5};
     },
     "E0605",
     "parameters[0].slots[0].buffers[0]: found a slice of 5 elements, want all to have the "
     "parameter's 6 and to end on multiples of 4096"},
    {"SlotInSlicesOfAnotherType",
     [](auto &d) {
       for (uint32_t index : d.parameters[0].slots[0].buffers) {
         d.buffers[index].shape = {5};
         d.buffers[index].dtype = DType::I32;
       }
     },
     "E0605", "parameters[0].slots[0].buffers[0]: found i32[5], want a slice of f32[2, 3]"},
    {"SlotNowhere", [](auto &d) { d.parameters[0].slots[0].buffers.clear(); }, "E0604",
     "parameters[0].slots[0].buffers: found none, want at least 1"},
};

INSTANTIATE_TEST_SUITE_P(Checks, TransferRefusals, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

TEST(Transfers, PackagesOfSeveralDevicesPass) {
  for (uint32_t devices : {1u, 2u, 3u, 8u}) {
    auto package = Package::open(serialize(transferPackage(devices)));
    EXPECT_TRUE(package.ok()) << package.error().text();
  }
}

/// Two devices, of which the second sends what it received back between its receives of messages 2
/// and 3: what message `number` sends is received by the first one before the product, message 101.
PackageData sendsBack(int64_t number, bool writesOver = false) {
  PackageData data = transferPackage(2);
  std::vector<DeviceProgram> &programs = data.entries[0].programs;
  auto insert = [&](uint32_t device, size_t at, Launch launch) {
    programs[device].launches.insert(programs[device].launches.begin() + int64_t(at), launch);
    ++programs[device].commit;
  };
  const size_t product = firstProduct(2) + 1; // its receive
  Operand x = launchOf(data, 1, kReceiveX).operands[0],
          arrived = launchOf(data, 0, product).operands[0];
  if (writesOver) {
    const uint32_t last = uint32_t(x.shape[0] * x.shape[1] - 1);
    insert(1, kReceiveW, {KernelId::Fill, {{x.buffer, last, {1}, {}}}, {}, {1}, kMove});
  }
  insert(1, kReceiveW, {KernelId::Send, {x}, {0, number}, {}, kMove});
  insert(0, product, {KernelId::Receive, {arrived}, {1, number}, {}, kMove});
  for (Buffer &buffer : data.buffers)
    if (buffer.entry == 0)
      buffer.to = uint32_t(programs[buffer.device].launches.size() - 1);
  return data;
}

Status opened(const PackageData &data) { return Package::open(serialize(data)).status(); }

TEST(Transfers, ASendMayComeBeforeReceivesOfSmallerNumbers) {
  Status status = opened(sendsBack(50)); // before the receive of 3
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST(Transfers, AReceiveMayNotComeBeforeASendOfASmallerNumber) {
  PackageData data = sendsBack(2); // as x
  for (auto [device, launch] : {std::pair(0, 0), {1, int(kReceiveX)}})
    launchOf(data, uint32_t(device), size_t(launch)).ints[TransferInt::message] = 3;
  for (auto [device, launch] : {std::pair(0, 1), {1, int(kReceiveW) + 1}})
    launchOf(data, uint32_t(device), size_t(launch)).ints[TransferInt::message] = 4;
  EXPECT_REFUSED(opened(data), E0611,
                 "found a send of message 2 after message 3, want a smaller one before it");
}

TEST(Transfers, WhatIsSentIsKeptWhileSmallerNumbersAreReceived) {
  EXPECT_REFUSED(opened(sendsBack(50, /*writesOver=*/true)), E0611,
                 "programs[1].launches[2]: found a write over message 50, which is sent, want it "
                 "after the receive of message 3");
}

// Each entry has messages of its own.
TEST(Transfers, NumbersMayStandInTwoEntries) {
  PackageData data = transferPackage(2);
  size_t first = data.buffers.size();
  for (uint32_t device : {0u, 1u}) {
    data.buffers.push_back({device,
                            data.devices[device].arenaBytes,
                            4,
                            DType::F32,
                            {1},
                            Kind::Activation,
                            "a",
                            0,
                            2,
                            0,
                            1});
    data.devices[device].arenaBytes += 64;
  }
  Launch fill{KernelId::Fill, {{uint32_t(first), 0, {1}, {}}}, {}, {1}, 0};
  Launch send{KernelId::Send, {{uint32_t(first), 0, {1}, {}}}, {1, 2}, {}, 0};
  Launch receive{KernelId::Receive, {{uint32_t(first + 1), 0, {1}, {}}}, {0, 2}, {}, 0};
  data.entries.push_back({"forward", {}, {}, {{0, {fill, send}, 2}, {1, {receive}, 1}}});
  data.buffers.back().to = 0;
  auto package = Package::open(serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
}

} // namespace
} // namespace lstmc::package
