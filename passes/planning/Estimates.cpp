#include "passes/planning/Estimates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

using passes::CompileOptions;
using passes::KvStore;

static bool computes(const package::Launch &launch) {
  return launch.kernel == KernelId::RnnForward || launch.kernel == KernelId::Product;
}

NetOnOneDevice::NetOnOneDevice(const package::PackageData &data)
    : data_(data), entry_(*weighedEntry(data)) {
  for (const package::Parameter &parameter : data.parameters)
    parameterBytes_ += double(data.buffers[parameter.buffers[0]].bytes);
  for (const package::DeviceProgram &program : entry_.programs)
    for (const package::Launch &launch : program.launches)
      if (const std::string &name = data.locations[launch.location].name;
          !name.empty() && computes(launch)) {
        if (std::find(layers_.begin(), layers_.end(), name) == layers_.end())
          layers_.push_back(name);
        const package::Operand &y =
            launch.operands[size_t(kernelRecord(launch.kernel).operand("y"))];
        sentBytes_ = std::max(sentBytes_, double(data.buffers[y.buffer].bytes));
      }
}

double NetOnOneDevice::seconds(const Worker &worker) const {
  return forecast(data_, entry_, {worker.machine}, {worker.target}).seconds;
}

std::vector<double> NetOnOneDevice::layerSeconds(const Worker &worker) const {
  std::vector<double> seconds(layers_.size(), 0);
  for (const package::DeviceProgram &program : entry_.programs)
    for (const package::Launch &launch : program.launches)
      if (auto found =
              std::find(layers_.begin(), layers_.end(), data_.locations[launch.location].name);
          found != layers_.end())
        seconds[size_t(found - layers_.begin())] += worker.target->launchSeconds(
            worker.machine, launch.kernel, target::workOf(data_, launch));
  return seconds;
}

namespace {

/// Cuts the layers into one run per device such that the slowest run takes the least time. Returns
/// the seconds of that run; `sum` is the total of all. `seconds`: by device and layer.
double slowestStage(const std::vector<std::vector<double>> &seconds, double &sum) {
  size_t layers = seconds.front().size();
  std::vector<double> best(layers + 1, 0), sums(layers + 1, 0); // of the first so many layers
  for (size_t stage = 0; stage < seconds.size(); ++stage) {
    std::vector<double> next(layers + 1, HUGE_VAL), nextSums(layers + 1, 0);
    for (size_t end = stage + 1; end <= layers; ++end) {
      double own = 0;
      for (size_t begin = end; begin-- > stage;) {
        own += seconds[stage][begin];
        if (stage == 0 && begin > 0)
          continue;
        if (double most = std::max(best[begin], own); most < next[end]) {
          next[end] = most;
          nextSums[end] = sums[begin] + own;
        }
      }
    }
    best = std::move(next);
    sums = std::move(nextSums);
  }
  sum = sums[layers];
  return best[layers];
}

class Estimates {
public:
  Estimates(const CompileOptions &options, const NetOnOneDevice &net)
      : options_(options), net_(net) {}

  /// For each number of devices and stages, the layout with the best number of chunks; most
  /// promising first.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    std::vector<size_t> order = fastestFirst();
    for (size_t count = 2; count <= order.size(); ++count)
      for (size_t stages = 1; stages <= std::min(count, net_.layers().size()); ++stages) {
        if (count % stages != 0 || !fitsWorkLoads(count, stages))
          continue;
        std::optional<Candidate> best;
        for (int64_t chunks : kChunks) {
          if (options_.chunks > 0 && chunks != kChunks[0])
            continue;
          Candidate one = candidate({order.begin(), order.begin() + long(count)}, stages,
                                    options_.chunks > 0 ? options_.chunks : chunks);
          if (!best || one.seconds < best->seconds)
            best = std::move(one);
          if (stages == 1)
            break;
        }
        if (best->seconds < HUGE_VAL)
          found.push_back(std::move(*best));
      }
    std::ranges::sort(found, {}, [](const Candidate &one) {
      return std::tuple(one.seconds, one.options.devices.size(), one.options.stages);
    });
    return found;
  }

private:
  /// Devices sorted by speed; in the given order if there are work loads, which refer to devices by
  /// position.
  std::vector<size_t> fastestFirst() const {
    std::vector<size_t> order(options_.devices.size());
    std::iota(order.begin(), order.end(), 0);
    if (options_.machines.size() < 2 || !options_.workLoads.empty())
      return order;
    std::vector<std::pair<double, double>> seconds; // and of a byte that it sends or receives
    for (const Worker &worker : workersOf(options_)) {
      const target::Nic &nic = worker.machine.nic;
      seconds.emplace_back(net_.seconds(worker),
                           1 / std::min(nic.outBytesPerSecond, nic.inBytesPerSecond));
    }
    std::ranges::sort(order, {}, [&](size_t device) { return std::pair(seconds[device], device); });
    return order;
  }

  bool fitsWorkLoads(size_t count, size_t stages) const {
    return options_.workLoads.empty() ||
           (count == options_.devices.size() && options_.workLoads.size() == count / stages);
  }

