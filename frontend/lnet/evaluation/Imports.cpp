#include "frontend/lnet/evaluation/Imports.h"

#include <algorithm>

#include "executor/base/Suggest.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Resolve.h"

namespace lstmc::lnet {

Imports::Imports(Interpreter &interpreter) : interpreter_(interpreter), run_(interpreter.run) {}

void Imports::run(const ImportStmt *stmt) {
  Module *module = imported(stmt);
  for (const ImportedName &name : stmt->names)
    if (module)
      handOver(stmt, name, *module);
    else
      interpreter_.names.set(name.target, Value::unknown());
}

Module *Imports::imported(const ImportStmt *stmt) {
  std::optional<Files::Found> found = interpreter_.files.find(stmt);
  if (!found)
    return nullptr;
  Module *module = interpreter_.files.known(found->key);
  if (module && module->running) {
    refuseCycle(stmt, *module);
    return nullptr;
  }
  if (!module) {
    if (run_.at.callDepth + running_.size() >= run_.limits().depth) {
      run_.limitError(ErrorCode::E0313, stmt->moduleSpan,
                      fmt::format("imports nested {} deep, the limit is {}", running_.size(),
                                  run_.limits().depth),
                      "depth");
      return nullptr;
    }
    std::optional<std::string> text =
        interpreter_.files.read(found->shown, run_.place(stmt->moduleSpan));
    if (!text)
      return nullptr;
    module = &interpreter_.files.add(found->shown, found->key, std::move(*text));
    if (!module->broken)
      runFile(*module);
  }
  return module->broken ? nullptr : module;
}

void Imports::refuseCycle(const ImportStmt *stmt, const Module &module) {
  size_t first = std::ranges::find(running_, &module) - running_.begin();
  std::string chain = fmt::format("{} imports ", module.file->path());
  for (size_t i = first + 1; i < running_.size(); ++i)
    chain += fmt::format("{}, which imports ", running_[i]->file->path());
  run_.error(ErrorCode::E0308, stmt->moduleSpan, "{}{}", chain, module.file->path());
}

void Imports::runFile(Module &module) {
  Position &at = run_.at;
  Module *outerModule = std::exchange(at.module, &module);
  FrameObject *outerFrame = std::exchange(at.frame, &module.globals.as<FrameObject>());
  const Owner *outerOwner = std::exchange(at.owner, &module.owner);
  symbol::Graph *outerGraph = std::exchange(run_.graph, nullptr);
  running_.push_back(&module);
  module.running = true;
  uint64_t before = run_.problems().errors();

  interpreter_.statements.run(module.tree->statements);

  module.failed = run_.problems().errors() > before;
  module.running = false;
  module.done = true;
  running_.pop_back();
  run_.graph = outerGraph;
  at.owner = outerOwner;
  at.frame = outerFrame;
  at.module = outerModule;
}

void Imports::handOver(const ImportStmt *stmt, const ImportedName &name, Module &module) {
  const Scope &scope = *module.tree->scope;
  auto at = scope.slots.find(name.name);
  Value value;
  if (at != scope.slots.end())
    value = module.globals.as<FrameObject>().slots[at->second];
  checkTwice(stmt, name);
  if (value.is(ValueKind::Unset) && module.failed)
    value = Value::unknown();
  else if (value.is(ValueKind::Unset))
    value = run_.report(run_.makeError(ErrorCode::E0201, name.nameSpan,
                                       fmt::format("\"{}\" has no \"{}\"", stmt->module, name.name),
                                       didYouMean(name.name, scope.names)));
  interpreter_.names.define(name.target, stmt);
  interpreter_.names.set(name.target, std::move(value));
}

/// E0210 for a name that the same import has before.
void Imports::checkTwice(const ImportStmt *stmt, const ImportedName &name) {
  for (const ImportedName &other : stmt->names) {
    if (&other == &name)
      return;
    if (other.target->slot == name.target->slot)
      run_.error(ErrorCode::E0210, name.target->span, "\"{}\" is already defined at {}",
                 name.target->name, run_.at.module->file->placeText(other.target->span.begin));
  }
}

} // namespace lstmc::lnet
