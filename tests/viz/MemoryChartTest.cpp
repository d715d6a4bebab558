// The chart of a plan: the values at each launch never take more than the arena, and at the peak
// they take all of it except holes.
#include <regex>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "executor/package/Plan.h"
#include "tests/e2e/Net.h"
#include "viz/MemoryChart.h"

namespace lstmc::viz {
namespace {

using package::BytesOfKind;

uint64_t total(const BytesOfKind &bytes) {
  uint64_t sum = 0;
  for (uint64_t part : bytes)
    sum += part;
  return sum;
}

/// Weights that others packed hold nothing during a step, after which they are packed again.
bool isLost(const package::PackageData &data, uint32_t buffer, size_t entry) {
  if (data.buffers[buffer].kind != package::Kind::Packed || data.entries[entry].name != "step")
    return false;
  for (const package::Launch &launch : data.entries[entry].programs[0].launches)
    for (const package::Operand &operand : launch.operands)
      if (operand.buffer == buffer)
        return false;
  return true;
}

/// Every byte of the arena that some buffer holds at a launch, counted on a map of the arena.
uint64_t heldAt(const package::PackageData &data, size_t entry, uint32_t launch) {
  std::vector<bool> held(data.devices[0].arenaBytes);
  for (uint32_t i = 0; i < data.buffers.size(); ++i) {
    const package::Buffer &buffer = data.buffers[i];
    if ((buffer.entry == package::kPersistent && !isLost(data, i, entry)) ||
        (buffer.entry == int32_t(entry) && buffer.from <= launch && launch <= buffer.to))
      std::fill_n(held.begin() + int64_t(buffer.offset), buffer.bytes, true);
  }
  return uint64_t(std::count(held.begin(), held.end(), true));
}

/// Whether an entry holds as many bytes from begin to end, and so is not drawn.
bool isFlat(const package::PackageData &data, size_t entry) {
  std::set<uint64_t> held;
  for (size_t launch = 0; launch < data.entries[entry].programs[0].launches.size(); ++launch)
    held.insert(heldAt(data, entry, uint32_t(launch)));
  return held.size() <= 1;
}

TEST(MemoryChart, BytesAreThoseOfThePlan) {
  for (const e2e::Model &model : e2e::models()) {
    package::PackageData data = e2e::compileNet(model.recipe).package;
    uint64_t most = 0;
    for (size_t entry = 0; entry < data.entries.size(); ++entry) {
      std::vector<BytesOfKind> alive = package::bytesAlive(data, 0, entry);
      ASSERT_EQ(alive.size(), data.entries[entry].programs[0].launches.size());
      for (uint32_t launch = 0; launch < alive.size(); ++launch) {
        EXPECT_EQ(total(alive[launch]), heldAt(data, entry, launch))
            << model.name << ", launch " << launch;
        most = std::max(most, total(alive[launch]));
      }
    }
    package::DevicePlan plan = package::planOf(data)[0];
    EXPECT_EQ(total(plan.bytesOfKind), most);
    EXPECT_EQ(total(plan.bytesOfKind) + plan.unusedBytes, data.devices[0].arenaBytes);
  }
}

/// Bars, by their position: at each launch of each entry they are stacked up to the bytes that are
/// alive.
TEST(MemoryChart, DrawsThem) {
  package::PackageData data = e2e::compileNet(e2e::models().front().recipe).package;
  data.net = "<a&b>";
  std::string svg = memoryChart(data, {target::Machine()});
  EXPECT_NE(svg.find("&lt;a&amp;b&gt;: planned peak"), std::string::npos);
  std::vector<double> heights;
  std::string last;
  const std::regex bar(
      "<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"[0-9.]+\" height=\"([0-9.]+)\" fill");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) {
    if ((*at)[2] == "10")
      continue; // a square of the legend
    if (heights.empty() || (*at)[1] != last)
      heights.push_back(0);
    last = (*at)[1];
    heights.back() += std::stod((*at)[2]);
  }
  std::vector<size_t> order; // step first
  for (size_t entry = 0; entry < data.entries.size(); ++entry)
    if (!isFlat(data, entry))
      order.insert(data.entries[entry].name == "step" ? order.begin() : order.end(), entry);
  size_t moment = 0;
  for (size_t entry : order)
    for (const BytesOfKind &bytes : package::bytesAlive(data, 0, entry)) {
      ASSERT_LT(moment, heights.size());
      // A height is rounded to two digits, for each of at most 11 kinds.
      EXPECT_NEAR(heights[moment++],
                  160 * double(total(bytes)) / double(data.devices[0].arenaBytes), 11 * 0.005)
          << entry;
    }
  EXPECT_EQ(moment, heights.size());
}

/// The axes end at the arena and at the time of the entry; the peak names what the plan names,
/// once; a bar says its kind and bytes.
TEST(MemoryChart, SaysWhatIsSeen) {
  package::PackageData data = e2e::compileNet(e2e::models().front().recipe).package;
  std::string svg = memoryChart(data, {target::Machine()});
  package::DevicePlan plan = package::planOf(data)[0];
  const package::Buffer &largest = data.buffers[plan.largest[0]];
  EXPECT_LT(svg.find(">step</text>"), svg.find(">forward</text>"));
  auto count = [&](const std::string &text) {
    size_t found = 0;
    for (size_t at = svg.find(text); at != svg.npos; at = svg.find(text, at + 1))
      ++found;
    return found;
  };
  size_t drawn = 0;
  for (size_t entry = 0; entry < data.entries.size(); ++entry) {
    drawn += !isFlat(data, entry);
    EXPECT_EQ(count(">" + data.entries[entry].name + "</text>"), size_t(!isFlat(data, entry)));
  }
  EXPECT_LT(drawn, data.entries.size());
  EXPECT_EQ(count(">" + bytesText(plan.arenaBytes) + "</text>"), drawn);
  EXPECT_EQ(count("largest " + largest.name + " "), 1u);
  EXPECT_EQ(count(">peak " + bytesText(plan.arenaBytes, 2) + " in "), 1u);
  uint64_t weights = plan.bytesOfKind[size_t(package::Kind::Parameter)];
  EXPECT_GT(count("<title>parameter " + bytesText(weights) + ", at "), 1u);
}

/// A second device with half the memory, and programs that send it something.
package::PackageData overTwoDevices() {
  package::PackageData data = e2e::compileNet(e2e::models().front().recipe).package;
  data.devices.push_back({"cpu:1", data.devices[0].arenaBytes / 2});
  package::Buffer buffer = data.buffers[0];
  buffer.device = 1;
  buffer.bytes = data.devices[1].arenaBytes;
  buffer.kind = package::Kind::Parameter;
  buffer.entry = package::kPersistent;
  data.buffers.push_back(buffer);
  package::Launch send, receive;
  send.kernel = KernelId::Send;
  receive.kernel = KernelId::Receive;
  send.operands = receive.operands = {{0, 0, {1}, {}}};
  send.ints = {1, 0};
  receive.ints = {0, 0};
  std::vector<package::DeviceProgram> &programs =
      std::find_if(data.entries.begin(), data.entries.end(), [](const package::Entry &entry) {
        return entry.name == "forward";
      })->programs;
  programs[0].launches.push_back(send);
  programs[0].commit = uint32_t(programs[0].launches.size());
  programs.push_back({1, {receive}, 1});
  return data;
}

TEST(MemoryChart, HasALanePerDeviceOnOneScale) {
  package::PackageData data = overTwoDevices();
  std::string svg = memoryChart(data, {target::Machine()});
  EXPECT_NE(svg.find(fmt::format("planned peak {} on cpu:0, {} on cpu:1",
                                 bytesText(data.devices[0].arenaBytes, 2),
                                 bytesText(data.devices[1].arenaBytes, 2))),
            std::string::npos);
  // The lane of the second device in the first entry but step: it waits all the time and holds its
  // parameter. The lane is half as high as that of the first device's peak.
  std::smatch bar;
  std::string lane = svg.substr(svg.find(">cpu:1</text>"));
  ASSERT_TRUE(std::regex_search(
      lane, bar,
      std::regex("<rect x=\"110.0000\" y=\"[0-9.]+\" width=\"900.0000\" height=\"80.00\"")));
  EXPECT_NE(lane.find("y1=\"540.00\""), std::string::npos)
      << "the peak's line, of the third lane after step's: 40 + 2 * (160 + 50) + 160 - 80";
}

TEST(MemoryChart, IsATraceToo) {
  package::PackageData data = overTwoDevices();
  auto trace = nlohmann::json::parse(memoryTrace(data, {target::Machine()}));
  uint64_t most = 0, second = 0;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] != "C")
      continue;
    uint64_t sum = 0;
    for (const auto &[kind, bytes] : event["args"].items())
      sum += uint64_t(bytes);
    (event["name"] == "bytes on cpu:0" ? most : second) =
        std::max(event["name"] == "bytes on cpu:0" ? most : second, sum);
  }
  package::DevicePlan plan = package::planOf(data)[0];
  EXPECT_EQ(most, total(plan.bytesOfKind));
  EXPECT_EQ(second, data.devices[1].arenaBytes);
}

} // namespace
} // namespace lstmc::viz
