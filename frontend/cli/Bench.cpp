// bench: how long an entry point takes, with random inputs and initial weights.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include <fmt/ranges.h>

#include "backends/registry/HostFacts.h"
#include "executor/base/Processors.h"
#include "executor/device/DeviceKinds.h"
#include "executor/session/Values.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Emulated.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/Trace.h"
#include "frontend/driver/Threads.h"
#include "frontend/driver/Version.h"
#include "passes/planning/PackageForecast.h"
#include "passes/planning/forecast/Lengths.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

/// One row of the table: a combination of values, and what was measured with them.
struct Cell {
  std::string entry;
  std::vector<std::string> devices;
  bool emulated = false;        ///< one of them is an emulated GPU, so times are none of a GPU's
  int64_t batch = 0, steps = 0; ///< extents of the dims of those names in the first input; 0: none
  int64_t threads = 0, labels = 0;
  std::string dtype;
  std::vector<double> seconds; ///< sorted
  std::optional<passes::EntryCost> cost;
  std::optional<double> limit; ///< seconds, of a machine that was calibrated
  double forecast = 0;         ///< seconds
  uint64_t peakBytes = 0, weightsHash = 0, seed = 0;

  double mean() const {
    double sum = 0;
    for (double s : seconds)
      sum += s;
    return sum / double(seconds.size());
  }
  double deviation() const {
    double m = mean(), sum = 0;
    for (double s : seconds)
      sum += (s - m) * (s - m);
    return std::sqrt(sum / double(std::max<size_t>(seconds.size() - 1, 1)));
  }
  double quantile(double q) const {
    return seconds[std::min(seconds.size() - 1, size_t(q * double(seconds.size())))];
  }
  double forecastError() const { return forecast / quantile(0.5) - 1; }
  /// None of an entry that reads no labels.
  std::optional<double> labelsPerSecond() const {
    return labels > 0 ? std::optional(double(labels) / quantile(0.5)) : std::nullopt;
  }
};

/// What -i gives, and the rest at random.
Status fillInputs(Session &session, const package::Entry &entry, const Options &options) {
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  for (const package::Binding &binding : entry.inputs)
    if (binding.role != "scalar")
      LSTMC_TRY(session::setInput(session, entry.name, binding.name + "=random:1", limits));
  for (const std::string &text : options.input)
    LSTMC_TRY(session::setInput(session, entry.name, text, limits));
  return {};
}

/// What the inputs say of the size of a call. `real`: of all steps, those that sequences have.
Status describeCall(Cell &cell, Session &session, const package::Entry &entry, double real) {
  for (const package::Binding &binding : entry.inputs) {
    if (binding.role == "scalar")
      continue;
    LSTMC_ASSIGN(Tensor input, session.input(entry.name, binding.name));
    const bool ofSteps = std::ranges::find(binding.dims, "seq") != binding.dims.end();
    if (binding.role == "label")
      cell.labels = std::llround(double(input.elements()) * (ofSteps ? real : 1));
    for (size_t axis = 0; axis < binding.dims.size(); ++axis) {
      if (binding.dims[axis] == "batch" && cell.batch == 0)
        cell.batch = input.shape[axis];
      if (binding.dims[axis] == "seq" && cell.steps == 0)
        cell.steps = input.shape[axis];
    }
  }
  return {};
}

uint64_t weightBytes(const package::PackageData &data) {
  uint64_t bytes = 0;
  for (const package::Parameter &parameter : data.parameters)
    bytes += data.buffers[parameter.buffers[0]].bytes;
  return bytes;
}

/// By the lengths that the inputs have; 1 where there are none.
Result<double> realStepsGiven(Session &session, const std::string &entryName) {
  const package::Package &package = session.package();
  std::optional<planning::LengthsInput> lengths =
      planning::lengthsInput(package.data().entries[*package.findEntry(entryName)]);
  if (!lengths)
    return 1;
  LSTMC_ASSIGN(Tensor given, session.input(entryName, lengths->name));
  return planning::realSteps(given, lengths->steps);
}

