#include "viz/Network.h"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "viz/Dot.h"

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
    return {fmt::format("{}\n{}{}{} {}", title, layers, rnn.getBidirectional() ? "bidirectional " : "", text(rnn.getMode()), rnn.getStateSize()),
            "#b3cde3"};
  }
  if (llvm::isa<sym::FullyConnectedOp>(op))
    return {fmt::format("{}\nFullyConnected\n{}", title, integer(op, "num_hidden")), "#fb8072"};
  if (llvm::isa<sym::EmbeddingOp>(op))
    return {fmt::format("{}\nEmbedding\n{} x {}", title, integer(op, "input_dim"), integer(op, "output_dim")), "#fb8072"};
  if (llvm::isa<sym::ActivationOp>(op))
    return {fmt::format("{}\nActivation\n{}", title, word(op, "act_type")), "#ffffb3"};
  if (llvm::isa<sym::LayerNormOp>(op))
    return {fmt::format("{}\nLayerNorm", title), "#bebada"};
  if (llvm::isa<sym::LossHead>(op))
    return {fmt::format("{}\n{}", title, kind), "#b3de69"};
  if (llvm::isa<sym::ConcatOp, sym::FlattenOp, sym::ReshapeOp>(op))
    return {title, "#fdb462"};
  return {name.empty() || name.starts_with(kind) ? title : fmt::format("{}\n{}", name, kind)};
}

/// Parameters, zeros and joined parameters are part of the box that reads them.
bool isHidden(mlir::Operation *op) {
  return llvm::isa<sym::VariableOp, sym::BeginStateOp, sym::RnnParamConcatOp>(op);
}

/// Moves of elements: a line, not a box, unless everything is asked for.
bool isMove(mlir::Operation *op) {
  return llvm::isa<sym::SwapAxisOp, sym::TransposeOp, sym::ReshapeOp, sym::FlattenOp, sym::ExpandDimsOp, sym::SqueezeOp>(op);
}

bool readsOnlyParameters(mlir::Operation *op) {
  return isMove(op) && llvm::all_of(op->getOperands(), [](mlir::Value v) {
    mlir::Operation *from = v.getDefiningOp();
    return from && (isHidden(from) || readsOnlyParameters(from));
  });
}

std::string shapeLabel(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return "";
  std::vector<std::string> extents;
  for (int64_t extent : type.getShape())
    extents.push_back(mlir::ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return fmt::format("{}", fmt::join(extents, "x"));
}

uint64_t bytesOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? uint64_t(type.getNumElements()) * type.getElementTypeBitWidth() / 8 : 0;
}

std::string memoryLabel(mlir::Operation *op) {
  uint64_t results = 0, parameters = 0;
  for (mlir::Value result : op->getResults())
    results += result.use_empty() ? 0 : bytesOf(result);
  for (mlir::Value operand : op->getOperands())
    if (mlir::Operation *from = operand.getDefiningOp(); from && (isHidden(from) || readsOnlyParameters(from)))
      parameters += bytesOf(operand);
  auto kib = [](uint64_t bytes) { return fmt::format("{:.1f} KiB", double(bytes) / 1024); };
  return fmt::format("\n{}{}", kib(results), parameters ? " + parameters " + kib(parameters) : "");
}

class Drawing {
public:
  Drawing(mlir::func::FuncOp net, const NetworkOptions &options) : net_(net), options_(options) {}

  std::string dot() {
    out_ = fmt::format("digraph {} {{\n  rankdir=BT;\n  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=11];\n"
                       "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n",
                       quoted(text(net_.getName())));
    for (unsigned i = 0; i < net_.getNumArguments(); ++i)
      drawInput(i);
    std::map<std::string, std::string> groups;
    for (mlir::Operation &op : net_.front().without_terminator())
      if (isDrawn(&op))
        groups[word(&op, sym::kGroupAttr)] += box(&op);
    int cluster = 0;
    for (const auto &[group, boxes] : groups)
      out_ += group.empty() ? boxes
                            : fmt::format("  subgraph cluster_{} {{\n    label={}; color=\"#999999\"; fontname=\"Helvetica\"; fontsize=10;\n{}  }}\n",
                                          cluster++, quoted(group), boxes);
    for (mlir::Operation &op : net_.front().without_terminator())
      if (isDrawn(&op))
        for (mlir::Value operand : op.getOperands())
          edge(operand, id(&op));
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
    out_ += fmt::format("  i{} [shape=oval, fillcolor=\"#8dd3c7\", label={}];\n", index, quoted(name ? text(name.getValue()) : "input"));
  }

  std::string box(mlir::Operation *op) {
    Look look = lookOf(op);
    if (options_.memory)
      look.label += memoryLabel(op);
    if (!options_.device.empty())
      look.label += "\n" + options_.device;
    std::string line = fmt::format("    {} [fillcolor=\"{}\", label={}];\n", id(op), look.color, quoted(look.label));
    if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op)) {
      auto type = llvm::cast<mlir::RankedTensorType>(rnn.getData().getType());
      line += fmt::format("    {0} -> {0} [label={1}, style=dashed];\n", id(op), quoted(fmt::format("{} steps", type.getDimSize(0))));
    }
    return line;
  }

  /// From whatever box the value comes out of, through moves that are not drawn.
  void edge(mlir::Value value, const std::string &to) {
    mlir::Value source = value;
    while (mlir::Operation *op = source.getDefiningOp()) {
      if (isDrawn(op))
        break;
      if (!isMove(op))
        return;
      source = op->getOperand(0);
    }
    std::string from;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(source))
      from = fmt::format("i{}", argument.getArgNumber());
    else if (isHidden(source.getDefiningOp()))
      return;
    else
      from = id(source.getDefiningOp());
    edges_ += fmt::format("  {} -> {}{};\n", from, to, options_.shapes ? fmt::format(" [label={}]", quoted(shapeLabel(value))) : "");
  }

  mlir::func::FuncOp net_;
  NetworkOptions options_;
  std::map<mlir::Operation *, int> ids_; // looked up, never walked
  std::string out_, edges_;
};

} // namespace

std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options) {
  auto nets = module.getOps<mlir::func::FuncOp>();
  return nets.empty() ? "digraph empty {}\n" : Drawing(*nets.begin(), options).dot();
}

} // namespace lstmc::viz
