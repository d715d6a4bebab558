// Schedules and what they are estimated from: work counted by hand, bars as wide as it, a lane per device.
#include <cstdlib>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/Net.h"
#include "viz/Schedule.h"

namespace lstmc::viz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

package::PackageData compiled() { return e2e::compileNet(e2e::models().front().recipe).package; }

const package::Entry &entryOf(const package::PackageData &data, std::string_view name) {
  return *std::find_if(data.entries.begin(), data.entries.end(), [&](const package::Entry &e) { return e.name == name; });
}

/// x, y and what the flags name, as buffers of one type.
package::PackageData withBuffers(DType dtype) {
  package::PackageData data;
  data.buffers.resize(4);
  for (package::Buffer &buffer : data.buffers)
    buffer.dtype = dtype;
  return data;
}

TEST(Cost, OfAProductIsCountedByHand) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Product;
  launch.operands = {{0, 0, {1, 5, 7}, {}}, {1, 0, {112}, {}}, {package::kNoBuffer, 0, {}, {}}, {2, 0, {1, 5, 3}, {}}};
  Work work = workOf(data, launch);
  EXPECT_EQ(work.flops, 2 * 5 * 3 * 7);
  EXPECT_EQ(work.bytes, 4 * (5 * 7 + 112 + 5 * 3));
  data = withBuffers(DType::F64);
  EXPECT_EQ(workOf(data, launch).flops, 2 * 2 * 5 * 3 * 7);
  EXPECT_EQ(workOf(data, launch).bytes, 8 * (5 * 7 + 112 + 5 * 3));
}

TEST(Cost, CountsElementsInMemoryOnce) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Copy;
  launch.operands = {{0, 0, {6, 5}, {0, 1}}, {1, 0, {6, 5}, {}}};
  EXPECT_EQ(workOf(data, launch).flops, 0);
  EXPECT_EQ(workOf(data, launch).bytes, 4 * (5 + 6 * 5));
  // An embedding reads rows: 3 indices of a table of 100.
  launch.kernel = KernelId::Gather;
  launch.operands = {{0, 0, {1, 100, 8}, {}}, {1, 0, {3}, {}}, {2, 0, {1, 3, 8}, {}}};
  EXPECT_EQ(workOf(data, launch).bytes, 4 * (3 * 8 + 3 + 3 * 8));
}

TEST(Cost, OfAFusedProgramGrowsWithItsInstructions) {
  package::PackageData data = withBuffers(DType::F32);
  data.programs.resize(1);
  data.programs[0].instructions.resize(3);
  package::Launch launch;
  launch.kernel = KernelId::Fused;
  launch.operands = {{0, 0, {6, 5}, {}}, {1, 0, {6, 5}, {}}};
  launch.ints = {0};
  EXPECT_EQ(workOf(data, launch).flops, 3 * 6 * 5);
}

TEST(Cost, IsTheLongerOfComputingAndMovingAndALaunch) {
  Rates rates;
  rates.figures = {.flopsPerSecond = 100, .bytesPerSecond = 10, .launchSeconds = 1};
  EXPECT_EQ(rates.seconds({1000, 20}), 11);
  EXPECT_EQ(rates.seconds({100, 20}), 3);
}

