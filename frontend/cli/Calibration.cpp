#include "frontend/cli/Calibration.h"

#include <algorithm>
#include <chrono>
#include <map>

#include <time.h>

#include "executor/session/Session.h"
#include "frontend/cli/Model.h"

namespace lstmc::cli {

namespace {

/// A language model with a bit of everything; two layers, so that one reads what the other writes.
constexpr std::string_view kNet =
    R"(hidden, vocab, gru = setting("hidden", 64), setting("vocab", 50), setting("gru", 0)
N, T = dim("batch", 4), dim("seq", 8)

def calibration(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=vocab, output_dim=hidden, name="embed")
    for i in range(2):
        if gru:
            x, h = GRU(x, num_hidden=hidden, name="layer%d" % i)
        else:
            x, h, c = LSTM(x, num_hidden=hidden, name="layer%d" % i)
        x = Dropout(x, p=0.2)
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")
)";

/// A value that two devices hand to and fro; with one group, the same work on one of them.
constexpr std::string_view kHopsNet =
    R"(hops, n, groups = setting("hops", 16), setting("n", 16), setting("groups", 2)

def hand_over(data: float32[n]):
    x = data
    for i in range(hops):
        with ctx_group("group%d" % (i % groups)):
            x = x * 0.5
    return x
)";
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
  void addTo(std::vector<cpu::Sample> &samples, const package::PackageData &data) {
    for (auto &[key, times] : seconds_)
      for (const package::Entry &entry : data.entries)
        if (entry.name == key.first) {
          std::sort(times.begin(), times.end());
          const package::Launch &launch = entry.programs[0].launches[key.second];
          samples.push_back({launch.kernel, cpu::workOf(data, launch),
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

Options optionsOf(const Cell &cell, int threads) {
  Options options;
  options.command = "train";
  auto give = [&](std::string_view flag, const std::string &value) {
    options = options.with(flag, value);
  };
  give("threads", fmt::format("{}", threads));
  give("batch", fmt::format("{}", cell.batch));
  give("optimizer", cell.batch % 16 == 0 ? "adam" : "sgd");
  for (auto [name, value] : {std::pair("seq", cell.steps),
                             {"hidden", cell.hidden},
                             {"vocab", cell.vocab},
                             {"gru", int(cell.gru)}})
    options.given.push_back({"set", fmt::format("{}={}", name, value), ValueOrigin::Flag, ""});
  return options;
}

Result<Model> compileText(std::string_view text, const Options &options,
                          std::vector<std::string> entries) {
  LSTMC_ASSIGN(lnet::LoadOptions load, loadOptions(options, {}));
  Checked<lnet::LoadedNet> net = lnet::loadText("<calibration>", std::string(text), load);
  if (!net.ok())
    return fail(ErrorCode::E0001, "calibration: {}", net.diagnostics().front().message);
  Checked<Model> model = compileNet(std::move(*net), options, {.entries = std::move(entries)});
  if (!model.ok())
    return fail(ErrorCode::E0001, "calibration: {}", model.diagnostics().front().message);
  return std::move(*model);
}

Status sample(const Cell &cell, int threads, std::vector<cpu::Sample> &samples) {
  Options options = optionsOf(cell, threads);
  LSTMC_ASSIGN(Model model, compileText(kNet, options, {"forward", "step"}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  session->setScalar("learning_rate", 1e-3);
  Stopwatch stopwatch(threads);
  for (int round = -1; round < kRounds; ++round) {
    session->setObserver(round < 0 ? nullptr : &stopwatch); // the first warms up
    session->setScalar("update", int64_t(round + 2));
    for (std::string_view entry : {"forward", "step"})
      LSTMC_TRY(session->run(entry));
  }
  stopwatch.addTo(samples, model.package->data());
  return {};
}

/// Seconds of a run of kHopsNet with that many elements, the fastest of some: what others do on the
/// machine only makes it longer.
Result<double> secondsOfHops(int elements, int devices, int threads) {
  Options options;
  options.command = "bench";
  for (auto [flag, value] :
       {std::pair<std::string_view, std::string>{"threads", fmt::format("{}", threads)},
        {"devices", fmt::format("{}xcpu", devices)},
        {"place", devices > 1 ? "group0=cpu:0,group1=cpu:1" : ""},
        {"disable-pass", "fuse"}})
    options = options.with(flag, value);
  for (auto [name, value] : {std::pair("hops", kHops), {"n", elements}, {"groups", devices}})
    options.given.push_back({"set", fmt::format("{}={}", name, value), ValueOrigin::Flag, ""});
  LSTMC_ASSIGN(Model model, compileText(kHopsNet, options, {"forward"}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  double least = 0;
  for (int round = 0; round < kHopRounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    LSTMC_TRY(session->run("forward"));
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    least = round == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

/// From what two devices take longer than one: with little to hand over, and with much.
Result<cpu::Link> measureLink(int threads) {
  constexpr int kFew = 16, kMany = 1 << 20;
  double perHop[2];
  for (bool many : {false, true}) {
    LSTMC_ASSIGN(double one, secondsOfHops(many ? kMany : kFew, 1, threads));
    LSTMC_ASSIGN(double two, secondsOfHops(many ? kMany : kFew, 2, threads));
    perHop[many] = (two - one) / kHops;
  }
  cpu::Link link;
  link.seconds = std::max(perHop[0], 1e-8);
  // More than memory can give was no measurement.
  link.bytesPerSecond = std::min(4.0 * kMany / std::max(perHop[1] - link.seconds, 1e-12), 1e12);
  return link;
}

} // namespace

Result<cpu::Machine> measureMachine(int threads) {
  std::vector<cpu::Sample> samples;
  for (const Cell &cell : kCells)
    LSTMC_TRY(sample(cell, threads, samples));
  cpu::Machine machine = cpu::fit(samples, threads);
  LSTMC_ASSIGN(machine.link, measureLink(threads));
  return machine;
}

} // namespace lstmc::cli
