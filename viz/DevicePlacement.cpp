#include "viz/DevicePlacement.h"

#include <algorithm>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "passes/ShardTree.h"

namespace lstmc::viz {

namespace {

std::optional<size_t> deviceOf(mlir::Operation *op) {
  auto device = op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
  return device ? std::optional(size_t(device.getInt())) : std::nullopt;
}

bool isAggregate(mlir::Operation *op) { return op && op->hasAttr(passes::kAggregateAttr); }

/// Devices whose sums are added by a tree of additions.
std::set<size_t> addedDevices(mlir::Operation *op) {
  std::set<size_t> devices;
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation *maker = operand.getDefiningOp();
    if (isAggregate(maker))
      devices.merge(addedDevices(maker));
    else if (maker)
      if (std::optional<size_t> device = deviceOf(maker))
        devices.insert(*device);
  }
  return devices;
}

/// Finds the sums over devices that a gradient consists of, through data movements.
void findSums(mlir::Value value, std::vector<mlir::Operation *> &sums) {
  mlir::Operation *maker = value.getDefiningOp();
  if (isAggregate(maker)) {
    if (addedDevices(maker).size() > 1 && !llvm::is_contained(sums, maker))
      sums.push_back(maker);
  } else if (maker && llvm::isa<sym::SliceAxisOp, sym::ReshapeOp, sym::ConcatOp>(maker)) {
    for (mlir::Value operand : maker->getOperands())
      findSums(operand, sums);
  }
}

uint64_t bytesOf(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  return uint64_t(tensor.getNumElements()) * tensor.getElementTypeBitWidth() / 8;
}

std::vector<Bucket> bucketsOf(mlir::ModuleOp module, mlir::func::FuncOp step) {
  std::map<std::string, std::vector<mlir::Operation *>> sums;
  std::vector<std::string> order; // the order in which gradients are available
  if (step)
    step.walk([&](sym::GradientOp gradient) {
      std::string name = gradient.getParameter().str();
      if (!sums.contains(name))
        order.push_back(name);
      findSums(gradient->getOperand(0), sums[name]);
    });
  std::map<std::string, sym::ParameterOp> parameters;
  for (auto parameter : module.getOps<sym::ParameterOp>()) {
    parameters[parameter.getSymName().str()] = parameter;
    if (!llvm::is_contained(order, parameter.getSymName()))
      order.push_back(parameter.getSymName().str());
  }
  std::vector<Bucket> buckets;
  std::map<std::vector<mlir::Operation *>, size_t> made;
  for (const std::string &name : order) {
    auto found = parameters.find(name);
    if (found == parameters.end())
      continue;
    auto devices = found->second->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
    if (!devices || devices.size() < 2)
      continue;
    const std::vector<mlir::Operation *> &added = sums[name];
    size_t at = buckets.size();
    if (!added.empty())
      at = made.try_emplace(added, at).first->second;
    if (at == buckets.size()) {
      Bucket &bucket = buckets.emplace_back();
      bucket.devices.assign(devices.asArrayRef().begin(), devices.asArrayRef().end());
      bucket.slices = std::max<size_t>(added.size(), 1);
      for (mlir::Operation *sum : added)
        bucket.adders.insert(*deviceOf(sum));
    }
    buckets[at].parameters.push_back(name);
    buckets[at].bytes += bytesOf(found->second.getType());
  }
  return buckets;
}

} // namespace

DevicePlacement placementOf(mlir::ModuleOp module) {
  mlir::func::FuncOp step, drawn;
  for (auto entry : module.getOps<mlir::func::FuncOp>()) {
    if (entry.getName() == "step")
      step = entry;
    if (!drawn || entry.getName() == "step")
      drawn = entry;
  }
  DevicePlacement placement;
  if (!drawn)
    return placement;
  for (mlir::Operation &op : drawn.front())
    if (auto ordinal = op.getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr))
      if (std::optional<size_t> device = deviceOf(&op))
        placement.devices[ordinal.getInt()].insert(*device);
  placement.buckets = bucketsOf(module, step);
  return placement;
}

} // namespace lstmc::viz
