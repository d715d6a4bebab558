// The lstmc side of `./dev bench peers`: reads lines {"cell", "what", "shape": [T, B, H, L],
// "seconds"} and answers {"times_ms", "limit_ms"}. The cell "char-lm" is samples/char_lm.lnet with
// its optimizer; all others are stacks of LSTMs.
//
// usage: cells THREADS FOLDER-OF-SAMPLES
//
// limit_ms is what the arithmetic and the weights of a cell need at least on this machine, by the
// peak of fused multiply-adds and the rate at which weights are read, both measured here once with
// as many threads:
//   t = 8 I H B T L / F + T L max(4 H^2 s / stream, 8 H^2 B / F); a training step four times the
//   products (dX, dW and dU besides
// the projection) and twice the chain. The char LM's embedding, decoder and optimizer are left out
// of it.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/rates/Rates.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "executor/device/HostDevice.h"
#include "executor/device/ThreadTeam.h"
#include "executor/package/Package.h"
#include "executor/session/Session.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "passes/Compile.h"

using namespace lstmc;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Shape {
  int64_t steps, batch, units, layers;
};

std::string networkText(const Shape &s, const std::string &what) {
  std::string text =
      fmt::format("N, T = dim(\"batch\", {}), dim(\"seq\", {})\n"
                  "def net(data: float32[T, N, {}]):\n    x = data\n    for i in range({}):\n"
                  "        x, h, c = LSTM(x, num_hidden={}, name=\"lstm%d\" % i)\n",
                  s.batch, s.steps, s.units, s.layers, s.units);
  return text + (what == "train" ? "    return MakeLoss(x)\n" : "    return x\n");
}

KernelFunction choose(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(cpu::chosenLevel()).find(id, operands);
}

std::unique_ptr<Session> open(const Shape &shape, const std::string &what, int threads,
                              const std::string &sample) {
  auto stop = [](const Diagnostics &diagnostics) {
    std::cerr << symbol::render(diagnostics);
    std::exit(3);
  };
  Checked<symbol::Network> net =
      sample.empty() ? lnet::loadText("cell.lnet", networkText(shape, what)) : lnet::load(sample);
  if (!net.ok())
    stop(net.diagnostics());
  passes::CompileOptions options;
  options.entries = {what == "train" ? "step" : "forward"};
  options.optimizer.name = "none";
  if (what == "stream")
    options.carry = {"*"};
  if (!sample.empty()) {
    options.optimizer.name = "adam";
    options.optimizer.clipGradientNorm = 5;
    options.carry = {"lstm*"};
  }
  auto module = symbol::takeModule(*net->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    stop(compiled.diagnostics());
  auto refuse = [](const Error &error) {
    std::cerr << error.text() << "\n";
    std::exit(6);
  };
  Result<package::Package::Pointer> package =
      package::Package::open(package::serialize(compiled->package));
  if (!package.ok())
    refuse(package.error());
  std::vector<std::unique_ptr<Device>> devices;
  Result<std::unique_ptr<Device>> device = makeHostDevice("cpu:0", choose, threads);
  if (!device.ok())
    refuse(device.error());
  devices.push_back(std::move(*device));
  Result<std::unique_ptr<Session>> session = Session::create(*package, std::move(devices));
  if (!session.ok())
    refuse(session.error());
  if (Status status = (*session)->initialise(0); !status.ok())
    refuse(status.error());
  for (const char *name : {"data", "label"}) {
    Result<Tensor> input = (*session)->input(options.entries[0], name);
    if (!input.ok())
      continue;
    for (int64_t i = 0; i < input->elements(); ++i)
      if (sample.empty())
        input->as<float>()[i] = float(i * 2654435761u % 2001) / 1000.0f - 1.0f;
      else
        input->as<int32_t>()[i] = int32_t(i * 2654435761u % 65);
  }
  (*session)->setScalar("learning_rate", 0.002);
  (*session)->setScalar("update", int64_t(1));
  return std::move(*session);
}

std::vector<double> measure(Session &session, const std::string &entry, double seconds) {
  auto call = [&] {
    if (Status status = session.run(entry); !status.ok()) {
      std::cerr << status.error().text() << "\n";
      std::exit(7);
    }
  };
  for (int i = 0; i < 3; ++i)
    call();
  std::vector<double> times;
  for (double end = now() + seconds; now() < end || times.size() < 3;) {
    double begin = now();
    call();
    times.push_back((now() - begin) * 1e3);
  }
  return times;
}

double limitMs(const Shape &s, const std::string &what, int threads) {
  static const double kFlops = [&] {
    ThreadTeam team(threads);
    return cpu::multiplyAddRate(team);
  }();
  double h = double(s.units), rows = double(s.batch), steps = double(s.steps * s.layers);
  double recurrent = 4 * h * h * 4 / cpu::streamRate(size_t(4 * h * h * 4), threads);
  double chain = steps * std::max(recurrent, 8 * h * h * rows / kFlops);
  double product = steps * 8 * h * h * rows / kFlops;
  if (what == "stream")
    return steps * 8 * h * h * 4 / cpu::streamRate(size_t(8 * h * h * 4), threads) * 1e3;
  return (what == "train" ? 2 * chain + 4 * product : chain + product) * 1e3;
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  std::string samples = argc > 2 ? argv[2] : "samples";
  for (std::string line; std::getline(std::cin, line);) {
    auto request = nlohmann::json::parse(line);
    std::string what = request["what"];
    auto extents = request["shape"];
    Shape shape{extents[0], extents[1], extents[2], extents[3]};
    std::string sample = request["cell"] == "char-lm" ? samples + "/char_lm.lnet" : "";
    // Closed before the answer: its threads would keep polling while a peer is timed.
    std::vector<double> times = measure(*open(shape, what, threads, sample),
                                        what == "train" ? "step" : "forward", request["seconds"]);
    std::cout
        << nlohmann::json{{"times_ms", times}, {"limit_ms", limitMs(shape, what, threads)}}.dump()
        << std::endl;
  }
}
