#include "viz/LaunchGraph.h"

#include <set>

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
        options_(options) {}

  std::string dot() {
    std::string boxes, *into = &boxes, committed;
    for (mlir::Operation &op : program_.getBody().front()) {
      if (auto input = llvm::dyn_cast<exec::InputOp>(op)) {
        inputs_[input.getMemory()] = input.getName().str();
      } else if (llvm::isa<exec::CommitOp>(op)) {
        into = &committed;
      } else if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
        std::string id = fmt::format("l{}", count_++);
        *into += box(launch, id);
        connect(launch, id);
      }
    }
    // Where a program says its outputs is no moment; what they hold is known at its end.
    for (auto output : program_.getBody().getOps<exec::OutputOp>()) {
      std::string id = fmt::format("o{}", count_++);
      boxes += fmt::format("  {} [shape=oval, fillcolor=\"#8dd3c7\", label={}];\n", id,
                           quoted(output.getName().str()));
      for (const Writer &writer : writers_[output.getMemory()])
        edge(writer.box, id, output.getMemory());
    }
    if (!committed.empty())
      boxes += fmt::format("  subgraph cluster_commit {{\n    label=\"after the commit\"; "
                           "labelloc=b; color=\"#999999\"; style=dashed; "
                           "fontname=\"Helvetica\"; fontsize=10;\n{}  }}\n",
                           committed);
    return dotHeader(program_.getEntry().str(), options_) + boxes + edges_ + "}\n";
  }

private:
  struct Writer {
    std::string box;
    std::pair<int64_t, int64_t> window; ///< elements, [low, high)
  };

  std::string box(exec::LaunchOp launch, const std::string &id) {
    std::string label(kernelRecord(launch.kernelId()).name);
    // "OP NAME", as lower-to-exec says where a launch comes from.
    if (auto named = llvm::dyn_cast<mlir::NameLoc>(launch.getLoc())) {
      auto [op, name] = named.getName().strref().split(' ');
      llvm::StringRef from = name.empty() ? op : name;
      label += from == label ? "" : "\n" + from.str();
    }
    if (options_.memory) {
      int64_t bytes = 0;
      for (auto [i, view] : llvm::enumerate(launch.operandViews()))
        if (view && access_.writes(launch, i))
          bytes += elements(view) *
                   int64_t(dtypeBytes(exec::dtypeOf(
                       llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType())));
      label += "\n" + bytesText(uint64_t(bytes));
    }
    if (!options_.devices.empty())
      label +=
          "\n" +
          llvm::cast<mlir::StringAttr>(plan_.getDevices()[program_.getDevice()]).getValue().str();
    if (options_.target)
      label += "\n" + durationText(options_.target->launchSeconds(
                          options_.machine, launch.kernelId(), workOf(launch)));
    return fmt::format("    {} [fillcolor=\"{}\", label={}];\n", id,
                       kKernelKinds[kindOf(launch.kernelId())].color, quoted(label));
  }

  static int64_t elements(const exec::OperandView &view) {
    int64_t count = 1;
    for (int64_t extent : view.shape)
      count *= extent;
    return count;
  }

  /// Edges to what it reads, then it is the writer of what it writes.
  void connect(exec::LaunchOp launch, const std::string &id) {
    llvm::SmallVector<exec::OperandView> views = launch.operandViews();
    for (auto [i, view] : llvm::enumerate(views))
      if (view && access_.reads(launch, i))
        read(view, id);
    for (auto [i, view] : llvm::enumerate(views)) {
      if (!view || !access_.writes(launch, i))
        continue;
      auto [low, high] = view.hull();
      std::vector<Writer> &writers = writers_[view.buffer];
      // A window without gaps hides what was in it.
      if (high - low == elements(view))
        llvm::erase_if(writers, [&](const Writer &old) {
          return low <= old.window.first && old.window.second <= high;
        });
      writers.push_back({id, {low, high}});
    }
  }

  void read(const exec::OperandView &view, const std::string &id) {
    auto [low, high] = view.hull();
    auto found = writers_.find(view.buffer);
    if (found != writers_.end())
      for (const Writer &writer : found->second)
        if (writer.window.first < high && low < writer.window.second)
          edge(writer.box, id, view.buffer);
    if (auto input = inputs_.find(view.buffer); input != inputs_.end()) {
      std::string name =
          fmt::format("i{}", view.buffer.getDefiningOp<exec::BufferOp>().getName().str());
      if (drawnInputs_.insert(name).second)
        edges_ += fmt::format("  {} [shape=oval, fillcolor=\"#8dd3c7\", label={}];\n", quoted(name),
                              quoted(input->second));
      edge(quoted(name), id, view.buffer);
    }
  }

  void edge(const std::string &from, const std::string &to, mlir::Value memory) {
    auto buffer = memory.getDefiningOp<exec::BufferOp>();
    std::string label = buffer.getName().str();
    if (options_.shapes)
      label += fmt::format(
          "\n{}", fmt::join(llvm::cast<mlir::MemRefType>(memory.getType()).getShape(), "x"));
    std::string line = fmt::format("  {} -> {} [label={}];\n", from, to, quoted(label));
    if (drawnEdges_.insert(line).second)
      edges_ += line;
  }

  exec::ProgramOp program_;
  exec::PlanOp plan_;
  exec::Access access_;
  NetworkOptions options_;
  int count_ = 0;
  llvm::DenseMap<mlir::Value, std::vector<Writer>>
      writers_; // looked up, never walked, as are the inputs
  llvm::DenseMap<mlir::Value, std::string> inputs_;
  std::set<std::string> drawnInputs_, drawnEdges_;
  std::string edges_;
};

} // namespace

std::string launchDot(exec::ProgramOp program, const NetworkOptions &options) {
  return LaunchDrawing(program, options).dot();
}

} // namespace lstmc::viz
