#include "frontend/cli/Calibration.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>

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

/// A value that two devices hand to and fro.
constexpr std::string_view kHopsNet =
    R"(hops, n = setting("hops", 16), setting("n", 16)

def hand_over(data: float32[n]):
    x = data
    for i in range(hops):
        with ctx_group("group%d" % (i % 2)):
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

Status sample(const Cell &cell, int threads, int rounds, std::vector<cpu::Sample> &samples) {
  Options options = optionsOf(cell, threads);
  LSTMC_ASSIGN(Model model, compileText(kNet, options, {"forward", "step"}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  session->setScalar("learning_rate", 1e-3);
  Stopwatch stopwatch(threads);
  for (int round = -1; round < rounds; ++round) {
    session->setObserver(round < 0 ? nullptr : &stopwatch); // the first warms up
    session->setScalar("update", int64_t(round + 2));
    for (std::string_view entry : {"forward", "step"})
      LSTMC_TRY(session->run(entry));
  }
  stopwatch.addTo(samples, model.package->data());
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
  Options options;
  options.command = "bench";
  for (auto [flag, value] :
       {std::pair<std::string_view, std::string>{"threads", fmt::format("{}", threads)},
        {"devices", "2xcpu"},
        {"place", "group0=cpu:0,group1=cpu:1"},
        {"disable-pass", "fuse"}})
    options = options.with(flag, value);
  for (auto [name, value] : {std::pair("hops", kHops), {"n", elements}})
    options.given.push_back({"set", fmt::format("{}={}", name, value), ValueOrigin::Flag, ""});
  LSTMC_ASSIGN(Model model, compileText(kHopsNet, options, {"forward"}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  MessageWatch watch;
  session->setTimer(&watch);
  for (int round = 0; round < rounds; ++round)
    LSTMC_TRY(session->run("forward"));
  return watch.least();
}

/// From a message with little in it, and one with much.
Result<cpu::Link> measureLink(int threads, int rounds) {
  constexpr int kFew = 16, kMany = 1 << 20;
  LSTMC_ASSIGN(double few, secondsOfMessage(kFew, threads, rounds));
  LSTMC_ASSIGN(double many, secondsOfMessage(kMany, threads, rounds));
  cpu::Link link;
  link.seconds = std::max(few, 1e-8);
  // More than memory can give was no measurement.
  link.bytesPerSecond = std::min(4.0 * kMany / std::max(many - few, 1e-12), 1e12);
  return link;
}

} // namespace

Result<cpu::Machine> measureMachine(int threads, Effort effort) {
  const bool quick = effort == Effort::ASecond;
  std::vector<cpu::Sample> samples;
  for (const Cell &cell : quick ? std::span<const Cell>(kQuickCells) : std::span(kCells))
    LSTMC_TRY(sample(cell, threads, quick ? kQuickRounds : kRounds, samples));
  cpu::Machine machine = cpu::fit(samples, threads);
  LSTMC_ASSIGN(machine.link, measureLink(threads, quick ? kQuickHopRounds : kHopRounds));
  return machine;
}

} // namespace lstmc::cli
