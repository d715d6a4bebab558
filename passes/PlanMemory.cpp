// plan-memory: assigns an offset to every buffer; see the record.

#include "passes/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include "executor/abi/EntryNames.h"
#include "executor/abi/Packing.h"
#include "executor/abi/Sizes.h"
#include "executor/base/SafeSize.h"
#include "ir/exec/Access.h"
#include "ir/sym/Diagnose.h"
#include "passes/Lifetimes.h"
#include "passes/Placement.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

namespace {

/// Whether the plans of one net for several lengths share the buffer.
bool isTrained(exec::Kind kind) {
  return kind == exec::Kind::Parameter || kind == exec::Kind::Auxiliary ||
         kind == exec::Kind::Optimizer || kind == exec::Kind::State;
}

uint64_t padded(int64_t bytes) { return uint64_t(roundUp(bytes, kAlignment)); }

void setOffset(exec::BufferOp buffer, uint64_t offset) { buffer.setOffset(int64_t(offset)); }

/// Buffers of one program as blocks: a result that reuses its operand's memory joins the operand's
/// block.
class ProgramPlan {
public:
  ProgramPlan(exec::ProgramOp program, const exec::Access &access)
      : lives(program), access(access) {
    blockOf.resize(lives.buffers.size());
    taken.resize(unsigned(lives.buffers.size()));
    for (auto [index, life] : llvm::enumerate(lives.buffers)) {
      blockOf[index] = unsigned(index);
      blocks.push_back({uint64_t(life.buffer.bytes()), life.from, life.to, 0, life.order});
    }
  }

  void joinInPlace() {
    for (auto [now, launch] : llvm::enumerate(lives.launches)) {
      llvm::SmallVector<exec::OperandView> views = launch.operandViews();
      for (size_t out = 0; out < views.size(); ++out)
        if (views[out] && access.writes(launch, out) && !access.reads(launch, out))
          joinOutput(launch, uint32_t(now), views, out);
    }
  }

  /// Bytes of the region.
  uint64_t place(bool sharing) {
    std::vector<Block> roots;
    std::vector<unsigned> rootOf(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i)
      if (blockOf[i] == i) {
        rootOf[i] = unsigned(roots.size());
        roots.push_back(blocks[i]);
      }
    uint64_t end = placeBlocks(roots, sharing);
    for (size_t i = 0; i < blocks.size(); ++i)
      blocks[i].offset = roots[rootOf[blockOf[i]]].offset;
    return end;
  }

  /// Where the last input or output ends.
  uint64_t boundEnd() const {
    uint64_t end = 0;
    for (auto [life, block] : llvm::zip_equal(lives.buffers, blocks))
      if (life.bound)
        end = std::max(end, block.offset + padded(int64_t(block.bytes)));
    return end;
  }

  void write(uint64_t base) {
    for (auto [life, block] : llvm::zip_equal(lives.buffers, blocks))
      setOffset(life.buffer, base + block.offset);
  }

private:
  /// Assigns output `out`, whose lifetime begins in this launch, the memory of an input whose
  /// lifetime ends in it, if the kernel allows that.
  void joinOutput(exec::LaunchOp launch, uint32_t now, llvm::ArrayRef<exec::OperandView> views,
                  size_t out) {
    auto born = lives.index.find(views[out].buffer);
    if (born == lives.index.end() || lives.buffers[born->second].from != now ||
        blockOf[born->second] != born->second)
      return;
    for (size_t in = 0; in < views.size(); ++in) {
      if (in == out || !views[in] || views[in].buffer == views[out].buffer ||
          access.writes(launch, in))
        continue;
      auto dying = lives.index.find(views[in].buffer);
      if (dying == lives.index.end() || !dies(dying->second, now) || !fits(launch, views, out, in))
        continue;
      join(born->second, dying->second);
      return;
    }
  }

  /// Whether the buffer's lifetime ends in this launch and its memory has not been reused yet.
  bool dies(unsigned buffer, uint32_t now) const {
    const Lifetime &life = lives.buffers[buffer];
    return life.to == now && life.endsInOne && !life.bound && !taken.test(buffer) &&
           blocks[blockOf[buffer]].to == now;
  }

  /// Whether the launch reads the dying buffer only element for element where `out` writes, and
  /// writes nothing else to `out`'s buffer.
  bool fits(exec::LaunchOp launch, llvm::ArrayRef<exec::OperandView> views, size_t out,
            size_t in) const {
    auto type = [](const exec::OperandView &view) {
      return dtypeBytes(
          exec::dtypeOf(llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType()));
    };
    if (type(views[in]) != type(views[out]))
      return false;
    for (size_t i = 0; i < views.size(); ++i) {
      if (!views[i] || i == out)
        continue;
      if (views[i].buffer == views[out].buffer)
        return false;
      if (views[i].buffer == views[in].buffer &&
          (access.writes(launch, i) || !views[i].sameWindow(views[out]) ||
           !access.mayBeItself(launch, out, i)))
        return false;
    }
    return true;
  }

  void join(unsigned born, unsigned dying) {
    unsigned root = blockOf[dying];
    blockOf[born] = root;
    taken.set(dying);
    blocks[root].to = std::max(blocks[root].to, lives.buffers[born].to);
    blocks[root].order.add(lives.buffers[born].order);
    blocks[root].bytes = std::max(blocks[root].bytes, blocks[born].bytes);
  }

