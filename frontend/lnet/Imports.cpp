// Files: reading, running each once, and handing names over.
#include <filesystem>

#include "executor/base/InputFile.h"
#include "frontend/lnet/Evaluator.h"
#include "frontend/lnet/LayersText.h"
#include "frontend/lnet/text/Parser.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

namespace fs = std::filesystem;

Evaluator::Evaluator(const LoadOptions &options, Problems &problems, bool rehearses)
    : options_(options), problems_(problems), stepsLeft_(int64_t(options.limits.steps)),
      rehearses_(rehearses) {}

Evaluator::~Evaluator() = default;

/// A source file's bytes: E0601 if it cannot be read, E0316 if it is too large.
std::optional<std::string> Evaluator::readSource(const std::string &path,
                                                 std::optional<SourceRange> place) {
  auto fail = [&](ErrorCode code, std::string message,
                  std::string help) -> std::optional<std::string> {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.help = std::move(help);
    if (place)
      diagnostic.place = *place;
    else
      diagnostic.place.file = path;
    problems_.add(std::move(diagnostic));
    return std::nullopt;
  };
  std::error_code failure;
  uintmax_t size = fs::file_size(path, failure);
  if (!failure && size > options_.limits.source)
    return fail(
        ErrorCode::E0316,
        fmt::format("\"{}\" has {} bytes, the limit is {}", path, size, options_.limits.source),
        "--limit source=N changes the limit");
  Result<Bytes> bytes = readFile(path);
  if (!bytes.ok())
    return fail(bytes.error().code, bytes.error().message, {});
  return std::string(asText(*bytes));
}

Module *Evaluator::runMain(const std::string &path, std::optional<std::string> text) {
  if (!text && !(text = readSource(path, std::nullopt)))
    return nullptr;
  if (text->size() > options_.limits.source) {
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::E0316;
    diagnostic.message =
        fmt::format("text of {} bytes, the limit is {}", text->size(), options_.limits.source);
    diagnostic.help = "--limit source=N changes the limit";
    diagnostic.place.file = path;
    problems_.add(std::move(diagnostic));
    return nullptr;
  }
  std::error_code failure;
  std::string key = fs::weakly_canonical(path, failure).string();
  Module *module = loadModule(path, key, std::move(*text), nullptr);
  module->main = true;
  if (!module->broken)
    runModule(*module);
  return module;
}

Module *Evaluator::loadModule(const std::string &shown, const std::string &key, std::string text,
                              const ImportStmt *stmt) {
  modules_.push_back(std::make_unique<Module>());
  Module *module = modules_.back().get();
  module->file = std::make_unique<SourceFile>(shown, std::move(text));
  module->key = key;
  module->folder = fs::path(shown).parent_path().string();
  module->owner.text = "the file " + shown;
  uint64_t before = problems_.errors();
  module->tree = parse(*module->file, options_.limits, problems_);
  module->broken = problems_.errors() > before;
  resolve(*module->tree);
  module->globals = heap_.make<FrameObject>(Value(), module->tree->scope->names.size(), ++runs_);
  return module;
}

void Evaluator::runModule(Module &module) {
  Module *outerModule = module_;
  FrameObject *outerFrame = frame_;
  const Owner *outerOwner = owner_;
  symbol::Graph *outerGraph = graph_;
  module_ = &module;
  frame_ = &module.globals.as<FrameObject>();
  owner_ = &module.owner;
  graph_ = nullptr;
  module.running = true;
  imports_.push_back(&module);
  uint64_t before = problems_.errors();
  run(module.tree->statements);
  module.failed = problems_.errors() > before;
  imports_.pop_back();
  module.running = false;
  module.done = true;
  graph_ = outerGraph;
  owner_ = outerOwner;
  frame_ = outerFrame;
  module_ = outerModule;
}

