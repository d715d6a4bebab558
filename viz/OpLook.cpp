#include "viz/OpLook.h"

#include <cctype>

#include <fmt/format.h>

#include "llvm/Support/raw_ostream.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Location.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/SymOps.h"

namespace lstmc::viz {

static int64_t integer(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}

static std::string word(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::StringAttr>(name);
  return attribute ? attribute.str() : "";
}

std::string nodeName(mlir::Operation *op) { return word(op, sym::kNameAttr); }

std::string opName(mlir::Operation *op) {
  const sym::OpRecord *record = sym::recordOf(op->getName());
  return record && !record->mxnetName.empty() ? std::string(record->mxnetName)
                                              : op->getName().stripDialect().str();
}

/// "fullyconnected0" of "FullyConnected".
static bool isNamedAfter(std::string_view name, std::string_view what) {
  auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return name.size() >= what.size() && std::equal(what.begin(), what.end(), name.begin(), same);
}

Look lookOf(mlir::Operation *op) {
  std::string what = opName(op), name = nodeName(op);
  std::string title = name.empty() ? what : name;
  if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op)) {
    std::string layers = rnn.getNumLayers() > 1 ? fmt::format("{} x ", rnn.getNumLayers()) : "";
    return {fmt::format("{}\n{}{}{} {}", title, layers,
                        rnn.getBidirectional() ? "bidirectional " : "", rnn.getMode().str(),
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
    return {fmt::format("{}\n{}", title, what), "#b3de69"};
  if (llvm::isa<sym::ConcatOp, sym::FlattenOp, sym::ReshapeOp>(op))
    return {title, "#fdb462"};
  if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op))
    return {fmt::format("{}\n{}{} {}", title, layer.getReverse() ? "backward " : "",
                        layer.getMode().str(),
                        llvm::cast<mlir::RankedTensorType>(layer.getR().getType()).getDimSize(1)),
            "#b3cde3"};
  if (llvm::isa<sym::RnnLayerGradientOp>(op))
    return {name.empty() ? what : fmt::format("{}\n{}", name, what), "#b3cde3"};
  if (auto write = llvm::dyn_cast<sym::WriteOp>(op))
    return {"write\n" + write.getTarget().str(), "#d9d9d9"};
  if (auto gradient = llvm::dyn_cast<sym::GradientOp>(op))
    return {"gradient of\n" + gradient.getParameter().str(), "#d9d9d9"};
  return {name.empty() || isNamedAfter(name, what) ? title : fmt::format("{}\n{}", name, what)};
}

std::string callOf(mlir::Operation *op) {
  SourceRange range = sym::decode(op->getLoc());
  return range.calls.empty() ? "" : range.calls.back().substr(0, range.calls.back().find('('));
}

std::string likeness(mlir::Operation *op, bool byGroup) {
  if (llvm::isa<sym::WriteOp, sym::GradientOp>(op))
    return "";
  std::string text = op->getName().getStringRef().str();
  llvm::raw_string_ostream out(text);
  const bool slices = llvm::isa<sym::SliceAxisOp, sym::SliceOp>(op);
  for (mlir::NamedAttribute attribute : op->getAttrDictionary()) {
    llvm::StringRef name = attribute.getName();
    if (name == sym::kNameAttr || name == sym::kOrdinalAttr || name == sym::kDimsAttr ||
        name == sym::kCalledAttr || (name == sym::kGroupAttr && !byGroup) ||
        (slices && (name == "begin" || name == "end")))
      continue;
    out << ' ' << name << '=' << attribute.getValue();
  }
  for (mlir::Type type : op->getOperandTypes())
    out << ' ' << type;
  out << " ->";
  for (mlir::Type type : op->getResultTypes())
    out << ' ' << type;
  return text;
}

bool isHidden(mlir::Operation *op) {
  return llvm::isa<sym::VariableOp, sym::ReadOp, sym::BeginStateOp, sym::RnnParamConcatOp>(op);
}

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

} // namespace lstmc::viz
