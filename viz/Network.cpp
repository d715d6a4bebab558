#include "viz/Network.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "executor/abi/EntryNames.h"
#include "executor/base/NumberText.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "passes/PackageBuilder.h"
#include "viz/BoxLinks.h"
#include "viz/Dot.h"
#include "viz/Fold.h"
#include "viz/LaunchGraph.h"
#include "viz/OpLook.h"
#include "viz/Unfold.h"

namespace lstmc::viz {

namespace {

/// Shape of the whole value, or of one step if the steps are its first axis.
std::string shapeLabel(mlir::Value value, bool ofStep) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return "";
  std::vector<std::string> extents;
  for (int64_t extent : type.getShape().drop_front(ofStep && type.getRank() > 0))
    extents.push_back(mlir::ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return fmt::format("{}", fmt::join(extents, "x"));
}

std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

uint64_t bytesOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape()
             ? uint64_t(type.getNumElements()) * type.getElementTypeBitWidth() / 8
             : 0;
}

/// Fills a diagram with the ops of a net.
class Builder {
public:
  Builder(mlir::func::FuncOp net, const NetworkOptions &options)
      : net_(net), options_(options), diagram_(emptyDiagram(net.getName().str(), options)) {}

  Diagram build() {
    for (unsigned i = 0; i < net_.getNumArguments(); ++i)
      addInput(i);
    int64_t ordinal = 0;
    for (mlir::Operation &op : net_.front().without_terminator()) {
      if (llvm::isa<sym::VariableOp>(op))
        addParameter(&op);
      else if (isDrawn(&op))
        addOp(&op, ordinal);
      ++ordinal;
    }
    for (mlir::Operation &op : net_.front().without_terminator())
      if (isDrawn(&op))
        for (mlir::Value operand : op.getOperands())
          connect(operand, &op);
    if (options_.placement)
      addSync();
    mergeEqualEdges(diagram_);
    hideOwnParameters(diagram_);
    if (!options_.allOps)
      foldRepeats(diagram_);
    joinParameters(diagram_);
    return std::move(diagram_);
  }

private:
  bool isDrawn(mlir::Operation *op) {
    return !isHidden(op) && !readsOnlyParameters(op) && (options_.allOps || !isMove(op));
  }

  void addInput(unsigned index) {
    auto name = net_.getArgAttrOfType<mlir::StringAttr>(index, sym::kNameAttr);
    Box box;
    box.kind = Box::Kind::Input;
    box.label = box.name = name ? name.str() : "input";
    box.like = typeText(net_.getArgument(index).getType());
    arguments_.push_back(diagram_.boxes.size());
    diagram_.boxes.push_back(std::move(box));
  }

  void addParameter(mlir::Operation *op) {
    auto variable = llvm::cast<sym::VariableOp>(op);
    Box box;
    box.kind = Box::Kind::Parameter;
    box.label = box.name = variable.getName().str();
    box.like = typeText(op->getResult(0).getType());
    box.bytes = bytesOf(op->getResult(0));
    parameters_[box.name] = ids_[op] = diagram_.boxes.size();
    diagram_.boxes.push_back(std::move(box));
  }

  /// The op's device; before sync-parameters, that of its stage among the devices that share a
  /// replica's layers.
  std::set<size_t> devicesOf(mlir::Operation *op, int64_t ordinal) const {
    if (options_.placement) {
      auto found = options_.placement->devices.find(ordinal);
      return found == options_.placement->devices.end() ? std::set<size_t>() : found->second;
    }
    auto index = op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
    if (!index)
      index = op->getAttrOfType<mlir::IntegerAttr>(sym::kStageAttr);
    if (index && index.getInt() < int64_t(options_.devices.size()))
      return {size_t(index.getInt())};
    return options_.devices.size() == 1 ? std::set<size_t>{0} : std::set<size_t>();
  }

  double secondsOf(mlir::Operation *op) const {
    Work work = workOf(op);
    return options_.target->opSeconds(options_.machine, work.flops, work.bytes);
  }

  /// Whether the op depends on parameters; their bytes belong to its box if that is their only
  /// reader.
  static bool hasVariables(mlir::Operation *op) {
    return llvm::isa<sym::VariableOp>(op) || llvm::any_of(op->getOperands(), [](mlir::Value value) {
             return value.getDefiningOp() && hasVariables(value.getDefiningOp());
           });
  }

