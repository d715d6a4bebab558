#include "passes/PackageFacts.h"

#include <algorithm>
#include <map>

#include "mlir/IR/Builders.h"

#include "executor/abi/FastRules.h"
#include "executor/abi/Optimizers.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Location.h"
#include "ir/sym/SymDialect.h"

namespace lstmc::passes {

namespace {

using mlir::ArrayAttr;
using mlir::StringAttr;
using Settings = std::vector<package::Setting>;

/// fit(..), from which a session computes what an update needs (session/UpdateScalars.h), and what
/// it leaves out of the optimizer that `step` is compiled for.
Settings fitWithOptimizer(const CompileOptions &options) {
  Settings fit = options.fit;
  const Optimizer *row = findOptimizer(options.optimizer.name);
  if (!row)
    return fit; // "none" changes no weights
  auto last = [&](std::string_view name) {
    return std::find_if(fit.rbegin(), fit.rend(),
                        [&](const package::Setting &each) { return each.name == name; });
  };
  auto named = last("optimizer");
  if ((named == fit.rend() ? "sgd" : named->value) != options.optimizer.name)
    fit.push_back({"optimizer", options.optimizer.name});
  for (const auto &[key, value] : options.optimizer.keys)
    if (last(key) == fit.rend() && value != row->key(key)->fallback)
      fit.push_back({key, fmt::format("{}", value)});
  return fit;
}

ArrayAttr settingsAttr(mlir::Builder &builder, const Settings &settings) {
  llvm::SmallVector<mlir::Attribute> rows;
  for (const package::Setting &setting : settings)
    rows.push_back(builder.getArrayAttr(
        {builder.getStringAttr(setting.name), builder.getStringAttr(setting.value)}));
  return builder.getArrayAttr(rows);
}

/// The texts of an array of StringAttr; "" for anything else, as a module may be written by hand.
std::vector<std::string> textsOf(mlir::Attribute array) {
  std::vector<std::string> texts;
  if (auto elements = llvm::dyn_cast_or_null<ArrayAttr>(array))
    for (mlir::Attribute element : elements) {
      auto text = llvm::dyn_cast<StringAttr>(element);
      texts.push_back(text ? text.str() : "");
    }
  return texts;
}

Settings settingsOf(ArrayAttr rows) {
  Settings settings;
  for (mlir::Attribute row : rows ? rows.getValue() : llvm::ArrayRef<mlir::Attribute>())
    if (std::vector<std::string> texts = textsOf(row); texts.size() == 2)
      settings.push_back({texts[0], texts[1]});
  return settings;
}

void takeFacts(mlir::DictionaryAttr facts, package::PackageData &data) {
  auto text = [&](llvm::StringRef name) {
    auto found = facts.getAs<StringAttr>(name);
    return found ? found.str() : std::string();
  };
  data.producer = text("producer");
  data.net = text("net");
  data.graphHash = text("graph_hash");
  data.numerics = text("numerics");
  if (auto shards = facts.getAs<mlir::IntegerAttr>("shards"))
    data.shards = uint32_t(shards.getInt());
  data.settings = settingsOf(facts.getAs<ArrayAttr>("settings"));
  data.fit = settingsOf(facts.getAs<ArrayAttr>("fit"));
  data.data = settingsOf(facts.getAs<ArrayAttr>("data"));
}

void takePacked(ArrayAttr vectors, package::PackageData &data) {
  for (mlir::Attribute row : vectors)
    if (std::vector<std::string> texts = textsOf(row); !texts.empty())
      data.packed.push_back({texts[0], {texts.begin() + 1, texts.end()}});
}

void takeRanges(mlir::DictionaryAttr ranges, package::PackageData &data) {
  for (package::Entry &entry : data.entries)
    for (package::Binding &input : entry.inputs) {
      auto range = ranges.getAs<mlir::DenseI64ArrayAttr>(input.name);
      if (!range || range.size() < 2 || input.role == "scalar")
        continue;
      input.range = ValueRange{range[0], range[1], std::nullopt};
      if (range.size() > 2)
        input.range->ignored = range[2];
    }
}

} // namespace

void recordPackageFacts(mlir::ModuleOp module, const CompileOptions &options) {
  mlir::Builder builder(module.getContext());
  auto text = [&](llvm::StringRef name, const std::string &value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  };
  auto settings = [&](llvm::StringRef name, const Settings &value) {
    return builder.getNamedAttr(name, settingsAttr(builder, value));
  };
  module->setAttr(
      sym::kPackageAttr,
      builder.getDictionaryAttr(
          {text("producer", options.producer), text("net", options.net),
           text("graph_hash", options.graphHash),
           text("numerics", numericsText(options.dtype.value_or(DType::F32), options.fast)),
           builder.getNamedAttr("shards", builder.getI64IntegerAttr(options.shards)),
           settings("settings", options.settings), settings("fit", fitWithOptimizer(options)),
           settings("data", options.data)}));
}

void recordSourceLines(mlir::ModuleOp module) {
  std::map<std::pair<std::string, int64_t>, std::string> lines;
  auto add = [&](mlir::Location location) {
    if (SourceRange range = sym::decode(location); range.line)
      lines.try_emplace({range.file, int64_t(range.line)}, range.text);
  };
  module.walk([&](mlir::Operation *op) { add(op->getLoc()); });
  module.walk([&](mlir::Block *block) {
    for (mlir::BlockArgument argument : block->getArguments())
      add(argument.getLoc());
  });
  mlir::Builder builder(module.getContext());
  llvm::SmallVector<mlir::Attribute> rows;
  for (const auto &[place, text] : lines)
    rows.push_back(builder.getArrayAttr({builder.getStringAttr(place.first),
                                         builder.getI64IntegerAttr(place.second),
                                         builder.getStringAttr(text)}));
  module->setAttr(sym::kLinesAttr, builder.getArrayAttr(rows));
}

void takeSourceLines(mlir::ModuleOp module) {
  auto rows = module->getAttrOfType<ArrayAttr>(sym::kLinesAttr);
  if (!rows)
    return;
  sym::SourceText &known = module.getContext()->getOrLoadDialect<sym::SymDialect>()->sourceText();
  for (mlir::Attribute each : rows)
    if (auto row = llvm::dyn_cast<ArrayAttr>(each); row && row.size() == 3) {
      auto file = llvm::dyn_cast<StringAttr>(row[0]), text = llvm::dyn_cast<StringAttr>(row[2]);
      auto line = llvm::dyn_cast<mlir::IntegerAttr>(row[1]);
      if (file && text && line)
        known.add(file, unsigned(line.getInt()), text);
    }
  module->removeAttr(sym::kLinesAttr);
}

void takePackageFacts(mlir::ModuleOp module, package::PackageData &data) {
  if (auto facts = module->getAttrOfType<mlir::DictionaryAttr>(sym::kPackageAttr))
    takeFacts(facts, data);
  if (auto vectors = module->getAttrOfType<ArrayAttr>(sym::kPackedAttr))
    takePacked(vectors, data);
  if (auto ranges = module->getAttrOfType<mlir::DictionaryAttr>(sym::kInputRangesAttr))
    takeRanges(ranges, data);
  for (llvm::StringRef name : {sym::kPackageAttr, sym::kPackedAttr, sym::kInputRangesAttr})
    module->removeAttr(name);
}

} // namespace lstmc::passes
