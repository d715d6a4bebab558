// run: one call of `forward` on given inputs, or of `step` on those of an update that failed.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/session/Values.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/FailedUpdate.h"
#include "executor/training/KeptStates.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/TrainReport.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/IdleFlags.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/Trace.h"
#include "frontend/cli/Ulp.h"
#include "frontend/driver/OfferedInputs.h"
#include "frontend/driver/Ranks.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::cli {

namespace {

/// --verbose-ops: a line for each launch.
class OpLog : public SessionObserver {
public:
  OpLog(const Console &console, const Session &session) : console_(console), session_(session) {}
  void before(const LaunchView &) override { begin_ = std::chrono::steady_clock::now(); }
  void after(const LaunchView &view) override {
    double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_)
                    .count();
    int64_t bytes = 0;
    for (const DeviceTensor &operand : view.operands)
      if (operand)
        bytes += operand.layout.elements() * int64_t(dtypeBytes(operand.layout.dtype));
    console_.say(fmt::format("{:<6} {:<9} {:>5} {:<24} {:<28} {:>12} bytes {:>10.1f} us  {}:{}",
                             view.device, view.entry, view.index, kernelText(view.launch),
                             view.location.name.empty() ? view.location.op : view.location.name,
                             bytes, us, view.location.file, view.location.line));
  }

private:
  /// "product", "send to cpu:1"
  std::string kernelText(const package::Launch &launch) const {
    const KernelRecord &record = kernelRecord(launch.kernel);
    std::string text(record.name);
    if (isTransfer(launch.kernel))
      text += (launch.kernel == KernelId::Send ? " to " : " from ") +
              session_.device(size_t(argumentsOf<TransferArguments>(launch).peer)).name();
    return text;
  }

  const Console &console_;
  const Session &session_;
  std::chrono::steady_clock::time_point begin_;
};

const package::Entry &entryOf(const Session &session, std::string_view name) {
  return session.package().data().entries[*session.package().findEntry(name)];
}

Status setInputs(Session &session, const Options &options) {
  const std::vector<std::string> &given = options.input;
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  std::vector<std::string_view> names;
  for (const package::Binding &binding : entryOf(session, "forward").inputs)
    if (binding.role != "scalar")
      names.push_back(binding.name);
  auto nameOf = [](const std::string &text) {
    return std::string_view(text).substr(0, text.find('='));
  };
  for (const std::string &text : given) {
    std::string_view name = nameOf(text);
    if (name.size() < text.size() && std::find(names.begin(), names.end(), name) == names.end())
      return fail(ErrorCode::E0001, "the network has no input \"{}\"{}; its inputs are {}", name,
                  didYouMean(name, names), listed(name, names));
    LSTMC_TRY(session::setInput(session, "forward", text, limits));
  }
  for (std::string_view name : names) {
    if (std::any_of(given.begin(), given.end(),
                    [&](const std::string &text) { return nameOf(text) == name; }))
      continue;
    LSTMC_ASSIGN(Tensor input, session.input("forward", name));
    return fail(ErrorCode::E0001, "the network reads \"{}\", {}{}; give it with -i {}=VALUE", name,
                dtypeLongName(input.dtype), data::shapeText(data::shapeOf(input)), name);
  }
  return {};
}

/// What `run` calls, and with which scalars.
struct Call {
  std::string_view entry = "forward";
  std::unique_ptr<training::SessionTrainable> failed; ///< of an update that failed
  training::Trainable::StepScalars scalars;
};

/// Whether the model is the record of an update that failed.
bool repeatsUpdate(const Model &model) {
  return model.checkpoint && training::isFailedUpdate(*model.checkpoint);
}

/// An update that failed has all that it read with it, and is the same only with just that.
Result<Call> failedUpdate(Session &session, const Model &model, const Options &options) {
  for (Flag flag : {Flag::input, Flag::params, Flag::seed, Flag::repeat})
    if (options.isGiven(flag))
      return fail(ErrorCode::E0001, "--{} has no place here: {} is run as it was",
                  recordOf(flag).name, model.path);
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  Call call{"step", nullptr, {}};
  LSTMC_ASSIGN(call.failed, training::SessionTrainable::create(session));
  LSTMC_ASSIGN(call.scalars, training::restoreUpdate(*model.checkpoint, *call.failed, limits));
  return call;
}

Result<Call> forwardCall(Session &session, const Model &model, const Options &options) {
  if (!session.hasEntry("forward"))
    return fail(ErrorCode::E0610, "{} has no entry forward", model.path);
  LSTMC_TRY(setInputs(session, options));
  Call call;
  LSTMC_ASSIGN(call.scalars.seed, seedInForce(model, options));
  session.setScalar("update", call.scalars.update);
  session.setScalar("seed", int64_t(call.scalars.seed));
  return call;
}

