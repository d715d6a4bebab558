#include "passes/planning/forecast/Stretch.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace lstmc::planning {

using package::Kind;
using package::Launch;

namespace {

/// The parameters of a stage, given to replicas as sync-parameters does it.
struct Owned {
  double most = 0; ///< elements of who owns most
  int64_t arrays = 0;
};

Owned shareOut(const std::vector<int64_t> &parameters, int64_t replicas, int64_t bigArrayBound) {
  std::vector<double> load(size_t(replicas), 0);
  int64_t arrays = 0;
  for (int64_t elements : parameters)
    if (bigArrayBound > 0 && elements >= bigArrayBound) {
      for (double &each : load)
        each += double(elements) / double(replicas);
      arrays += replicas;
    } else {
      *std::min_element(load.begin(), load.end()) += double(elements);
      ++arrays;
    }
  return {*std::max_element(load.begin(), load.end()), arrays};
}

Kind kindOf(const package::PackageData &data, const package::Operand &operand) {
  return operand.buffer == package::kNoBuffer ? Kind::Workspace : data.buffers[operand.buffer].kind;
}

} // namespace

Stretch::Stretch(const package::PackageData &two, int64_t stages, int64_t replicas, int64_t perHost,
                 int64_t bigArrayBound)
    : stages_(stages), replicas_(replicas), perHost_(perHost), byStage_(size_t(stages)) {
  std::vector<std::vector<int64_t>> parameters(static_cast<size_t>(stages));
  for (const package::Parameter &parameter : two.parameters) {
    const package::Buffer &buffer = two.buffers[parameter.buffers[0]];
    if (parameter.buffers.size() > 1)
      parameters[size_t(int64_t(buffer.device) % stages)].push_back(buffer.elements());
  }
  const auto all = double(replicas), away = double(replicas - perHost);
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].empty())
      continue;
    const Owned many = shareOut(parameters[k], replicas, bigArrayBound),
                few = shareOut(parameters[k], 2, bigArrayBound);
    Stage &stage = byStage_[k];
    stage.update = many.most / few.most;
    stage.ownerWork = stage.update * (all - 1);
    stage.ownerBytes = stage.update * away;
    stage.otherWork = 2 * (all - 1) / all;
    stage.otherBytes = 2 * away / all;
    stage.norms = double(many.arrays) / double(few.arrays);
  }
}

Stretch Stretch::evenly() const {
  Stretch even = *this;
  for (Stage &stage : even.byStage_)
    stage.ownerBytes = stage.otherBytes;
  return even;
}

std::vector<std::vector<Times>> Stretch::timesOf(const package::PackageData &two,
                                                 const package::Entry &entry) const {
  enum class Class { Star, Gradient, Weight, Norm };
  std::vector<std::vector<Times>> times;
  std::unordered_set<int64_t> gradients, norms; // messages
  for (const package::DeviceProgram &program : entry.programs) {
    const Stage &stage = byStage_[program.device % size_t(stages_)];
    std::vector<Times> &own = times.emplace_back(program.launches.size());
    std::vector<int64_t> received(two.buffers.size(), -1); // messages, by buffer
    std::unordered_set<uint32_t> normed;
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      const bool committed = i >= program.commit;
      if (launch.kernel == KernelId::Receive) {
        const auto [peer, message] = argumentsOf<ReceiveArguments>(launch);
        if (between(program.device, peer))
          received[launch.operands[0].buffer] = message;
      } else if (launch.kernel == KernelId::Send) {
        if (normed.contains(launch.operands[0].buffer))
          norms.insert(argumentsOf<SendArguments>(launch).message);
      } else if (committed) {
        own[i].work = stage.update;
      } else if (launch.kernel == KernelId::NormSquared) {
        own[i].work = stage.update;
        normed.insert(launch.operands[0].buffer);
      } else if (std::ranges::any_of(launch.operands, [&](const package::Operand &operand) {
                   return kindOf(two, operand) == Kind::Gradient;
                 })) {
        for (const package::Operand &operand : launch.operands)
          if (operand.buffer != package::kNoBuffer && received[operand.buffer] >= 0) {
            gradients.insert(received[operand.buffer]);
            own[i].work = stage.ownerWork;
          }
      }
    }
  }
  for (size_t p = 0; p < entry.programs.size(); ++p) {
    const package::DeviceProgram &program = entry.programs[p];
    const Stage &stage = byStage_[program.device % size_t(stages_)];
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      const bool sends = launch.kernel == KernelId::Send;
      if (!sends && launch.kernel != KernelId::Receive)
        continue;
      const auto [peer, message] = argumentsOf<ReceiveArguments>(launch); // as those of Send
      if (!between(program.device, peer))
        continue;
      const Class is = i >= program.commit           ? Class::Weight
                       : gradients.contains(message) ? Class::Gradient
                       : norms.contains(message)     ? Class::Norm
                                                     : Class::Star;
      const bool first = int64_t(program.device) < stages_, fromFirst = first == sends;
      const auto others = double(replicas_ - 1), away = double(replicas_ - perHost_);
      Times &own = times[p][i];
      switch (is) {
      case Class::Gradient:
        own = {sends ? stage.otherWork : stage.ownerWork, stage.otherBytes, stage.ownerBytes};
        break;
      case Class::Weight:
        own = {sends ? stage.ownerWork : stage.otherWork, stage.ownerBytes, stage.otherBytes};
        break;
      case Class::Norm:
        own = {first ? stage.norms : 1, fromFirst ? stage.norms : 1, fromFirst ? 1 : stage.norms};
        break;
      case Class::Star:
        own = {first ? others : 1, fromFirst ? away : 1, fromFirst ? 1 : away};
        break;
      }
    }
  }
  return times;
}

} // namespace lstmc::planning
