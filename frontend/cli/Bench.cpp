// bench: how long an entry point takes, with random inputs and initial weights.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/cpu/runtime/Level.h"
#include "executor/device/ThreadTeam.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/InputFlags.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/Version.h"

namespace lstmc::cli {

namespace {

struct Cell {
  std::string entry;
  int64_t batch = 0, threads = 0;
  std::vector<double> seconds; ///< sorted
  int64_t labels = 0;
  uint64_t peakBytes = 0, weightsHash = 0;

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
  double quantile(double q) const { return seconds[std::min(seconds.size() - 1, size_t(q * double(seconds.size())))]; }
};

/// Every input at random: floats in [0, 1), integers 0 or 1.
Status randomInputs(Session &session, const package::Entry &entry, int64_t &labels) {
  for (const package::Binding &binding : entry.inputs) {
    if (binding.role == "scalar")
      continue;
    LSTMC_ASSIGN(Tensor input, session.input(entry.name, binding.name));
    LSTMC_ASSIGN(data::Array value, inputValue(binding.name, "random:1", input));
    copyInto(value, input);
    if (binding.role == "label" || labels == 0)
      labels = input.elements();
  }
  return {};
}

Result<Cell> measure(const Model &model, const Options &options, const std::string &entryName) {
  LSTMC_ASSIGN(int64_t repeats, options.count("repeats", 20));
  LSTMC_ASSIGN(int64_t warmup, options.count("warmup", 3));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  std::optional<size_t> index = model.package->findEntry(entryName);
  if (!index)
    return fail(ErrorCode::E0001, "the model has no entry \"{}\"", entryName);
  Cell cell;
  cell.entry = entryName;
  cell.threads = session->device(0).threads();
  LSTMC_TRY(randomInputs(*session, model.package->data().entries[*index], cell.labels));
  session->setScalar("learning_rate", 1e-3);
  session->setScalar("seed", int64_t(0));
  for (int64_t i = 0; i < warmup + std::max<int64_t>(repeats, 1); ++i) {
    session->setScalar("update", i + 1);
    auto begin = std::chrono::steady_clock::now();
    LSTMC_TRY(session->run(entryName));
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (i >= warmup)
      cell.seconds.push_back(seconds);
  }
  std::sort(cell.seconds.begin(), cell.seconds.end());
  cell.peakBytes = session->peaks()[0].measuredBytes;
  cell.weightsHash = session->weightsHash();
  return cell;
}

std::vector<std::string> listOf(const Options &options, std::string_view flag) {
  std::vector<std::string> values;
  for (const std::string &text : options.values(flag))
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find(',', at), text.size());
      values.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  if (values.empty())
    values.push_back("");
  return values;
}

Options withOne(const Options &options, std::string_view flag, const std::string &value) {
  Options one = options;
  std::erase_if(one.given, [&](const Options::Given &given) { return given.flag == flag; });
  if (!value.empty())
    one.given.push_back({flag, value, ValueOrigin::Flag});
  return one;
}

} // namespace

int benchCommand(const Options &options, Console &console) {
  std::string entry = options.value("entry").value_or("forward");
  Result<std::vector<Expectation>> wanted = expectations(options, {"median_s", "mean_s", "labels_per_s"});
  if (!wanted.ok())
    return console.fail(wanted.error());
  std::vector<Cell> cells;
  for (const std::string &batch : listOf(options, "batch"))
    for (const std::string &threads : listOf(options, "threads")) {
      Options one = withOne(withOne(options, "batch", batch), "threads", threads);
      ModelRequest request;
      request.entries = {entry};
      Checked<Model> model = loadModel(one, request);
      if (!model.ok())
        return console.fail(model.diagnostics());
      Result<Cell> cell = measure(*model, one, entry);
      if (!cell.ok())
        return console.fail(cell.error());
      cell->batch = batch.empty() ? 0 : std::atoll(batch.c_str());
      cells.push_back(std::move(*cell));
    }
  if (console.json()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Cell &cell : cells)
      list.push_back({{"model", options.operands[0]}, {"entry", cell.entry}, {"devices", {"cpu:0"}}, {"batch", cell.batch}, {"threads", cell.threads},
                      {"repeats", cell.seconds.size()}, {"mean_s", cell.mean()}, {"deviation_s", cell.deviation()}, {"median_s", cell.quantile(0.5)},
                      {"p99_s", cell.quantile(0.99)}, {"min_s", cell.seconds.front()}, {"labels_per_s", double(cell.labels) / cell.quantile(0.5)},
                      {"peak_bytes", cell.peakBytes}, {"weights_hash", fmt::format("{:016x}", cell.weightsHash)}});
    console.print(nlohmann::ordered_json{{"schema", "lstmc.bench/1"},
                                         {"build", versionLine()},
                                         {"host", {{"cpu", ""}, {"level", cpu::kLevelNames[size_t(cpu::chosenLevel())]}, {"cores", availableProcessors()}}},
                                         {"cells", list}});
  } else {
    console.print(std::string("| entry | batch | threads | mean ± deviation ms | median ms | p99 ms | labels/s |\n|---|---|---|---|---|---|---|"));
    for (const Cell &cell : cells)
      console.print(fmt::format("| {} | {} | {} | {:.4f} ± {:.4f} | {:.4f} | {:.4f} | {:.0f} |", cell.entry, cell.batch ? fmt::format("{}", cell.batch) : "-",
                                cell.threads, cell.mean() * 1e3, cell.deviation() * 1e3, cell.quantile(0.5) * 1e3, cell.quantile(0.99) * 1e3,
                                double(cell.labels) / cell.quantile(0.5)));
  }
  bool all = true;
  for (const Cell &cell : cells)
    for (const training::HeldExpectation &held : judge(*wanted, [&](const std::string &metric) -> std::optional<double> {
           return metric == "median_s" ? cell.quantile(0.5) : metric == "mean_s" ? cell.mean() : double(cell.labels) / cell.quantile(0.5);
         }))
      all &= held.held;
  return all ? 0 : int(ExitCode::AnswerIsNo);
}

} // namespace lstmc::cli
