// validate-plan: simulates every program on a model of the arena that records the owner of each
// byte. Independent of lifetimes, blocks and placement.

#include <map>

#include "passes/Passes.h"

#include "executor/abi/EntryNames.h"
#include "executor/abi/Packing.h"
#include "executor/package/Streams.h"
#include "ir/exec/Access.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_VALIDATEPLAN
#include "passes/Passes.h.inc"

namespace {

using mlir::Value;

struct Bytes {
  uint64_t begin = 0, end = 0;
  bool meets(const Bytes &other) const { return begin < other.end && other.begin < end; }
};

/// The buffer that last wrote each range of bytes.
class Picture {
public:
  void claim(Bytes bytes, Value owner) {
    if (bytes.begin >= bytes.end)
      return;
    cut(bytes.begin);
    cut(bytes.end);
    runs.erase(runs.lower_bound(bytes.begin), runs.lower_bound(bytes.end));
    runs[bytes.begin] = {bytes.end, owner};
  }

  /// The owner of the first bytes in `bytes` that `owner` does not own; null if nothing wrote them,
  /// nullopt if there are none.
  std::optional<Value> stranger(Bytes bytes, Value owner) {
    uint64_t at = bytes.begin;
    auto run = runs.upper_bound(at);
    if (run != runs.begin())
      --run;
    for (; at < bytes.end; ++run) {
      if (run != runs.end() && run->second.end <= at)
        continue;
      if (run == runs.end() || run->first > at)
        return Value();
      if (run->second.owner != owner)
        return run->second.owner;
      at = run->second.end;
    }
    return std::nullopt;
  }

private:
  struct Run {
    uint64_t end;
    Value owner;
  };

  /// Splits the run that contains `at`, so that one begins there.
  void cut(uint64_t at) {
    auto run = runs.lower_bound(at);
    if (run == runs.begin())
      return;
    --run;
    if (run->second.end <= at)
      return;
    Run rest = run->second;
    run->second.end = at;
    runs[at] = rest;
  }

  std::map<uint64_t, Run> runs;
};

class Validator {
public:
  Validator(exec::PlanOp plan, int64_t device, uint64_t arena, const exec::Access &access)
      : plan(plan), device(device), arena(arena), access(access) {}

  mlir::LogicalResult run() {
    Picture persistent;
    for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>()) {
      if (int64_t(buffer.getDevice()) != device)
        continue;
      if (failed(checkPlace(buffer)))
        return mlir::failure();
      Bytes bytes = bytesOf(buffer);
      // Earlier ranges do not overlap, so only the neighbours can overlap this one.
      auto next = kept.lower_bound(bytes.begin);
      auto overlaps = [&](auto other) {
        return buffer.emitOpError("overlaps \"")
               << other->second.second << "\", and both keep their contents";
      };
      if (next != kept.end() && next->first < bytes.end)
        return overlaps(next);
      if (next != kept.begin() && std::prev(next)->second.first > bytes.begin)
        return overlaps(std::prev(next));
      kept[bytes.begin] = {bytes.end, buffer.getName()};
      persistent.claim(bytes, buffer.getMemory());
    }
    for (exec::ProgramOp program : plan.getBody().getOps<exec::ProgramOp>())
      if (int64_t(program.getDevice()) == device && failed(runProgram(program, persistent)))
        return mlir::failure();
    return mlir::success();
  }

private:
  static Bytes bytesOf(exec::BufferOp buffer) {
    auto begin = uint64_t(*buffer.getOffset());
    return {begin, begin + uint64_t(buffer.bytes())};
  }

  static Bytes bytesOf(const exec::OperandView &view) {
    auto buffer = view.buffer.getDefiningOp<exec::BufferOp>();
    auto [low, high] = view.hull();
    auto size = int64_t(dtypeBytes(exec::dtypeOf(buffer.getMemory().getType().getElementType())));
    int64_t begin = *buffer.getOffset();
    return {uint64_t(begin + low * size), uint64_t(begin + high * size)};
  }

  mlir::LogicalResult checkPlace(exec::BufferOp buffer) {
    if (!buffer.getOffset())
      return buffer.emitOpError("has no offset");
    const auto offset = int64_t(*buffer.getOffset());
    if (offset < 0 || offset % int64_t(kAlignment) != 0)
      return buffer.emitOpError("is at ")
             << offset << ", want a multiple of " << kAlignment << " from 0 on";
    if (bytesOf(buffer).end > arena)
      return buffer.emitOpError("ends at byte ")
             << bytesOf(buffer).end << " of an arena of " << arena;
    return mlir::success();
  }

