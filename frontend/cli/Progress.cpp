#include "frontend/cli/Progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "executor/base/StandardStreams.h"

namespace lstmc::cli {

static std::string rate(std::optional<double> rate) {
  if (!rate)
    return "-";
  const double perSecond = *rate;
  return perSecond >= 1e6   ? fmt::format("{:.1f}M", perSecond / 1e6)
         : perSecond >= 1e3 ? fmt::format("{:.1f}k", perSecond / 1e3)
                            : fmt::format("{:.0f}", perSecond);
}

static std::string duration(double seconds) {
  if (!(seconds < 360000))
    return "?";
  int64_t s = int64_t(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string progressBar(double share, int cells) {
  int halves = int(std::lround(std::clamp(share, 0.0, 1.0) * cells * 2));
  std::string text;
  for (int i = 0; i < cells; ++i)
    text += 2 * i + 2 <= halves ? "━" : 2 * i + 1 <= halves ? "╸" : "─";
  return text;
}

static std::string measures(const std::optional<double> &loss,
                            const std::optional<double> &perplexity) {
  std::string text;
  if (loss)
    text += fmt::format("  loss {:.4f}", *loss);
  if (perplexity)
    text += fmt::format("  ppl {:.2f}", *perplexity);
  return text;
}

/// Share of the time in which a step waits for its input, from which the live line says so.
static constexpr double kWaits = 0.05;

void Progress::clearLive() {
  if (liveShown_)
    writeMessage("\r\x1b[2K");
  liveShown_ = false;
}

void Progress::keep(const std::string &line) {
  keepPending();
  console_.say(line);
}

void Progress::keepPending() {
  clearLive();
  if (!pending_.empty())
    console_.say(std::exchange(pending_, ""));
}

void Progress::start(const training::StartEvent &event) {
  if (!event.resumedFrom.empty())
    keep(fmt::format("resumed   {} at update {}", event.resumedFrom,
                     grouped(event.progress.update)));
  if (!event.leftOut.empty())
    keep(fmt::format("left out  {}", event.leftOut));
  if (!event.validLeftOut.empty())
    keep(fmt::format("left out  {}, in a validation", event.validLeftOut));
}

void Progress::tick(const training::UpdateEvent &event) {
  // Checkpoints are written beside the training, so their lines come some updates later.
  if (!pending_.empty() &&
      std::chrono::steady_clock::now() - pendingSince_ > std::chrono::seconds(1))
    keepPending();
  auto now = std::chrono::steady_clock::now();
  if (!console_.live() || now - drawn_ < std::chrono::milliseconds(100))
    return;
  drawn_ = now;
  double total = event.share > 0 ? std::round(double(event.progress.update) / event.share) : 0;
  std::string head = fmt::format("update {}/{} ", grouped(event.progress.update),
                                 total > 0 ? grouped(int64_t(total)) : "?");
  std::string tail = fmt::format(" {:3.0f} %  epoch {:.2f}{}", event.share * 100,
                                 event.progress.epoch, measures(event.loss, event.perplexity));
  for (const auto &[name, value] : event.metrics)
    if (name != "loss" && name != "perplexity" && name != "Perplexity")
      tail += fmt::format("  {} {:.4f}", name, value);
  if (event.gradientNorm)
    tail += fmt::format("  gnorm {:.2f}", *event.gradientNorm);
  if (event.inputShare >= kWaits)
    tail += fmt::format("  waits for input {:.0f} %", event.inputShare * 100);
  tail += fmt::format("  lr {:g}  {} labels/s  left {}", event.learningRate,
                      rate(event.labelsPerSecond), duration(event.secondsLeft));
  int cells = std::clamp(console_.width() - int(head.size() + tail.size()) - 1, 4, 24);
  std::string line = head + progressBar(event.share, cells) + tail;
  writeMessage("\r\x1b[2K" + line);
  liveShown_ = true;
}

void Progress::update(const training::UpdateEvent &event) {
  std::string line =
      fmt::format("update={} epoch={:.2f}", event.progress.update, event.progress.epoch);
  if (event.loss)
    line += fmt::format(" loss={:.4f}", *event.loss);
  if (event.perplexity)
    line += fmt::format(" ppl={:.2f}", *event.perplexity);
  for (const auto &[name, value] : event.metrics)
    if (name != "loss" && name != "perplexity" && name != "Perplexity")
      line += fmt::format(" {}={:.4f}", name, value);
  if (event.gradientNorm)
    line += fmt::format(" gnorm={:.3f}", *event.gradientNorm);
  line += fmt::format(" lr={:g} labels/s={} input={:.1f}% left={:.0f}s", event.learningRate,
                      event.labelsPerSecond ? fmt::format("{:.0f}", *event.labelsPerSecond) : "-",
                      event.inputShare * 100, event.secondsLeft);
  if (console_.live())
    console_.note(line);
  else
    keep(line);
  std::string norms;
  for (const training::NamedNorm &norm : event.gradientNorms)
    norms += fmt::format(" {}={:.3g}", norm.name, norm.value);
  if (!norms.empty())
    console_.say("gradient norms" + norms, showNorms_ ? 0 : 1);
}

void Progress::valid(const training::ValidEvent &event) {
  std::string line = fmt::format("valid     update {}{}", grouped(event.progress.update),
                                 measures(event.loss, event.perplexity));
  for (const auto &[name, value] : event.metrics) {
    bool asked =
        metrics_.empty() || std::find(metrics_.begin(), metrics_.end(), name) != metrics_.end();
    if (asked && name != "loss" && name != "perplexity")
      line += fmt::format("  {} {:.4f}", name, value);
  }
  keepPending();
  pending_ = line + (event.best ? "  best" : "");
  pendingUpdate_ = event.progress.update;
  pendingSince_ = std::chrono::steady_clock::now();
}

void Progress::save(const training::SaveEvent &event) {
  std::string saved = fmt::format("saved {} (sha256 {}…)", event.path, event.sha256.substr(0, 8));
  if (!pending_.empty() && event.progress.update == pendingUpdate_) {
    pending_ += "  " + saved;
    keepPending();
  } else {
    clearLive();
    console_.say(fmt::format("save      update {}  {}", grouped(event.progress.update), saved));
  }
}

void Progress::warning(const Error &error) { keep("warning: " + error.text()); }

void Progress::end(const training::EndEvent &event) {
  keepPending();
  if (event.reason != training::EndReason::Done)
    console_.say(fmt::format("stopped   {} at update {}", training::endReasonName(event.reason),
                             grouped(event.progress.update)));
}

} // namespace lstmc::cli
