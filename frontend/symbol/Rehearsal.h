// Counting the nodes of a graph that may turn out to be too large, without making them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// What calls have given so far, by what decides it. Once the rehearsal has begun, a call like one
/// before it gives the same symbols again, and its nodes are counted only. Types are those that the
/// call itself would give; names, places and values that flow are not, so the graph is of no use.
class Rehearsal {
public:
  bool begun = false;

  /// Op, attributes and types of the inputs. A number that is no integer decides no type where
  /// there are inputs.
  static std::string keyOf(const Call &call);
  /// The same for a parameter or a begin state, which take their types from where they are used:
  /// so the place counts too.
  static std::string keyOf(std::string_view kind, std::optional<DType> dtype, const Shape &shape,
                           const Initialiser &init, const Origin &origin);

  struct Made {
    std::vector<Symbol> symbols;
    std::vector<std::string> inputs; ///< parameters and labels that the call makes
  };
  void remember(std::string key, Made made) { made_.insert_or_assign(std::move(key), made); }
  /// Null where no call was like it.
  const Made *find(const std::string &key) const {
    auto at = made_.find(key);
    return at == made_.end() ? nullptr : &at->second;
  }

  /// What has a name and was not made.
  llvm::StringMap<mlir::Value> named;

private:
  std::unordered_map<std::string, Made> made_;
};

} // namespace lstmc::symbol