  std::vector<package::ByteAccess> accessesOf(llvm::ArrayRef<exec::LaunchOp> launches) const {
    std::vector<package::ByteAccess> accesses;
    for (auto [now, launch] : llvm::enumerate(launches))
      for (auto [i, view] : llvm::enumerate(exec::LaunchOp(launch).operandViews()))
        if (view)
          accesses.push_back(
              {uint32_t(now), access.writes(launch, i), bytesOf(view).begin, bytesOf(view).end});
    return accesses;
  }

  /// The order of launches on several streams.
  mlir::LogicalResult checkStreams(exec::ProgramOp program) {
    std::vector<package::StreamPlace> places;
    llvm::SmallVector<exec::LaunchOp> launches;
    uint32_t commit = ~uint32_t(0);
    for (mlir::Operation &op : program.getBody().front()) {
      if (llvm::isa<exec::CommitOp>(op))
        commit = uint32_t(launches.size());
      auto launch = llvm::dyn_cast<exec::LaunchOp>(op);
      if (!launch)
        continue;
      launches.push_back(launch);
      places.push_back({uint32_t(launch.streamNumber()),
                        int32_t(launch.getEvent() ? int64_t(*launch.getEvent()) : -1),
                        {launch.awaited().begin(), launch.awaited().end()},
                        isTransfer(launch.kernelId())});
    }
    if (llvm::all_of(places, [](const package::StreamPlace &place) { return place.plain(); }))
      return mlir::success();
    if (auto fault = package::findStreamFault(places, commit, accessesOf(launches)))
      return launches[fault->launch].emitOpError() << fault->field << ": " << fault->text;
    return mlir::success();
  }

  static bool isPacked(exec::BufferOp buffer) { return buffer.getKind() == exec::Kind::Packed; }

