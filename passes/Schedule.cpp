// schedule: reorders launches for shorter buffer lifetimes and less waiting.

#include <set>

#include "backends/registry/Targets.h"
#include "executor/abi/EntryNames.h"
#include "executor/abi/KernelArguments.h"
#include "ir/exec/Access.h"
#include "passes/OperandSlices.h"
#include "passes/Passes.h"
#include "passes/Streams.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"

namespace {

/// Messages by entry name and number.
using Messages = std::set<std::pair<llvm::StringRef, int64_t>>;

int64_t messageOf(exec::LaunchOp transfer) {
  return argumentsOf<TransferArguments>(transfer.getInts()).message;
}

/// Messages that their sender sends before computing anything for them; receivers do not wait long
/// for these.
Messages messagesOfGivenValues(exec::PlanOp plan, const exec::Access &access) {
  Messages found;
  for (auto program : plan.getBody().getOps<exec::ProgramOp>()) {
    llvm::DenseSet<mlir::Value> made;
    for (auto launch : program.getOps<exec::LaunchOp>()) {
      if (launch.kernelId() == KernelId::Send) {
        if (!made.contains(launch.getBuffers()[0]))
          found.insert({program.getEntry(), messageOf(launch)});
        continue;
      }
      for (auto [i, buffer] : llvm::enumerate(exec::buffersOf(launch)))
        if (buffer && access.writes(launch, i))
          made.insert(buffer);
    }
  }
  return found;
}

/// The launches of a program before its commit, and their dependencies.
class Order {
public:
  Order(exec::ProgramOp program, const exec::Access &access, const Messages &given)
      : access(access), given(given), entry(program.getEntry()) {
    for (mlir::Operation &op : program.getBody().front()) {
      if (llvm::isa<exec::CommitOp>(op)) {
        end = &op;
      } else if (auto output = llvm::dyn_cast<exec::OutputOp>(op)) {
        outputs.push_back(output.getMemory());
      } else if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
        if (end)
          after.push_back(launch);
        else
          addLaunch(launch);
      }
    }
    // Buffers that are read after the commit, or by the caller, outlive all launches before it.
    for (exec::LaunchOp launch : after)
      for (mlir::Value memory : launch.getBuffers())
        hold(memory);
    for (mlir::Value memory : outputs)
      hold(memory);
  }

  void improve() {
    std::vector<unsigned> order(launches.size());
    for (unsigned i = 0; i < order.size(); ++i)
      order[i] = i;
    if (std::vector<unsigned> greedy = freeFirst(); mostAlive(greedy) < mostAlive(order))
      order = std::move(greedy);
    if (inChunks)
      workBeforeWaiting(order);
    mlir::Operation *place = end;
    for (unsigned number : llvm::reverse(order)) {
      mlir::Operation *launch = launches[number].op;
      if (place)
        launch->moveBefore(place);
      else
        launch->moveBefore(launch->getBlock(), launch->getBlock()->end());
      place = launch;
    }
  }

private:
  struct Launch {
    exec::LaunchOp op;
    llvm::SmallVector<unsigned, 6> uses; ///< buffers of the program that it touches, each once
    llvm::SmallVector<unsigned, 4> followers;
    unsigned waits = 0;
  };
  struct Buffer {
    int64_t bytes = 0;
    llvm::SmallVector<unsigned, 4> users; ///< launches that touch it
    unsigned sumOfUsers = 0; ///< xor of their numbers: the last one left, once only one is
    bool held = false;
    int lastWriter = -1;
    llvm::SmallVector<unsigned, 4> readers; ///< since the last write
  };

  Buffer &bufferOf(mlir::Value memory) {
    auto [at, isNew] = index.try_emplace(memory, unsigned(buffers.size()));
    if (isNew) {
      auto op = memory.getDefiningOp<exec::BufferOp>();
      buffers.emplace_back();
      buffers.back().bytes = op.persistent() ? 0 : op.bytes();
    }
    return buffers[at->second];
  }

  void hold(mlir::Value memory) {
    if (index.contains(memory))
      bufferOf(memory).held = true;
  }

