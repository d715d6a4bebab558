// apply-optimizer: what `step` does with gradients. Norm, clipping and update of a parameter are
// fused programs.

#include <cmath>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/ScalarEmitter.h"
#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Dropout.h"
#include "passes/EntryMarks.h"
#include "passes/Passes.h"
#include "passes/Stamp.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "passes/Passes.h.inc"

namespace {

using mlir::Type;
using mlir::Value;
using Scalars = llvm::SmallVector<Value>;

/// A sym.fused over `operands`, whose body `write` makes from their scalars.
mlir::ValueRange fuse(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Value> operands,
                      llvm::ArrayRef<Type> results,
                      llvm::function_ref<Scalars(sym::ScalarEmitter &, mlir::ValueRange)> write) {
  auto fused = builder.create<sym::FusedOp>(loc, results, operands);
  mlir::Block &body = fused.getBody().emplaceBlock();
  for (Value operand : operands)
    body.addArgument(sym::rankedType(operand).getElementType(), loc);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  sym::ScalarEmitter emitter(builder, loc);
  Scalars values = write(emitter, body.getArguments());
  builder.create<sym::YieldOp>(loc, values);
  return fused.getResults();
}

struct ApplyOptimizer : impl::ApplyOptimizerBase<ApplyOptimizer> {
  using ApplyOptimizerBase::ApplyOptimizerBase;

  void runOnOperation() override {
    symbols.emplace(getOperation());
    for (mlir::Operation &op : *getOperation().getBody())
      if (llvm::isa<sym::ParameterOp, sym::SlotOp>(op))
        lastDeclared = &op;
    for (auto entry : getOperation().getOps<mlir::func::FuncOp>())
      if (entry->hasAttr(kTrainingAttr) && mlir::failed(apply(entry)))
        return signalPassFailure();
  }

private:
  mlir::LogicalResult apply(mlir::func::FuncOp entry) {
    llvm::SmallVector<sym::GradientOp> gradients;
    entry.walk([&](sym::GradientOp op) { gradients.push_back(op); });
    inDeclaredOrder(gradients);
    mlir::OpBuilder builder(entry.front().getTerminator(), &stamp);
    if (optimizer == "none")
      returnGradients(builder, entry, gradients);
    else if (mlir::failed(update(builder, entry, gradients)))
      return mlir::failure();
    for (sym::GradientOp gradient : gradients) {
      if (mlir::Operation *op = gradient.getValue().getDefiningOp(); op && op->getNumResults() == 1)
        op->setAttr(sym::kGradientOfAttr, gradient.getParameterAttr().getAttr()); // plans say so
      gradient.erase();
    }
    return mlir::success();
  }

  /// Norms add tensors in the order in which parameters are declared, and slices in theirs.
  void inDeclaredOrder(llvm::SmallVectorImpl<sym::GradientOp> &gradients) {
    llvm::StringMap<unsigned> rank;
    for (auto [i, parameter] : llvm::enumerate(getOperation().getOps<sym::ParameterOp>()))
      rank[parameter.getSymName()] = i;
    auto place = [&](sym::GradientOp op) {
      auto device = op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
      return std::tuple(rank[op.getParameter()], op.getFirst().value_or(0),
                        device ? device.getInt() : 0);
    };
    llvm::sort(gradients,
               [&](sym::GradientOp a, sym::GradientOp b) { return place(a) < place(b); });
  }

  void returnGradients(mlir::OpBuilder &builder, mlir::func::FuncOp entry,
                       llvm::ArrayRef<sym::GradientOp> gradients) {
    llvm::SmallVector<Value> values;
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    for (sym::GradientOp gradient : gradients) {
      values.push_back(gradient.getValue());
      attributes.push_back(
          outputNamed(builder, "gradient:" + gradient.getParameter().str(), "output"));
    }
    addResults(entry, values, attributes);
  }

