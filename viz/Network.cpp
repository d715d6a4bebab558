#include "viz/Network.h"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "executor/abi/EntryNames.h"
#include "executor/base/NumberText.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "viz/Dot.h"
#include "viz/LaunchGraph.h"
#include "viz/Unfold.h"

namespace lstmc::viz {

namespace {

/// MXNet's colours (mxnet.md section 7.1), by what an op is.
struct Look {
  std::string label;
  std::string_view color = "#fccde5";
};

std::string text(llvm::StringRef ref) { return ref.str(); }

int64_t integer(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}
std::string word(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::StringAttr>(name);
  return attribute ? text(attribute.getValue()) : "";
}

std::string nodeName(mlir::Operation *op) { return word(op, sym::kNameAttr); }

Look lookOf(mlir::Operation *op) {
  std::string kind = text(op->getName().stripDialect());
  std::string name = nodeName(op);
  std::string title = name.empty() ? kind : name;
  if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op)) {
    std::string layers = rnn.getNumLayers() > 1 ? fmt::format("{} x ", rnn.getNumLayers()) : "";
    return {fmt::format("{}\n{}{}{} {}", title, layers,
                        rnn.getBidirectional() ? "bidirectional " : "", text(rnn.getMode()),
                        rnn.getStateSize()),
            "#b3cde3"};
  }
  if (llvm::isa<sym::FullyConnectedOp>(op))
    return {fmt::format("{}\nFullyConnected\n{}", title, integer(op, "num_hidden")), "#fb8072"};
  if (llvm::isa<sym::EmbeddingOp>(op))
    return {fmt::format("{}\nEmbedding\n{} x {}", title, integer(op, "input_dim"),
                        integer(op, "output_dim")),
            "#fb8072"};
  if (llvm::isa<sym::ActivationOp>(op))
    return {fmt::format("{}\nActivation\n{}", title, word(op, "act_type")), "#ffffb3"};
  if (llvm::isa<sym::LayerNormOp>(op))
    return {fmt::format("{}\nLayerNorm", title), "#bebada"};
  if (llvm::isa<sym::LossHead>(op))
    return {fmt::format("{}\n{}", title, kind), "#b3de69"};
  if (llvm::isa<sym::ConcatOp, sym::FlattenOp, sym::ReshapeOp>(op))
    return {title, "#fdb462"};
  if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op))
    return {fmt::format("{}\n{}{} {}", title, layer.getReverse() ? "backward " : "",
                        text(layer.getMode()),
                        llvm::cast<mlir::RankedTensorType>(layer.getR().getType()).getDimSize(1)),
            "#b3cde3"};
  if (llvm::isa<sym::RnnLayerGradientOp>(op))
    return {name.empty() ? kind : fmt::format("{}\n{}", name, kind), "#b3cde3"};
  if (auto write = llvm::dyn_cast<sym::WriteOp>(op))
    return {"write\n" + text(write.getTarget()), "#d9d9d9"};
  if (auto gradient = llvm::dyn_cast<sym::GradientOp>(op))
    return {"gradient of\n" + text(gradient.getParameter()), "#d9d9d9"};
  return {name.empty() || name.starts_with(kind) ? title : fmt::format("{}\n{}", name, kind)};
}

/// Parameters, zeros, joined parameters and whatever else is kept between calls are part of the box
/// that reads them.
bool isHidden(mlir::Operation *op) {
  return llvm::isa<sym::VariableOp, sym::ReadOp, sym::BeginStateOp, sym::RnnParamConcatOp>(op);
}

/// Moves of elements: a line, not a box, unless everything is asked for.
bool isMove(mlir::Operation *op) {
  return llvm::isa<sym::SwapAxisOp, sym::TransposeOp, sym::ReshapeOp, sym::FlattenOp,
                   sym::ExpandDimsOp, sym::SqueezeOp>(op);
}

bool readsOnlyParameters(mlir::Operation *op) {
  return isMove(op) && llvm::all_of(op->getOperands(), [](mlir::Value v) {
           mlir::Operation *from = v.getDefiningOp();
           return from && (isHidden(from) || readsOnlyParameters(from));
         });
}