  void addLaunch(exec::LaunchOp op) {
    auto number = unsigned(launches.size());
    launches.push_back({op, {}, {}, 0});
    inChunks |= op->hasAttr(kChunkAttr);
    llvm::SmallDenseSet<unsigned, 8> before;
    auto waitFor = [&](int other) {
      if (other >= 0 && unsigned(other) != number && before.insert(unsigned(other)).second) {
        launches[size_t(other)].followers.push_back(number);
        ++launches[number].waits;
      }
    };
    // Numbers of sends ascend, and those of receives; a send may move before receives, but a
    // receive must stay after sends of smaller numbers (docs/package.md).
    if (op.kernelId() == KernelId::Send) {
      if (!sends.empty())
        waitFor(int(sends.back()));
      sends.push_back(number);
    } else if (op.kernelId() == KernelId::Receive) {
      waitFor(lastReceive);
      lastReceive = int(number);
      auto larger = llvm::find_if(
          sends, [&](unsigned send) { return messageOf(launches[send].op) > messageOf(op); });
      if (larger != sends.begin())
        waitFor(int(*std::prev(larger)));
    }
    for (auto [i, memory] : llvm::enumerate(exec::buffersOf(op))) {
      if (!memory)
        continue;
      Buffer &buffer = bufferOf(memory);
      unsigned id = index.lookup(memory);
      if (!llvm::is_contained(launches[number].uses, id)) {
        launches[number].uses.push_back(id);
        buffer.users.push_back(number);
        buffer.sumOfUsers ^= number;
      }
      waitFor(buffer.lastWriter);
      if (access.writes(op, i)) {
        for (unsigned reader : buffer.readers)
          waitFor(int(reader));
        buffer.readers.clear();
        buffer.lastWriter = int(number);
      } else {
        buffer.readers.push_back(number);
      }
    }
  }

  /// Greedy order: among the launches that can run, the first that frees more than it allocates,
  /// alone or together with all other launches that a buffer waits for; else the first. A send does
  /// not wait for launches that came after it.
  std::vector<unsigned> freeFirst() {
    std::vector<unsigned> waits, usersLeft, usersReady(buffers.size(), 0), sums;
    std::vector<bool> alive(buffers.size(), false);
    for (const Launch &launch : launches)
      waits.push_back(launch.waits);
    for (const Buffer &buffer : buffers) {
      usersLeft.push_back(unsigned(buffer.users.size()));
      sums.push_back(buffer.sumOfUsers);
    }
    std::set<unsigned> ready, freeing;
    auto growth = [&](unsigned number) {
      int64_t bytes = 0;
      for (unsigned id : launches[number].uses) {
        if (!alive[id])
          bytes += buffers[id].bytes;
        if (usersLeft[id] == 1 && !buffers[id].held)
          bytes -= buffers[id].bytes;
      }
      return bytes;
    };
    auto look = [&](unsigned number) {
      if (ready.contains(number) && growth(number) < 0)
        freeing.insert(number);
    };
    auto lookTogether = [&](unsigned id) {
      if (usersReady[id] != usersLeft[id] || usersLeft[id] < 2 || !alive[id] || buffers[id].held ||
          buffers[id].bytes == 0)
        return;
      int64_t bytes = -buffers[id].bytes;
      for (unsigned user : buffers[id].users)
        bytes += ready.contains(user) ? growth(user) : 0;
      for (unsigned user : buffers[id].users)
        if (bytes < 0 && ready.contains(user))
          freeing.insert(user);
    };
    auto makeReady = [&](unsigned number) {
      ready.insert(number);
      look(number);
      for (unsigned id : launches[number].uses) {
        ++usersReady[id];
        lookTogether(id);
      }
    };
    for (unsigned i = 0; i < launches.size(); ++i)
      if (waits[i] == 0)
        makeReady(i);
    std::vector<unsigned> order;
    auto send = sends.begin();
    while (!ready.empty()) {
      bool frees = !freeing.empty() && (send == sends.end() || *freeing.begin() <= *send);
      unsigned number = frees ? *freeing.begin() : *ready.begin();
      if (send != sends.end() && number == *send)
        ++send;
      ready.erase(number);
      freeing.erase(number);
      order.push_back(number);
      for (unsigned id : launches[number].uses) {
        alive[id] = true;
        sums[id] ^= number;
        --usersReady[id];
        if (--usersLeft[id] == 1)
          look(sums[id]);
      }
      for (unsigned follower : launches[number].followers)
        if (--waits[follower] == 0)
          makeReady(follower);
    }
    return order;
  }

