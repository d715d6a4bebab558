// apply-optimizer: appends the parameter updates to `step`. Norm, clipping and update of a
// parameter are fused programs.

#include <cmath>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/Dropout.h"
#include "passes/EntryMarks.h"
#include "passes/FusedScalars.h"
#include "passes/HeadDivisors.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"
#include "passes/UpdateFormula.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "passes/Passes.h.inc"

namespace {

using mlir::Type;
using mlir::Value;

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
    mlir::OpBuilder builder(entry.front().getTerminator(), &listener);
    if (optimizer == "none")
      returnGradients(builder, entry, gradients);
    else if (mlir::failed(update(builder, entry, gradients)))
      return mlir::failure();
    for (sym::GradientOp gradient : gradients) {
      if (mlir::Operation *op = gradient.getValue().getDefiningOp(); op && op->getNumResults() == 1)
        op->setAttr(sym::kGradientOfAttr, gradient.getParameterAttr().getAttr()); // shown in plans
      gradient.erase();
    }
    return mlir::success();
  }

  /// Norms add tensors in the declaration order of the parameters, and slices in their order.
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
    if (mlir::failed(readRow(entry)))
      return mlir::failure();
    nameIdleMultipliers(entry->getParentOfType<mlir::ModuleOp>(), gradients);
    if (gradients.empty())
      return mlir::success();
    double rescale = rescaleOf(entry);
    Value scale; // [1]: product of rescaling and clipping factors; null without clipping by norm
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
    reportNorms(builder, entry, gradients, rescale);
    // Per device at most one update at a time is built before its results are sent, so that devices
    // update concurrently.
    llvm::SmallVector<Update> made;
    while (!gradients.empty()) {
      llvm::ArrayRef<sym::GradientOp> together = updatedTogether(gradients);
      gradients = gradients.drop_front(together.size());
      bool again = llvm::any_of(made, [&](Update &other) {
        return llvm::any_of(together, [&](sym::GradientOp gradient) {
          return other.gradient->getAttr(sym::kDeviceAttr) == gradient->getAttr(sym::kDeviceAttr);
        });
      });
      if (again)
        writeCopies(builder, made);
      llvm::SmallVector<Update> updates;
      for (sym::GradientOp gradient : together)
        updates.push_back(begin(builder, entry, gradient, scale, rescale));
      if (!normed().empty())
        finish(builder, updates);
      made.append(updates);
    }
    writeCopies(builder, made);
    return mlir::success();
  }

  /// Finds the table's row and form, and the values of its keys. E0215 for a key that the row
  /// lacks.
  mlir::LogicalResult readRow(mlir::func::FuncOp entry) {
    row = findOptimizer(optimizer.getValue());
    if (!row)
      return sym::emitCoded(entry, ErrorCode::E0215)
             << "no optimizer is named \"" << optimizer.getValue() << "\"";
    for (const OptimizerKey &key : row->keys)
      values[key.name] = key.fallback;
    for (const std::string &setting : keys) {
      auto [name, text] = llvm::StringRef(setting).split('=');
      double value = 0;
      if (!row->key(name) || text.getAsDouble(value))
        return sym::emitCoded(entry, ErrorCode::E0215)
               << "optimizer \"" << row->name << "\" takes no key \"" << setting << "\"";
      values[name] = value;
    }
    form = llvm::find_if(row->forms, [&](const OptimizerForm &each) {
      return each.when.empty() || values[each.when] != 0;
    });
    return mlir::success();
  }

  /// Warns of each multiplier of a parameter that changes nothing in this update. With 0 and 1 the
  /// update is what was asked for.
  void nameIdleMultipliers(mlir::ModuleOp module, llvm::ArrayRef<sym::GradientOp> gradients) {
    llvm::DenseSet<mlir::StringAttr> reached;
    for (sym::GradientOp gradient : gradients)
      reached.insert(gradient.getParameterAttr().getAttr());
    for (sym::ParameterOp parameter : module.getOps<sym::ParameterOp>())
      for (auto [key, scaled] : {std::pair("lr_mult", "lr"), std::pair("wd_mult", "wd")}) {
        const double factor = multiplier(parameter, key, 1);
        if (factor == 0 || factor == 1)
          continue;
        std::string why;
        if (!reached.contains(parameter.getSymNameAttr()))
          why = "no gradient reaches the parameter";
        else if (!reads(form->formula, scaled) && !reads(form->finish, scaled))
          why = "optimizer \"" + std::string(row->name) + "\" does not read " + scaled;
        else if (llvm::StringRef(scaled) == "wd" && wd == 0)
          why = "wd is 0";
        if (!why.empty())
          sym::warnCoded(parameter.getLoc(), ErrorCode::E0214)
              << key << " of " << parameter.getSymName() << " has no effect: " << why;
      }
  }

  llvm::SmallVector<std::string_view> normed() const {
    return llvm::to_vector(
        llvm::make_filter_range(form->norms, [](std::string_view name) { return !name.empty(); }));
  }

  /// The first gradient; with norms, all slices of its parameter.
  llvm::ArrayRef<sym::GradientOp> updatedTogether(llvm::ArrayRef<sym::GradientOp> gradients) const {
    auto isSlice = [&](sym::GradientOp gradient) {
      sym::GradientOp first = gradients.front();
      return first.getFirst() && gradient.getParameter() == first.getParameter();
    };
    size_t count = 1;
    while (!normed().empty() && count < gradients.size() && isSlice(gradients[count]))
      ++count;
    return gradients.take_front(count);
  }

  /// Parameters may have different types.
  static Type widestElement(llvm::ArrayRef<sym::GradientOp> gradients) {
    Type widest;
    for (sym::GradientOp gradient : gradients) {
      Type element = sym::rankedType(gradient.getValue()).getElementType();
      if (!widest || element.getIntOrFloatBitWidth() > widest.getIntOrFloatBitWidth())
        widest = element;
    }
    return widest;
  }

  /// Adds tensors in declaration order. With several devices each one sums its squares, continuing
  /// the sum of the slice before its own, and the first device adds the results in the same order.
  Value sumOfSquares(mlir::OpBuilder &builder, mlir::Location loc, Type f64,
                     llvm::ArrayRef<sym::GradientOp> gradients) {
    llvm::SmallVector<Value> values, squares;
    sym::GradientOp last;
    for (sym::GradientOp gradient : gradients) {
      Value value = gradient.getValue();
      if (last && last.getParameter() == gradient.getParameter() &&
          last.getFirst() == gradient.getFirst())
        continue; // only once, if every copy is updated separately
      last = gradient;
      values.push_back(value);
      if (!gradient->hasAttr(sym::kDeviceAttr))
        continue;
      listener.setAs(gradient);
      Value begin = gradient.getFirst().value_or(0) > 0 ? squares.pop_back_val() : Value();
      squares.push_back(builder.create<sym::NormSquaredOp>(loc, f64, value, begin));
    }
    if (squares.empty())
      return builder.create<sym::NormSquaredOp>(loc, f64, values, Value());
    listener.set(0);
    Value sum = squares.front();
    for (Value next : llvm::drop_begin(squares))
      sum = builder.create<sym::ElemwiseAddOp>(loc, f64, sum, next);
    return sum;
  }

  /// Adds the outputs `gradient_norm:NAME`, f64[1], for parameters marked `report_norm`.
  void reportNorms(mlir::OpBuilder &builder, mlir::func::FuncOp entry,
                   llvm::ArrayRef<sym::GradientOp> gradients, double rescale) {
    auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
    llvm::SmallVector<Value> norms;
    llvm::SmallVector<mlir::DictionaryAttr> names;
    while (!gradients.empty()) {
      sym::GradientOp first = gradients.front();
      llvm::ArrayRef<sym::GradientOp> all = gradients.take_while([&](sym::GradientOp gradient) {
        return gradient.getParameter() == first.getParameter();
      });
      gradients = gradients.drop_front(all.size());
      sym::ParameterOp parameter = parameterOf(first);
      if (!parameter->hasAttr("report_norm"))
        continue;
      Value squares = sumOfSquares(builder, parameter.getLoc(), f64, all);
      norms.push_back(fuse(builder, parameter.getLoc(), {squares}, {f64},
                           [&](sym::ScalarEmitter &e, mlir::ValueRange in) -> Scalars {
                             return {e.mul(e.apply(ScalarOp::Sqrt, {in[0]}),
                                           e.number(in[0].getType(), rescale))};
                           })[0]);
      names.push_back(
          outputNamed(builder, "gradient_norm:" + parameter.getSymName().str(), "output"));
    }
    addResults(entry, norms, names);
  }

  /// MXNet's Module divides by the batch. Heads whose gradient is a mean need no division; if heads
  /// differ, the gradient pass has divided already.
  double rescaleOf(mlir::func::FuncOp entry) {
    if (rescaleGrad > 0)
      return rescaleGrad;
    return 1.0 / double(commonHeadDivisor(entry).value_or(1));
  }

  /// A gradient, and the new values of its parameter or slice, not written yet.
  struct Update {
    sym::GradientOp gradient;
    Value value;                          ///< null before `finish`
    Value parameter = {};                 ///< as it was
    llvm::SmallVector<Value> normed = {}; ///< in the order of the form's norms
  };

  /// An operand of the update's fused program, and its name in the formula.
  struct Operand {
    std::string_view name;
    Value value;
  };

  /// Emits the first part of the formula: the new state, and the parameter too if the formula needs
  /// no norms.
  Update begin(mlir::OpBuilder &builder, mlir::func::FuncOp entry, sym::GradientOp gradient,
               Value scale, double rescale) {
    listener.setAs(gradient);
    auto parameter = parameterOf(gradient);
    auto type = sym::rankedType(gradient.getValue());
    mlir::Location loc = parameter.getLoc();
    Update update{gradient, {}};
    update.parameter =
        builder.create<sym::ReadOp>(loc, type, parameter.getSymName(), gradient.getFirstAttr());

    llvm::SmallVector<Operand> operands = {{"w", update.parameter}, {"g", gradient.getValue()}};
    if (reads(form->formula, "lr"))
      operands.push_back({"lr", scalarInput(entry, "learning_rate")});
    llvm::SmallVector<std::string> stateNames;
    // The values whose norms are needed, except for the parameter itself; the parameter if no norm
    // is needed.
    llvm::SmallVector<std::string_view> made;
    for (std::string_view name : normed())
      if (name != "w")
        made.push_back(name);
    if (normed().empty())
      made.push_back("w");
    size_t tensors = made.size();
    for (const OptimizerState &state : form->state) {
      if (state.name.empty())
        continue;
      stateNames.push_back(declareSlot(gradient, parameter, state.name));
      made.push_back(state.symbol);
      operands.push_back({state.symbol, builder.create<sym::ReadOp>(loc, type, stateNames.back(),
                                                                    mlir::IntegerAttr())});
    }
    for (std::string_view input : row->inputs)
      if (!input.empty() && reads(form->formula, input))
        operands.push_back({input, rowInput(entry, input)});
    if (scale)
      operands.push_back({"scale", scale});

    auto results = write(builder, parameter, operands, form->formula, made, type, rescale);
    for (auto [name, value] : llvm::zip_equal(stateNames, results.drop_front(tensors)))
      builder.create<sym::WriteOp>(loc, name, value, mlir::IntegerAttr());
    if (normed().empty())
      update.value = results[0];
    for (std::string_view name : normed()) {
      update.normed.push_back(name == "w" ? update.parameter : results.front());
      if (name != "w")
        results = results.drop_front();
    }
    return update;
  }

  /// Emits the part of a formula that needs norms of whole parameters.
  void finish(mlir::OpBuilder &builder, llvm::MutableArrayRef<Update> updates) {
    auto parameter = parameterOf(updates.front().gradient);
    llvm::SmallVector<Value> squares;
    for (size_t i = 0; i < normed().size(); ++i)
      squares.push_back(sumOfSlices(builder, parameter.getLoc(), updates, i));
    auto entry = updates.front().gradient->getParentOfType<mlir::func::FuncOp>();
    for (Update &update : updates) {
      listener.setAs(update.gradient);
      auto type = sym::rankedType(update.gradient.getValue());
      llvm::SmallVector<Type> single(squares.size(),
                                     mlir::RankedTensorType::get({1}, type.getElementType()));
      auto norms = fuse(builder, parameter.getLoc(), squares, single,
                        [&](sym::ScalarEmitter &e, mlir::ValueRange in) {
                          Scalars roots;
                          for (Value square : in)
                            roots.push_back(
                                e.cast(e.apply(ScalarOp::Sqrt, {square}), type.getElementType()));
                          return roots;
                        });
      llvm::SmallVector<Operand> operands = {{"w", update.parameter}};
      if (reads(form->finish, "lr"))
        operands.push_back({"lr", scalarInput(entry, "learning_rate")});
      llvm::SmallVector<std::string> names;
      for (std::string_view name : normed())
        names.push_back("norm_" + std::string(name));
      for (auto [i, name] : llvm::enumerate(normed())) {
        if (name != "w")
          operands.push_back({name, update.normed[i]});
        operands.push_back({names[i], norms[i]});
      }
      update.value = write(builder, parameter, operands, form->finish, {"w"}, type, 1)[0];
    }
  }

  /// The norm of tensor `which`, accumulated from slice to slice.
  Value sumOfSlices(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Update> updates,
                    size_t which) {
    auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
    Value sum;
    for (const Update &update : updates) {
      listener.setAs(update.gradient);
      sum = builder.create<sym::NormSquaredOp>(loc, f64, update.normed[which], sum);
    }
    return sum;
  }

  /// Emits a formula as a fused program; `made` names its results.
  mlir::ValueRange write(mlir::OpBuilder &builder, sym::ParameterOp parameter,
                         llvm::ArrayRef<Operand> operands, std::string_view formula,
                         llvm::ArrayRef<std::string_view> made, Type type, double rescale) {
    llvm::SmallVector<Value> tensors;
    for (const Operand &operand : operands)
      tensors.push_back(operand.value);
    return fuse(builder, parameter.getLoc(), tensors, llvm::SmallVector<Type>(made.size(), type),
                [&](sym::ScalarEmitter &e, mlir::ValueRange in) -> Scalars {
                  FormulaEmitter calculus(e, in[0].getType());
                  giveNumbers(calculus, parameter, rescale);
                  for (auto [operand, value] : llvm::zip_equal(operands, in)) {
                    calculus.assign(operand.name, FormulaValue::of(e.cast(value, in[0].getType())));
                    if (operand.name == "lr")
                      multiply(calculus, "lr",
                               FormulaValue::of(multiplier(parameter, "lr_mult", 1)));
                  }
                  if (operands[1].name == "g")
                    multiply(calculus, "g", calculus.name("scale"));
                  readFormula(formula, calculus);
                  Scalars values;
                  for (std::string_view name : made)
                    values.push_back(calculus.written(name));
                  return values;
                });
  }

  /// Assigns the values that are known at compile time.
  void giveNumbers(FormulaEmitter &calculus, sym::ParameterOp parameter, double rescale) {
    double decays = decaysByName(parameter.getSymName()) ? 1 : 0;
    calculus.assign("wd", FormulaValue::of(wd * multiplier(parameter, "wd_mult", decays)));
    calculus.assign("clip_gradient",
                    FormulaValue::of(clipGradient > 0 ? double(clipGradient) : kNoBound));
    calculus.assign("scale", FormulaValue::of(rescale));
    for (const auto &[name, value] : values)
      calculus.assign(name, FormulaValue::of(value));
  }

  static void multiply(FormulaEmitter &calculus, std::string_view name, FormulaValue factor) {
    FormulaValue both[] = {calculus.name(name), factor};
    calculus.assign(name, calculus.apply(ScalarOp::Mul, both));
  }

  /// The scalar `optimizer.NAME`, created if the entry lacks it.
  Value rowInput(mlir::func::FuncOp entry, std::string_view name) {
    std::string full = "optimizer." + std::string(name);
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto said = entry.getArgAttrOfType<mlir::StringAttr>(i, sym::kNameAttr);
          said && said.getValue() == full)
        return entry.getArgument(i);
    mlir::Builder builder(&getContext());
    auto attributes = builder.getDictionaryAttr(
        {builder.getNamedAttr(sym::kNameAttr, builder.getStringAttr(full)),
         builder.getNamedAttr(sym::kRoleAttr, builder.getStringAttr("scalar"))});
    (void)entry.insertArgument(entry.getNumArguments(),
                               mlir::RankedTensorType::get({1}, builder.getF64Type()), attributes,
                               entry.getLoc());
    return entry.front().getArguments().back();
  }

  sym::ParameterOp parameterOf(sym::GradientOp gradient) {
    return symbols->lookup<sym::ParameterOp>(gradient.getParameterAttr().getAttr());
  }

  /// Writes the new values to all copies that the gradients update.
  void writeCopies(mlir::OpBuilder &builder, llvm::SmallVectorImpl<Update> &made) {
    for (Update &update : made) {
      sym::GradientOp gradient = update.gradient;
      listener.setAs(gradient);
      auto to = gradient->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
      for (int64_t copy = 0; copy < (to ? to.size() : 1); ++copy) {
        if (to)
          listener.set(to[copy]);
        builder.create<sym::WriteOp>(update.value.getLoc(), gradient.getParameter(), update.value,
                                     gradient.getFirstAttr());
      }
    }
    made.clear();
  }

  /// Weight decay applies to weights and gammas, unless wd_mult overrides it.
  static bool decaysByName(llvm::StringRef name) {
    return name.ends_with("_weight") || name.ends_with("_gamma");
  }

  static double multiplier(sym::ParameterOp parameter, llvm::StringRef name, double fallback) {
    auto attribute = parameter->getAttrOfType<mlir::FloatAttr>(name);
    return attribute ? attribute.getValueAsDouble() : fallback;
  }

  /// A slot is on the devices that update its parameter: one copy per device if each updates for
  /// itself, filled by `init`; or a slice on each device that updates a slice.
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
    mlir::OpBuilder builder(init.front().getTerminator(), &listener);
    listener.set(devices.front());
    Value value = builder.create<sym::ReadOp>(slot.getLoc(), slot.getType(), slot.getSymName(),
                                              mlir::IntegerAttr());
    listener.set(device);
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

  /// Adds all results at once, because each call takes time proportional to the existing results.
  static void addResults(mlir::func::FuncOp entry, mlir::ValueRange values,
                         llvm::ArrayRef<mlir::DictionaryAttr> attributes) {
    auto ret = llvm::cast<mlir::func::ReturnOp>(entry.front().getTerminator());
    llvm::SmallVector<unsigned> places(values.size(), entry.getNumResults());
    entry.insertResults(places, values.getTypes(), attributes);
    ret->insertOperands(ret->getNumOperands(), values);
  }

  std::optional<mlir::SymbolTable> symbols;
  const Optimizer *row = nullptr;
  const OptimizerForm *form = nullptr;
  llvm::StringMap<double> values;               ///< of the row's keys
  mlir::Operation *lastDeclared = nullptr;      ///< of parameters and slots
  PlacementListener listener{sym::kDeviceAttr}; ///< on several devices: where a gradient is
};

} // namespace
} // namespace lstmc::passes
