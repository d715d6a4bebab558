#include "passes/planning/forecast/Stretch.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "executor/abi/Packing.h"

namespace lstmc::planning {

using package::Kind;
using package::Launch;

namespace {

/// Elements of the parameters of a stage that replicas own, assigned as in sync-parameters.
struct Owned {
  double most = 0;                  ///< of the replica that owns most
  double mostWhole = 0;             ///< the same of arrays that are not cut,
  double leastWhole = 0, whole = 0; ///< of the replica that owns least of these, and of all
  int64_t arrays = 0;
};

Owned shareOut(const std::vector<int64_t> &parameters, int64_t replicas, int64_t bigArrayBound) {
  std::vector<double> load(size_t(replicas), 0), whole(size_t(replicas), 0);
  Owned owned;
  for (int64_t elements : parameters)
    if (bigArrayBound > 0 && elements >= bigArrayBound) {
      for (double &each : load)
        each += double(elements) / double(replicas);
      owned.arrays += replicas;
    } else {
      auto least = std::min_element(load.begin(), load.end());
      *least += double(elements);
      whole[size_t(least - load.begin())] += double(elements);
      owned.whole += double(elements);
      ++owned.arrays;
    }
  owned.most = *std::max_element(load.begin(), load.end());
  owned.mostWhole = *std::max_element(whole.begin(), whole.end());
  owned.leastWhole = *std::min_element(whole.begin(), whole.end());
  return owned;
}

double ratio(double many, double few) { return few > 0 ? many / few : 1; }

int64_t elementsOf(const package::Operand &operand) {
  return std::accumulate(operand.shape.begin(), operand.shape.end(), int64_t(1),
                         std::multiplies<>());
}

} // namespace

Stretch::Stretch(const package::PackageData &few, int64_t stages, int64_t replicas, int64_t perHost,
                 int64_t bigArrayBound)
    : stages_(stages), few_(int64_t(few.devices.size()) / stages), all_(replicas),
      perHost_(perHost), byStage_(size_t(stages)) {
  std::vector<std::vector<int64_t>> parameters(static_cast<size_t>(stages));
  for (const package::Parameter &parameter : few.parameters) {
    const package::Buffer &buffer = few.buffers[parameter.buffers[0]];
    if (parameter.buffers.size() > 1)
      parameters[size_t(int64_t(buffer.device) % stages)].push_back(buffer.elements());
  }
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].empty())
      continue;
    const Owned many = shareOut(parameters[k], all_, bigArrayBound),
                some = shareOut(parameters[k], few_, bigArrayBound);
    Stage &stage = byStage_[k];
    stage.update = ratio(many.most, some.most);
    stage.owned = ratio(many.mostWhole, some.mostWhole);
    stage.given = ratio(many.whole - many.leastWhole, some.whole - some.leastWhole);
    stage.norms = double(many.arrays) / double(some.arrays);
    for (int64_t elements : parameters[k])
      if (bigArrayBound > 0 && elements >= bigArrayBound)
        stage.cut.push_back(elements);
  }
}

Stretch Stretch::together() const {
  Stretch all = *this;
  all.together_ = true;
  return all;
}

/// Whether the size is that of a slice of an array that is cut; slices are whole tiles.
bool Stretch::isCut(const Stage &stage, const package::Operand &operand) const {
  const int64_t elements = elementsOf(operand);
  return std::ranges::any_of(
      stage.cut, [&](int64_t all) { return std::abs(elements - all / few_) <= kNormTile; });
}

Times Stretch::ofMessage(Way way, const Stage &stage, bool sends, bool committed) const {
  const double away = double(all_ - perHost_) / double(all_ - 1),
               peers = double(all_ - 1) / double(few_ - 1);
  if (together_)
    return {.out = peers * away, .in = peers * away};
  double out = 1, in = 1;
  switch (way) {
  case Way::Cut: {
    const double work = peers * double(few_) / double(all_);
    return {work, peers, work * away, work * away};
  }
  case Way::ToAll:
    out = peers * (committed ? stage.owned : 1);
    in = committed ? stage.given : 1;
    break;
  case Way::ToOwner:
    out = stage.given;
    in = peers * stage.owned;
    break;
  case Way::ToFirst:
    in = peers;
    break;
  case Way::Norm:
    in = stage.norms;
    break;
  }
  const double own = sends ? out : in;
  return {own, own, out * away, in * away};
}

