// The chart of a plan: what lives at each launch is never more than the arena, and at the peak it is all of it but the holes.
#include <regex>

#include <gtest/gtest.h>

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

/// Every byte of the arena that some buffer holds at a launch, counted on a map of the arena.
uint64_t heldAt(const package::PackageData &data, size_t entry, uint32_t launch) {
  std::vector<bool> held(data.devices[0].arenaBytes);
  for (const package::Buffer &buffer : data.buffers)
    if (buffer.entry == package::kPersistent ||
        (buffer.entry == int32_t(entry) && buffer.from <= launch && launch <= buffer.to))
      std::fill_n(held.begin() + int64_t(buffer.offset), buffer.bytes, true);
  return uint64_t(std::count(held.begin(), held.end(), true));
}

TEST(MemoryChart, BytesAreThoseOfThePlan) {
  for (const e2e::Model &model : e2e::models()) {
    package::PackageData data = e2e::compileNet(model.recipe).package;
    uint64_t most = 0;
    for (size_t entry = 0; entry < data.entries.size(); ++entry) {
      std::vector<BytesOfKind> alive = package::bytesAlive(data, 0, entry);
      ASSERT_EQ(alive.size(), data.entries[entry].programs[0].launches.size());
      for (uint32_t launch = 0; launch < alive.size(); ++launch) {
        EXPECT_EQ(total(alive[launch]), heldAt(data, entry, launch)) << model.name << ", launch " << launch;
        most = std::max(most, total(alive[launch]));
      }
    }
    package::DevicePlan plan = package::planOf(data)[0];
    EXPECT_EQ(total(plan.bytesOfKind), most);
    EXPECT_EQ(total(plan.bytesOfKind) + plan.unusedBytes, data.devices[0].arenaBytes);
  }
}

/// Bars, by their place: at each launch of each entry they stand on one another up to the bytes that live then.
TEST(MemoryChart, DrawsThem) {
  package::PackageData data = e2e::compileNet(e2e::models().front().recipe).package;
  data.net = "<a&b>";
  std::string svg = memoryChart(data);
  EXPECT_NE(svg.find("&lt;a&amp;b&gt;: planned peak"), std::string::npos);
  std::vector<double> heights;
  std::string last;
  const std::regex bar("<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"[0-9.]+\" height=\"([0-9.]+)\" fill");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) {
    if ((*at)[2] == "10")
      continue; // a square of the legend
    if (heights.empty() || (*at)[1] != last)
      heights.push_back(0);
    last = (*at)[1];
    heights.back() += std::stod((*at)[2]);
  }
  size_t moment = 0;
  for (size_t entry = 0; entry < data.entries.size(); ++entry)
    for (const BytesOfKind &bytes : package::bytesAlive(data, 0, entry)) {
      ASSERT_LT(moment, heights.size());
      // A height is written with two digits, for each of at most 11 kinds.
      EXPECT_NEAR(heights[moment++], 160 * double(total(bytes)) / double(data.devices[0].arenaBytes), 11 * 0.005) << entry;
    }
  EXPECT_EQ(moment, heights.size());
}

} // namespace
} // namespace lstmc::viz
