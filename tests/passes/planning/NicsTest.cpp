// Programs of devices on several hosts, simulated by hand, and at random within bounds.
#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/compiler/CostModel.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {
namespace {

using target::Machine;

/// On a machine of host h: to copy a message of n floats takes n seconds, and to send or receive it
/// n more, of the interface; 3 and 7 seconds pass besides.
Machine onHost(int host, double copySeconds = 1) {
  Machine machine = cpu::withTerms({}, KernelId::Copy, {0, 0, 0, copySeconds / 8, 0, 0, 0, 0});
  machine.host = host;
  machine.nic = {.outBytesPerSecond = 4, .inBytesPerSecond = 4, .outSeconds = 3, .inSeconds = 7};
  machine.link = {.seconds = 0, .bytesPerSecond = 4};
  return machine;
}

package::Launch transfer(KernelId kernel, int64_t peer, int64_t message, int64_t floats,
                         uint32_t buffer = 0) {
  package::Launch launch;
  launch.kernel = kernel;
  launch.operands = {{buffer, 0, {floats}, {}}};
  setArguments(launch, TransferArguments{.peer = peer, .message = message});
  return launch;
}
package::Launch send(int64_t to, int64_t message, int64_t floats) {
  return transfer(KernelId::Send, to, message, floats);
}
package::Launch receive(int64_t from, int64_t message, int64_t floats) {
  return transfer(KernelId::Receive, from, message, floats);
}

package::PackageData devices(size_t count) {
  package::PackageData data;
  data.buffers.resize(2);
  data.buffers[1].kind = package::Kind::Input;
  for (size_t i = 0; i < count; ++i)
    data.devices.emplace_back().name = fmt::format("cpu:{}", i);
  return data;
}

/// Nothing is committed.
package::Entry entryOf(std::vector<std::vector<package::Launch>> programs) {
  package::Entry entry;
  for (std::vector<package::Launch> &launches : programs) {
    const auto count = uint32_t(launches.size());
    entry.programs.push_back({uint32_t(entry.programs.size()), std::move(launches), count});
  }
  return entry;
}

TEST(Nics, AMessageCostsCopiesLatencyAndBytes) {
  EntryTimes times =
      forecast(devices(2), entryOf({{send(1, 0, 6)}, {receive(0, 0, 6)}}), {onHost(0), onHost(1)});
  EXPECT_EQ(times.programs[0].launches[0].end, 6);
  EXPECT_EQ(times.programs[1].launches[0].begin, 6 + 6 + 10);
  EXPECT_EQ(times.seconds, 28);
  EXPECT_EQ(times.hosts[0].sentBytes, 24);
  EXPECT_EQ(times.hosts[1].receivedBytes, 24);
  EXPECT_EQ(times.hosts[0].sending, 6);
  EXPECT_EQ(times.hosts[1].receiving, 6);
  EXPECT_EQ(times.hosts[0].receiving, 0);
}

TEST(Nics, WhatComesToAHostComesOneAfterTheOther) {
  const target::Machines four = {onHost(0, 0), onHost(1), onHost(2), onHost(3)};
  EntryTimes times = forecast(devices(4),
                              entryOf({{receive(1, 0, 6), receive(2, 1, 6), receive(3, 2, 6)},
                                       {send(0, 0, 6)},
                                       {send(0, 1, 6)},
                                       {send(0, 2, 6)}}),
                              four);
  EXPECT_EQ(times.programs[0].launches[0].begin, 22);
  EXPECT_EQ(times.programs[0].launches[1].begin, 28);
  EXPECT_EQ(times.programs[0].launches[2].begin, 34);
  EXPECT_EQ(times.hosts[0].receiving, 18);
  // The sending direction is occupied too.
  times = forecast(devices(4),
                   entryOf({{send(1, 0, 6), send(2, 1, 6), send(3, 2, 6)},
                            {receive(0, 0, 6)},
                            {receive(0, 1, 6)},
                            {receive(0, 2, 6)}}),
                   {onHost(0, 0), onHost(1, 0), onHost(2, 0), onHost(3, 0)});
  EXPECT_EQ(times.programs[1].launches[0].begin, 16);
  EXPECT_EQ(times.programs[2].launches[0].begin, 22);
  EXPECT_EQ(times.programs[3].launches[0].begin, 28);
}

TEST(Nics, EachDirectionHasItsRate) {
  // The receiver takes 12 seconds for what leaves in 6, so the sender's next message goes at 6.
  target::Machines three = {onHost(0, 0), onHost(1, 0), onHost(2, 0)};
  three[1].nic.inBytesPerSecond = 2;
  EntryTimes times = forecast(
      devices(3), entryOf({{send(1, 0, 6), send(2, 1, 6)}, {receive(0, 0, 6)}, {receive(0, 1, 6)}}),
      three);
  EXPECT_EQ(times.programs[1].launches[0].begin, 12 + 10);
  EXPECT_EQ(times.programs[2].launches[0].begin, 6 + 6 + 10);
  EXPECT_EQ(times.hosts[1].receiving, 12);
}

TEST(Nics, BothDirectionsAreBusyAtOnce) {
  EntryTimes times = forecast(
      devices(2), entryOf({{send(1, 0, 6), receive(1, 1, 6)}, {send(0, 1, 6), receive(0, 0, 6)}}),
      {onHost(0), onHost(1)});
  EXPECT_EQ(times.seconds, 28);
}

TEST(Nics, AMessageThatCannotGoKeepsNoOtherWaiting) {
  // Device 0 sends to 1, whose interface is busy with what 3 sends until 10, and then to 2.
  EntryTimes times = forecast(devices(4),
                              entryOf({{transfer(KernelId::Send, 1, 1, 2), send(2, 2, 4)},
                                       {receive(3, 0, 10), receive(0, 1, 2)},
                                       {receive(0, 2, 4)},
                                       {send(1, 0, 10)}}),
                              {onHost(0, 1), onHost(1, 0), onHost(2, 0), onHost(3, 0)});
  EXPECT_EQ(times.programs[2].launches[0].begin, 6 + 4 + 10); // copied at 6
  EXPECT_EQ(times.programs[1].launches[1].begin, 10 + 2 + 10);
}

TEST(Nics, DevicesOfAHostShareItsInterface) {
  const target::Machines two = {onHost(0, 0), onHost(0, 0), onHost(1, 0)};
  EntryTimes times = forecast(
      devices(3), entryOf({{send(2, 0, 6)}, {send(2, 1, 6)}, {receive(0, 0, 6), receive(1, 1, 6)}}),
      two);
  EXPECT_EQ(times.seconds, 22);
  EXPECT_EQ(times.hosts[0].sending, 12);
  // A message between the two does not use it.
  times = forecast(devices(3), entryOf({{send(1, 0, 6)}, {receive(0, 0, 6)}}), two);
  EXPECT_EQ(times.seconds, 6);
  EXPECT_EQ(times.hosts[0].sentBytes, 0);
}

TEST(Nics, InputsDoNotGo) {
  EntryTimes times =
      forecast(devices(2), entryOf({{transfer(KernelId::Send, 1, 0, 6, 1)}, {receive(0, 0, 6)}}),
               {onHost(0), onHost(1)});
  EXPECT_EQ(times.seconds, 6);
  EXPECT_EQ(times.hosts[0].sentBytes, 0);
}

/// Every host sends to others at random. No host finishes before its interface has moved all that
/// it sends or receives, and the total is at most that of all messages in sequence.
TEST(Nics, ForecastsLieBetweenSimpleBounds) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const int hosts = 2 + int(random() % 7);
    std::vector<std::vector<package::Launch>> sends(static_cast<size_t>(hosts)),
        receives(static_cast<size_t>(hosts));
    std::vector<double> out(static_cast<size_t>(hosts)), in(static_cast<size_t>(hosts));
    double all = 0;
    const int messages = 1 + int(random() % 60);
    for (int message = 0; message < messages; ++message) {
      const int from = int(random() % unsigned(hosts)),
                to = (from + 1 + int(random() % unsigned(hosts - 1))) % hosts;
      const auto floats = int64_t(1 + random() % 9);
      sends[size_t(from)].push_back(send(to, message, floats));
      receives[size_t(to)].push_back(receive(from, message, floats));
      out[size_t(from)] += double(floats);
      in[size_t(to)] += double(floats);
      all += double(floats);
    }
    target::Machines machines;
    for (int host = 0; host < hosts; ++host) {
      machines.push_back(onHost(host, 0));
      auto &program = sends[size_t(host)], &own = receives[size_t(host)];
      program.insert(program.end(), own.begin(), own.end());
    }
    EntryTimes times = forecast(devices(size_t(hosts)), entryOf(std::move(sends)), machines);
    for (size_t host = 0; host < size_t(hosts); ++host) {
      EXPECT_DOUBLE_EQ(times.hosts[host].sending, out[host]);
      EXPECT_DOUBLE_EQ(times.hosts[host].receiving, in[host]);
      EXPECT_GE(times.seconds, std::max(out[host], in[host])) << seed;
    }
    EXPECT_GT(times.seconds, 10);
    EXPECT_LE(times.seconds, all + 10) << seed;
  }
}

} // namespace
} // namespace lstmc::planning
