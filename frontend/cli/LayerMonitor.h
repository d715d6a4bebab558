// --monitor: what layers compute while they train, as MXNet's Monitor prints it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "executor/session/Session.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// In update 1 and every `interval` updates after it: norm(x) / sqrt(size of x) of every value and
/// gradient that a layer whose name matches the pattern computes, in the order in which they are
/// made. The gradient of a parameter `w` is called `w_grad`. Launches run one at a time in such an
/// update; its results are the same.
class LayerMonitor : public training::TrainObserver, public SessionObserver {
public:
  LayerMonitor(const Console &console, Session &session, std::string pattern, int64_t interval);
  ~LayerMonitor() override { session_.setObserver(nullptr); }

  void start(const training::StartEvent &event) override { watch(event.progress.update); }
  void tick(const training::UpdateEvent &event) override;
  void after(const LaunchView &view) override;

private:
  /// Whether the launch is one of a layer that is looked at, or of its gradient.
  bool matches(const package::Location &location, std::string_view buffer);
  /// Whether the update after `update` is to be seen.
  void watch(int64_t update);

  const Console &console_;
  Session &session_;
  std::string pattern_;
  int64_t interval_;
  int64_t update_ = 0;                  ///< that runs
  bool looked_ = false, found_ = false; ///< at launches of an update; that one is of the pattern
  std::set<std::tuple<std::string, uint32_t, uint32_t>>
      places_;                                ///< of the layers: file, line, column
  std::map<uint32_t, std::string> gradients_; ///< names, by buffer
  std::vector<std::byte> scratch_;
};

} // namespace lstmc::cli
