#include "passes/planning/rates/Calibration.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include <time.h>

#include <fmt/format.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "backends/registry/Devices.h"
#include "backends/registry/Targets.h"
#include "executor/abi/Optimizers.h"
#include "executor/package/Plan.h"
#include "executor/session/Session.h"
#include "executor/training/UpdateScalars.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Compile.h"

namespace lstmc::planning {

namespace {

constexpr int kHops = 32, kHopRounds = 40;

struct Cell {
  int batch, steps, hidden, vocab;
  bool gru;
};
constexpr Cell kCells[] = {
    {1, 16, 64, 50, false},   {1, 16, 256, 65, false},   {1, 6, 512, 200, false},
    {2, 12, 128, 500, false}, {4, 16, 128, 65, false},   {8, 12, 256, 500, false},
    {16, 16, 64, 65, false},  {16, 5, 512, 65, false},   {20, 12, 200, 2000, false},
    {32, 12, 256, 65, false}, {32, 3, 1024, 100, false}, {64, 8, 128, 65, false},
    {64, 4, 512, 65, false},  {32, 12, 128, 65, true},   {4, 12, 256, 65, true}};
constexpr int kRounds = 8;

/// What is measured where there is a second and no more: a net of each kind of size.
constexpr Cell kQuickCells[] = {{1, 16, 64, 50, false},  {2, 8, 128, 500, false},
                                {4, 16, 256, 65, false}, {32, 8, 64, 65, false},
                                {16, 3, 512, 65, false}, {32, 6, 128, 65, true}};
constexpr int kQuickRounds = 3, kQuickHopRounds = 12;

/// All times of every launch. Of a device without threads of its own those of the processor, so
/// that other work on the machine, which takes turns with a measurement of seconds, is not counted.
class Stopwatch : public SessionObserver {
public:
  explicit Stopwatch(int threads)
      : clock_(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC) {}

  void before(const LaunchView &) override { begin_ = now(); }
  void after(const LaunchView &view) override {
    double end = now();
    seconds_[{std::string(view.entry), view.index}].push_back(end - begin_);
  }

  /// The median time of each; by the wall's clock, which counts other work too, what a quarter of
  /// the rounds stay below.
  void addTo(std::vector<target::Sample> &samples, const package::PackageData &data) {
    for (auto &[key, times] : seconds_)
      for (const package::Entry &entry : data.entries)
        if (entry.name == key.first) {
          std::sort(times.begin(), times.end());
          const package::Launch &launch = entry.programs[0].launches[key.second];
          samples.push_back({launch.kernel, target::workOf(data, launch),
                             times[times.size() / (clock_ == CLOCK_MONOTONIC ? 4 : 2)]});
        }
  }

private:
  double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }

