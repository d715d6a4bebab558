#include "ir/sym/OpTable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace lstmc::sym {

const AttributeRecord *OpRecord::attribute(std::string_view wanted) const {
  for (auto &[alias, name] : attributeAliases)
    if (alias == wanted)
      wanted = name;
  for (const AttributeRecord &record : attributes)
    if (record.name == wanted)
      return &record;
  return nullptr;
}

const std::vector<OpRecord> &opRecords() {
  static const std::vector<OpRecord> kRecords = {
#include "ir/sym/OpTable.inc"
  };
  return kRecords;
}

namespace {
struct Index {
  llvm::StringMap<const OpRecord *> byName, byOp;
  Index() {
    for (const OpRecord &record : opRecords()) {
      byOp[record.opName] = &record;
      if (record.mxnetName.empty())
        continue;
      byName[record.mxnetName] = &record;
      for (std::string_view alias : record.aliases)
        byName[alias] = &record;
    }
  }
};
const Index &index() {
  static const Index kIndex;
  return kIndex;
}
} // namespace

const OpRecord *findOpRecord(std::string_view name) { return index().byName.lookup(name); }
const OpRecord *recordOf(mlir::OperationName name) {
  return index().byOp.lookup(name.getStringRef());
}
int visibleResults(mlir::Operation *op, const OpRecord &record) {
  auto shown = op->getAttrOfType<mlir::BoolAttr>("output_mean_var");
  return shown && shown.getValue() ? -1 : record.visibleOutputs;
}

} // namespace lstmc::sym
