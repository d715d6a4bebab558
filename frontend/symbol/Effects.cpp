// Attributes that an op ignores because of other attributes or inputs; finish() warns about them.
// The test tests/frontend/cli/test_effects.py detects missing ones.
#include "frontend/symbol/Impl.h"
#include "ir/sym/ImportedOps.h"
#include "ir/sym/WrittenOps.h"

namespace lstmc::symbol {

using llvm::StringRef;

namespace {

std::string idle(sym::RnnOp op, StringRef attribute) {
  if (attribute == "p" && op.getNumLayers() == 1)
    return "it is the dropout between layers, and there is one layer";
  if (attribute == "lstm_state_clip_nan" && !op.getLstmStateClipMin())
    return "lstm_state_clip_min and lstm_state_clip_max are not given";
  return {};
}

std::string idle(sym::SoftmaxOutputOp op, StringRef attribute) {
  const bool given = op.holdsProbabilities();
  if (given && (attribute == "use_ignore" || attribute == "ignore_label" ||
                attribute == "smooth_alpha" || attribute == "normalization"))
    return "the label has the shape of data, so it holds probabilities and no classes";
  // The count of "valid" does not depend on use_ignore, as in MXNet.
  if (attribute == "ignore_label" && !op.getUseIgnore() && op.getNormalization() != "valid")
    return "use_ignore is False";
  if (op.getMultiOutput() && (attribute == "preserve_shape" || attribute == "smooth_alpha"))
    return "multi_output is True";
  return {};
}

std::string idle(sym::MakeLossOp op, StringRef attribute) {
  return attribute == "valid_thresh" && op.getNormalization() != "valid"
             ? "normalization is not \"valid\""
             : "";
}

std::string idle(sym::SequenceMaskOp op, StringRef attribute) {
  return attribute != "use_sequence_length" && !op.getUseSequenceLength()
             ? "use_sequence_length is False, so nothing is masked"
             : "";
}

std::string idle(sym::LeakyReluOp op, StringRef attribute) {
  StringRef type = op.getActType();
  const bool slope = attribute == "slope" && type != "leaky" && type != "elu";
  const bool bound = attribute.ends_with("_bound") && type != "rrelu";
  return slope || bound ? "act_type is \"" + type.str() + "\"" : "";
}

std::string idle(sym::DropoutOp op, StringRef attribute) {
  if ((attribute == "mode" || attribute == "axes") && op.getP().isZero())
    return "p is 0";
  return attribute == "cudnn_off" ? "no kernel is cuDNN's" : "";
}

std::string idle(sym::EmbeddingOp, StringRef attribute) {
  return attribute == "sparse_grad" ? "gradients are dense" : "";
}

std::string idle(sym::EinsumOp, StringRef attribute) {
  return attribute == "optimize" ? "one order is used for two operands" : "";
}

std::string idle(sym::AmpCastOp, StringRef attribute) {
  return attribute == "dtype" ? "the net computes in the type of its parameters" : "";
}

/// What MXNet passes to cuDNN, and the one layout that there is.
std::string idleOfLibrary(StringRef attribute) {
  if (attribute == "cudnn_off" || attribute == "cudnn_tune" || attribute == "workspace")
    return "no kernel is cuDNN's";
  return attribute == "layout" ? "there is one layout" : "";
}

std::string idle(sym::ConvolutionOp, StringRef attribute) { return idleOfLibrary(attribute); }

std::string idle(sym::DeconvolutionOp op, StringRef attribute) {
  const bool target = llvm::any_of(op.getTargetShape(), [](int64_t extent) { return extent != 0; });
  if (target && (attribute == "pad" || attribute == "adj"))
    return "target_shape is given";
  return idleOfLibrary(attribute);
}

std::string idle(sym::UpSamplingOp op, StringRef attribute) {
  if (attribute == "num_filter")
    return "sample_type is not \"bilinear\"";
  if (attribute == "multi_input_mode" && op->getNumOperands() == 1)
    return "there is one input";
  return idleOfLibrary(attribute);
}

std::string idle(sym::SplitV2Op op, StringRef attribute) {
  return attribute == "indices" && op.getSections() > 0 ? "sections is given" : "";
}

std::string idle(sym::PoolingOp op, StringRef attribute) {
  if (op.getGlobalPool() && (attribute == "kernel" || attribute == "stride" || attribute == "pad" ||
                             attribute == "pooling_convention" || attribute == "count_include_pad"))
    return "global_pool is True";
  if (attribute == "count_include_pad")
    return op.getPoolType() != "avg" ? "pool_type is not \"avg\""
           : llvm::all_of(op.getPad(), [](int64_t pad) { return pad == 0; }) ? "pad is 0"
                                                                             : "";
  return idleOfLibrary(attribute);
}

std::string idle(sym::BatchNormOp op, StringRef attribute) {
  if (attribute == "momentum" && op.getUseGlobalStats())
    return "use_global_stats is True";
  return idleOfLibrary(attribute);
}

std::string idle(sym::PadOp op, StringRef attribute) {
  return attribute == "constant_value" && op.getMode() != "constant" ? "mode is not \"constant\""
                                                                     : "";
}

std::string idle(sym::TopkOp op, StringRef attribute) {
  StringRef type = op.getRetTyp();
  return attribute == "dtype" && (type == "value" || type == "mask")
             ? "it is the type of indices, and ret_typ is \"" + type.str() + "\""
             : "";
}

std::string idle(sym::ReshapeOp op, StringRef attribute) {
  if (attribute == "reverse" && op.getShape().empty())
    return "target_shape is read from its beginning";
  if (attribute == "target_shape" && !op.getShape().empty())
    return "shape is given";
  if (attribute == "keep_highest" && (!op.getShape().empty() || op.getTargetShape().empty()))
    return "target_shape is not read";
  return {};
}

/// Reductions: `exclude` applies only if axes are given.
template <typename Op> std::string idleExclude(Op op, StringRef attribute) {
  return attribute == "exclude" && (!op.getAxis() || op.getAxis()->empty()) ? "axis is not given"
                                                                            : "";
}
std::string idle(sym::SumOp op, StringRef attribute) { return idleExclude(op, attribute); }
std::string idle(sym::MeanOp op, StringRef attribute) { return idleExclude(op, attribute); }
std::string idle(sym::MaxOp op, StringRef attribute) { return idleExclude(op, attribute); }
std::string idle(sym::MinOp op, StringRef attribute) { return idleExclude(op, attribute); }
std::string idle(sym::ProdOp op, StringRef attribute) { return idleExclude(op, attribute); }

template <typename... Ops> std::string idleOf(mlir::Operation *op, StringRef attribute) {
  std::string why;
  auto ask = [&](auto typed) {
    if (typed)
      why = idle(typed, attribute);
  };
  (ask(llvm::dyn_cast<Ops>(op)), ...);
  return why;
}

} // namespace

std::string idleReason(mlir::Operation *op, StringRef attribute) {
  if (attribute == "ctx")
    return "place(..) and --place say on which device an op runs";
  return idleOf<sym::RnnOp, sym::SoftmaxOutputOp, sym::MakeLossOp, sym::SequenceMaskOp,
                sym::LeakyReluOp, sym::AmpCastOp, sym::ConvolutionOp, sym::DeconvolutionOp,
                sym::UpSamplingOp, sym::SplitV2Op, sym::PoolingOp, sym::PadOp, sym::BatchNormOp,
                sym::DropoutOp, sym::EmbeddingOp, sym::EinsumOp, sym::TopkOp, sym::ReshapeOp,
                sym::SumOp, sym::MeanOp, sym::MaxOp, sym::MinOp, sym::ProdOp>(op, attribute);
}

} // namespace lstmc::symbol