  /// Moves launches without dependencies before the first receive that may block, if that does not
  /// raise the peak of live bytes.
  void workBeforeWaiting(std::vector<unsigned> &order) {
    auto waits = [&](unsigned number) {
      exec::LaunchOp op = launches[number].op;
      return op.kernelId() == KernelId::Receive && !given.contains({entry, messageOf(op)});
    };
    auto place = size_t(llvm::find_if(order, waits) - order.begin());
    const int64_t most = mostAlive(order);
    for (size_t i = place + 1; i < order.size(); ++i) {
      Launch &launch = launches[order[i]];
      if (launch.waits > 0 || isTransfer(launch.op.kernelId()))
        continue;
      std::vector<unsigned> moved = order;
      std::rotate(moved.begin() + ptrdiff_t(place), moved.begin() + ptrdiff_t(i),
                  moved.begin() + ptrdiff_t(i) + 1);
      if (mostAlive(moved) > most)
        continue;
      order = std::move(moved);
      ++place;
    }
  }

  int64_t mostAlive(llvm::ArrayRef<unsigned> order) const {
    std::vector<unsigned> usersLeft;
    for (const Buffer &buffer : buffers)
      usersLeft.push_back(unsigned(buffer.users.size()));
    std::vector<bool> alive(buffers.size(), false);
    int64_t now = 0, most = 0;
    for (unsigned number : order) {
      for (unsigned id : launches[number].uses)
        if (!alive[id]) {
          alive[id] = true;
          now += buffers[id].bytes;
        }
      most = std::max(most, now);
      for (unsigned id : launches[number].uses)
        if (--usersLeft[id] == 0 && !buffers[id].held)
          now -= buffers[id].bytes;
    }
    return most;
  }

  const exec::Access &access;
  const Messages &given;
  const llvm::StringRef entry;
  std::vector<Launch> launches;
  std::vector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, unsigned> index;
  llvm::SmallVector<exec::LaunchOp> after;
  llvm::SmallVector<mlir::Value> outputs;
  mlir::Operation *end = nullptr;
  bool inChunks = false; ///< it is a stage of several, which wait for one another
  int lastReceive = -1;
  std::vector<unsigned> sends; ///< ascending
};

struct Schedule : impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    getOperation().walk([&](exec::PlanOp plan) {
      exec::Access access(plan);
      const Messages given = messagesOfGivenValues(plan, access);
      for (auto program : plan.getBody().getOps<exec::ProgramOp>()) {
        gatherBuffers(program);
        Order(program, access, given).improve();
        if (program.getEntry() != llvm::StringRef(kInitialiseProgram))
          assignStreams(program, access, streamsOf(plan, program));
      }
    });
  }

  unsigned streamsOf(exec::PlanOp plan, exec::ProgramOp program) const {
    if (streams > 0)
      return streams;
    auto name = llvm::cast<mlir::StringAttr>(plan.getDevices()[unsigned(program.getDevice())]);
    return unsigned(targetOf(std::string_view(name.getValue())).streams());
  }

  /// Buffers, then bindings, before all launches, so that launches can move.
  void gatherBuffers(exec::ProgramOp program) {
    mlir::Block &block = program.getBody().front();
    llvm::SmallVector<mlir::Operation *> front;
    for (mlir::Operation &op : block)
      if (llvm::isa<exec::BufferOp>(op))
        front.push_back(&op);
    for (mlir::Operation &op : block)
      if (llvm::isa<exec::InputOp, exec::OutputOp>(op))
        front.push_back(&op);
    for (mlir::Operation *op : llvm::reverse(front))
      op->moveBefore(&block, block.begin());
  }
};

} // namespace
} // namespace lstmc::passes
