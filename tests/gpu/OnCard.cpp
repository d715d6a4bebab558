// What run.sh does with a package on a card, without the compiler.
//
// usage: on_card train PACKAGE DATA UPDATES DEVICES    {"weights": "...", "loss": 2.1}
//        on_card hash PACKAGE ENTRY DEVICES            {"hash": "...", "rms": 0.1}
//        on_card time PACKAGE ENTRY SECONDS DEVICES    the same, and {"median_s": .., "least_s":
//        ..,
//                                                      "runs": ..}
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "backends/registry/Devices.h"
#include "executor/base/Hash.h"
#include "executor/base/Philox.h"
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

const package::Entry *entryOf(const Session &session, const std::string &name) {
  const std::optional<size_t> at = session.package().findEntry(name);
  return at ? &session.package().data().entries[*at] : nullptr;
}

/// Numbers in [-1, 1) that depend on nothing but their place; lengths are half of the steps.
Status fillInputs(Session &session, const package::Entry &entry) {
  for (const package::Binding &binding : entry.inputs) {
    if (binding.role == "scalar")
      continue;
    LSTMC_ASSIGN(Tensor input, session.input(entry.name, binding.name));
    if (input.dtype != DType::F32)
      return fail(ErrorCode::E0610, "input {} is {}, want f32", binding.name,
                  dtypeName(input.dtype));
    LSTMC_ASSIGN(Tensor data, session.input(entry.name, "data"));
    for (int64_t i = 0; i < input.elements(); ++i)
      input.as<float>()[i] = binding.name == "length"
                                 ? float(data.shape[0] / 2)
                                 : float(2 * randomUniform(7, uint64_t(i), 0, 0) - 1);
  }
  session.setScalar("learning_rate", 1e-3);
  return {};
}

/// Of the outputs and weights after the first run from the first weights: their hash, and the root
/// of the mean square of the floats among the outputs.
Result<std::string> firstRun(Session &session, const std::string &name) {
  const package::Entry *entry = entryOf(session, name);
  if (!entry)
    return fail(ErrorCode::E0610, "the package has no entry \"{}\"", name);
  LSTMC_TRY(fillInputs(session, *entry));
  session.setScalar("update", int64_t(1));
  LSTMC_TRY(session.run(name));
  std::vector<uint64_t> hashes;
  double squares = 0;
  int64_t count = 0;
  for (const package::Binding &binding : entry->outputs) {
    LSTMC_ASSIGN(Tensor output, session.output(name, binding.name));
    hashes.push_back(hashBytes(output.data, size_t(output.elements()) * dtypeBytes(output.dtype)));
    for (int64_t i = 0; isFloat(output.dtype) && i < output.elements(); ++i, ++count)
      squares += std::pow(readElement<double>(output.data, output.dtype, i), 2);
  }
  hashes.push_back(session.weightsHash());
  return fmt::format("\"hash\": \"{:016x}\", \"rms\": {:.9g}", combineHashes(hashes),
                     std::sqrt(squares / double(std::max<int64_t>(count, 1))));
}

Result<std::string> hash(std::span<const std::string> words) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[2]));
  LSTMC_ASSIGN(std::string found, firstRun(*session, words[1]));
  return "{" + found + "}";
}

/// Runs of an entry, one after the other, for so many seconds and at least three.
Result<std::string> time(std::span<const std::string> words) {
  using Clock = std::chrono::steady_clock;
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[3]));
  const double atMost = std::strtod(words[2].c_str(), nullptr);
  LSTMC_ASSIGN(std::string first, firstRun(*session, words[1]));
  std::vector<double> seconds;
  constexpr int kWarm = 1, kLeast = 3;
  double all = 0;
  for (int64_t run = -kWarm; run < kLeast || all < atMost; ++run) {
    session->setScalar("update", run + kWarm + 2);
    const Clock::time_point begin = Clock::now();
    LSTMC_TRY(session->run(words[1]));
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    if (run < 0)
      continue;
    seconds.push_back(taken);
    all += taken;
  }
  std::sort(seconds.begin(), seconds.end());
  return fmt::format("{{{}, \"median_s\": {:.9g}, \"least_s\": {:.9g}, \"runs\": {}}}", first,
                     seconds[seconds.size() / 2], seconds.front(), seconds.size());
}

} // namespace
} // namespace lstmc

int main(int count, char **given) {
  using namespace lstmc;
  const std::vector<std::string> words(given + 1, given + count);
  const std::span<const std::string> rest = std::span(words).subspan(words.empty() ? 0 : 1);
  struct Command {
    std::string_view name;
    size_t words;
    Result<std::string> (*run)(std::span<const std::string>);
  };
  constexpr Command kCommands[] = {{"train", 4, train}, {"hash", 3, hash}, {"time", 4, time}};
  const Command *command = std::ranges::find_if(kCommands, [&](const Command &known) {
    return !words.empty() && known.name == words[0] && known.words == rest.size();
  });
  if (command == std::end(kCommands)) {
    writeMessage("usage: on_card train PACKAGE DATA UPDATES DEVICES\n"
                 "       on_card hash PACKAGE ENTRY DEVICES\n"
                 "       on_card time PACKAGE ENTRY SECONDS DEVICES\n");
    return int(ExitCode::Usage);
  }
  const Result<std::string> found = command->run(rest);
  if (found.ok()) {
    writeOutput(*found + "\n");
    return int(ExitCode::Ok);
  }
  writeMessage(found.error().text() + "\n");
  return int(errorRecord(found.error().code).exit);
}