/// Of the arithmetic of an entry, that of recurrent layers that leave out steps beyond lengths.
int64_t skippableFlops(const package::Entry &entry) {
  int64_t flops = 0;
  for (const package::DeviceProgram &program : entry.programs)
    for (const package::Launch &launch : program.launches) {
      const std::vector<package::Operand> &operands = launch.operands;
      if (launch.kernel == KernelId::RnnForward &&
          operands[RnnForwardOperand::length].buffer != package::kNoBuffer) {
        const std::vector<int64_t> &y = operands[RnnForwardOperand::y].shape;
        const int64_t gates = gateCount(argumentsOf<RnnForwardArguments>(launch).mode) * y[2];
        flops += 2 * y[0] * y[1] * gates * (operands[RnnForwardOperand::x].shape[2] + y[2]);
      }
      if (launch.kernel == KernelId::RnnBackward &&
          operands[RnnBackwardOperand::length].buffer != package::kNoBuffer) {
        const std::vector<int64_t> &gates = operands[RnnBackwardOperand::gates].shape;
        const package::Operand &dx = operands[RnnBackwardOperand::dx];
        const int64_t inputs = dx.buffer == package::kNoBuffer ? 0 : dx.shape[2];
        flops += 2 * gates[0] * gates[1] * gates[2] *
                 (inputs + operands[RnnBackwardOperand::y].shape[2]);
      }
    }
  return flops;
}

/// What is known of a call before it is timed.
Result<Cell> describe(const Model &model, Session &session, const Options &options,
                      const std::string &entryName) {
  const package::PackageData &data = model.package->data();
  std::optional<size_t> index = model.package->findEntry(entryName);
  if (!index)
    return fail(ErrorCode::E0001, "the model has no entry \"{}\"", entryName);
  Cell cell;
  cell.entry = entryName;
  cell.threads = session.device(0).threads();
  for (const package::Device &device : data.devices)
    cell.devices.push_back(device.name);
  cell.emulated = onEmulated(data);
  cell.dtype = data.parameters.empty()
                   ? "-"
                   : std::string(dtypeName(data.buffers[data.parameters[0].buffers[0]].dtype));
  LSTMC_ASSIGN(cell.seed, seedInForce(model, options));
  LSTMC_TRY(fillInputs(session, data.entries[*index], options));
  LSTMC_ASSIGN(const double real, realStepsGiven(session, entryName));
  LSTMC_TRY(describeCall(cell, session, data.entries[*index], real));
  if (model.compiled)
    for (const passes::EntryCost &cost : model.compiled->costs)
      if (cost.entry == entryName) {
        cell.cost = cost;
        cell.cost->flops -= std::llround(double(skippableFlops(data.entries[*index])) * (1 - real));
      }
  return cell;
}

/// Times the calls: the warm-up, then --repeats of them, at least one.
Status timeCalls(Cell &cell, Session &session, const Options &options) {
  int64_t warmup = *options.warmup;
  session.setScalar("learning_rate", 1e-3);
  session.setScalar("seed", int64_t(cell.seed));
  for (int64_t i = 0; i < warmup + std::max<int64_t>(*options.repeats, 1); ++i) {
    session.setScalar("update", i + 1);
    auto begin = std::chrono::steady_clock::now();
    LSTMC_TRY(session.run(cell.entry));
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (i >= warmup)
      cell.seconds.push_back(seconds);
  }
  std::sort(cell.seconds.begin(), cell.seconds.end());
  return {};
}

/// Each GPU of the package, and the cpu where it has one. Emulated GPUs are left out, since the
/// time that they take is that of the emulation.
Status calibrate(const package::PackageData &data, const std::set<int> &threadCounts) {
  bool cpu = false;
  for (const package::Device &device : data.devices)
    if (Result<std::vector<DeviceName>> names = parseDevices(device.name); names.ok()) {
      const DeviceName &name = names->front();
      cpu |= planning::isMeasured(name.kind);
      if (factsOf(name.kind).isCard && !factsOf(name.kind).isEmulated)
        LSTMC_TRY(planning::calibrateGpu(name));
    }
  return cpu ? planning::calibrate(threadCounts) : Status();
}

Result<Cell> measure(const Model &model, const Options &options, const std::string &entryName,
                     Trace &trace) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options, {entryName}));
  LSTMC_ASSIGN(Cell cell, describe(model, *session, options, entryName));
  if (options.dryRun)
    return cell;
  trace.watch(*session);
  LSTMC_TRY(timeCalls(cell, *session, options));
  const package::PackageData &data = model.package->data();
  int workers = int(cell.threads) * int(cell.devices.size());
  if (options.calibrate)
    LSTMC_TRY(calibrate(data, {1, int(cell.threads), workers, defaultThreads()}));
  if (std::optional<planning::MachineRates> rates = planning::keptRates(workers);
      rates && cell.cost && !cell.emulated)
    cell.limit = rates->limitSeconds(double(cell.cost->flops), double(weightBytes(data)),
                                     cell.dtype == "f64");
  LSTMC_ASSIGN(double real, realStepsGiven(*session, entryName));
  cell.forecast = *planning::forecastSeconds(data, entryName,
                                             planning::machinesOf(data, int(cell.threads)), real);
  for (const DevicePeak &peak : session->peaks())
    cell.peakBytes += peak.touchedBytes;
  cell.weightsHash = session->weightsHash();
  return cell;
}