  void addOp(mlir::Operation *op, int64_t ordinal) {
    Look look = lookOf(op);
    Box box;
    box.label = look.label;
    box.color = look.color;
    box.what = opName(op);
    box.name = nodeName(op);
    box.call = callOf(op);
    box.places = {placeText(passes::locationOf(op->getLoc()))};
    if (auto group = op->getAttrOfType<mlir::StringAttr>(sym::kGroupAttr))
      box.group = group.str();
    box.devices = devicesOf(op, ordinal);
    box.like = likeness(op, diagram_.colorsDevices);
    if (!box.like.empty() && diagram_.showsDevices)
      box.like += fmt::format(" on {}", fmt::join(box.devices, ","));
    for (mlir::Value result : op->getResults())
      box.bytes += result.use_empty() ? 0 : bytesOf(result);
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *from = operand.getDefiningOp();
          from && (isHidden(from) || readsOnlyParameters(from)) && !hasVariables(from))
        box.parameterBytes += bytesOf(operand);
    if (options_.target)
      box.seconds = secondsOf(op);
    ids_[op] = diagram_.boxes.size();
    if (std::optional<Unfolded> steps = Unfolded::of(op, fmt::format("u{}", unfolded_.size()))) {
      box.loop = fmt::format("{} steps", steps->steps());
      if (options_.allSteps) {
        box.frame = steps->dot(box.label, box.color);
        box.like.clear();
        unfolded_.emplace(op, std::move(*steps));
      }
    }
    diagram_.boxes.push_back(std::move(box));
  }

  /// Ends of a value's edges: a box per drawn step, or the whole op.
  struct End {
    std::vector<std::vector<std::string>> boxes; ///< by position
    bool perStep = false;
  };

  End endOf(mlir::Value value, mlir::Operation *op, bool isSource) {
    auto found = unfolded_.find(op);
    if (found == unfolded_.end())
      return {{{""}}, false};
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

  /// Connects the parameters that the value consists of, through moves and joins.
  void connectParameters(mlir::Value value, mlir::Operation *op) {
    mlir::Operation *maker = value.getDefiningOp();
    if (maker && llvm::isa<sym::VariableOp>(maker))
      diagram_.edges.push_back({ids_.at(maker), ids_.at(op), "", "", ""});
    else if (maker && (isHidden(maker) || isMove(maker)))
      for (mlir::Value operand : maker->getOperands())
        connectParameters(operand, op);
  }

  /// Connects the op to the box that computes the value, through data movements that are not drawn.
  void connect(mlir::Value value, mlir::Operation *op) {
    mlir::Value source = value;
    while (mlir::Operation *maker = source.getDefiningOp()) {
      if (isDrawn(maker))
        break;
      if (!isMove(maker) || readsOnlyParameters(maker))
        return connectParameters(source, op);
      source = maker->getOperand(0);
    }
    mlir::Operation *maker = source.getDefiningOp();
    End from{{{""}}, false}, to = endOf(value, op, false);
    if (maker)
      from = endOf(source, maker, true);
    size_t tailBox =
        maker ? ids_.at(maker) : arguments_[llvm::cast<mlir::BlockArgument>(source).getArgNumber()];
    // One edge per step; if only one end has steps, from or to each of them. Only the first edge is
    // labelled with the shape.
    std::string label = options_.shapes ? shapeLabel(value, from.perStep || to.perStep) : "";
    for (size_t position = 0; position < std::max(from.boxes.size(), to.boxes.size()); ++position)
      for (const std::string &tail : from.boxes[std::min(position, from.boxes.size() - 1)])
        for (const std::string &head : to.boxes[std::min(position, to.boxes.size() - 1)]) {
          diagram_.edges.push_back({tailBox, ids_.at(op), label, tail, head});
          label.clear();
        }
  }

  void addSync();

  mlir::func::FuncOp net_;
  const NetworkOptions &options_;
  Diagram diagram_;
  std::vector<size_t> arguments_;                  // boxes
  std::map<std::string, size_t> parameters_;       // boxes by name
  std::map<mlir::Operation *, size_t> ids_;        // boxes; looked up, never walked
  std::map<mlir::Operation *, Unfolded> unfolded_; // the same
};

/// "a, b and 3 more" on lines of their own.
std::string someOf(const std::vector<std::string> &names) {
  constexpr size_t kMost = 3;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + long(std::min(names.size(), kMost)));
  std::string text = fmt::format("{}", fmt::join(shown, "\n"));
  return names.size() > kMost ? text + fmt::format("\nand {} more", names.size() - kMost) : text;
}

