#include "frontend/lnet/evaluation/Interpreter.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Resolve.h"

namespace lstmc::lnet {

Value Interpreter::fromPrelude(std::string_view name) {
  if (std::ranges::find(prelude_.names, name) == prelude_.names.end())
    return Value();
  if (!preludeFile_) {
    preludeFile_ = &files.add(std::string(prelude_.file), "", std::string(prelude_.text));
    preludeFile_->internal = true;
    imports.runFile(*preludeFile_);
  }
  auto at = preludeFile_->tree->scope->slots.find(name);
  if (at == preludeFile_->tree->scope->slots.end())
    return Value();
  return preludeFile_->globals.as<FrameObject>().slots[at->second];
}

} // namespace lstmc::lnet
