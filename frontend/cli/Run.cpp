// run: one call of `forward` on given inputs.

#include <chrono>
#include <cmath>
#include <cstring>

#include "executor/base/Hash.h"
#include "executor/data/Npz.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/InputFlags.h"
#include "frontend/cli/Model.h"

namespace lstmc::cli {

namespace {

/// One thread, one op at a time, and a line for each with --verbose-ops.
class OpLog : public SessionObserver {
public:
  OpLog(const Console &console, bool verbose) : console_(console), verbose_(verbose) {}
  void before(const LaunchView &) override { begin_ = std::chrono::steady_clock::now(); }
  void after(const LaunchView &view) override {
    if (!verbose_)
      return;
    double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_).count();
    int64_t bytes = 0;
    for (const Tensor &operand : view.operands)
      bytes += operand ? operand.elements() * int64_t(dtypeBytes(operand.dtype)) : 0;
    console_.say(fmt::format("{:>5} {:<24} {:<28} {:>12} bytes {:>10.1f} us  {}:{}", view.index, kernelRecord(view.launch.kernel).name,
                             view.location.name.empty() ? view.location.op : view.location.name, bytes, us, view.location.file,
                             view.location.line));
  }

private:
  const Console &console_;
  bool verbose_;
  std::chrono::steady_clock::time_point begin_;
};

const package::Entry &forwardEntry(const Session &session) {
  return session.package().data().entries[*session.package().findEntry("forward")];
}

Status setInputs(Session &session, const Options &options) {
  std::vector<std::string> given = options.values("input");
  std::vector<bool> used(given.size());
  for (const package::Binding &binding : forwardEntry(session).inputs) {
    if (binding.role == "scalar")
      continue;
    LSTMC_ASSIGN(Tensor input, session.input("forward", binding.name));
    bool found = false;
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i].starts_with(binding.name + "=")) {
        LSTMC_ASSIGN(data::Array value, inputValue(binding.name, given[i].substr(binding.name.size() + 1), input));
        copyInto(value, input);
        used[i] = found = true;
      }
    if (!found)
      return fail(ErrorCode::E0001, "the network reads \"{}\", {}{}; give it with -i {}=VALUE", binding.name, dtypeLongName(input.dtype),
                  data::shapeText(data::shapeOf(input)), binding.name);
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!used[i]) {
      std::vector<std::string_view> names;
      for (const package::Binding &binding : forwardEntry(session).inputs)
        names.push_back(binding.name);
      std::string name = given[i].substr(0, given[i].find('='));
      std::optional<std::string> near = nearest(name, names);
      return fail(ErrorCode::E0001, "the network has no input \"{}\"{}", name, near ? fmt::format("; did you mean \"{}\"?", *near) : "");
    }
  return {};
}

/// Distance in units in the last place of f32; 0 for equal values.
double ulps(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  float larger = std::max(std::fabs(float(a)), std::fabs(float(b)));
  return std::fabs(a - b) / double(std::nextafter(larger, INFINITY) - larger);
}

Result<bool> outputsAsExpected(Session &session, const Options &options, Console &console) {
  LSTMC_ASSIGN(double maxUlp, options.number("ulp", 0));
  LSTMC_ASSIGN(double rtol, options.number("rtol", 0));
  LSTMC_ASSIGN(double atol, options.number("atol", 0));
  bool all = true;
  for (const std::string &text : options.values("expect-output")) {
    std::string name = text.substr(0, text.find('='));
    if (name.size() == text.size())
      return fail(ErrorCode::E0001, "--expect-output takes NAME=@y.npy, got \"{}\"", text);
    LSTMC_ASSIGN(Tensor output, session.output("forward", name));
    LSTMC_ASSIGN(data::Array expected, inputValue(name, text.substr(name.size() + 1), output));
    Tensor wanted = expected.tensor();
    int64_t differ = 0, first = -1;
    double worst = 0;
    for (int64_t i = 0; i < output.elements(); ++i) {
      double a = elementAt(output, i), b = elementAt(wanted, i);
      bool near = ulps(a, b) <= maxUlp || std::fabs(a - b) <= atol + rtol * std::fabs(b);
      if (near)
        continue;
      ++differ;
      worst = std::max(worst, std::fabs(a - b));
      if (first < 0)
        first = i;
    }
    if (differ > 0) {
      console.say(fmt::format("{}: {} of {} elements differ, first at {} ({:.9g}, expected {:.9g}), at most by {:.3g}", name, differ,
                              output.elements(), first, elementAt(output, first), elementAt(wanted, first), worst));
      all = false;
    }
  }
  return all;
}

