#include "frontend/cli/Trace.h"

#include "frontend/cli/Ranks.h"

namespace lstmc::cli {

/// Spans kept: some 200 bytes each in the file, which is as much as viewers take.
static constexpr size_t kMostSpans = 1'000'000;

Trace::Trace(const Options &options)
    : path_(options.trace.value_or("")), existing_(options.existing()) {}

void Trace::add(Span span) {
  if (spans_.size() < kMostSpans)
    spans_.push_back(std::move(span));
  else
    ++dropped_;
}

void Trace::passes(const std::vector<passes::PassSpan> &spans) {
  for (const passes::PassSpan &span : spans)
    if (!path_.empty())
      add({kCompiler, span.pass, span.on, span.begin, span.end});
}

void Trace::watch(Session &session) {
  if (path_.empty())
    return;
  session.setTimer(this);
  lanes_.resize(1);
  for (const package::Device &device : session.package().data().devices)
    lanes_.push_back(device.name);
}

void Trace::ran(const package::Package &package, const package::Entry &entry,
                std::span<const std::span<const LaunchInterval>> times) {
  for (size_t p = 0; p < times.size(); ++p) {
    const package::DeviceProgram &program = entry.programs[p];
    for (size_t i = 0; i < times[p].size(); ++i) {
      if (times[p][i].end == Clock::time_point()) // it failed before this one
        continue;
      const package::Launch &launch = program.launches[i];
      const package::Location &at = package.location(launch.location);
      add({1 + program.device,
           fmt::format("{} {}", kernelRecord(launch.kernel).name,
                       at.name.empty() ? at.op : at.name),
           fmt::format("{} {}, {}:{}", entry.name, i, at.file, at.line), times[p][i].begin,
           times[p][i].end});
    }
  }
}

Status Trace::write(const Console &console) const {
  using Json = nlohmann::ordered_json;
  if (path_.empty() || jobRank() != 0)
    return {};
  if (dropped_ > 0)
    console.say(
        fmt::format("warning: the trace holds the first {} spans, {} later ones are left out",
                    spans_.size(), dropped_));
  auto micros = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::string text;
  auto put = [&](const Json &event) {
    text +=
        (text.empty() ? "\n" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  for (size_t lane = 0; lane < lanes_.size(); ++lane)
    put({{"name", "thread_name"},
         {"ph", "M"},
         {"pid", 1},
         {"tid", lane + 1},
         {"args", {{"name", lanes_[lane]}}}});
  for (const Span &span : spans_) {
    bool pass = span.lane == kCompiler;
    put({{"name", span.name},
         {"cat", pass ? "pass" : "launch"},
         {"ph", "X"},
         {"ts", micros(span.begin - start_)},
         {"dur", micros(span.end - span.begin)},
         {"pid", 1},
         {"tid", span.lane + 1},
         {"args", {{pass ? "on" : "at", span.detail}}}});
  }
  return writeFile(path_, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text + "\n]}\n",
                   existing_);
}

} // namespace lstmc::cli