Module *Evaluator::layers() {
  if (!layers_) {
    layers_ = loadModule("layers.lnet", "", std::string(kLayersText), nullptr);
    layers_->internal = true;
    runModule(*layers_);
  }
  return layers_;
}

void Evaluator::runImport(const ImportStmt *stmt) {
  auto giveUp = [&] {
    for (const ImportedName &name : stmt->names)
      assignName(name.target, Value::unknown());
  };
  std::string relative(stmt->module);
  std::replace(relative.begin(), relative.end(), '.', '/');
  relative += ".lnet";
  std::vector<std::string> folders{module_->folder};
  folders.insert(folders.end(), options_.includeDirs.begin(), options_.includeDirs.end());
  std::string shown, key;
  for (const std::string &folder : folders) {
    std::string candidate = (fs::path(folder) / relative).string();
    std::error_code failure;
    if (!fs::exists(candidate, failure) || failure)
      continue;
    fs::path root = fs::canonical(folder.empty() ? "." : folder, failure);
    fs::path real = fs::canonical(candidate, failure);
    std::string prefix = root.string() == "/" ? "/" : root.string() + "/";
    if (failure || !real.string().starts_with(prefix)) {
      error(ErrorCode::E0307, stmt->moduleSpan, "\"{}\" is outside the folders of imports",
            relative);
      return giveUp();
    }
    shown = candidate;
    key = real.string();
    break;
  }
  if (shown.empty()) {
    report(makeError(ErrorCode::E0601, stmt->moduleSpan,
                     fmt::format("cannot find \"{}\" beside {} or in a folder of -I", relative,
                                 module_->file->path())));
    return giveUp();
  }
  Module *module = nullptr;
  for (auto &known : modules_)
    if (known->key == key && !known->internal)
      module = known.get();
  if (module && module->running) {
    size_t first = std::find(imports_.begin(), imports_.end(), module) - imports_.begin();
    std::string chain = fmt::format("{} imports ", module->file->path());
    for (size_t i = first + 1; i < imports_.size(); ++i)
      chain += fmt::format("{}, which imports ", imports_[i]->file->path());
    error(ErrorCode::E0308, stmt->moduleSpan, "{}{}", chain, module->file->path());
    return giveUp();
  }
  if (!module) {
    if (callDepth_ + imports_.size() >= options_.limits.depth) {
      limitError(ErrorCode::E0313, stmt->moduleSpan,
                 fmt::format("imports nested {} deep, the limit is {}", imports_.size(),
                             options_.limits.depth),
                 "depth");
      return giveUp();
    }
    std::optional<std::string> text = readSource(shown, place(stmt->moduleSpan));
    if (!text)
      return giveUp();
    module = loadModule(shown, key, std::move(*text), stmt);
    if (!module->broken)
      runModule(*module);
  }
  if (module->broken)
    return giveUp();
  for (const ImportedName &name : stmt->names) {
    auto at = module->tree->scope->slots.find(name.name);
    Value value;
    if (at != module->tree->scope->slots.end())
      value = module->globals.as<FrameObject>().slots[at->second];
    for (const ImportedName &other : stmt->names) {
      if (&other == &name)
        break;
      if (other.target->slot == name.target->slot)
        error(ErrorCode::E0210, name.target->span, "\"{}\" is already defined at {}",
              name.target->name, module_->file->placeText(other.target->span.begin));
    }
    if (value.is(ValueKind::Unset) && module->failed) {
      value = Value::unknown();
    } else if (value.is(ValueKind::Unset)) {
      std::vector<std::string_view> names(module->tree->scope->names.begin(),
                                          module->tree->scope->names.end());
      value = report(makeError(ErrorCode::E0201, name.nameSpan,
                               fmt::format("\"{}\" has no \"{}\"", stmt->module, name.name),
                               didYouMean(name.name, names)));
    }
    define(name.target, stmt);
    assignName(name.target, std::move(value));
  }
}

} // namespace lstmc::lnet
