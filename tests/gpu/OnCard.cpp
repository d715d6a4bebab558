// What run.sh does with a package on a card, without the compiler.
//
// usage: on_card train PACKAGE DATA UPDATES DEVICES    {"weights": "...", "loss": 2.1}
//        on_card hash PACKAGE ENTRY DEVICES            {"hash": "...", "rms": 0.1}
//        on_card time PACKAGE ENTRY SECONDS DEVICES    the same, and
//                                     {"median_s": .., "least_s": .., "runs": .., "fed_s": ..}
//
// Numbers are as Python's json reads them, NaN too. What a device chose, and warnings, are lines of
// stderr.
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
  options.watch.choice = [](const std::string &choice) { writeMessage(choice + "\n"); };
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

std::string numberText(double number) {
  return std::isnan(number)   ? "NaN"
         : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                              : fmt::format("{:.17g}", number);
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
                     end.loss ? numberText(*end.loss) : "null");
}

/// An input in the device's memory, and what it is set to before each run.
struct GivenInput {
  StoredTensor place;
  std::vector<float> values;
};

/// Returns when they are there.
void give(std::span<const GivenInput> inputs) {
  for (const GivenInput &input : inputs) {
    input.place.write(std::as_bytes(std::span(input.values)));
    std::byte last;
    input.place.ranges.back().read(0, {&last, 1}); // comes after the copy
  }
}

/// Numbers in [-1, 1) that depend on nothing but their place; lengths are half of the steps.
Result<std::vector<GivenInput>> inputsOf(const Session &session, const package::Entry &entry) {
  std::vector<GivenInput> inputs;
  LSTMC_ASSIGN(const StoredTensor data, session.storedInput(entry.name, "data"));
  for (const package::Binding &binding : entry.inputs) {
    if (binding.role == "scalar")
      continue;
    LSTMC_ASSIGN(StoredTensor place, session.storedInput(entry.name, binding.name));
    const Tensor &input = place.tensor;
    if (input.dtype != DType::F32)
      return fail(ErrorCode::E0610, "input {} is {}, want f32", binding.name,
                  dtypeName(input.dtype));
    std::vector<float> values(size_t(input.elements()), float(data.tensor.shape[0] / 2));
    for (size_t i = 0; binding.name != "length" && i < values.size(); ++i)
      values[i] = float(2 * randomUniform(7, i, 0, 0) - 1);
    inputs.push_back({std::move(place), std::move(values)});
  }
  return inputs;
}

/// Of the outputs and weights after the first run from the first weights: their hash, and the root
/// of the mean square of the floats among the outputs.
Result<std::string> firstRun(Session &session, const package::Entry &entry,
                             std::span<const GivenInput> inputs) {
  give(inputs);
  session.setScalar("learning_rate", 1e-3);
  session.setScalar("update", int64_t(1));
  LSTMC_TRY(session.run(entry.name));
  std::vector<uint64_t> hashes;
  double squares = 0;
  int64_t count = 0;
  for (const package::Binding &binding : entry.outputs) {
    LSTMC_ASSIGN(const StoredTensor output, session.storedOutput(entry.name, binding.name));
    std::vector<std::byte> bytes(output.bytes());
    output.read(bytes);
    hashes.push_back(hashBytes(bytes.data(), bytes.size()));
    const DType type = output.tensor.dtype;
    for (int64_t i = 0; isFloat(type) && i < output.tensor.elements(); ++i, ++count)
      squares += std::pow(readElement<double>(bytes.data(), type, i), 2);
  }
  hashes.push_back(session.weightsHash());
  return fmt::format("\"hash\": \"{:016x}\", \"rms\": {}", combineHashes(hashes),
                     numberText(std::sqrt(squares / double(std::max<int64_t>(count, 1)))));
}

Result<const package::Entry *> entryOf(const Session &session, const std::string &name) {
  const std::optional<size_t> at = session.package().findEntry(name);
  if (!at)
    return fail(ErrorCode::E0610, "the package has no entry \"{}\"", name);
  return &session.package().data().entries[*at];
}

Result<std::string> hash(std::span<const std::string> words) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[2]));
  LSTMC_ASSIGN(const package::Entry *entry, entryOf(*session, words[1]));
  LSTMC_ASSIGN(const std::vector<GivenInput> inputs, inputsOf(*session, *entry));
  LSTMC_ASSIGN(std::string found, firstRun(*session, *entry, inputs));
  return "{" + found + "}";
}

/// Seconds that `run` takes, ascending, each time after `before`: for so many seconds in all and at
/// least three times, unless it is slow.
template <typename Before, typename Run>
Result<std::vector<double>> secondsOf(Session &session, double atMost, const Before &before,
                                      const Run &run) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kLeast = 3;
  constexpr double kSlow = 3; // of a run after which one is enough, and no other warms it up
  std::vector<double> seconds;
  double all = 0;
  bool slow = false;
  for (int64_t update = 2; (seconds.size() < kLeast || all < atMost) && !slow; ++update) {
    session.setScalar("update", update);
    before();
    const Clock::time_point begin = Clock::now();
    LSTMC_TRY(run());
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    slow = taken > kSlow;
    if (update == 2 && !slow)
      continue;
    seconds.push_back(taken);
    all += taken;
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// With inputs that the host writes while the run before is carried out, and outputs that it gets.
Result<std::vector<double>> fedSeconds(Session &session, const package::Entry &entry,
                                       std::span<const GivenInput> inputs, double atMost) {
  std::vector<Tensor> views;
  for (const GivenInput &input : inputs) {
    LSTMC_ASSIGN(Tensor view, session.input(entry.name, input.place.name));
    views.push_back(view);
  }
  for (const package::Binding &output : entry.outputs)
    LSTMC_TRY(session.output(entry.name, output.name).status());
  auto fill = [&] {
    for (size_t i = 0; i < views.size(); ++i)
      std::ranges::copy(inputs[i].values, views[i].as<float>());
    return true;
  };
  fill();
  return secondsOf(session, atMost, [] {}, [&] { return session.run(entry.name, fill); });
}

/// Inputs and outputs stay on the device, so that no time is that of a copy, but for "fed_s".
Result<std::string> time(std::span<const std::string> words) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, open(words[0], words[3]));
  const double atMost = std::strtod(words[2].c_str(), nullptr);
  LSTMC_ASSIGN(const package::Entry *entry, entryOf(*session, words[1]));
  LSTMC_ASSIGN(const std::vector<GivenInput> inputs, inputsOf(*session, *entry));
  LSTMC_ASSIGN(std::string first, firstRun(*session, *entry, inputs));
  LSTMC_ASSIGN(const std::vector<double> seconds, secondsOf(
                                                      *session, atMost, [&] { give(inputs); },
                                                      [&] { return session->run(entry->name); }));
  LSTMC_ASSIGN(const std::vector<double> fed, fedSeconds(*session, *entry, inputs, atMost));
  return fmt::format(
      "{{{}, \"median_s\": {:.9g}, \"least_s\": {:.9g}, \"runs\": {}, \"fed_s\": {:.9g}}}", first,
      seconds[seconds.size() / 2], seconds.front(), seconds.size(), fed.front());
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
