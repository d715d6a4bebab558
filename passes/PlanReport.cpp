#include "passes/PlanReport.h"

#include <algorithm>

#include "passes/Lifetimes.h"
#include "passes/PackageBuilder.h"
#include "passes/PlanReportBuilder.h"

namespace lstmc::passes {

namespace {

constexpr size_t kLargest = 8;

uint64_t offsetOf(exec::BufferOp buffer) { return uint64_t(*buffer.getOffset()); }

/// Bytes that two buffers have in common in the arena.
int64_t overlap(exec::BufferOp a, exec::BufferOp b) {
  int64_t begin = int64_t(std::max(offsetOf(a), offsetOf(b)));
  int64_t end = std::min(int64_t(offsetOf(a)) + a.bytes(), int64_t(offsetOf(b)) + b.bytes());
  return std::max<int64_t>(end - begin, 0);
}

/// Bytes alive at each launch. What a result shares with operands whose place it takes counts once.
std::vector<uint64_t> aliveAt(const Lifetimes &lives) {
  std::vector<int64_t> change(lives.launches.size() + 1, 0);
  std::vector<llvm::SmallVector<exec::BufferOp, 2>> dying(lives.launches.size());
  for (Lifetime life : lives.buffers)
    if (life.to < lives.launches.size() && life.from < life.to)
      dying[life.to].push_back(life.buffer);
  std::vector<int64_t> shared(lives.launches.size(), 0);
  for (Lifetime life : lives.buffers) {
    if (life.to >= lives.launches.size())
      continue;
    int64_t bytes = life.buffer.bytes();
    change[life.from] += bytes;
    change[life.to + 1] -= bytes;
    for (exec::BufferOp operand : dying[life.from])
      shared[life.from] += overlap(life.buffer, operand);
  }
  std::vector<uint64_t> result;
  int64_t alive = 0;
  for (size_t i = 0; i < lives.launches.size(); ++i) {
    alive += change[i];
    result.push_back(uint64_t(alive - shared[i]));
  }
  return result;
}

PlannedTensor tensorOf(exec::BufferOp buffer) {
  mlir::MemRefType type = buffer.getMemory().getType();
  PlannedTensor tensor;
  tensor.name = buffer.getName().str();
  tensor.kind = package::Kind(uint8_t(buffer.getKind()));
  tensor.dtype = exec::dtypeOf(type.getElementType());
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  tensor.bytes = uint64_t(buffer.bytes());
  tensor.location = locationOf(buffer.getLoc());
  return tensor;
}

DevicePlan deviceReport(exec::PlanOp plan, size_t device) {
  DevicePlan report;
  report.device = llvm::cast<mlir::StringAttr>(plan.getDevices()[device]).str();
  report.peakBytes = uint64_t((*plan.getArenaBytes())[device]);
  std::vector<exec::BufferOp> atPeak;
  for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>())
    if (size_t(buffer.getDevice()) == device) {
      atPeak.push_back(buffer);
      report.persistentBytes = std::max(report.persistentBytes, offsetOf(buffer) + uint64_t(buffer.bytes()));
      report.kindBytes[size_t(buffer.getKind())] += uint64_t(buffer.bytes());
    }

  std::vector<exec::BufferOp> transient;
  for (exec::ProgramOp program : plan.getBody().getOps<exec::ProgramOp>()) {
    if (size_t(program.getDevice()) != device || program.getEntry() == "initialise")
      continue;
    Lifetimes lives(program);
    std::vector<uint64_t> alive = aliveAt(lives);
    uint64_t end = report.persistentBytes;
    for (Lifetime life : lives.buffers)
      end = std::max(end, offsetOf(life.buffer) + uint64_t(life.buffer.bytes()));
    auto most = std::max_element(alive.begin(), alive.end());
    if (most != alive.end() && (report.peak.entry.empty() || *most > report.aliveBytes)) {
      auto moment = uint32_t(most - alive.begin());
      report.aliveBytes = *most;
      report.peak = {program.getEntry().str(), moment,
                     std::string(kernelRecord(lives.launches[moment].kernelId()).name),
                     locationOf(lives.launches[moment].getLoc())};
      transient.clear();
      for (Lifetime life : lives.buffers)
        if (life.from <= moment && moment <= life.to)
          transient.push_back(life.buffer);
    }
    report.entries.push_back({program.getEntry().str(), end - report.persistentBytes});
    report.aliveAt.push_back(std::move(alive));
  }

  // Of two buffers in one place the one that begins there counts; the other adds what it reaches beyond.
  std::vector<std::pair<uint64_t, size_t>> byOffset;
  for (size_t i = 0; i < transient.size(); ++i)
    byOffset.push_back({offsetOf(transient[i]), i});
  std::sort(byOffset.begin(), byOffset.end());
  uint64_t reach = 0;
  for (auto [offset, index] : byOffset) {
    exec::BufferOp buffer = transient[index];
    uint64_t begin = std::max(offsetOf(buffer), reach), end = offsetOf(buffer) + uint64_t(buffer.bytes());
    if (end > begin)
      report.kindBytes[size_t(buffer.getKind())] += end - begin;
    if (end > begin || offsetOf(buffer) >= reach)
      atPeak.push_back(buffer);
    reach = std::max(reach, end);
  }
  uint64_t counted = 0;
  for (uint64_t bytes : report.kindBytes)
    counted += bytes;
  report.gapBytes = report.peakBytes - counted;
  std::vector<std::pair<uint64_t, size_t>> bySize;
  for (size_t i = 0; i < atPeak.size(); ++i)
    bySize.push_back({~uint64_t(atPeak[i].bytes()), i});
  std::sort(bySize.begin(), bySize.end());
  for (size_t i = 0; i < std::min(kLargest, bySize.size()); ++i)
    report.largest.push_back(tensorOf(atPeak[bySize[i].second]));
  return report;
}

} // namespace

PlanReport buildPlanReport(exec::PlanOp plan) {
  PlanReport report;
  for (size_t device = 0; device < plan.getDevices().size(); ++device)
    report.devices.push_back(deviceReport(plan, device));
  return report;
}

} // namespace lstmc::passes
