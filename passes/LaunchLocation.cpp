#include "passes/LaunchLocation.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/OpTable.h"

namespace lstmc::passes {

using mlir::Operation;

/// The user's op that this one belongs to.
static std::string calledText(Operation *op) {
  if (auto called = op->getAttrOfType<mlir::StringAttr>(sym::kCalledAttr))
    return called.str();
  const sym::OpRecord *record = sym::recordOf(op->getName());
  return record && !record->mxnetName.empty() ? std::string(record->mxnetName)
                                              : op->getName().stripDialect().str();
}

mlir::Location launchLocation(Operation *op) {
  std::string text = calledText(op);
  if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
    text += " " + name.str();
  return mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), text), op->getLoc());
}

} // namespace lstmc::passes