  Lifetimes lives;
  const exec::Access &access;
  std::vector<Block> blocks;     ///< one per buffer; only those of roots are used
  std::vector<unsigned> blockOf; ///< root of each buffer
  llvm::BitVector taken;         ///< buffers whose memory a result has already
};

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    mlir::WalkResult done = getOperation().walk([&](exec::PlanOp plan) {
      return mlir::failed(run(plan)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::skip();
    });
    if (done.wasInterrupted())
      signalPassFailure();
  }

  mlir::LogicalResult run(exec::PlanOp plan) {
    exec::Access access(plan);
    llvm::SmallVector<int64_t> arenas;
    for (size_t device = 0; device < plan.getDevices().size(); ++device) {
      // Offsets fit in 64 bits if the sum of all buffers does.
      SafeSize apart(0);
      exec::BufferOp largest;
      plan.walk([&](exec::BufferOp buffer) {
        if (buffer.getDevice() != device)
          return;
        apart = apart + roundUp(SafeSize(uint64_t(buffer.bytes())), kAlignment);
        if (!largest || buffer.bytes() > largest.bytes())
          largest = buffer;
      });
      uint64_t arena = apart.value() ? planDevice(plan, int64_t(device), access) : ~uint64_t(0);
      if (arena > kMaxArenaBytes)
        return refuse(largest, llvm::cast<mlir::StringAttr>(plan.getDevices()[device]));
      arenas.push_back(int64_t(arena));
    }
    plan.setArenaBytes(arenas);
    return mlir::success();
  }

  /// E0401 at the op of the largest buffer.
  static mlir::LogicalResult refuse(exec::BufferOp largest, mlir::StringAttr device) {
    return sym::emitCoded(largest, ErrorCode::E0401)
           << "the plan needs more than " << kMaxArenaBytes << " bytes on " << device.getValue()
           << ", the most that an arena holds; " << largest.getName() << " alone is "
           << largest.bytes();
  }

  /// Entries that change parameters, and the packed buffers that they use.
  struct Changing {
    llvm::StringSet<> entries;
    llvm::DenseSet<mlir::Value> packed;

    Changing(exec::PlanOp plan, const exec::Access &access) {
      auto eachOperand = [&](auto f) {
        for (exec::ProgramOp program : plan.getBody().getOps<exec::ProgramOp>())
          for (exec::LaunchOp launch : program.getBody().getOps<exec::LaunchOp>())
            for (auto [i, buffer] : llvm::enumerate(exec::buffersOf(launch)))
              if (buffer)
                f(program, launch, i, buffer.template getDefiningOp<exec::BufferOp>());
      };
      eachOperand([&](exec::ProgramOp program, exec::LaunchOp launch, size_t operand,
                      exec::BufferOp buffer) {
        if (buffer.getKind() == exec::Kind::Parameter && access.writes(launch, operand) &&
            program.getEntry() != llvm::StringRef(kInitialiseProgram))
          entries.insert(program.getEntry());
      });
      eachOperand([&](exec::ProgramOp program, exec::LaunchOp, size_t, exec::BufferOp buffer) {
        if (buffer.getKind() == exec::Kind::Packed && entries.contains(program.getEntry()))
          packed.insert(buffer.getMemory());
      });
    }
  };

  uint64_t planDevice(exec::PlanOp plan, int64_t device, const exec::Access &access) {
    const Changing changing(plan, access);
    auto turnOf = [&](exec::BufferOp buffer) {
      if (isTrained(buffer.getKind()))
        return 0;
      const bool discarded =
          buffer.getKind() == exec::Kind::Packed && !changing.packed.contains(buffer.getMemory());
      return discarded ? 2 : 1;
    };
    uint64_t persistent = 0, always = 0;
    for (int turn : {0, 1, 2}) {
      always = persistent;
      for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>()) {
        if (int64_t(buffer.getDevice()) != device || turnOf(buffer) != turn)
          continue;
        setOffset(buffer, persistent);
        persistent += padded(buffer.bytes());
      }
    }
    uint64_t arena = persistent;
    // In reverse order: an entry is planned before its prepare program, which precedes it in the
    // plan.
    llvm::SmallVector<exec::ProgramOp> programs(plan.getBody().getOps<exec::ProgramOp>());
    llvm::StringMap<uint64_t> givenEnds;
    for (exec::ProgramOp program : llvm::reverse(programs)) {
      if (int64_t(program.getDevice()) != device)
        continue;
      ProgramPlan part(program, access);
      if (inPlace)
        part.joinInPlace();
      uint64_t end = part.place(sharing);
      // The buffers of prepare:ENTRY are placed after the inputs of ENTRY, which may be set
      // already.
      uint64_t after = end == 0 ? 0 : givenEnds.lookup(program.getEntry());
      const uint64_t base = changing.entries.contains(program.getEntry()) ? always : persistent;
      arena = std::max(arena, base + after + end);
      part.write(base + after);
      givenEnds[(llvm::StringRef(kPreparePrefix) + program.getEntry()).str()] = part.boundEnd();
    }
    return arena;
  }
};

} // namespace
} // namespace lstmc::passes
