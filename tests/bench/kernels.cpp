// Times the recurrent kernels alone on the shapes of cells.json.
//
//   lstmc_bench_kernels [--threads N] [--seconds S] [--only TEXT] [--what stream|infer|train]
//                      [--profile] [--processor-time] [--patient]
//
// One line per cell: smallest time, GF/s (8 (I + H) H B T per layer, three times that for
// training), and the share of the machine's multiply-add peak, measured in the same run.
// LSTMC_CPU_LEVEL caps the level.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/rates/Rates.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "executor/abi/Gate.h"
#include "executor/abi/Scratch.h"
#include "executor/base/Processors.h"
#include "executor/device/ThreadTeam.h"

#include <sys/mman.h>

using namespace lstmc;

namespace {

struct Cell {
  const char *name;
  int64_t steps, batch, units, layers;
};

const Cell kCells[] = {
    {"stream-H128", 1, 1, 128, 1},         {"stream-H256", 1, 1, 256, 1},
    {"stream-H512", 1, 1, 512, 1},         {"stream-H1024", 1, 1, 1024, 1},
    {"B1-H128-T128", 128, 1, 128, 1},      {"B1-H256-L2-T64", 64, 1, 256, 2},
    {"B1-H512-L2-T64", 64, 1, 512, 2},     {"B1-H1024-T64", 64, 1, 1024, 1},
    {"ptb-small", 35, 20, 200, 2},         {"ptb-medium", 35, 20, 650, 2},
    {"ptb-large", 35, 20, 1500, 2},        {"B32-H128-T100", 100, 32, 128, 1},
    {"B32-H256-L2-T100", 100, 32, 256, 2}, {"B64-H512-L2-T50", 50, 64, 512, 2},
    {"B64-H1024-T50", 50, 64, 1024, 1},    {"B8-H256-T2000", 2000, 8, 256, 1},
};

constexpr int64_t kShards = 8;

bool processorTime =
    false; ///< processor time instead of wall-clock time: for one thread on a busy machine

double now() {
  timespec time;
  clock_gettime(processorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Memory that lives longer than the launches that use it: one range of huge pages, as in a
/// device's arena.
class Arena {
public:
  Arena() {
    memory_ = static_cast<char *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    madvise(memory_, kBytes, MADV_HUGEPAGE);
  }
  ~Arena() { munmap(memory_, kBytes); }

  Tensor tensor(std::vector<int64_t> shape, float scale = 0) {
    Tensor t;
    t.rank = int(shape.size());
    int64_t step = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
      t.shape[i] = shape[i];
      t.strides[i] = step;
      step *= shape[i];
    }
    float *data = reinterpret_cast<float *>(memory_ + used_);
    used_ += roundUp(step * 4, kAlignment);
    for (int64_t i = 0; i < step; ++i)
      data[i] = scale * float(int(uint32_t(i) * 2654435761u >> 12) % 2001 - 1000) / 1000;
    t.data = data;
    return t;
  }

private:
  static constexpr size_t kBytes = size_t(4) << 30;
  char *memory_;
  int64_t used_ = 0;
};

Tensor transposed(Tensor t) {
  std::swap(t.shape[1], t.shape[2]);
  std::swap(t.strides[1], t.strides[2]);
  return t;
}

/// [T, B, N] as [O, B, Q, N].
Tensor rowsOf(Tensor t) {
  t.rank = 4;
  t.shape[3] = t.shape[2];
  t.strides[3] = t.strides[2];
  t.shape[2] = 1;
  t.strides[2] = 0;
  return t;
}

struct Launch {
  KernelFunction function;
  KernelId id;
  std::vector<Tensor> operands;
  std::vector<int64_t> ints;
  double seconds = 0;
};

class Network {
public:
  Network(const Cell &cell, bool train) {
    const int64_t T = cell.steps, B = cell.batch, H = cell.units, G = 4, N = G * H;
    const int64_t chunk = std::clamp<int64_t>(200 / B, 1, T);
    const Tensor none;
    Tensor x = arena_.tensor({T, B, H}, 1);
    const RnnForwardArguments forward{.mode = RnnMode::Lstm, .reverse = false, .chunk = chunk};
    const RnnBackwardArguments backward{.mode = RnnMode::Lstm, .reverse = false, .chunk = chunk};
    const ShardRange shards = ShardRange::all(B, kShards);
    Tensor scratch = arena_.tensor({scratchOf(forward, B, H, 4, train).bytes / 4});
    struct Layer {
      Tensor x, w, r, y, gates, cells, before;
    };
    std::vector<Layer> layers;
    for (int64_t l = 0; l < cell.layers; ++l) {
      Layer layer{x,
                  arena_.tensor({1, N, H}, 0.05f),
                  arena_.tensor({1, N, H}, 0.05f),
                  arena_.tensor({T, B, H}),
                  none,
                  none,
                  none};
      Tensor w = packed(layer.w, G, train), r = packed(layer.r, G, train);
      Tensor bi = arena_.tensor({N}, 0.05f), bh = arena_.tensor({N}, 0.05f);
      Tensor h0 = arena_.tensor({B, H}), c0 = arena_.tensor({B, H}), hN = arena_.tensor({B, H}),
             cN = arena_.tensor({B, H});
      if (train) {
        layer.gates = arena_.tensor({T, B, N});
        layer.cells = arena_.tensor({T, B, H});
        layer.before = arena_.tensor({T, B, H});
      }
      add(forward, {x, w, r, bi, bh, h0, c0, none, layer.y, hN, cN, layer.gates, layer.cells,
                    layer.before, scratch});
      x = layer.y;
      layers.push_back(layer);
    }
    if (!train)
      return;
    Tensor dy = arena_.tensor({T, B, H}, 0.01f);
    for (int64_t l = cell.layers - 1; l >= 0; --l) {
      Layer &layer = layers[size_t(l)];
      Tensor wt = l > 0 ? packed(transposed(layer.w), 0, true) : none,
             rt = packed(transposed(layer.r), 0, true);
      Tensor dx = l > 0 ? arena_.tensor({T, B, H}) : none;
      add(backward, {layer.gates, layer.cells, layer.y, none, none, none, layer.before, wt, rt, dy,
                     none, none, layer.gates, none, dx, none, none, scratch});
      Tensor dgates = rowsOf(layer.gates);
      add(WeightGradientArguments{.range = shards},
          {arena_.tensor({N, H}), none, none, dgates, rowsOf(layer.x)});
      add(WeightGradientArguments{.range = shards},
          {arena_.tensor({N, H}), none, none, dgates, rowsOf(layer.before)});
      add(BiasGradientArguments{.range = shards}, {arena_.tensor({N}), none, dgates});
      dy = dx;
    }
  }

  void run(Worker &worker) {
    for (Launch &launch : launches_) {
      const double start = profile ? now() : 0;
      launch.function({launch.operands, launch.ints, {}, nullptr}, worker);
      worker.barrier();
      if (profile && worker.index == 0)
        launch.seconds += now() - start;
    }
  }

  /// Runs every launch once that is not in the timed list: for inference, packing.
  void prepare(Worker &worker) {
    for (Launch &launch : once_) {
      launch.function({launch.operands, launch.ints, {}, nullptr}, worker);
      worker.barrier();
    }
  }

  void printProfile(int64_t runs) {
    double each[64] = {};
    for (Launch &launch : launches_)
      each[size_t(launch.id)] += launch.seconds / double(runs);
    for (const KernelRecord &record : kernelRecords())
      if (each[size_t(record.id)] > 0)
        std::printf("    %-18s %9.4f ms\n", std::string(record.name).c_str(),
                    each[size_t(record.id)] * 1e3);
  }

  bool profile = false;

private:
  template <typename Arguments>
  void add(const Arguments &arguments, std::vector<Tensor> operands, bool once = false) {
    constexpr KernelId kId = Arguments::kKernel;
    KernelFunction function = cpu::kernelTable(cpu::chosenLevel()).own(kId);
    (once ? once_ : launches_)
        .push_back({function, kId, std::move(operands), wireArguments(arguments).ints});
  }
  Tensor packed(Tensor w, int64_t gates, bool timed) {
    Tensor p = arena_.tensor({packedElements(w.shape[1], w.shape[2], gates)});
    add(PackArguments{.gates = gates}, {w, p}, !timed);
    return p;
  }

  Arena arena_;
  std::vector<Launch> launches_, once_;
};

} // namespace

int main(int count, char **arguments) {
  int threads = availableProcessors();
  double seconds = 0.5;
  bool profile = false, patient = false;
  std::string only, what;
  for (int i = 1; i < count; ++i) {
    std::string flag = arguments[i];
    if (flag == "--profile") {
      profile = true;
      continue;
    }
    if (flag == "--patient") {
      patient = true;
      continue;
    }
    if (flag == "--processor-time") {
      processorTime = true;
      continue;
    }
    const char *value = i + 1 < count ? arguments[++i] : "";
    if (flag == "--threads")
      threads = std::atoi(value);
    else if (flag == "--seconds")
      seconds = std::atof(value);
    else if (flag == "--only")
      only = value;
    else if (flag == "--what")
      what = value;
  }
  ThreadTeam team(threads);
  const double peak = cpu::multiplyAddRate(team);
  std::printf("%d threads, %s, multiply-add peak %.0f GF/s\n", threads,
              std::string(cpu::kLevelNames[int(cpu::chosenLevel())]).c_str(), peak / 1e9);
  for (const Cell &cell : kCells)
    for (bool train : {false, true}) {
      const bool stream = cell.steps == 1;
      const char *kind = train ? "train" : stream ? "stream" : "infer";
      if ((train && stream) || std::string(cell.name).find(only) == std::string::npos ||
          (!what.empty() && what != kind))
        continue;
      Network network(cell, train);
      team.run([&](Worker &worker) { network.prepare(worker); });
      for (int i = 0; i < 3; ++i)
        team.run([&](Worker &worker) { network.run(worker); });
      network.profile = profile;
      double best = 1e9, begin = now();
      int64_t runs = 0;
      for (; runs < 3 || now() - begin < seconds; ++runs) {
        if (patient && runs % 4 == 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const double start = now();
        team.run([&](Worker &worker) { network.run(worker); });
        best = std::min(best, now() - start);
      }
      const double flops = 8.0 * 2 *
                           double(cell.units * cell.units * cell.batch * cell.steps * cell.layers) *
                           (train ? 3 : 1);
      std::printf("%-18s %-6s %10.4f ms %7.1f GF/s %5.1f %%\n", cell.name, kind, best * 1e3,
                  flops / best / 1e9, 100 * flops / best / peak);
      if (profile)
        network.printProfile(runs);
      std::fflush(stdout);
    }
}
