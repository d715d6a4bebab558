// What a user sees of training: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

class Progress : public training::TrainObserver {
public:
  /// `total`: updates that the run will have as far as known; 0: unknown.
  explicit Progress(const Console &console) : console_(console) {}
  ~Progress() override { clearLive(); }

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

  const Console &console_;
  bool liveShown_ = false;
  std::chrono::steady_clock::time_point drawn_{};
  std::string validLine_; ///< waits for the save that may belong to it
};

} // namespace lstmc::cli
