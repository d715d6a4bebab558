// Who is told what happens while `train` trains.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/training/TrainEvents.h"
#include "frontend/cli/PlanText.h"

namespace lstmc::cli {

/// Tells several. Of emulated GPUs it tells no rates.
struct Observers : training::TrainObserver {
  explicit Observers(bool emulated) : emulated(emulated) {}

  const bool emulated;
  std::vector<std::unique_ptr<training::TrainObserver>> all;
  template <typename Observer, typename... Arguments> Observer &add(Arguments &&...arguments) {
    auto made = std::make_unique<Observer>(std::forward<Arguments>(arguments)...);
    Observer &observer = *made;
    all.push_back(std::move(made));
    return observer;
  }
  std::string failedUpdate; ///< as training::EndEvent
  void start(const training::StartEvent &e) override {
    each([&](auto &o) { o.start(e); });
  }
  void tick(const training::UpdateEvent &e) override {
    const training::UpdateEvent told = withoutRates(e);
    each([&](auto &o) { o.tick(told); });
  }
  void update(const training::UpdateEvent &e) override {
    const training::UpdateEvent told = withoutRates(e);
    each([&](auto &o) { o.update(told); });
  }
  void valid(const training::ValidEvent &e) override {
    each([&](auto &o) { o.valid(e); });
  }
  void save(const training::SaveEvent &e) override {
    each([&](auto &o) { o.save(e); });
  }
  void warning(const Error &e) override {
    each([&](auto &o) { o.warning(e); });
  }
  void end(const training::EndEvent &e) override {
    failedUpdate = e.failedUpdate;
    each([&](auto &o) { o.end(e); });
  }
  training::UpdateEvent withoutRates(training::UpdateEvent event) const {
    if (emulated)
      event.labelsPerSecond = event.samplesPerSecond = std::nullopt;
    return event;
  }
  template <typename F> void each(F call) {
    for (auto &observer : all)
      call(*observer);
  }
};

/// Does something once, before the first update.
class AtStart : public training::TrainObserver {
public:
  explicit AtStart(std::function<void()> what) : what_(std::move(what)) {}
  void start(const training::StartEvent &) override { what_(); }

private:
  std::function<void()> what_;
};

/// The time from one update to the next where nothing else came between.
class UpdateClock : public training::TrainObserver {
public:
  void tick(const training::UpdateEvent &) override {
    auto now = std::chrono::steady_clock::now();
    if (last_)
      add(std::chrono::duration<double>(now - *last_).count());
    last_ = now;
  }
  void valid(const training::ValidEvent &) override { last_.reset(); }
  void save(const training::SaveEvent &) override { last_.reset(); }

  /// "forecast  update 131 ms, measured 128 ms (+2 %)"; empty without two updates in a row.
  std::string text(double forecast) {
    if (seconds_.empty())
      return "";
    std::nth_element(seconds_.begin(), seconds_.begin() + long(seconds_.size() / 2),
                     seconds_.end());
    double median = seconds_[seconds_.size() / 2];
    return besideMeasured("update", forecast, median);
  }

private:
  /// The newest, so that a long training needs no more memory than a short one.
  void add(double seconds) {
    if (seconds_.size() < kKept)
      seconds_.push_back(seconds);
    else
      seconds_[next_++ % kKept] = seconds;
  }

  static constexpr size_t kKept = 4096;
  std::optional<std::chrono::steady_clock::time_point> last_;
  std::vector<double> seconds_;
  size_t next_ = 0;
};

} // namespace lstmc::cli
