// What a user sees of training: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "executor/base/NumberText.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// A bar of so many cells, the first `share` of it full.
std::string progressBar(double share, int cells);

class Progress : public training::TrainObserver {
public:
  /// `metrics`: shown of a validation besides loss and perplexity; all that there are if empty.
  /// `showNorms`: those of gradients, where there is no terminal; else with -v.
  Progress(const Console &console, std::vector<std::string> metrics, bool showNorms)
      : console_(console), metrics_(std::move(metrics)), showNorms_(showNorms && !console.live()) {}
  ~Progress() override { keepPending(); }

  void start(const training::StartEvent &event) override;
  void tick(const training::UpdateEvent &event) override;
  void update(const training::UpdateEvent &event) override;
  void valid(const training::ValidEvent &event) override;
  void save(const training::SaveEvent &event) override;
  void warning(const Error &error) override;
  void end(const training::EndEvent &event) override;

private:
  void clearLive();
  void keep(const std::string &line);
  void keepPending();

  const Console &console_;
  std::vector<std::string> metrics_;
  bool showNorms_;
  bool liveShown_ = false;
  std::chrono::steady_clock::time_point drawn_{};
  std::string pending_; ///< line of a validation; waits for the save that may belong to it
  int64_t pendingUpdate_ = 0;
  std::chrono::steady_clock::time_point pendingSince_{};
};

} // namespace lstmc::cli
