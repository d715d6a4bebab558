// What run.sh does with a package on a card, without the compiler.
//
// usage: on_card train PACKAGE DATA UPDATES DEVICES    {"weights": "...", "loss": 2.1}
//        on_card time PACKAGE ENTRY SECONDS DEVICES    {"median_s": .., "least_s": .., "runs": ..}
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "backends/registry/Devices.h"
#include "executor/base/StandardStreams.h"
#include "executor/session/Session.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Trainer.h"

namespace lstmc {
namespace {

Result<std::unique_ptr<Session>> open(const std::string &path, const std::string &list) {
  LSTMC_ASSIGN(package::Package::Pointer package, package::Package::open(path));
  LSTMC_ASSIGN(std::vector<std::unique_ptr<Device>> devices, makeDevices(list));
  SessionOptions options;
  options.seed = 1;
  options.watch.notice = [](const Error &error) {
    writeMessage("warning: " + error.text() + "\n");
  };
  LSTMC_ASSIGN(std::unique_ptr<Session> session,
               Session::create(package, std::move(devices), std::move(options)));
  LSTMC_TRY(session->initialise(1));
  return session;
}

Result<training::FitSettings> settingsOf(const Session &session) {
  training::FitSettings fit;
  for (const package::Setting &setting : session.package().data().fit)
    LSTMC_TRY(fit.set(setting.name, setting.value).status());
  return fit;
}

/// Training as `lstmc train` does it, with the settings of the package.
Result<std::string> train(std::span<const std::string> words) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[3]));
  LSTMC_ASSIGN(data::DataSpec spec, data::DataSpec::parse(words[1]));
  LSTMC_ASSIGN(std::unique_ptr<data::DataSet> data, data::DataSet::load(spec));
  LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(*session));
  training::TrainOptions options;
  options.seed = 1;
  LSTMC_ASSIGN(options.fit, settingsOf(*session));
  options.after = {std::strtod(words[2].c_str(), nullptr), training::Amount::Unit::Updates};
  training::TrainObserver observer;
  LSTMC_ASSIGN(training::EndEvent end,
               training::train(*trainable, *data, nullptr, options, observer));
  return fmt::format("{{\"weights\": \"{}\", \"loss\": {}}}", end.weightsHash,
                     end.loss ? fmt::format("{:.17g}", *end.loss) : "null");
}

/// Half of the steps of every sequence, where the network has lengths.
Status fillLengths(Session &session, const std::string &entry) {
  const Result<Tensor> length = session.input(entry, "length");
  if (!length.ok())
    return {};
  LSTMC_ASSIGN(Tensor data, session.input(entry, "data"));
  for (int64_t row = 0; row < length->elements(); ++row)
    length->as<float>()[row] = float(data.shape[0] / 2);
  return {};
}

/// Runs of an entry, one after the other, for so many seconds and at least three.
Result<std::string> time(std::span<const std::string> words) {
  using Clock = std::chrono::steady_clock;
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[3]));
  const double atMost = std::strtod(words[2].c_str(), nullptr);
  LSTMC_TRY(fillLengths(*session, words[1]));
  session->setScalar("learning_rate", 1e-3);
  std::vector<double> seconds;
  constexpr int kWarm = 2, kLeast = 3;
  double all = 0;
  for (int64_t run = -kWarm; run < kLeast || all < atMost; ++run) {
    session->setScalar("update", run + kWarm + 1);
    const Clock::time_point begin = Clock::now();
    LSTMC_TRY(session->run(words[1]));
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    if (run < 0)
      continue;
    seconds.push_back(taken);
    all += taken;
  }
  std::sort(seconds.begin(), seconds.end());
  return fmt::format("{{\"median_s\": {:.9g}, \"least_s\": {:.9g}, \"runs\": {}}}",
                     seconds[seconds.size() / 2], seconds.front(), seconds.size());
}

} // namespace
} // namespace lstmc

int main(int count, char **given) {
  using namespace lstmc;
  const std::vector<std::string> words(given + 1, given + count);
  constexpr size_t kWords = 5;
  if (words.size() != kWords || (words[0] != "train" && words[0] != "time")) {
    writeMessage("usage: on_card train PACKAGE DATA UPDATES DEVICES\n"
                 "       on_card time PACKAGE ENTRY SECONDS DEVICES\n");
    return int(ExitCode::Usage);
  }
  const std::span<const std::string> rest = std::span(words).subspan(1);
  const Result<std::string> found = words[0] == "train" ? train(rest) : time(rest);
  if (found.ok()) {
    writeOutput(*found + "\n");
    return int(ExitCode::Ok);
  }
  writeMessage(found.error().text() + "\n");
  return int(errorRecord(found.error().code).exit);
}