std::string firstValues(const Tensor &tensor) {
  std::string text;
  for (int64_t i = 0; i < std::min<int64_t>(tensor.elements(), 6); ++i)
    text += fmt::format("{}{:.7g}", i ? " " : "", elementAt(tensor, i));
  return text + (tensor.elements() > 6 ? " ..." : "");
}

} // namespace

int runCommand(const Options &options, Console &console) {
  if (std::optional<std::string> engine = options.value("engine"); engine && *engine != "naive")
    return console.fail(fail(ErrorCode::E0001, "--engine knows naive, got \"{}\"", *engine));
  ModelRequest request;
  request.entries = {"forward"};
  Checked<Model> model = loadModel(options, request);
  if (!model.ok())
    return console.fail(model.diagnostics());
  console.warn(model->warnings);
  Options runOptions = options;
  if (options.has("engine"))
    runOptions.given.push_back({"threads", "1", ValueOrigin::BuiltIn});
  Result<std::unique_ptr<Session>> opened = openSession(*model, runOptions);
  if (!opened.ok())
    return console.fail(opened.error());
  Session &session = **opened;
  if (!session.hasEntry("forward"))
    return console.fail(fail(ErrorCode::E0610, "{} has no entry forward", model->path));
  if (Status status = setInputs(session, options); !status.ok())
    return console.fail(status.error());
  OpLog log(console, options.has("verbose-ops"));
  if (options.has("engine") || options.has("verbose-ops"))
    session.setObserver(&log);
  Result<int64_t> repeat = options.count("repeat", 1);
  if (!repeat.ok())
    return console.fail(repeat.error());
  session.setScalar("update", int64_t(1));
  session.setScalar("seed", int64_t(0));
  auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < *repeat; ++i)
    if (Status status = session.run("forward"); !status.ok())
      return session.fault() ? console.fail(Diagnostics{*session.fault()}) : console.fail(status.error());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::vector<data::NamedTensor> outputs;
  for (const package::Binding &binding : forwardEntry(session).outputs) {
    Result<Tensor> output = session.output("forward", binding.name);
    if (!output.ok())
      return console.fail(output.error());
    outputs.push_back({binding.name, *output});
  }
  std::optional<std::string> file = options.value("output");
  if (file && !options.has("dry-run")) {
    auto existing = options.has("force") ? OutputFile::Existing::Replace : OutputFile::Existing::Keep;
    if (Status status = data::writeNpz(*file, outputs, existing); !status.ok())
      return console.fail(status.error());
  }
  Result<bool> expected = outputsAsExpected(session, options, console);
  if (!expected.ok())
    return console.fail(expected.error());

  if (console.json()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array(), peaks = nlohmann::ordered_json::array();
    for (const data::NamedTensor &output : outputs)
      list.push_back({{"name", output.name},
                      {"dtype", dtypeName(output.tensor.dtype)},
                      {"shape", std::vector<int64_t>(output.tensor.shape.begin(), output.tensor.shape.begin() + output.tensor.rank)},
                      {"file", file ? nlohmann::ordered_json(*file) : nlohmann::ordered_json()},
                      {"hash", fmt::format("{:016x}", hashBytes(output.tensor.data, size_t(output.tensor.elements()) * dtypeBytes(output.tensor.dtype)))}});
    for (const DevicePeak &peak : session.peaks())
      peaks.push_back({{"device", peak.device}, {"planned_bytes", peak.plannedBytes}, {"measured_bytes", peak.measuredBytes}});
    console.print(nlohmann::ordered_json{{"schema", "lstmc.run/1"}, {"outputs", list}, {"time_s", seconds}, {"peak", peaks}});
  } else {
    for (const data::NamedTensor &output : outputs)
      console.print(fmt::format("{}  {}{}  {}", output.name, dtypeLongName(output.tensor.dtype), data::shapeText(data::shapeOf(output.tensor)),
                                firstValues(output.tensor)));
    if (file)
      console.print(*file);
  }
  return *expected ? 0 : int(ExitCode::AnswerIsNo);
}

} // namespace lstmc::cli
