// Schedules: bars as wide as the time of their launches, a lane per device, arrows for messages.
#include <cstdlib>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backends/registry/Targets.h"
#include "tests/e2e/Net.h"
#include "viz/Cost.h"
#include "viz/Schedule.h"

namespace lstmc::viz {
namespace {

using ::testing::HasSubstr;

package::PackageData compiled() { return e2e::compileNet(e2e::models().front().recipe).package; }

const package::Entry &entryOf(const package::PackageData &data, std::string_view name) {
  return *std::find_if(data.entries.begin(), data.entries.end(),
                       [&](const package::Entry &e) { return e.name == name; });
}

Timeline planned(const package::PackageData &data, const package::Entry &entry) {
  return {"planned; " + ratesText({}), planning::forecast(data, entry, {target::Machine()})};
}

/// The chart of `step`, else of `forward`.
std::string svgOf(const package::PackageData &data) {
  const package::Entry &entry = *scheduledEntry(data);
  return scheduleChart(data, entry, {{planned(data, entry)}}).svg();
}

/// Bars have the order of the program without gaps, and the width of their launch's time.
TEST(Schedule, HasABarPerLaunchAsWideAsItTakes) {
  package::PackageData data = compiled();
  const target::Target &cpu = targetOf(DeviceKind::Cpu);
  std::string svg = svgOf(data);
  const std::vector<package::Launch> &launches = entryOf(data, "step").programs[0].launches;
  double sum = 0;
  for (const package::Launch &launch : launches)
    sum += cpu.launchSeconds({}, launch.kernel, target::workOf(data, launch));
  const std::regex bar(
      "<rect x=\"([0-9.]+)\" [^>]* width=\"([0-9.]+)\" [^>]*><title>([a-z_]+)[^<]*</title>");
  size_t i = 0;
  double now = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at, ++i) {
    ASSERT_LT(i, launches.size());
    double seconds = cpu.launchSeconds({}, launches[i].kernel, target::workOf(data, launches[i]));
    EXPECT_EQ((*at)[3].str(), kernelRecord(launches[i].kernel).name);
    EXPECT_NEAR(std::stod((*at)[1]), 20 + 1100 * now / sum, 0.005 + 1e-6) << i;
    // Half a unit stays free between neighbours that are wide enough for it.
    double width = 1100 * seconds / sum;
    EXPECT_NEAR(std::stod((*at)[2]), width > 2 ? width - 0.5 : width, 0.0005 + 1e-6) << i;
    now += seconds;
  }
  EXPECT_EQ(i, launches.size());
  EXPECT_THAT(svg,
              HasSubstr(fmt::format("cpu:0: {} launches, {}", launches.size(), durationText(sum))));
}

TEST(Schedule, SaysWhereALaunchComesFrom) {
  std::string svg = svgOf(compiled());
  EXPECT_TRUE(std::regex_search(
      svg, std::regex("<title>product of [A-Za-z]+ [a-z]+: [^<]* FLOP, [^<]* "
                      "(bytes|KiB|MiB); [^<]*\\.lnet:[0-9]+:[0-9]+ [^ <][^<]+</title>")));
}

TEST(Schedule, IsOfForwardWhereNothingIsTrained) {
  package::PackageData data = compiled();
  EXPECT_THAT(svgOf(data), HasSubstr("schedule of step"));
  std::erase_if(data.entries, [](const package::Entry &entry) { return entry.name == "step"; });
  EXPECT_THAT(svgOf(data), HasSubstr("schedule of forward"));
}

TEST(Schedule, HasALanePerDevice) {
  package::PackageData data = compiled();
  data.devices.push_back({"cpu:1", 0});
  EXPECT_THAT(svgOf(data), HasSubstr("cpu:1: 0 launches"));
  for (package::Entry &entry : data.entries)
    if (entry.name == "step")
      entry.programs.push_back({1, {entry.programs[0].launches.front()}, 1});
  EXPECT_THAT(svgOf(data), HasSubstr("cpu:1: 1 launch, "));
}

TEST(Schedule, SaysByWhichRatesItIsEstimated) {
  EXPECT_THAT(
      svgOf(compiled()),
      HasSubstr(
          "planned; estimate: from what launches compute and move; built-in rates of one core"));
  EXPECT_EQ(svgOf(compiled()), svgOf(compiled()));
  target::Machine machine;
  machine.measuredThreads = 2;
  EXPECT_THAT(ratesText(machine), HasSubstr("rates of this machine with 2 threads"));
}

/// Two devices; the second waits for a message that the first sends after its last launch but one.
package::PackageData overTwoDevices() {
  package::PackageData data = compiled();
  data.devices.push_back({"cpu:1", 0});
  for (package::Entry &entry : data.entries)
    if (entry.name == "step") {
      package::Launch last = entry.programs[0].launches.back(), send, receive;
      send.kernel = KernelId::Send;
      receive.kernel = KernelId::Receive;
      send.operands = receive.operands = {last.operands[0]};
      send.ints = {1, 7};
      receive.ints = {0, 7};
      std::vector<package::Launch> &launches = entry.programs[0].launches;
      launches.insert(launches.end() - 1, send);
      entry.programs[0].commit = uint32_t(launches.size());
      entry.programs.push_back({1, {receive, last}, 2});
    }
  return data;
}

TEST(Schedule, DrawsMessagesAsArrowsAndSaysWhoWaits) {
  package::PackageData data = overTwoDevices();
  const package::Entry &entry = *scheduledEntry(data);
  planning::EntryTimes times = planning::forecast(data, entry, {target::Machine()});
  std::string svg = svgOf(data);
  std::smatch arrow;
  ASSERT_TRUE(std::regex_search(
      svg, arrow,
      std::regex("<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\"")));
  const planning::LaunchTime &sent = *(times.programs[0].launches.end() - 2),
                             &taken = times.programs[1].launches[0];
  EXPECT_NEAR(std::stod(arrow[1]), 20 + 1100 * sent.begin / times.seconds, 0.006);
  EXPECT_NEAR(std::stod(arrow[3]), 20 + 1100 * taken.begin / times.seconds, 0.006);
  // From the lower edge of the first lane to the upper edge of the second.
  EXPECT_EQ(std::stod(arrow[4]) - std::stod(arrow[2]), 100 - 48);
  EXPECT_THAT(svg, HasSubstr(fmt::format("cpu:1: 2 launches, {}, idle {:.0f} %",
                                         durationText(times.programs[1].busy),
                                         100 * times.idleFraction(1))));
}

TEST(Schedule, PutsTimelinesOneOverTheOtherOnOneScale) {
  package::PackageData data = compiled();
  const package::Entry &entry = *scheduledEntry(data);
  std::vector<Timeline> two = {planned(data, entry), planned(data, entry)};
  two[1].title = "measured";
  for (planning::LaunchTime &time : two[1].times.programs[0].launches)
    time = {2 * time.begin, 2 * time.end};
  two[1].times.seconds *= 2;
  std::string svg = scheduleChart(data, entry, two).svg();
  EXPECT_THAT(svg, HasSubstr(">measured</text>"));
  // The first ends in the middle, the second at the right.
  std::vector<double> ends;
  const std::regex bar("<rect x=\"([0-9.]+)\" [^>]* width=\"([0-9.]+)\" [^>]*><title>");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at)
    ends.push_back(std::stod((*at)[1]) + std::stod((*at)[2]));
  ASSERT_EQ(ends.size(), 2 * entry.programs[0].launches.size());
  EXPECT_NEAR(ends[ends.size() / 2 - 1], 20 + 550, 0.6);
  EXPECT_NEAR(ends.back(), 20 + 1100, 0.6);
}

