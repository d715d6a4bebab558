#include "viz/Schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "viz/Axis.h"
#include "viz/Cost.h"
#include "viz/KernelKind.h"
#include "viz/ScheduleText.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 1100, kLeft = 20, kTop = 30, kTitle = 36, kBar = 48, kLane = 100,
                 kLegendRow = 18, kBottom = 12;

class Lanes {
public:
  Lanes(const package::PackageData &package, const package::Entry &entry,
        std::span<const Timeline> timelines, const BoxLinks *links)
      : package_(package), entry_(entry), timelines_(timelines), links_(links),
        chart_(kLeft + kWidth + 60,
               kTop + double(timelines.size()) * blockHeight() + 2 * kLegendRow + kBottom) {}

  Chart draw() {
    for (const Timeline &timeline : timelines_)
      longest_ = std::max(longest_, timeline.times.seconds);
    chart_.text(kLeft, 20, fmt::format("{}: schedule of {}", package_.net, entry_.name));
    double top = kTop;
    for (const Timeline &timeline : timelines_) {
      chart_.text(kLeft, top + 14, timeline.title);
      for (size_t device = 0; device < package_.devices.size(); ++device)
        lane(timeline.times, uint32_t(device), laneTop(top, uint32_t(device)),
             &timeline == &timelines_[0]);
      for (const MessageTime &message : messagesOf(entry_, timeline.times))
        arrow(message, top);
      top += blockHeight();
    }
    legend(top);
    return std::move(chart_);
  }

private:
  double blockHeight() const { return kTitle + double(package_.devices.size()) * kLane; }
  static double laneTop(double blockTop, uint32_t device) {
    return blockTop + kTitle + double(device) * kLane;
  }
  double place(double seconds) const {
    return kLeft + (longest_ > 0 ? kWidth * seconds / longest_ : 0);
  }

  void lane(const planning::EntryTimes &times, uint32_t device, double top, bool counted) {
    double busy = 0;
    size_t count = 0;
    for (size_t p = 0; p < entry_.programs.size(); ++p) {
      const package::DeviceProgram &program = entry_.programs[p];
      if (program.device != device)
        continue;
      count = program.launches.size();
      busy = times.programs[p].busy;
      for (size_t i = 0; i < count; ++i)
        bar(program.launches[i], top + 8, streamsOf(program), times.programs[p].launches[i],
            counted);
    }
    std::string idle = package_.devices.size() > 1
                           ? fmt::format(", idle {:.0f} %", 100 * times.idleFraction(device))
                           : "";
    chart_.text(kLeft, top,
                fmt::format("{}: {} launch{}, {}{}", package_.devices[device].name, count,
                            count == 1 ? "" : "es", durationText(busy), idle));
    axis(top + 8 + kBar);
  }

  static uint32_t streamsOf(const package::DeviceProgram &program) {
    uint32_t streams = 1;
    for (const package::Launch &launch : program.launches)
      streams = std::max(streams, launch.stream + 1);
    return streams;
  }

  /// Launches of several streams are drawn one below the other.
  void bar(const package::Launch &launch, double top, uint32_t streams,
           const planning::LaunchTime &time, bool counted) {
    if (launch.kernel == KernelId::Send)
      return;                    // an arrow
    constexpr double kGap = 0.5; // between neighbours that are wide enough for one
    double x = place(time.begin), width = place(time.end) - x;
    size_t kind = kindOf(launch.kernel);
    kindSeconds_[kind] += counted ? time.end - time.begin : 0;
    const double height = kBar / streams;
    top += height * launch.stream;
    chart_.rectangle(x, top, width > 4 * kGap ? width - kGap : width, height,
                     kKernelKinds[kind].color, launchTitle(package_, launch, time.end - time.begin),
                     links_ ? links_->boxOf(launch.location) : std::nullopt);
    // Kernel above name; omitted if they do not fit.
    const package::Location &at = package_.locations[launch.location];
    if (streams > 1)
      return;
    double y = top + 0.4 * kBar;
    for (std::string_view word :
         {kernelRecord(launch.kernel).name, std::string_view(at.name.empty() ? at.op : at.name)}) {
      if (double(word.size()) * kLetterWidth + 6 <= width)
        chart_.text(x + 3, y, word);
      y += 0.35 * kBar;
    }
  }

  /// From the facing edge of the sender's lane to that of the receiver's.
  void arrow(const MessageTime &message, double blockTop) {
    double from = laneTop(blockTop, message.sender) + 8,
           to = laneTop(blockTop, message.receiver) + 8;
    bool down = from < to;
    chart_.arrow(place(message.sent), down ? from + kBar : from, place(message.taken),
                 down ? to : to + kBar);
  }

  void axis(double y) {
    chart_.line(kLeft, y, kLeft + kWidth, y);
    if (longest_ <= 0)
      return;
    double step = niceStep(longest_, 10);
    for (int i = 0; double(i) * step <= longest_ * (1 + 1e-9); ++i) {
      chart_.line(place(double(i) * step), y, place(double(i) * step), y + 4);
      chart_.text(place(double(i) * step) + 2, y + 14, i ? durationText(double(i) * step) : "0");
    }
  }

  /// With the totals of the first timeline.
  void legend(double y) {
    double x = kLeft;
    for (size_t kind = 0; kind < kKernelKinds.size(); ++kind) {
      if (kindSeconds_[kind] <= 0)
        continue;
      std::string text =
          fmt::format("{} {}", kKernelKinds[kind].name, durationText(kindSeconds_[kind]));
      chart_.rectangle(x, y, 10, 10, kKernelKinds[kind].color);
      chart_.text(x + 14, y + 9, text);
      x += 30 + kLetterWidth * double(text.size());
    }
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  std::span<const Timeline> timelines_;
  const BoxLinks *links_;
  Chart chart_;
  double longest_ = 0; ///< seconds of the timeline that takes longest
  std::array<double, kKernelKinds.size()> kindSeconds_ = {};
};

} // namespace

const package::Entry *scheduledEntry(const package::PackageData &package) {
  for (std::string_view name : {"step", "forward"})
    for (const package::Entry &entry : package.entries)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

Chart scheduleChart(const package::PackageData &package, const package::Entry &entry,
                    std::span<const Timeline> timelines, const BoxLinks *links) {
  return Lanes(package, entry, timelines, links).draw();
}

} // namespace lstmc::viz
