// Lines of source text that locations refer to.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

namespace lstmc::sym {

/// Keeps each line once, by file and number, so that locations stay small. The dialect owns the
/// text. One context belongs to one compilation, which fills it from one thread.
class SourceText {
public:
  void add(mlir::StringAttr file, unsigned line, llvm::StringRef text) {
    auto [at, isNew] = lines_.try_emplace({file, line});
    if (isNew)
      at->second = text.str();
  }
  /// Empty if the line is not known.
  llvm::StringRef find(mlir::StringAttr file, unsigned line) const {
    auto at = lines_.find({file, line});
    return at == lines_.end() ? llvm::StringRef() : llvm::StringRef(at->second);
  }

private:
  llvm::DenseMap<std::pair<mlir::StringAttr, unsigned>, std::string> lines_;
};

} // namespace lstmc::sym