/// The array of --expect-output NAME=@FILE; E0610 when it is not like the output.
Result<data::Array> expectedArray(const std::string &name, const std::string &file,
                                  const Tensor &output) {
  data::Array array;
  if (file.ends_with(".npz")) {
    LSTMC_ASSIGN(std::vector<data::NamedArray> arrays, data::loadNpz(file));
    auto found = std::find_if(arrays.begin(), arrays.end(),
                              [&](const data::NamedArray &a) { return a.name == name; });
    if (found == arrays.end())
      return failAt({file}, ErrorCode::E0610, "it has no array named \"{}\"", name);
    array = std::move(found->array);
  } else {
    LSTMC_ASSIGN(array, data::loadNpy(file));
  }
  if (array.dtype != output.dtype || !std::ranges::equal(array.shape, data::shapeOf(output)))
    return failAt({file}, ErrorCode::E0610, "{} is {}{}, the network gives {}{}", name,
                  dtypeLongName(array.dtype), data::shapeText(array.shape),
                  dtypeLongName(output.dtype), data::shapeText(data::shapeOf(output)));
  return array;
}

double elementAt(const Tensor &tensor, int64_t i) {
  return readElement<double>(tensor.data, tensor.dtype, i);
}

/// Says where an output differs from what --expect-output has; whether it does not.
bool isAsExpected(const std::string &name, const Tensor &output, const Tensor &wanted,
                  const Tolerance &tolerance, Console &console) {
  int64_t differ = 0, first = -1;
  double worst = 0;
  for (int64_t i = 0; i < output.elements(); ++i) {
    double a = elementAt(output, i), b = elementAt(wanted, i);
    if (tolerance.near(output.dtype, a, b))
      continue;
    ++differ;
    worst = std::max(worst, std::fabs(a - b));
    if (first < 0)
      first = i;
  }
  if (differ > 0)
    console.say(fmt::format(
        "{}: {} of {} elements differ, first at {} ({:.9g}, expected {:.9g}), at most by {:.3g}",
        name, differ, output.elements(), first, elementAt(output, first), elementAt(wanted, first),
        worst));
  return differ == 0;
}

Result<bool> outputsAsExpected(Session &session, std::string_view entry, const Options &options,
                               Console &console) {
  bool all = true;
  for (const std::string &text : options.expectOutput) {
    std::string name = text.substr(0, text.find('='));
    if (text.substr(name.size(), 2) != "=@")
      return fail(ErrorCode::E0001, "--expect-output takes NAME=@y.npy, got \"{}\"", text);
    LSTMC_ASSIGN(Tensor output, session.output(entry, name));
    LSTMC_ASSIGN(data::Array wanted, expectedArray(name, text.substr(name.size() + 2), output));
    all &= isAsExpected(name, output, wanted.tensor(), Tolerance::asked(options), console);
  }
  return all;
}

std::string firstValues(const Tensor &tensor) {
  std::string text;
  for (int64_t i = 0; i < std::min<int64_t>(tensor.elements(), 6); ++i)
    text += fmt::format("{}{:.7g}", i ? " " : "", elementAt(tensor, i));
  return text + (tensor.elements() > 6 ? " ..." : "");
}

Status writeOutputs(const std::string &file, std::span<const data::NamedTensor> outputs,
                    const Options &options, const Console &console) {
  if (file != "-")
    return data::writeArrays(file, outputs, options.existing());
  LSTMC_ASSIGN(Bytes bytes, data::npzBytes(outputs));
  console.write(asText(bytes));
  return {};
}

/// As often as --repeat says; the seconds that it took. A fault of a launch has the user's line.
Checked<double> carryOut(Session &session, const Call &call, int64_t repeat) {
  auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeat; ++i) {
    Status status = call.failed ? call.failed->step(call.scalars) : session.run(call.entry);
    if (!status.ok())
      return session.fault() ? *session.fault() : asDiagnostic(status.error());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Result<std::vector<data::NamedTensor>> outputsOf(Session &session, std::string_view entry) {
  std::vector<data::NamedTensor> outputs;
  for (const package::Binding &binding : entryOf(session, entry).outputs) {
    LSTMC_ASSIGN(Tensor output, session.output(entry, binding.name));
    outputs.push_back({binding.name, output});
  }
  return outputs;
}

nlohmann::ordered_json runJson(const std::vector<data::NamedTensor> &outputs,
                               const std::optional<std::string> &file, double seconds,
                               const Session &session) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const auto &[name, tensor] : outputs)
    list.push_back(
        {{"name", name},
         {"dtype", dtypeName(tensor.dtype)},
         {"shape", std::vector<int64_t>(tensor.shape.begin(), tensor.shape.begin() + tensor.rank)},
         {"file", file ? Json(*file) : Json()},
         {"hash", fmt::format("{:016x}", hashBytes(tensor.data, size_t(tensor.elements()) *
                                                                    dtypeBytes(tensor.dtype)))}});
  Json document = {{"schema", "lstmc.run/1"}, {"outputs", list}, {"time_s", seconds}};
  document.update(Json::parse(training::memoryJson(session.memory())));
  return document;
}