/// All combinations of what the flags list, the last flag fastest; each with one value per flag,
/// and per input of --shape.
std::vector<Options> sweep(const Options &options) {
  std::vector<Options> all = {options};
  /// `set` gives a copy of the options one of the values; without values the copy stays as it is.
  auto vary = [&](const auto &values, auto set) {
    if (values.empty())
      return;
    std::vector<Options> next;
    for (const Options &one : all)
      for (const auto &value : values)
        set(next.emplace_back(one), value);
    all = std::move(next);
  };
  if (options.devices.given())
    vary(*options.devices, [](Options &one, const std::string &v) { one.devices = {v}; });
  vary(options.dtype.values, [](Options &one, DType v) { one.dtype = v; });
  vary(options.batch.values, [](Options &one, const std::string &v) { one.batch = v; });
  vary(options.threads.values, [](Options &one, int64_t v) { one.threads = v; });
  vary(*options.entry, [](Options &one, const std::string &v) { one.entry = {v}; });
  std::vector<std::vector<symbol::InputShape>> shapes; // per input
  for (const symbol::InputShape &shape : options.shape) {
    auto found = std::find_if(shapes.begin(), shapes.end(),
                              [&](const auto &row) { return row[0].input == shape.input; });
    if (found == shapes.end())
      found = shapes.insert(shapes.end(), std::vector<symbol::InputShape>());
    found->push_back(shape);
  }
  for (Options &one : all)
    one.shape.clear();
  for (const std::vector<symbol::InputShape> &ofInput : shapes)
    vary(ofInput,
         [](Options &one, const symbol::InputShape &shape) { one.shape.push_back(shape); });
  return all;
}

Json cellJson(const Cell &cell, const std::string &model) {
  Json json = {{"model", model},
               {"entry", cell.entry},
               {"devices", cell.devices},
               {"batch", cell.batch ? Json(cell.batch) : Json()},
               {"steps", cell.steps ? Json(cell.steps) : Json()},
               {"threads", cell.threads},
               {"dtype", cell.dtype},
               {"repeats", cell.seconds.size()},
               {"mean_s", cell.mean()},
               {"deviation_s", cell.deviation()},
               {"median_s", cell.quantile(0.5)},
               {"p99_s", cell.quantile(0.99)},
               {"min_s", cell.seconds.front()},
               {"labels_per_s", cell.labelsPerSecond() ? Json(*cell.labelsPerSecond()) : Json()},
               {"flops", cell.cost ? Json(cell.cost->flops) : Json()},
               {"moved_bytes", cell.cost ? Json(cell.cost->movedBytes) : Json()},
               {"limit_s", cell.limit ? Json(*cell.limit) : Json()},
               {"limit_fraction", cell.limit ? Json(*cell.limit / cell.quantile(0.5)) : Json()},
               {"forecast_s", cell.forecast},
               {"forecast_error_fraction", cell.forecastError()}};
  json.update(
      {{"peak_bytes", cell.peakBytes}, {"weights_hash", fmt::format("{:016x}", cell.weightsHash)}});
  json["emulated"] = cell.emulated;
  return json;
}

Json host() {
  HostFacts facts = hostFacts();
  return {{"cpu", facts.processor},
          {"level", facts.level},
          {"cores", facts.cores},
          {"memory_bytes", facts.memoryBytes}};
}

/// Those from "mean" on are timeColumns().
constexpr std::string_view kColumns[] = {
    "entry",     "device", "batch",    "steps",   "threads",  "dtype",       "mean ± deviation ms",
    "median ms", "p99 ms", "labels/s", "GFLOP/s", "of limit", "forecast ms", "off by"};

std::vector<std::string> timeColumns(const Cell &cell) {
  if (cell.emulated)
    return std::vector<std::string>(8, "-");
  return {fmt::format("{:.4f} ± {:.4f}", cell.mean() * 1e3, cell.deviation() * 1e3),
          fmt::format("{:.4f}", cell.quantile(0.5) * 1e3),
          fmt::format("{:.4f}", cell.quantile(0.99) * 1e3),
          cell.labelsPerSecond() ? fmt::format("{:.0f}", *cell.labelsPerSecond()) : "-",
          cell.cost ? fmt::format("{:.1f}", double(cell.cost->flops) / cell.quantile(0.5) / 1e9)
                    : "-",
          cell.limit ? fmt::format("{:.0f} %", *cell.limit / cell.quantile(0.5) * 100) : "-",
          fmt::format("{:.4f}", cell.forecast * 1e3),
          fmt::format("{:+.0f} %", cell.forecastError() * 100)};
}