TEST(Schedule, IsATraceToo) {
  package::PackageData data = overTwoDevices();
  const package::Entry &entry = *scheduledEntry(data);
  planning::EntryTimes times = planning::forecast(data, entry, {target::Machine()});
  auto trace = nlohmann::json::parse(scheduleTrace(data, entry, {{planned(data, entry)}}));
  size_t launches = 0;
  double last = 0, sent = -1, taken = -1;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      ++launches;
      last = std::max(last, double(event["ts"]) + double(event["dur"]));
    }
    if (event["ph"] == "s" || event["ph"] == "f") {
      EXPECT_EQ(event["id"], 7);
      EXPECT_EQ(event["tid"], event["ph"] == "s" ? 1 : 2);
      (event["ph"] == "s" ? sent : taken) = event["ts"];
    }
  }
  EXPECT_EQ(launches, entry.programs[0].launches.size() + 2);
  EXPECT_DOUBLE_EQ(last, times.seconds * 1e6);
  EXPECT_GE(sent, 0);
  EXPECT_GT(taken, sent);
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
  package::PackageData data = overTwoDevices();
  Chart chart =
      scheduleChart(data, *scheduledEntry(data), {{planned(data, *scheduledEntry(data))}});
  for (auto [format, begin] : {std::pair{"svg", "<svg"}, {"png", "\x89PNG"}, {"pdf", "%PDF"}}) {
    Result<std::string> picture = chart.as(format);
    ASSERT_TRUE(picture.ok()) << format;
    EXPECT_TRUE(picture->starts_with(begin)) << format;
  }
}

} // namespace
} // namespace lstmc::viz