/// Bars stand in the order of the program without a gap, as wide as their launch takes.
TEST(Schedule, HasABarPerLaunchAsWideAsItTakes) {
  package::PackageData data = compiled();
  Rates rates;
  std::string svg = scheduleChart(data, rates).svg();
  const std::vector<package::Launch> &launches = entryOf(data, "step").programs[0].launches;
  double sum = 0;
  for (const package::Launch &launch : launches)
    sum += rates.seconds(workOf(data, launch));
  const std::regex bar("<rect x=\"([0-9.]+)\" [^>]* width=\"([0-9.]+)\" [^>]*><title>([a-z_]+)[^<]*</title>");
  size_t i = 0;
  double now = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at, ++i) {
    ASSERT_LT(i, launches.size());
    double seconds = rates.seconds(workOf(data, launches[i]));
    EXPECT_EQ((*at)[3].str(), kernelRecord(launches[i].kernel).name);
    EXPECT_NEAR(std::stod((*at)[1]), 20 + 1100 * now / sum, 0.005 + 1e-6) << i;
    // Half a unit is left between neighbours that are wide enough for it.
    double width = 1100 * seconds / sum;
    EXPECT_NEAR(std::stod((*at)[2]), width > 2 ? width - 0.5 : width, 0.0005 + 1e-6) << i;
    now += seconds;
  }
  EXPECT_EQ(i, launches.size());
  EXPECT_THAT(svg, HasSubstr(fmt::format("cpu:0: {} launches, {}", launches.size(), durationText(sum))));
}

TEST(Schedule, SaysWhereALaunchComesFrom) {
  std::string svg = scheduleChart(compiled(), {}).svg();
  EXPECT_TRUE(std::regex_search(svg, std::regex("<title>product of [A-Za-z]+ [a-z]+: [^<]* FLOP, [^<]* bytes; [^<]*\\.lnet:[0-9]+:[0-9]+ [^ <][^<]+</title>")));
}

TEST(Schedule, IsOfForwardWhereNothingIsTrained) {
  package::PackageData data = compiled();
  EXPECT_THAT(scheduleChart(data, {}).svg(), HasSubstr("schedule of step"));
  std::erase_if(data.entries, [](const package::Entry &entry) { return entry.name == "step"; });
  EXPECT_THAT(scheduleChart(data, {}).svg(), HasSubstr("schedule of forward"));
}

TEST(Schedule, HasALanePerDevice) {
  package::PackageData data = compiled();
  data.devices.push_back({"cpu:1", 0});
  EXPECT_THAT(scheduleChart(data, {}).svg(), HasSubstr("cpu:1: 0 launches"));
  for (package::Entry &entry : data.entries)
    if (entry.name == "step")
      entry.programs.push_back({1, {entry.programs[0].launches.front()}, 1});
  EXPECT_THAT(scheduleChart(data, {}).svg(), HasSubstr("cpu:1: 1 launch, "));
}

TEST(Schedule, SaysByWhichRatesItIsEstimated) {
  package::PackageData data = compiled();
  Rates rates;
  EXPECT_THAT(scheduleChart(data, rates).svg(), HasSubstr("built-in rates of one core"));
  EXPECT_EQ(scheduleChart(data, rates).svg(), scheduleChart(compiled(), rates).svg());
  rates.figures.flopsPerSecond = 123e9;
  rates.measuredThreads = 2;
  std::string measured = scheduleChart(data, rates).svg();
  EXPECT_THAT(measured, HasSubstr("computing at 123 GFLOP/s"));
  EXPECT_THAT(measured, HasSubstr("rates of this machine with 2 threads"));
}

TEST(Chart, EscapesTextsAndTitles) {
  Chart chart(10, 10);
  chart.rectangle(1, 2, 3, 4, "#ffffff", "<a&\"b\">\x01");
  chart.text(1, 2, "<c>");
  EXPECT_THAT(chart.svg(), HasSubstr("<title>&lt;a&amp;&quot;b&quot;&gt;</title>"));
  EXPECT_THAT(chart.svg(), HasSubstr(">&lt;c&gt;</text>"));
}

TEST(Chart, IsDrawnInEveryFormat) {
  if (std::system("dot -V 2>/dev/null") != 0)
    GTEST_SKIP() << "no program dot";
  Chart chart = scheduleChart(compiled(), {});
  for (auto [format, begin] : {std::pair{"svg", "<svg"}, {"png", "\x89PNG"}, {"pdf", "%PDF"}}) {
    Result<std::string> picture = chart.as(format);
    ASSERT_TRUE(picture.ok()) << format;
    EXPECT_TRUE(picture->starts_with(begin)) << format;
  }
}

} // namespace
} // namespace lstmc::viz