std::vector<std::string> columnsOf(const Cell &cell) {
  auto extent = [](int64_t value) { return value ? fmt::format("{}", value) : std::string("-"); };
  std::vector<std::string> columns = {cell.entry,
                                      fmt::format("{}", fmt::join(cell.devices, "+")),
                                      extent(cell.batch),
                                      extent(cell.steps),
                                      fmt::format("{}", cell.threads),
                                      cell.dtype};
  std::ranges::move(timeColumns(cell), std::back_inserter(columns));
  return columns;
}

/// The columns of command.md section 6, so that a table reads as the JSON does.
void printCsv(const std::vector<Cell> &cells, const std::string &model, Console &console) {
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string names, values;
    Json cell = cellJson(cells[i], model);
    for (const auto &[name, value] : cell.items()) {
      names += (names.empty() ? "" : ",") + name;
      std::string text =
          value.is_array()
              ? fmt::format("\"{}\"", fmt::join(value.get<std::vector<std::string>>(), ","))
          : value.is_null() ? ""
                            : value.dump();
      values += (values.empty() ? "" : ",") + text;
    }
    if (i == 0)
      console.print(names);
    console.print(values);
  }
}

void printCells(const std::vector<Cell> &cells, const Options &options, Console &console) {
  const std::string &model = options.operands[0];
  if (*options.format == Form::Csv)
    return printCsv(cells, model, console);
  if (*options.format == Form::JsonLines) {
    for (const Cell &cell : cells) {
      Json line = {{"schema", "lstmc.bench/1"}};
      line.update(cellJson(cell, model));
      console.print(line);
    }
    return;
  }
  if (console.json()) {
    Json list = Json::array();
    for (const Cell &cell : cells)
      list.push_back(cellJson(cell, model));
    return console.print(Json{
        {"schema", "lstmc.bench/1"}, {"build", versionLine()}, {"host", host()}, {"cells", list}});
  }
  console.print(fmt::format("| {} |\n|{}", fmt::join(kColumns, " | "), [] {
    std::string rule;
    for (size_t i = 0; i < std::size(kColumns); ++i)
      rule += "---|";
    return rule;
  }()));
  for (const Cell &cell : cells)
    console.print(fmt::format("| {} |", fmt::join(columnsOf(cell), " | ")));
}

std::optional<double> valueOf(const Cell &cell, std::string_view metric) {
  return metric == "median_s" ? cell.quantile(0.5)
         : metric == "mean_s" ? cell.mean()
         : metric == "p99_s"  ? cell.quantile(0.99)
                              : cell.labelsPerSecond();
}

/// Whether all cells are as --expect says; says which are not.
bool asExpected(const std::vector<Cell> &cells, const std::vector<Expectation> &wanted,
                Console &console) {
  bool all = true;
  for (const Cell &cell : cells)
    for (const training::HeldExpectation &held :
         judge(wanted, [&](const std::string &metric) { return valueOf(cell, metric); })) {
      all &= held.held;
      if (!held.held)
        console.say(fmt::format("expectation not held: {} (value {}, {} of batch {}, {} threads)",
                                held.text, held.value ? fmt::format("{:.6g}", *held.value) : "none",
                                cell.entry, cell.batch, cell.threads));
    }
  return all;
}

/// One row; the first one says what was found of the model.
Checked<Cell> cellOf(const Options &options, bool first, Trace &trace, Console &console) {
  if (!options.calibrate)
    measureIfNew(threadsInQuestion(options), console);
  ModelRequest request;
  request.entries = {options.entry->empty() ? "forward" : options.entry->front()};
  request.measures = metricsExpected(options);
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, request));
  if (first)
    console.warn(model.warnings);
  if (model.compiled)
    trace.passes(model.compiled->spans);
  LSTMC_CHECKED_ASSIGN(Cell cell, measure(model, options, request.entries[0], trace));
  console.say(
      fmt::format("seed {}  weights {:016x}  {}", cell.seed, cell.weightsHash, versionLine()),
      first ? 0 : 1);
  return cell;
}

} // namespace

CommandResult benchCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<Expectation> wanted,
                       expectations(options, {"median_s", "mean_s", "p99_s", "labels_per_s"}));
  Trace trace(options);
  std::vector<Cell> cells;
  for (const Options &one : sweep(options)) {
    LSTMC_CHECKED_ASSIGN(Cell cell, cellOf(one, cells.empty(), trace, console));
    cells.push_back(std::move(cell));
  }
  if (options.dryRun) {
    console.say(fmt::format("nothing was timed: --dry-run ({} cells)", cells.size()));
    return ExitCode::Ok;
  }
  LSTMC_CHECKED_TRY(trace.write(console, nullptr));
  printCells(cells, options, console);
  return asExpected(cells, wanted, console) ? ExitCode::Ok : ExitCode::AnswerIsNo;
}

} // namespace lstmc::cli