  const clockid_t clock_;
  double begin_ = 0;
  std::map<std::pair<std::string, size_t>, std::vector<double>> seconds_; ///< by entry and launch
};

/// A language model with a bit of everything; two layers, so that one reads what the other writes.
/// The text of a module of sym, so that no frontend is asked.
std::string netOf(const Cell &cell) {
  const int gates = cell.gru ? 3 : 4, width = cell.hidden;
  std::string sequence = fmt::format("tensor<{}x{}x{}xf32>", cell.steps, cell.batch, width),
              state = fmt::format("tensor<1x{}x{}xf32>", cell.batch, width),
              labels = fmt::format("tensor<{}x{}xi32>", cell.batch, cell.steps),
              swapped = fmt::format("tensor<{}x{}xi32>", cell.steps, cell.batch),
              scores = fmt::format("tensor<{}x{}x{}xf32>", cell.steps, cell.batch, cell.vocab),
              table = fmt::format("tensor<{}x{}xf32>", cell.vocab, width);
  std::string text = fmt::format(
      R"(func.func @calibration(%data: {0} {{sym.name = "data", sym.role = "data"}},
          %label: {0} {{sym.name = "label", sym.role = "label"}}) -> ({1} {{sym.name = "y"}}) {{
        %symbols = sym.swap_axis %data {{dim2 = 1 : i64}} : ({0}) -> {2}
        %targets = sym.swap_axis %label {{dim2 = 1 : i64}} : ({0}) -> {2}
        %embed_w = sym.variable {{name = "embed_weight"}} : {3}
        %x0 = sym.embedding %symbols, %embed_w {{input_dim = {4} : i64, output_dim = {5} : i64,
            sym.name = "embed"}} : ({2}, {3}) -> {6}
)",
      labels, scores, swapped, table, cell.vocab, width, sequence);
  for (int layer = 0; layer < 2; ++layer)
    text += fmt::format(
        R"(
        %w{0} = sym.variable {{name = "layer{0}_i2h_weight"}} : tensor<{1}x{2}xf32>
        %r{0} = sym.variable {{name = "layer{0}_h2h_weight"}} : tensor<{1}x{2}xf32>
        %bw{0} = sym.variable {{name = "layer{0}_i2h_bias"}} : tensor<{1}xf32>
        %br{0} = sym.variable {{name = "layer{0}_h2h_bias"}} : tensor<{1}xf32>
        %p{0} = sym.rnn_param_concat %w{0}, %r{0}, %bw{0}, %br{0} {{dim = 0 : i64}}
          : (tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>, tensor<{1}xf32>, tensor<{1}xf32>)
            -> tensor<{3}xf32>
        %h{0} = sym.begin_state {{name = "layer{0}_begin_state_0"}} : {4}
        %c{0} = sym.begin_state {{name = "layer{0}_begin_state_1"}} : {4}
        %y{0}:{5} = sym.rnn %x{0}, %p{0} state %h{0} {6} {{mode = "{7}", num_layers = 1 : i64,
            state_outputs = true, state_size = {2} : i64, sym.name = "layer{0}"}}
          : ({8}, tensor<{3}xf32>, {4}{9}) -> ({8}, {4}{9})
        %x{10} = sym.dropout %y{0}#0 {{p = 2.000000e-01 : f64}} : ({8}) -> {8}
)",
        layer, gates * width, width, 2 * gates * width * (width + 1), state, cell.gru ? 2 : 3,
        cell.gru ? "" : fmt::format("cell %c{}", layer), cell.gru ? "gru" : "lstm", sequence,
        cell.gru ? "" : ", " + state, layer + 1);
  return text + fmt::format(
                    R"(
        %decoder_w = sym.variable {{name = "decoder_weight"}} : {0}
        %decoder_b = sym.variable {{name = "decoder_bias"}} : tensor<{1}xf32>
        %scores = sym.fully_connected %x2, %decoder_w, %decoder_b {{flatten = false,
            num_hidden = {1} : i64, sym.name = "decoder"}} : ({2}, {0}, tensor<{1}xf32>) -> {3}
        %y = sym.softmax_output %scores, %targets {{normalization = "valid",
            preserve_shape = true}} : ({3}, {4}) -> {3}
        return %y : {3}
      }}
)",
                    table, cell.vocab, sequence, scores, swapped);
}

/// A value that two devices hand to and fro.
std::string hopsNet(int elements) {
  std::string type = fmt::format("tensor<{}xf32>", elements);
  std::string text = fmt::format("func.func @hand_over(%x0: {0} {{sym.name = \"data\", "
                                 "sym.role = \"data\"}}) -> ({0} {{sym.name = \"y\"}}) {{\n",
                                 type);
  for (int hop = 0; hop < kHops; ++hop)
    text += fmt::format("  %x{} = sym.mul_scalar %x{} {{scalar = 5.000000e-01 : f64, "
                        "sym.group = \"group{}\"}} : ({}) -> {}\n",
                        hop + 1, hop, hop % 2, type, type);
  return text + fmt::format("  return %x{} : {}\n}}\n", kHops, type);
}

Result<package::Package::Pointer> compileText(const std::string &text,
                                              const passes::CompileOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return fail(ErrorCode::E0099, "calibration: its net does not parse");
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    return fail(ErrorCode::E0001, "calibration: {}", compiled.diagnostics().front().message);
  return package::Package::open(package::serialize(compiled->package), "calibration");
}

