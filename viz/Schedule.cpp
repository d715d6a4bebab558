#include "viz/Schedule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "viz/KernelKind.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 1100, kLeft = 20, kTop = 66, kBar = 48, kLane = 100, kLegendRow = 18, kBottom = 12;

std::string titleOf(const package::PackageData &package, const package::Launch &launch, const Work &work, double seconds) {
  const package::Location &at = package.locations[launch.location];
  std::string title(kernelRecord(launch.kernel).name);
  if (!at.op.empty())
    title += fmt::format(" of {}{}{}", at.op, at.name.empty() ? "" : " ", at.name);
  title += fmt::format(": {}, {} FLOP, {} bytes", durationText(seconds), work.flops, work.bytes);
  std::string_view line = at.text;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return at.line ? fmt::format("{}; {}:{}:{} {}", title, at.file, at.line, at.column, line) : title;
}

/// A step of 1, 2 or 5 times a power of ten, about `count` of which make up `length`.
double niceStep(double length, int count) {
  double power = std::pow(10, std::floor(std::log10(length / count)));
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor * count >= length)
      return power * factor;
  return power * 10;
}

class Lanes {
public:
  Lanes(const package::PackageData &package, const package::Entry &entry, const Rates &rates)
      : package_(package), entry_(entry), rates_(rates),
        chart_(kLeft + kWidth + 60, kTop + double(package.devices.size()) * kLane + 2 * kLegendRow + kBottom) {}

  Chart draw() {
    for (const package::DeviceProgram &program : entry_.programs) {
      double sum = 0;
      for (const package::Launch &launch : program.launches)
        sum += rates_.seconds(workOf(package_, launch));
      longest_ = std::max(longest_, sum);
    }
    chart_.text(kLeft, 20, fmt::format("{}: schedule of {}", package_.net, entry_.name));
    chart_.text(kLeft, 38, rates_.text());
    for (size_t device = 0; device < package_.devices.size(); ++device)
      lane(uint32_t(device), kTop + double(device) * kLane);
    legend(kTop + double(package_.devices.size()) * kLane);
    return std::move(chart_);
  }

private:
  double place(double seconds) const { return kLeft + (longest_ > 0 ? kWidth * seconds / longest_ : 0); }

  void lane(uint32_t device, double top) {
    double now = 0;
    size_t count = 0;
    for (const package::DeviceProgram &program : entry_.programs) {
      if (program.device != device)
        continue;
      for (const package::Launch &launch : program.launches) {
        Work work = workOf(package_, launch);
        double seconds = rates_.seconds(work);
        bar(launch, top + 8, now, seconds, titleOf(package_, launch, work, seconds));
        now += seconds;
      }
      count += program.launches.size();
    }
    chart_.text(kLeft, top, fmt::format("{}: {} launch{}, {}", package_.devices[device].name, count, count == 1 ? "" : "es", durationText(now)));
    axis(top + 8 + kBar);
  }

  void bar(const package::Launch &launch, double top, double begin, double seconds, const std::string &title) {
    constexpr double kGap = 0.5; // between neighbours that are wide enough for one
    double x = place(begin), width = place(begin + seconds) - x;
    size_t kind = kindOf(launch.kernel);
    kindSeconds_[kind] += seconds;
    chart_.rectangle(x, top, width > 4 * kGap ? width - kGap : width, kBar, kKernelKinds[kind].color, title);
    // Kernel above name; neither where it does not fit.
    const package::Location &at = package_.locations[launch.location];
    double y = top + 0.4 * kBar;
    for (std::string_view word : {kernelRecord(launch.kernel).name, std::string_view(at.name.empty() ? at.op : at.name)}) {
      if (double(word.size()) * kLetterWidth + 6 <= width)
        chart_.text(x + 3, y, word);
      y += 0.35 * kBar;
    }
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

  void legend(double y) {
    double x = kLeft;
    for (size_t kind = 0; kind < kKernelKinds.size(); ++kind) {
      if (kindSeconds_[kind] <= 0)
        continue;
      std::string text = fmt::format("{} {}", kKernelKinds[kind].name, durationText(kindSeconds_[kind]));
      chart_.rectangle(x, y, 10, 10, kKernelKinds[kind].color);
      chart_.text(x + 14, y + 9, text);
      x += 30 + kLetterWidth * double(text.size());
    }
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const Rates &rates_;
  Chart chart_;
  double longest_ = 0; ///< seconds of the lane that takes longest
  std::array<double, kKernelKinds.size()> kindSeconds_ = {};
};

} // namespace

Chart scheduleChart(const package::PackageData &package, const Rates &rates) {
  auto named = [&](std::string_view name) {
    return std::find_if(package.entries.begin(), package.entries.end(), [&](const package::Entry &e) { return e.name == name; });
  };
  auto entry = named("step");
  if (entry == package.entries.end())
    entry = named("forward");
  return entry == package.entries.end() ? Chart(kWidth, kTop) : Lanes(package, *entry, rates).draw();
}

} // namespace lstmc::viz