  /// Packed weights are recomputed after an entry that changes parameters, so such an entry may
  /// overwrite those that it does not use.
  llvm::DenseSet<Value> discarded(exec::ProgramOp program) {
    bool changes = false;
    llvm::DenseSet<Value> touched, result;
    if (llvm::none_of(plan.getBody().getOps<exec::BufferOp>(), isPacked))
      return result;
    for (exec::ProgramOp part : plan.getBody().getOps<exec::ProgramOp>()) {
      if (part.getEntry() != program.getEntry())
        continue;
      for (exec::LaunchOp launch : part.getBody().getOps<exec::LaunchOp>())
        for (auto [i, buffer] : llvm::enumerate(exec::buffersOf(launch))) {
          if (!buffer)
            continue;
          touched.insert(buffer);
          changes |= buffer.getDefiningOp<exec::BufferOp>().getKind() == exec::Kind::Parameter &&
                     access.writes(launch, i);
        }
    }
    for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>())
      if (changes && isPacked(buffer) && !touched.contains(buffer.getMemory()))
        result.insert(buffer.getMemory());
    return result;
  }

  mlir::LogicalResult runProgram(exec::ProgramOp program, Picture picture) {
    bool committed = false;
    for (mlir::Operation &op : program.getBody().front()) {
      if (auto buffer = llvm::dyn_cast<exec::BufferOp>(op)) {
        if (failed(checkPlace(buffer)))
          return mlir::failure();
      } else if (auto input = llvm::dyn_cast<exec::InputOp>(op)) {
        const Bytes bytes = bytesOf(input.getMemory().getDefiningOp<exec::BufferOp>());
        if (std::optional<llvm::StringRef> other = keptIn(bytes); other && isLocal(input))
          return input.emitOpError("overlaps \"") << *other << "\", which keeps its contents";
        picture.claim(bytes, input.getMemory());
      } else if (llvm::isa<exec::CommitOp>(op)) {
        committed = true;
      } else if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
        if (failed(runLaunch(launch, picture, committed,
                             program.getEntry() == llvm::StringRef(kInitialiseProgram))))
          return mlir::failure();
      }
    }
    if (failed(checkStreams(program)))
      return mlir::failure();
    for (exec::OutputOp output : program.getBody().getOps<exec::OutputOp>())
      if (failed(owns(output, picture, bytesOf(output.getMemory().getDefiningOp<exec::BufferOp>()),
                      output.getMemory())))
        return mlir::failure();
    const llvm::DenseSet<Value> mayLose = discarded(program);
    for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>())
      if (int64_t(buffer.getDevice()) == device && !mayLose.contains(buffer.getMemory()) &&
          failed(owns(program, picture, bytesOf(buffer), buffer.getMemory())))
        return mlir::failure();
    return mlir::success();
  }

  /// An input that only this program has.
  static bool isLocal(exec::InputOp input) {
    return llvm::isa<exec::ProgramOp>(input.getMemory().getDefiningOp()->getParentOp());
  }

  /// The name of a buffer of the plan in these bytes.
  std::optional<llvm::StringRef> keptIn(Bytes bytes) const {
    auto next = kept.lower_bound(bytes.begin);
    if (next != kept.end() && next->first < bytes.end)
      return next->second.second;
    if (next != kept.begin() && std::prev(next)->second.first > bytes.begin)
      return std::prev(next)->second.second;
    return std::nullopt;
  }

  mlir::LogicalResult owns(mlir::Operation *op, Picture &picture, Bytes bytes, Value memory) {
    std::optional<Value> stranger = picture.stranger(bytes, memory);
    if (!stranger)
      return mlir::success();
    auto name = [](Value value) { return value.getDefiningOp<exec::BufferOp>().getName(); };
    if (!*stranger)
      return op->emitOpError("reads \"") << name(memory) << "\" before all of it is written";
    return op->emitOpError("reads \"")
           << name(memory) << "\", whose memory \"" << name(*stranger) << "\" has taken";
  }

  mlir::LogicalResult runLaunch(exec::LaunchOp launch, Picture &picture, bool committed,
                                bool initialises) {
    llvm::SmallVector<exec::OperandView> views = launch.operandViews();
    llvm::SmallVector<Bytes> bytes(views.size());
    for (auto [i, view] : llvm::enumerate(views)) {
      if (!view)
        continue;
      bytes[i] = bytesOf(view);
      if (access.reads(launch, i) && failed(owns(launch, picture, bytes[i], view.buffer)))
        return mlir::failure();
    }
    for (size_t out = 0; out < views.size(); ++out) {
      if (!views[out] || !access.writes(launch, out))
        continue;
      if (failed(mayWrite(launch, views[out], committed || initialises)))
        return mlir::failure();
      for (size_t other = 0; other < views.size(); ++other)
        if (other != out && views[other] && bytes[out].meets(bytes[other]) &&
            !allowed(launch, views, out, other))
          return launch.emitOpError("writes operand ") << out << " over operand " << other;
    }
    for (size_t out = 0; out < views.size(); ++out)
      if (views[out] && access.writes(launch, out))
        picture.claim(bytes[out], views[out].buffer);
    return mlir::success();
  }

  mlir::LogicalResult mayWrite(exec::LaunchOp launch, const exec::OperandView &view,
                               bool committed) {
    auto buffer = view.buffer.getDefiningOp<exec::BufferOp>();
    switch (buffer.getKind()) {
    case exec::Kind::Parameter:
    case exec::Kind::Auxiliary:
    case exec::Kind::Optimizer:
    case exec::Kind::State:
      if (!committed)
        return launch.emitOpError("writes \"") << buffer.getName() << "\" before the commit";
      return mlir::success();
    case exec::Kind::Input:
    case exec::Kind::Scalar:
      return launch.emitOpError("writes \"") << buffer.getName() << "\", which is the caller's";
    default:
      return mlir::success();
    }
  }

  /// Whether both operands are the same elements, and the kernel's record allows that.
  bool allowed(exec::LaunchOp launch, llvm::ArrayRef<exec::OperandView> views, size_t out,
               size_t other) {
    if (access.writes(launch, other))
      return false;
    auto element = [](const exec::OperandView &view) {
      return dtypeBytes(
          exec::dtypeOf(llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType()));
    };
    auto start = [&](const exec::OperandView &view) {
      return *view.buffer.getDefiningOp<exec::BufferOp>().getOffset() +
             view.offset * int64_t(element(view));
    };
    return access.mayBeItself(launch, out, other) && element(views[out]) == element(views[other]) &&
           start(views[out]) == start(views[other]) && views[out].shape == views[other].shape &&
           views[out].strides == views[other].strides;
  }

  exec::PlanOp plan;
  int64_t device;
  uint64_t arena;
  const exec::Access &access;
  std::map<uint64_t, std::pair<uint64_t, llvm::StringRef>> kept; ///< end and name, by begin
};

struct ValidatePlan : impl::ValidatePlanBase<ValidatePlan> {
  void runOnOperation() override {
    getOperation().walk([&](exec::PlanOp plan) {
      if (!plan.getArenaBytes() || plan.getArenaBytes()->size() != plan.getDevices().size()) {
        plan.emitOpError("has no memory plan");
        return signalPassFailure();
      }
      exec::Access access(plan);
      for (auto [device, arena] : llvm::enumerate(*plan.getArenaBytes()))
        if (failed(Validator(plan, int64_t(device), uint64_t(arena), access).run()))
          return signalPassFailure();
    });
  }
};

} // namespace
} // namespace lstmc::passes