void printOutputs(const std::vector<data::NamedTensor> &outputs,
                  const std::optional<std::string> &file, Console &console) {
  for (const auto &[name, tensor] : outputs)
    console.print(fmt::format("{}  {}{}  {}", name, dtypeLongName(tensor.dtype),
                              data::shapeText(data::shapeOf(tensor)), firstValues(tensor)));
  if (file)
    console.print(*file);
}

/// Nothing if all outputs are finite that --expect-output says nothing of.
Result<std::optional<Diagnostic>> notFinite(Session &session, std::string_view entry,
                                            const training::KeptStates &before,
                                            const Options &options) {
  for (const package::Binding &output : entryOf(session, entry).outputs) {
    if (std::ranges::any_of(options.expectOutput, [&](const std::string &text) {
          return text.starts_with(output.name + "=");
        }))
      continue;
    LSTMC_ASSIGN(bool found, session::hasNonFinite(session, entry, output.name));
    if (!found)
      continue;
    before.putBack();
    LSTMC_ASSIGN(Diagnostic why,
                 session::whyNotFinite(session, entry, fmt::format("in {}", entry)));
    return std::optional(std::move(why));
  }
  return std::optional<Diagnostic>();
}

/// Calls the session, and says what it gave.
CommandResult runSession(Session &session, const Model &model, const Options &options, Trace &trace,
                         Console &console) {
  LSTMC_CHECKED_ASSIGN(Call call, repeatsUpdate(model) ? failedUpdate(session, model, options)
                                                       : forwardCall(session, model, options));
  trace.watch(session);
  OpLog log(console, session);
  if (options.verboseOps)
    session.setObserver(&log);
  if (options.dryRun) {
    console.say("nothing was run: --dry-run");
    return ExitCode::Ok;
  }
  console.say(fmt::format("seed {}", call.scalars.seed), 1);
  const training::KeptStates before(session);
  LSTMC_CHECKED_ASSIGN(double seconds, carryOut(session, call, *options.repeat));
  LSTMC_CHECKED_ASSIGN(Diagnostics outside, session.indexWarning());
  console.warn(outside);
  LSTMC_CHECKED_ASSIGN(std::vector<data::NamedTensor> outputs, outputsOf(session, call.entry));
  if (options.output && jobRank() == 0)
    LSTMC_CHECKED_TRY(writeOutputs(*options.output, outputs, options, console));
  LSTMC_CHECKED_TRY(trace.write(console, session.peers()));
  LSTMC_CHECKED_ASSIGN(bool expected, outputsAsExpected(session, call.entry, options, console));
  if (!console.json() && options.output != "-")
    printOutputs(outputs, options.output, console);
  if (!hasWeights(model, options) && !model.package->data().parameters.empty())
    console.say(fmt::format("{} has no weights, and --params gives none: these are the initial "
                            "values of seed {}",
                            model.path, call.scalars.seed));
  LSTMC_CHECKED_ASSIGN(std::optional<Diagnostic> fault,
                       notFinite(session, call.entry, before, options));
  if (fault)
    return Diagnostics{*fault};
  if (console.json())
    console.print(runJson(outputs, options.output, seconds, session));
  return expected ? ExitCode::Ok : ExitCode::AnswerIsNo;
}

} // namespace

CommandResult runCommand(const Options &options, Console &console) {
  Trace trace(options);
  ModelRequest request;
  request.entries = {"forward"};
  LSTMC_CHECKED_TRY(checkOneModel(options));
  if (leavesShapesOpen(options.operands[0])) {
    LSTMC_CHECKED_ASSIGN(lstmc::Limits limits, fileLimits(options));
    LSTMC_CHECKED_ASSIGN(request.offeredInputs, inputsOfValues(options.input, limits));
  }
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, request));
  console.warn(model.warnings);
  LSTMC_CHECKED_TRY(warned(idleInRun(options), options, console));
  if (model.compiled)
    trace.passes(model.compiled->spans);
  Engine engine = *options.engine == EngineKind::Naive ? Engine::Naive : Engine::Fast;
  LSTMC_CHECKED_ASSIGN(
      std::unique_ptr<Session> session,
      openSession(model, options, {repeatsUpdate(model) ? "step" : "forward"}, engine));
  return runSession(*session, model, options, trace, console);
}

} // namespace lstmc::cli