  Candidate candidate(const std::vector<size_t> &devices, size_t stages, int64_t chunks) const {
    Candidate one{on(options_, devices), 0};
    CompileOptions &options = one.options;
    options.stages = int64_t(stages);
    options.chunks = stages > 1 ? chunks : options_.chunks;
    const Workers workers = workersOf(options);
    size_t replicas = devices.size() / stages;
    std::vector<double> seconds;
    for (size_t r = 0; r < replicas; ++r)
      seconds.push_back(replicaSeconds(workers, r * stages, stages, chunks));
    std::vector<int64_t> shards = shareOutShards(seconds);
    if (options.workLoads.empty() && std::find(shards.begin(), shards.end(), 0) != shards.end()) {
      one.seconds = HUGE_VAL; // the same without some of the devices
      return one;
    }
    if (options.workLoads.empty() &&
        !std::all_of(shards.begin(), shards.end(), [&](int64_t n) { return n == shards[0]; }) &&
        !isEven(seconds))
      options.workLoads = shards;
    if (stages > 1)
      options.stageCosts = stageCosts(net_, {workers.begin(), workers.begin() + long(stages)});
    for (size_t r = 0; r < replicas; ++r)
      one.seconds = std::max(one.seconds, seconds[r] * double(shards[r]) / double(options.shards));
    if (replicas > 1 && net_.trains()) {
      const double first = gradientSeconds(workers, stages, false),
                   each = gradientSeconds(workers, stages, true);
      const bool hosts = workers.front().machine.host != workers.back().machine.host;
      if (hosts && !options_.kvStore)
        options.kvStore = each < first ? KvStore::Device : KvStore::Local;
      one.seconds += options.kvStore == KvStore::Device && hosts ? each : first;
    }
    return one;
  }

  /// Time to send gradients to the first replica and back, or to the owner of each slice. Stages on
  /// one host share its network interface.
  double gradientSeconds(const Workers &workers, size_t stages, bool shared) const {
    const size_t replicas = workers.size() / stages;
    const int host = workers.front().machine.host;
    size_t beside = 0;
    for (size_t stage = 0; stage < stages; ++stage)
      beside += host >= 0 && workers[stage].machine.host == host;
    const double bytes = net_.parameterBytes() / double(stages) / (shared ? double(replicas) : 1);
    double seconds = 0;
    for (size_t replica = 1; replica < replicas; ++replica) {
      const target::MessageCost cost = messageCost(workers, replica * stages, 0, bytes);
      const bool away = workers[replica * stages].machine.host != host;
      seconds += cost.seconds * (away ? double(std::max<size_t>(1, beside)) : 1) + cost.latency;
    }
    return 2 * seconds;
  }

  static bool isEven(const std::vector<double> &seconds) {
    auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return *most <= 1.01 * *least;
  }

  /// Time on the whole batch, with the stages in a wavefront of chunks.
  double replicaSeconds(const Workers &workers, size_t first, size_t count, int64_t chunks) const {
    if (count == 1)
      return net_.seconds(workers[first]);
    std::vector<std::vector<double>> seconds;
    for (size_t stage = 0; stage < count; ++stage) {
      const Worker &worker = workers[first + stage];
      seconds.push_back(net_.layerSeconds(worker));
      double forward = std::accumulate(seconds.back().begin(), seconds.back().end(), 0.0);
      for (double &layer : seconds.back())
        layer *= net_.seconds(worker) / std::max(forward, 1e-12);
    }
    double sum = 0, slowest = slowestStage(seconds, sum);
    int directions = net_.trains() ? 2 : 1;
    double sent = 0, latency = 0;
    for (size_t stage = first + 1; stage < first + count; ++stage) {
      const target::MessageCost message =
          messageCost(workers, stage - 1, stage, directions * net_.sentBytes());
      sent += message.seconds;
      latency += directions * message.latency;
      slowest = std::max(slowest, message.seconds);
    }
    double launches = 1e-5 * double(count);
    return (sum + double(chunks - 1) * slowest + sent) / double(chunks) + latency +
           launches * double(chunks);
  }

  /// Assigns whole shards, each to the device that would finish it first.
  std::vector<int64_t> shareOutShards(const std::vector<double> &seconds) const {
    std::vector<int64_t> shards(seconds.size(), 0);
    for (int64_t i = 0; i < options_.shards; ++i) {
      auto done = [&](size_t r) { return seconds[r] * double(shards[r] + 1); };
      size_t first = 0;
      for (size_t r = 1; r < seconds.size(); ++r)
        if (done(r) < done(first))
          first = r;
      ++shards[first];
    }
    return shards;
  }

private:
  const CompileOptions &options_;
  const NetOnOneDevice &net_;
};

} // namespace

std::vector<Candidate> candidates(const CompileOptions &options, const NetOnOneDevice &net) {
  return Estimates(options, net).candidates();
}

std::vector<std::string> stageCosts(const NetOnOneDevice &net, const Workers &stages) {
  std::vector<std::string> costs;
  for (const std::string &layer : net.layers())
    costs.push_back(layer + "=");
  for (const Worker &worker : stages) {
    std::vector<double> seconds = net.layerSeconds(worker);
    for (size_t i = 0; i < costs.size(); ++i)
      costs[i] += (costs[i].ends_with('=') ? "" : "/") + std::to_string(int64_t(seconds[i] * 1e12));
  }
  return costs;
}

} // namespace lstmc::planning