  mlir::LogicalResult update(mlir::OpBuilder &builder, mlir::func::FuncOp entry,
                             llvm::ArrayRef<sym::GradientOp> gradients) {
    if (optimizer != "sgd" && optimizer != "adam")
      return sym::emitCoded(entry, ErrorCode::E0215)
             << "optimizer \"" << optimizer.getValue() << "\" is not built yet; sgd and adam are";
    if (gradients.empty())
      return mlir::success();
    double rescale = rescaleOf(entry);
    Value scale; // [1]: rescale and clipping in one factor, where the norm is asked for
    if (clipNorm > 0 || reportNorm) {
      auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
      Type element = widestElement(gradients);
      Value squares = sumOfSquares(builder, entry.getLoc(), f64, gradients);
      auto results =
          fuse(builder, entry.getLoc(), {squares}, {f64, f64.clone(element)},
               [&](sym::ScalarEmitter &e, mlir::ValueRange in) -> Scalars {
                 Type t = in[0].getType();
                 Value norm = e.mul(e.apply(ScalarOp::Sqrt, {in[0]}), e.number(t, rescale));
                 Value factor = e.number(t, rescale);
                 if (clipNorm > 0) {
                   Value ratio = e.div(e.number(t, clipNorm), e.add(norm, e.number(t, 1e-8)));
                   Value clips = e.apply(ScalarOp::Less, {ratio, e.number(t, 1)});
                   factor = e.select(clips, e.mul(factor, ratio), factor);
                 }
                 return {norm, e.cast(factor, element)};
               });
      addResults(entry, results[0], outputNamed(builder, "gradient_norm", "output"));
      scale = results[1];
    }
    // Devices update side by side before they give one another what they have made: at most one
    // update each at a time.
    llvm::SmallVector<NewValue> made;
    for (sym::GradientOp gradient : gradients) {
      bool again = llvm::any_of(made, [&](NewValue &other) {
        return other.gradient->getAttr(sym::kDeviceAttr) == gradient->getAttr(sym::kDeviceAttr);
      });
      if (again)
        writeCopies(builder, made);
      stamp.setAs(gradient);
      made.push_back({gradient, updateOne(builder, entry, gradient, scale, rescale)});
    }
    writeCopies(builder, made);
    return mlir::success();
  }

  /// Parameters may be of several types.
  static Type widestElement(llvm::ArrayRef<sym::GradientOp> gradients) {
    Type widest;
    for (sym::GradientOp gradient : gradients) {
      Type element = sym::rankedType(gradient.getValue()).getElementType();
      if (!widest || element.getIntOrFloatBitWidth() > widest.getIntOrFloatBitWidth())
        widest = element;
    }
    return widest;
  }

  /// Over tensors in declared order. On several devices each squares what it has, going on with the
  /// slice before its own, and the first adds, in the same order.
  Value sumOfSquares(mlir::OpBuilder &builder, mlir::Location loc, Type f64,
                     llvm::ArrayRef<sym::GradientOp> gradients) {
    llvm::SmallVector<Value> values, squares;
    sym::GradientOp last;
    for (sym::GradientOp gradient : gradients) {
      Value value = gradient.getValue();
      if (last && last.getParameter() == gradient.getParameter() &&
          last.getFirst() == gradient.getFirst())
        continue; // once, where each copy is updated by itself
      last = gradient;
      values.push_back(value);
      if (!gradient->hasAttr(sym::kDeviceAttr))
        continue;
      stamp.setAs(gradient);
      Value begin = gradient.getFirst().value_or(0) > 0 ? squares.pop_back_val() : Value();
      squares.push_back(builder.create<sym::NormSquaredOp>(loc, f64, value, begin));
    }
    if (squares.empty())
      return builder.create<sym::NormSquaredOp>(loc, f64, values, Value());
    stamp.set(0);
    Value sum = squares.front();
    for (Value next : llvm::drop_begin(squares))
      sum = builder.create<sym::ElemwiseAddOp>(loc, f64, sum, next);
    return sum;
  }

  /// MXNet's Module divides by the batch. A head whose gradient is a mean already needs no
  /// division.
  double rescaleOf(mlir::func::FuncOp entry) {
    if (rescaleGrad > 0)
      return rescaleGrad;
    bool mean = true;
    entry.walk([&](sym::LossHead head) {
      if (head->hasAttr(kHeadAttr))
        mean &= head.normalises();
    });
    return mean ? 1.0 : 1.0 / double(BatchPositions(entry).size());
  }