/// Classifies the messages between replicas.
class Stretch::Reader {
public:
  Reader(const Stretch &stretch, const package::Entry &entry) : stretch_(stretch) {
    for (const package::DeviceProgram &program : entry.programs)
      readSends(program);
    for (const package::DeviceProgram &program : entry.programs)
      readSums(program);
  }

  Way wayOf(int64_t message) const { return ways_.at(message); }

private:
  void readSends(const package::DeviceProgram &program) {
    std::unordered_map<uint32_t, std::set<int64_t>> peers; // by buffer
    std::unordered_set<uint32_t> norms;
    for (size_t i = 0; i < program.commit; ++i) {
      const Launch &launch = program.launches[i];
      if (launch.kernel == KernelId::NormSquared)
        norms.insert(launch.operands[0].buffer);
      if (launch.kernel == KernelId::Send)
        peers[launch.operands[0].buffer].insert(argumentsOf<SendArguments>(launch).peer);
    }
    const bool first = program.device < stretch_.stages_;
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      if (launch.kernel != KernelId::Send)
        continue;
      const auto [peer, message] = argumentsOf<SendArguments>(launch);
      const package::Operand &value = launch.operands[0];
      if (!stretch_.between(program.device, peer))
        continue;
      const bool toAll = i >= program.commit ||
                         (first && int64_t(peers[value.buffer].size()) == stretch_.few_ - 1);
      ways_[message] = stretch_.isCut(stretch_.stageOf(program.device), value) ? Way::Cut
                       : toAll                                                 ? Way::ToAll
                       : norms.contains(value.buffer)                          ? Way::Norm
                                                                               : Way::ToFirst;
    }
  }

  /// Messages that are added up on arrival go to an owner; others go to the first device.
  void readSums(const package::DeviceProgram &program) {
    std::unordered_map<uint32_t, int64_t> received; // messages, by buffer
    for (const Launch &launch : program.launches)
      if (launch.kernel == KernelId::Receive)
        received[launch.operands[0].buffer] = argumentsOf<ReceiveArguments>(launch).message;
      else if (launch.kernel == KernelId::Fused)
        for (const package::Operand &operand : launch.operands)
          if (auto found = received.find(operand.buffer); found != received.end())
            if (auto way = ways_.find(found->second);
                way != ways_.end() && way->second == Way::ToFirst)
              way->second = Way::ToOwner;
  }

  const Stretch &stretch_;
  std::unordered_map<int64_t, Way> ways_;
};

std::vector<std::vector<Times>> Stretch::timesOf(const package::PackageData &few,
                                                 const package::Entry &entry) const {
  const Reader reader(*this, entry);
  const double replicas = double(all_) / double(few_), peers = double(all_ - 1) / double(few_ - 1);
  std::vector<std::vector<Times>> times;
  for (const package::DeviceProgram &program : entry.programs) {
    const Stage &stage = stageOf(program.device);
    std::vector<Times> &own = times.emplace_back(program.launches.size());
    std::unordered_map<uint32_t, Way> received; // by buffer
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      const bool sends = launch.kernel == KernelId::Send, committed = i >= program.commit;
      auto any = [&](auto is) { return std::ranges::any_of(launch.operands, is); };
      if (sends || launch.kernel == KernelId::Receive) {
        const auto [peer, message] =
            argumentsOf<ReceiveArguments>(launch); // the arguments of Send are the same
        if (between(program.device, peer)) {
          own[i] = ofMessage(reader.wayOf(message), stage, sends, committed);
          if (!sends && !committed)
            received[launch.operands[0].buffer] = reader.wayOf(message);
        } else if (together_) {
          own[i] = {.out = replicas, .in = replicas};
        }
      } else if (any([&](const package::Operand &operand) {
                   return operand.buffer != package::kNoBuffer &&
                          few.buffers[operand.buffer].kind == Kind::State;
                 })) {
        own[i].work = committed ? replicas : 1; // the first device writes the states of all
      } else if (committed) {
        own[i].work = stage.update;
      } else if (launch.kernel == KernelId::NormSquared) {
        if (any([&](const package::Operand &operand) { return isCut(stage, operand); }))
          own[i].work = 1 / replicas;
      } else {
        for (const package::Operand &operand : launch.operands)
          if (auto found = received.find(operand.buffer); found != received.end()) {
            if (found->second == Way::Cut)
              own[i].work = peers / replicas;
            else if (found->second == Way::ToOwner)
              own[i].work = peers * stage.owned;
            else if (found->second == Way::ToFirst)
              own[i].work = own[i].count = peers;
          }
      }
    }
  }
  return times;
}

} // namespace lstmc::planning