/// For each bucket a box that sends its initial values to the readers, and a box that receives the
/// gradients from them.
void Builder::addSync() {
  const std::vector<std::string> &names = diagram_.devices;
  for (const Bucket &bucket : options_.placement->buckets) {
    std::set<size_t> readers;
    for (const std::string &parameter : bucket.parameters)
      if (auto found = parameters_.find(parameter); found != parameters_.end())
        for (const Edge &edge : diagram_.edges)
          if (edge.from == found->second)
            readers.insert(edge.to);
    std::string what = fmt::format("{}\n{}", someOf(bucket.parameters), bytesText(bucket.bytes));
    std::vector<std::string> others;
    for (size_t device : bucket.devices)
      if (device != bucket.devices[0])
        others.push_back(names[device]);
    Box broadcast;
    broadcast.kind = Box::Kind::Sync;
    broadcast.color = "#ffffff";
    const std::string receivers = others.size() <= 3 ? fmt::format("{}", fmt::join(others, ", "))
                                                     : fmt::format("{} others", others.size());
    broadcast.label =
        fmt::format("broadcast at init\n{}\n{} → {}", what, names[bucket.devices[0]], receivers);
    for (size_t reader : readers)
      diagram_.edges.push_back({diagram_.boxes.size(), reader, "", "", ""});
    diagram_.boxes.push_back(std::move(broadcast));
    if (bucket.adders.empty())
      continue;
    std::vector<std::string> adders;
    for (size_t device : bucket.adders)
      adders.push_back(names[device]);
    Box aggregate;
    aggregate.kind = Box::Kind::Sync;
    aggregate.color = "#eeeeee";
    aggregate.label = fmt::format("aggregate gradients\n{}\non {}", what, fmt::join(adders, ", "));
    for (size_t reader : readers)
      diagram_.edges.push_back({reader, diagram_.boxes.size(), "", "", ""});
    diagram_.boxes.push_back(std::move(aggregate));
  }
}

exec::PlanOp planOf(mlir::ModuleOp module) {
  auto plans = module.getOps<exec::PlanOp>();
  return plans.empty() ? exec::PlanOp() : *plans.begin();
}

} // namespace

Diagram emptyDiagram(const std::string &name, const NetworkOptions &options) {
  Diagram diagram;
  diagram.name = name;
  diagram.devices = options.devices;
  diagram.showsDevices = !options.devices.empty();
  diagram.colorsDevices = options.devices.size() > 1;
  diagram.showsMemory = options.memory;
  diagram.showsTime = options.target != nullptr;
  if (options.target) {
    diagram.note = ratesText(options.machine);
    if (size_t end = diagram.note.find("; "); end != std::string::npos)
      diagram.note.replace(end, 2, ";\n"); // two lines are narrower than most nets
  }
  return diagram;
}

bool isLowered(mlir::ModuleOp module) { return bool(planOf(module)); }

Diagram networkDiagram(mlir::ModuleOp module, const NetworkOptions &options) {
  mlir::func::FuncOp chosen;
  for (auto net : module.getOps<mlir::func::FuncOp>())
    if (!chosen || net.getName() == "step")
      chosen = net;
  return chosen ? Builder(chosen, options).build() : emptyDiagram("empty", options);
}

std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options) {
  exec::PlanOp plan = planOf(module);
  if (!plan)
    return diagramDot(networkDiagram(module, options));
  // In a plan, prepare programs precede the entries.
  auto isEntry = [](std::string_view name) {
    return name != kInitialiseProgram && !name.starts_with(kPreparePrefix);
  };
  exec::ProgramOp chosen;
  for (auto program : plan.getBody().getOps<exec::ProgramOp>())
    if (program.getEntry() == "step" || (!chosen && isEntry(program.getEntry())))
      chosen = program;
  return chosen ? launchDot(chosen, options) : diagramDot(emptyDiagram("empty", options));
}

} // namespace lstmc::viz