/// Of the whole, or of one step where steps are the first axis.
std::string shapeLabel(mlir::Value value, bool ofStep) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return "";
  std::vector<std::string> extents;
  for (int64_t extent : type.getShape().drop_front(ofStep && type.getRank() > 0))
    extents.push_back(mlir::ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return fmt::format("{}", fmt::join(extents, "x"));
}

uint64_t bytesOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape()
             ? uint64_t(type.getNumElements()) * type.getElementTypeBitWidth() / 8
             : 0;
}

std::string memoryLabel(mlir::Operation *op) {
  uint64_t results = 0, parameters = 0;
  for (mlir::Value result : op->getResults())
    results += result.use_empty() ? 0 : bytesOf(result);
  for (mlir::Value operand : op->getOperands())
    if (mlir::Operation *from = operand.getDefiningOp();
        from && (isHidden(from) || readsOnlyParameters(from)))
      parameters += bytesOf(operand);
  return fmt::format("\n{}{}", bytesText(results),
                     parameters ? " + parameters " + bytesText(parameters) : "");
}

class Drawing {
public:
  Drawing(mlir::func::FuncOp net, const NetworkOptions &options) : net_(net), options_(options) {}

  std::string dot() {
    out_ = dotHeader(text(net_.getName()), options_);
    for (unsigned i = 0; i < net_.getNumArguments(); ++i)
      drawInput(i);
    std::map<std::string, std::string> groups;
    for (mlir::Operation &op : net_.front().without_terminator())
      if (isDrawn(&op))
        groups[word(&op, sym::kGroupAttr)] += box(&op);
    int cluster = 0;
    for (const auto &[group, boxes] : groups)
      out_ += group.empty()
                  ? boxes
                  : fmt::format("  subgraph cluster_{} {{\n    label={};{} color=\"#999999\"; "
                                "fontname=\"Helvetica\"; fontsize=10;\n{}  }}\n",
                                cluster++, quoted(group), options_.allSteps ? " labeljust=l;" : "",
                                boxes);
    for (mlir::Operation &op : net_.front().without_terminator())
      if (isDrawn(&op))
        for (mlir::Value operand : op.getOperands())
          edge(operand, &op);
    return out_ + edges_ + "}\n";
  }

private:
  bool isDrawn(mlir::Operation *op) {
    return !isHidden(op) && !readsOnlyParameters(op) && (options_.allOps || !isMove(op));
  }

  std::string id(mlir::Operation *op) {
    auto [found, added] = ids_.try_emplace(op, int(ids_.size()));
    return fmt::format("n{}", found->second);
  }

  void drawInput(unsigned index) {
    auto name = net_.getArgAttrOfType<mlir::StringAttr>(index, sym::kNameAttr);
    out_ += fmt::format("  i{} [shape=oval, fillcolor=\"#8dd3c7\", label={}];\n", index,
                        quoted(name ? text(name.getValue()) : "input"));
  }

  /// Of the devices that share a replica's layers the op's own, until it has one of all devices.
  std::string deviceOf(mlir::Operation *op) {
    auto index = op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
    if (!index)
      index = op->getAttrOfType<mlir::IntegerAttr>(sym::kStageAttr);
    if (index && index.getInt() < int64_t(options_.devices.size()))
      return options_.devices[size_t(index.getInt())];
    return options_.devices.size() == 1 ? options_.devices[0] : "";
  }

  double secondsOf(mlir::Operation *op) {
    Work work = workOf(op);
    return options_.target->opSeconds(options_.machine, work.flops, work.bytes);
  }

  std::string box(mlir::Operation *op) {
    Look look = lookOf(op);
    if (options_.memory && op->getNumResults() > 0)
      look.label += memoryLabel(op);
    if (std::string device = deviceOf(op); !device.empty())
      look.label += "\n" + device;
    if (options_.target)
      look.label += "\n" + durationText(secondsOf(op));
    if (options_.allSteps)
      if (std::optional<Unfolded> steps = Unfolded::of(op, id(op))) {
        std::string frame = steps->dot(look.label, look.color);
        unfolded_.emplace(op, std::move(*steps));
        return frame;
      }
    std::string line = fmt::format("    {} [fillcolor=\"{}\", label={}];\n", id(op), look.color,
                                   quoted(look.label));
    if (std::optional<Unfolded> steps = Unfolded::of(op, ""))
      line += fmt::format("    {0} -> {0} [label={1}, style=dashed];\n", id(op),
                          quoted(fmt::format("{} steps", steps->steps())));
    return line;
  }

