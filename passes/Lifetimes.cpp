#include "passes/Lifetimes.h"

#include <map>

#include "executor/abi/KernelArguments.h"
#include "passes/Streams.h"

namespace lstmc::passes {

Lifetimes::Lifetimes(exec::ProgramOp program) {
  constexpr uint32_t kNever = ~uint32_t(0);
  std::vector<mlir::Value> inputs, outputs;
  bool committed = false;
  for (mlir::Operation &op : program.getBody().front()) {
    if (auto buffer = llvm::dyn_cast<exec::BufferOp>(op)) {
      index[buffer.getMemory()] = unsigned(buffers.size());
      buffers.push_back({.buffer = buffer, .from = kNever});
    } else if (auto input = llvm::dyn_cast<exec::InputOp>(op)) {
      inputs.push_back(input.getMemory());
    } else if (auto output = llvm::dyn_cast<exec::OutputOp>(op)) {
      outputs.push_back(output.getMemory());
    } else if (llvm::isa<exec::CommitOp>(op)) {
      commit = uint32_t(launches.size());
      committed = true;
    } else if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
      auto now = uint32_t(launches.size());
      for (mlir::Value memory : launch.getBuffers()) {
        auto found = index.find(memory);
        if (found == index.end())
          continue;
        Lifetime &life = buffers[found->second];
        life.from = std::min(life.from, now);
        life.to = now;
      }
      launches.push_back(launch);
    }
  }
  awaitStreams(program);
  uint32_t last = launches.empty() ? 0 : uint32_t(launches.size() - 1);
  auto bind = [&](llvm::ArrayRef<mlir::Value> memories, bool fromStart) {
    for (mlir::Value memory : memories) {
      auto found = index.find(memory);
      if (found == index.end())
        continue;
      Lifetime &life = buffers[found->second];
      life.bound = true;
      life.to = last;
      if (fromStart)
        life.from = 0;
    }
  };
  bind(inputs, true);
  bind(outputs, false);
  for (Lifetime &life : buffers)
    if (life.from == kNever)
      life.from = life.bound ? last : 0;
  if (!committed)
    commit = uint32_t(launches.size());
  keepSent();
}

void Lifetimes::awaitStreams(exec::ProgramOp program) {
  if (llvm::all_of(launches, [](exec::LaunchOp op) { return op.streamNumber() == 0; }))
    return;
  const std::vector<StreamClock> clocks = clocksOf(program);
  std::vector<StreamClock> touchedBefore(buffers.size());
  for (auto [now, launch] : llvm::enumerate(launches))
    for (mlir::Value memory : launch.getBuffers())
      if (auto found = index.find(memory); found != index.end()) {
        Lifetime &life = buffers[found->second];
        uint32_t &last = life.order.done[size_t(launch.streamNumber())];
        if (life.to == now && last != now + 1)
          touchedBefore[found->second] = life.order.done;
        last = uint32_t(now + 1);
        for (auto [known, clock] : llvm::zip_equal(life.order.known, clocks[now]))
          known = life.from == now ? clock : std::min(known, clock);
      }
  for (auto [id, life] : llvm::enumerate(buffers)) {
    if (life.from > life.to)
      continue; // no launch touches it
    life.endsInOne = reaches(clocks[life.to], touchedBefore[id]);
    auto last = uint32_t(launches.size() - 1);
    while (last > life.to && reaches(clocks[last], life.order.done))
      --last;
    life.order.lastBeside = last;
  }
}

/// A sent buffer must not be overwritten before all messages of smaller numbers are received
/// (docs/package.md).
void Lifetimes::keepWhileReceiving() {
  llvm::SmallVector<std::pair<int64_t, uint32_t>> received; // message, launch; both ascend
  for (auto [i, launch] : llvm::enumerate(launches))
    if (launch.kernelId() == KernelId::Receive)
      received.push_back({argumentsOf<TransferArguments>(launch.getInts()).message, uint32_t(i)});
  for (exec::LaunchOp launch : launches) {
    if (launch.kernelId() != KernelId::Send)
      continue;
    auto found = index.find(launch.getBuffers().front());
    int64_t message = argumentsOf<TransferArguments>(launch.getInts()).message;
    auto larger = llvm::partition_point(received, [&](auto one) { return one.first < message; });
    if (found != index.end() && larger != received.begin()) {
      uint32_t &to = buffers[found->second].to;
      to = std::max(to, std::prev(larger)->second);
    }
  }
}

/// A sent buffer may be read much later: reusing its memory early would make the sender wait for
/// the receiver.
void Lifetimes::keepSent() {
  constexpr size_t kAhead = 2; // messages to the same device
  std::map<int64_t, std::vector<Lifetime *>> sent;
  for (auto [i, launch] : llvm::enumerate(launches)) {
    if (launch.kernelId() != KernelId::Send)
      continue;
    std::vector<Lifetime *> &before = sent[argumentsOf<TransferArguments>(launch.getInts()).peer];
    if (before.size() >= kAhead)
      if (Lifetime *life = before[before.size() - kAhead])
        life->to = std::max(life->to, uint32_t(i));
    auto found = index.find(launch.getBuffers().front());
    before.push_back(found == index.end() ? nullptr : &buffers[found->second]);
  }
  keepWhileReceiving();
  for (auto &[peer, before] : sent)
    for (size_t i = before.size() - std::min(kAhead, before.size()); i < before.size(); ++i)
      if (before[i] && commit > 0)
        before[i]->to = std::max(before[i]->to, commit - 1);
}

} // namespace lstmc::passes