  /// Of the parameter or slice; not yet written.
  Value updateOne(mlir::OpBuilder &builder, mlir::func::FuncOp entry, sym::GradientOp gradient,
                  Value scale, double rescale) {
    auto parameter = symbols->lookup<sym::ParameterOp>(gradient.getParameterAttr().getAttr());
    auto type = sym::rankedType(gradient.getValue());
    mlir::Location loc = parameter.getLoc();
    double lrMult = multiplier(parameter, "lr_mult", 1);
    double decay =
        wd * multiplier(parameter, "wd_mult", decaysByName(parameter.getSymName()) ? 1 : 0);

    llvm::SmallVector<Value> operands = {
        builder.create<sym::ReadOp>(loc, type, parameter.getSymName(), gradient.getFirstAttr()),
        gradient.getValue(), scalarInput(entry, "learning_rate")};
    llvm::SmallVector<std::string> slots;
    if (optimizer == "adam")
      slots = {"mean", "variance"};
    else if (momentum != 0)
      slots = {"momentum"};
    llvm::SmallVector<std::string> slotNames;
    for (const std::string &slot : slots) {
      slotNames.push_back(declareSlot(gradient, parameter, slot));
      operands.push_back(
          builder.create<sym::ReadOp>(loc, type, slotNames.back(), mlir::IntegerAttr()));
    }
    if (scale)
      operands.push_back(scale);

    llvm::SmallVector<Type> results(1 + slots.size(), type);
    auto values = fuse(builder, loc, operands, results,
                       [&](sym::ScalarEmitter &e, mlir::ValueRange in) -> Scalars {
                         Type t = in[0].getType();
                         Value w = in[0], g = in[1], rate = e.cast(in[2], t);
                         if (lrMult != 1)
                           rate = e.mul(rate, e.number(t, lrMult));
                         if (scale)
                           g = e.mul(g, e.cast(in.back(), t));
                         else if (rescale != 1)
                           g = e.mul(g, e.number(t, rescale));
                         return optimizer == "adam"
                                    ? adam(e, t, w, g, rate, decay, in[3], in[4])
                                    : sgd(e, t, w, g, rate, decay, slots.empty() ? Value() : in[3]);
                       });
    for (auto [name, value] : llvm::zip_equal(slotNames, values.drop_front()))
      builder.create<sym::WriteOp>(loc, name, value, mlir::IntegerAttr());
    return values[0];
  }

  struct NewValue {
    sym::GradientOp gradient;
    Value value;
  };

  /// To all copies that the gradients' updates are for.
  void writeCopies(mlir::OpBuilder &builder, llvm::SmallVectorImpl<NewValue> &made) {
    for (auto &[gradient, value] : made) {
      stamp.setAs(gradient);
      auto to = gradient->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
      for (int64_t copy = 0; copy < (to ? to.size() : 1); ++copy) {
        if (to)
          stamp.set(to[copy]);
        builder.create<sym::WriteOp>(value.getLoc(), gradient.getParameter(), value,
                                     gradient.getFirstAttr());
      }
    }
    made.clear();
  }

  /// w' = (1 - rate wd) w - rate C(g); with momentum m' = mu m - rate wd w - rate C(g), w' = w + m'
  /// (mxnet.md section 8.5; C clips each element).
  Scalars sgd(sym::ScalarEmitter &e, Type t, Value w, Value g, Value rate, double decay, Value m) {
    Value step = e.mul(rate, clipped(e, t, g));
    if (!m) {
      if (decay != 0)
        w = e.mul(e.sub(e.number(t, 1), e.mul(rate, e.number(t, decay))), w);
      return {e.sub(w, step)};
    }
    Value next = e.mul(e.number(t, momentum), m);
    if (decay != 0)
      next = e.sub(next, e.mul(e.mul(rate, e.number(t, decay)), w));
    next = e.sub(next, step);
    return {e.add(w, next), next};
  }

  /// g = C(g + wd w); m' = b1 m + (1 - b1) g; v' = b2 v + (1 - b2) g^2; w' = w - rate m' /
  /// (sqrt(v') + eps). The rate comes with its correction for the update's number in it.
  Scalars adam(sym::ScalarEmitter &e, Type t, Value w, Value g, Value rate, double decay, Value m,
               Value v) {
    if (decay != 0)
      g = e.add(g, e.mul(e.number(t, decay), w));
    g = clipped(e, t, g);
    Value mean = e.add(e.mul(e.number(t, beta1), m), e.mul(e.number(t, 1 - beta1), g));
    Value variance =
        e.add(e.mul(e.number(t, beta2), v), e.mul(e.number(t, 1 - beta2), e.mul(g, g)));
    Value root = e.add(e.apply(ScalarOp::Sqrt, {variance}), e.number(t, epsilon));
    return {e.sub(w, e.div(e.mul(rate, mean), root)), mean, variance};
  }

