// Lines of source text that locations refer to.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

namespace lstmc::sym {

/// Each line once, by file and number; kept by the dialect, so that locations stay small. One
/// context belongs to one compilation, which fills it from one thread.
class SourceText {
public:
  void add(mlir::StringAttr file, unsigned line, llvm::StringRef text) {
    auto [at, isNew] = lines_.try_emplace({file, line});
    if (isNew)
      at->second = text.str();
  }
  /// Empty if nobody has given the line.
  llvm::StringRef find(mlir::StringAttr file, unsigned line) const {
    auto at = lines_.find({file, line});
    return at == lines_.end() ? llvm::StringRef() : llvm::StringRef(at->second);
  }

private:
  llvm::DenseMap<std::pair<mlir::StringAttr, unsigned>, std::string> lines_;
};

} // namespace lstmc::sym
