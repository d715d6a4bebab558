#include "viz/LaunchGraph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "ir/exec/Access.h"
#include "viz/Dot.h"
#include "viz/KernelKind.h"

namespace lstmc::viz {

namespace {

class LaunchDrawing {
public:
  LaunchDrawing(exec::ProgramOp program, const NetworkOptions &options)
      : program_(program), plan_(program->getParentOfType<exec::PlanOp>()), access_(plan_),
        options_(options), diagram_(emptyDiagram(program.getEntry().str(), options)) {
    // A program runs on one device; only that device is listed.
    diagram_.devices = {
        llvm::cast<mlir::StringAttr>(plan_.getDevices()[program_.getDevice()]).str()};
    diagram_.colorsDevices = false;
  }

  Diagram build() {
    std::string group;
    for (mlir::Operation &op : program_.getBody().front()) {
      if (auto input = llvm::dyn_cast<exec::InputOp>(op)) {
        inputs_[input.getMemory()] = input.getName().str();
      } else if (llvm::isa<exec::CommitOp>(op)) {
        group = "after the commit";
      } else if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
        size_t box = diagram_.boxes.size();
        diagram_.boxes.push_back(boxOf(launch, group));
        connect(launch, box);
      }
    }
    // The position of exec.output in a program is irrelevant; outputs are known at its end.
    for (auto output : program_.getBody().getOps<exec::OutputOp>()) {
      size_t box = addInputOrOutput(output.getName().str());
      for (const Writer &writer : writers_[output.getMemory()])
        connectBoxes(writer.box, box, output.getMemory());
    }
    mergeEqualEdges(diagram_);
    return std::move(diagram_);
  }

private:
  struct Writer {
    size_t box;
    std::pair<int64_t, int64_t> window; ///< elements, [low, high)
  };

  size_t addInputOrOutput(const std::string &name) {
    Box box;
    box.kind = Box::Kind::Input;
    box.label = box.name = name;
    diagram_.boxes.push_back(std::move(box));
    return diagram_.boxes.size() - 1;
  }

  Box boxOf(exec::LaunchOp launch, const std::string &group) {
    Box box;
    box.what = kernelRecord(launch.kernelId()).name;
    box.label = box.what;
    box.group = group;
    box.color = kKernelKinds[kindOf(launch.kernelId())].color;
    box.devices = {0};
    // "OP NAME", the form in which lower-to-exec records the origin of a launch.
    if (auto named = llvm::dyn_cast<mlir::NameLoc>(launch.getLoc())) {
      auto [op, name] = named.getName().strref().split(' ');
      llvm::StringRef from = name.empty() ? op : name;
      box.name = name.str();
      box.label += from == box.label ? "" : "\n" + from.str();
    }
    for (auto [i, view] : llvm::enumerate(launch.operandViews()))
      if (view && access_.writes(launch, i))
        box.bytes += uint64_t(elements(view)) *
                     dtypeBytes(exec::dtypeOf(
                         llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType()));
    if (options_.target)
      box.seconds =
          options_.target->launchSeconds(options_.machine, launch.kernelId(), workOf(launch));
    return box;
  }

  static int64_t elements(const exec::OperandView &view) {
    int64_t count = 1;
    for (int64_t extent : view.shape)
      count *= extent;
    return count;
  }

  /// Adds edges to the writers of its operands, then registers it as the writer of its results.
  void connect(exec::LaunchOp launch, size_t id) {
    llvm::SmallVector<exec::OperandView> views = launch.operandViews();
    for (auto [i, view] : llvm::enumerate(views))
      if (view && access_.reads(launch, i))
        read(view, id);
    for (auto [i, view] : llvm::enumerate(views)) {
      if (!view || !access_.writes(launch, i))
        continue;
      auto [low, high] = view.hull();
      std::vector<Writer> &writers = writers_[view.buffer];
      // A window without gaps replaces earlier writers of it.
      if (high - low == elements(view))
        llvm::erase_if(writers, [&](const Writer &old) {
          return low <= old.window.first && old.window.second <= high;
        });
      writers.push_back({id, {low, high}});
    }
  }

  void read(const exec::OperandView &view, size_t id) {
    auto [low, high] = view.hull();
    auto found = writers_.find(view.buffer);
    if (found != writers_.end())
      for (const Writer &writer : found->second)
        if (writer.window.first < high && low < writer.window.second)
          connectBoxes(writer.box, id, view.buffer);
    if (auto input = inputs_.find(view.buffer); input != inputs_.end()) {
      auto [drawn, added] = drawnInputs_.try_emplace(view.buffer, 0);
      if (added)
        drawn->second = addInputOrOutput(input->second);
      connectBoxes(drawn->second, id, view.buffer);
    }
  }

  void connectBoxes(size_t from, size_t to, mlir::Value memory) {
    auto buffer = memory.getDefiningOp<exec::BufferOp>();
    std::string label = buffer.getName().str();
    if (options_.shapes)
      label += fmt::format(
          "\n{}", fmt::join(llvm::cast<mlir::MemRefType>(memory.getType()).getShape(), "x"));
    diagram_.edges.push_back({from, to, std::move(label), "", ""});
  }

  exec::ProgramOp program_;
  exec::PlanOp plan_;
  exec::Access access_;
  const NetworkOptions &options_;
  Diagram diagram_;
  llvm::DenseMap<mlir::Value, std::vector<Writer>>
      writers_; // looked up, never walked, as are the inputs
  llvm::DenseMap<mlir::Value, std::string> inputs_;
  llvm::DenseMap<mlir::Value, size_t> drawnInputs_; ///< boxes
};

} // namespace

std::string launchDot(exec::ProgramOp program, const NetworkOptions &options) {
  return diagramDot(LaunchDrawing(program, options).build());
}

} // namespace lstmc::viz
