#include "frontend/cli/Trace.h"

namespace lstmc::cli {

/// Spans kept: some 200 bytes each in the file, which is as much as viewers take.
static constexpr size_t kMostSpans = 1'000'000;

Trace::Trace(const Options &options) : path_(options.value("trace").value_or("")), existing_(options.existing()) {}

bool Trace::full() {
  if (spans_.size() < kMostSpans)
    return false;
  ++dropped_;
  return true;
}

void Trace::passes(const std::vector<passes::PassSpan> &spans) {
  for (const passes::PassSpan &span : spans)
    if (!path_.empty() && !full())
      spans_.push_back({span.pass, "pass", span.on, span.begin, span.end});
}

void Trace::watch(Session &session) {
  if (!path_.empty())
    session.setObserver(this);
}

void Trace::before(const LaunchView &) { launched_ = Clock::now(); }

void Trace::after(const LaunchView &launch) {
  Clock::time_point end = Clock::now();
  if (full())
    return;
  const package::Location &at = launch.location;
  std::string name = at.name.empty() ? at.op : at.name;
  spans_.push_back({fmt::format("{} {}", kernelRecord(launch.launch.kernel).name, name), "launch",
                    fmt::format("{} {} on {}, {}:{}", launch.entry, launch.index, launch.device, at.file, at.line), launched_, end});
}

Status Trace::write(const Console &console) const {
  if (path_.empty())
    return {};
  if (dropped_ > 0)
    console.say(fmt::format("warning: the trace holds the first {} spans, {} later ones are left out", spans_.size(), dropped_));
  auto micros = [](Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); };
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (size_t i = 0; i < spans_.size(); ++i) {
    const Span &span = spans_[i];
    bool pass = span.category == "pass";
    nlohmann::ordered_json event = {{"name", span.name}, {"cat", span.category}, {"ph", "X"},
                                    {"ts", micros(span.begin - start_)}, {"dur", micros(span.end - span.begin)},
                                    {"pid", 1}, {"tid", pass ? 1 : 2}, {"args", {{pass ? "on" : "at", span.detail}}}};
    text += (i ? ",\n" : "\n") + event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return writeFile(path_, text + "\n]}\n", existing_);
}

} // namespace lstmc::cli