  /// Where a value comes out, or goes in: a box per step that is drawn, or as many as there are.
  struct End {
    std::vector<std::vector<std::string>> boxes; ///< by position
    bool perStep = false;
  };

  End endOf(mlir::Value value, mlir::Operation *op, bool isSource) {
    auto found = unfolded_.find(op);
    if (found == unfolded_.end())
      return {{{id(op)}}, false};
    const Unfolded &steps = found->second;
    if (!steps.isSequence(value))
      return {{isSource ? steps.lasts() : steps.firsts()}, false};
    End end{{}, true};
    for (size_t position = 0; position < steps.positions(); ++position) {
      std::string box = isSource ? steps.writer(position) : steps.reader(position);
      end.boxes.push_back(box.empty() ? std::vector<std::string>() : std::vector{box});
    }
    return end;
  }

  /// From whatever box the value comes out of, through moves that are not drawn.
  void edge(mlir::Value value, mlir::Operation *op) {
    mlir::Value source = value;
    while (mlir::Operation *maker = source.getDefiningOp()) {
      if (isDrawn(maker))
        break;
      if (!isMove(maker))
        return;
      source = maker->getOperand(0);
    }
    End from, to = endOf(value, op, false);
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(source))
      from.boxes = {{fmt::format("i{}", argument.getArgNumber())}};
    else if (isHidden(source.getDefiningOp()))
      return;
    else
      from = endOf(source, source.getDefiningOp(), true);
    // Step to step; else all of the one to, or from, every step of the other. The first edge says
    // the shape for all.
    std::string label = options_.shapes ? shapeLabel(value, from.perStep || to.perStep) : "";
    for (size_t position = 0; position < std::max(from.boxes.size(), to.boxes.size()); ++position)
      for (const std::string &tail : from.boxes[std::min(position, from.boxes.size() - 1)])
        for (const std::string &head : to.boxes[std::min(position, to.boxes.size() - 1)]) {
          edges_ += fmt::format("  {} -> {}{};\n", tail, head,
                                label.empty() ? "" : fmt::format(" [label={}]", quoted(label)));
          label.clear();
        }
  }

  mlir::func::FuncOp net_;
  NetworkOptions options_;
  std::map<mlir::Operation *, int> ids_;           // looked up, never walked
  std::map<mlir::Operation *, Unfolded> unfolded_; // the same
  std::string out_, edges_;
};

} // namespace

std::string dotHeader(const std::string &name, const NetworkOptions &options) {
  std::string header =
      fmt::format("digraph {} {{\n  rankdir=BT;\n  node [shape=box, style=filled, "
                  "fontname=\"Helvetica\", fontsize=11];\n"
                  "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n",
                  quoted(name));
  if (options.target) {
    std::string rates = ratesText(options.machine);
    if (size_t end = rates.find("; "); end != std::string::npos)
      rates.replace(end, 2, ";\n"); // two lines are narrower than most nets
    header += fmt::format("  label={}; labelloc=t; fontname=\"Helvetica\"; fontsize=10;\n",
                          quoted(rates));
  }
  return header;
}

static exec::PlanOp planOf(mlir::ModuleOp module) {
  auto plans = module.getOps<exec::PlanOp>();
  return plans.empty() ? exec::PlanOp() : *plans.begin();
}

bool isLowered(mlir::ModuleOp module) { return bool(planOf(module)); }

std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options) {
  // Before a plan's entries stand the programs that prepare weights.
  auto isEntry = [](std::string_view name) {
    return name != kInitialiseProgram && !name.starts_with(kPreparePrefix);
  };
  if (exec::PlanOp plan = planOf(module)) {
    exec::ProgramOp chosen;
    for (auto program : plan.getBody().getOps<exec::ProgramOp>())
      if (program.getEntry() == "step" || (!chosen && isEntry(program.getEntry())))
        chosen = program;
    return chosen ? launchDot(chosen, options) : "digraph empty {}\n";
  }
  mlir::func::FuncOp chosen;
  for (auto net : module.getOps<mlir::func::FuncOp>())
    if (!chosen || net.getName() == "step")
      chosen = net;
  return chosen ? Drawing(chosen, options).dot() : "digraph empty {}\n";
}

} // namespace lstmc::viz