Result<std::unique_ptr<Session>> openSession(const package::Package::Pointer &package,
                                             int threads) {
  LSTMC_ASSIGN(auto devices,
               makeDevices(package::deviceList(package->data()), {.threads = threads}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, Session::create(package, std::move(devices)));
  LSTMC_TRY(session->initialise(0));
  return session;
}

Status sample(const Cell &cell, int threads, int rounds, std::vector<target::Sample> &samples) {
  constexpr double kRate = 1e-3;
  passes::CompileOptions options;
  options.entries = {"forward", "step"};
  options.optimizer.name = cell.batch % 16 == 0 ? "adam" : "sgd";
  LSTMC_ASSIGN(package::Package::Pointer package, compileText(netOf(cell), options));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(package, threads));
  training::UpdateFormula formula(*findOptimizer(options.optimizer.name), {});
  for (const auto &[name, value] : formula.at(kRate, 1).inputs)
    session->setScalar(name, value);
  session->setScalar("learning_rate", kRate);
  Stopwatch stopwatch(threads);
  for (int round = -1; round < rounds; ++round) {
    session->setObserver(round < 0 ? nullptr : &stopwatch); // the first warms up
    session->setScalar("update", int64_t(round) + 2);
    for (std::string_view entry : {"forward", "step"})
      LSTMC_TRY(session->run(entry));
  }
  stopwatch.addTo(samples, package->data());
  return {};
}

/// The least time that any message took, from when it was offered to when it was taken: what others
/// do on the machine, and who was not waiting yet, only makes it longer.
class MessageWatch : public SessionTimer {
public:
  void ran(const package::Package &, const package::Entry &entry,
           std::span<const std::span<const LaunchInterval>> times) override {
    std::map<int64_t, LaunchInterval::Clock::time_point> offered;
    each(entry, KernelId::Send, times, [&](int64_t message, const LaunchInterval &interval) {
      offered[message] = interval.begin;
    });
    each(entry, KernelId::Receive, times, [&](int64_t message, const LaunchInterval &interval) {
      double seconds = std::chrono::duration<double>(interval.end - offered[message]).count();
      if (seconds > 0)
        least_ = std::min(least_, seconds);
    });
  }

  double least() const { return least_; }

private:
  template <typename F>
  static void each(const package::Entry &entry, KernelId kernel,
                   std::span<const std::span<const LaunchInterval>> times, F visit) {
    for (size_t p = 0; p < entry.programs.size(); ++p)
      for (size_t i = 0; i < entry.programs[p].launches.size(); ++i)
        if (const package::Launch &launch = entry.programs[p].launches[i]; launch.kernel == kernel)
          visit(argumentsOf<TransferArguments>(launch).message, times[p][i]);
  }

  double least_ = 1;
};

/// Seconds of a message of that many floats.
Result<double> secondsOfMessage(int elements, int threads, int rounds) {
  passes::CompileOptions options;
  options.entries = {"forward"};
  options.devices = {"cpu:0", "cpu:1"};
  options.place = {{"group0", "cpu:0"}, {"group1", "cpu:1"}};
  options.chunks = 1;
  options.disabled = {"fuse"};
  LSTMC_ASSIGN(package::Package::Pointer package, compileText(hopsNet(elements), options));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(package, threads));
  MessageWatch watch;
  session->setTimer(&watch);
  for (int round = 0; round < rounds; ++round)
    LSTMC_TRY(session->run("forward"));
  return watch.least();
}

/// From a message with little in it, and one with much.
Result<target::Link> measureLink(int threads, int rounds) {
  constexpr int kFew = 16, kMany = 1 << 20;
  LSTMC_ASSIGN(double few, secondsOfMessage(kFew, threads, rounds));
  LSTMC_ASSIGN(double many, secondsOfMessage(kMany, threads, rounds));
  target::Link link;
  link.seconds = std::max(few, 1e-8);
  // More than memory can give was no measurement.
  link.bytesPerSecond = std::min(4.0 * kMany / std::max(many - few, 1e-12), 1e12);
  return link;
}

} // namespace

Result<target::Machine> measureMachine(int threads, Effort effort) {
  const bool quick = effort == Effort::ASecond;
  std::vector<target::Sample> samples;
  for (const Cell &cell : quick ? std::span<const Cell>(kQuickCells) : std::span(kCells))
    LSTMC_TRY(sample(cell, threads, quick ? kQuickRounds : kRounds, samples));
  target::Machine machine = targetOf(DeviceKind::Cpu).fit(samples, threads);
  LSTMC_ASSIGN(machine.link, measureLink(threads, quick ? kQuickHopRounds : kHopRounds));
  return machine;
}

} // namespace lstmc::planning