  Value clipped(sym::ScalarEmitter &e, Type t, Value g) {
    if (clipGradient <= 0)
      return g;
    return e.apply(ScalarOp::Max, {e.apply(ScalarOp::Min, {g, e.number(t, clipGradient)}),
                                   e.number(t, -clipGradient)});
  }

  /// Weight decay is for weights and gammas, unless wd_mult says otherwise.
  static bool decaysByName(llvm::StringRef name) {
    return name.ends_with("_weight") || name.ends_with("_gamma");
  }

  static double multiplier(sym::ParameterOp parameter, llvm::StringRef name, double fallback) {
    auto attribute = parameter->getAttrOfType<mlir::FloatAttr>(name);
    return attribute ? attribute.getValueAsDouble() : fallback;
  }

  /// A slot is where its parameter is updated: with one copy per device that updates for itself,
  /// filled by `init`, or a slice on each that updates a slice.
  std::string declareSlot(sym::GradientOp gradient, sym::ParameterOp parameter,
                          llvm::StringRef slot) {
    std::string name = (parameter.getSymName() + "." + slot).str();
    auto device = gradient->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
    mlir::OpBuilder builder(&getContext());
    if (auto declared = symbols->lookup<sym::SlotOp>(name)) {
      if (gradient.getFirst())
        addSlice(declared, gradient);
      else
        addCopy(declared, device.getInt());
      return name;
    }
    builder.setInsertionPointAfter(lastDeclared);
    auto made = builder.create<sym::SlotOp>(parameter.getLoc(), name, parameter.getSymName(), slot,
                                            parameter.getType(), mlir::DenseI64ArrayAttr());
    symbols->insert(made);
    lastDeclared = made;
    if (gradient.getFirst())
      addSlice(made, gradient);
    else if (device)
      made->setAttr(sym::kDevicesAttr, builder.getDenseI64ArrayAttr(device.getInt()));
    return name;
  }

  static void addSlice(sym::SlotOp slot, sym::GradientOp gradient) {
    auto has = slot->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
    llvm::SmallVector<int64_t> devices(has ? has.asArrayRef() : llvm::ArrayRef<int64_t>()),
        sizes(slot.getSlices().value_or(llvm::ArrayRef<int64_t>()));
    devices.push_back(gradient->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr).getInt());
    sizes.push_back(sym::rankedType(gradient.getValue()).getNumElements());
    slot->setAttr(sym::kDevicesAttr, mlir::DenseI64ArrayAttr::get(slot.getContext(), devices));
    slot.setSlices(sizes);
  }

  void addCopy(sym::SlotOp slot, int64_t device) {
    auto has = slot->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
    llvm::SmallVector<int64_t> devices(has.asArrayRef());
    auto init = getOperation().lookupSymbol<mlir::func::FuncOp>("init");
    mlir::OpBuilder builder(init.front().getTerminator(), &stamp);
    stamp.set(devices.front());
    Value value = builder.create<sym::ReadOp>(slot.getLoc(), slot.getType(), slot.getSymName(),
                                              mlir::IntegerAttr());
    stamp.set(device);
    builder.create<sym::WriteOp>(slot.getLoc(), slot.getSymName(), value, mlir::IntegerAttr());
    devices.push_back(device);
    slot->setAttr(sym::kDevicesAttr, builder.getDenseI64ArrayAttr(devices));
  }

  static mlir::DictionaryAttr outputNamed(mlir::Builder &builder, const std::string &name,
                                          llvm::StringRef role) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(sym::kNameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(sym::kRoleAttr, builder.getStringAttr(role))});
  }

  /// All at once: each time takes as long as there are results already.
  static void addResults(mlir::func::FuncOp entry, mlir::ValueRange values,
                         llvm::ArrayRef<mlir::DictionaryAttr> attributes) {
    auto ret = llvm::cast<mlir::func::ReturnOp>(entry.front().getTerminator());
    llvm::SmallVector<unsigned> places(values.size(), entry.getNumResults());
    entry.insertResults(places, values.getTypes(), attributes);
    ret->insertOperands(ret->getNumOperands(), values);
  }

  std::optional<mlir::SymbolTable> symbols;
  mlir::Operation *lastDeclared = nullptr; ///< of parameters and slots
  Stamp stamp{sym::kDeviceAttr};           ///< on several devices: where a gradient is
};

} // namespace
} // namespace lstmc::passes
