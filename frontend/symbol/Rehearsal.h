// Counting the nodes of a graph that may turn out to be too large, without making them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The results of calls so far, by everything that decides their types and number of nodes. Once
/// the rehearsal has begun, a call like an earlier one gets the symbols of that one, and its nodes
/// are only counted. Their types are right, but names, places and edges are those of the earlier
/// call, so the graph itself is useless.
class Rehearsal {
public:
  bool begun = false;

  /// Op, attributes and types of the inputs. Floats are left out where there are inputs: they
  /// decide no type then.
  static std::string keyOf(const Call &call);
  /// The same for a parameter or a begin state. Its type follows from its uses, so the place of the
  /// call is part of the key.
  static std::string keyOf(std::string_view kind, std::optional<DType> dtype, const Shape &shape,
                           const Initialiser &init, const Origin &origin);

  struct Made {
    std::vector<Symbol> symbols;
    std::vector<std::string> inputs; ///< parameters and labels that the call makes
    int64_t casts = 0;               ///< nodes that convert its inputs or add axes to them
  };
  void remember(std::string key, Made made) { made_.insert_or_assign(std::move(key), made); }
  /// Null if no earlier call was like it.
  const Made *find(const std::string &key) const {
    auto at = made_.find(key);
    return at == made_.end() ? nullptr : &at->second;
  }

  /// Names of parameters and states that were counted, not made.
  llvm::StringMap<mlir::Value> named;

private:
  std::unordered_map<std::string, Made> made_;
};

} // namespace lstmc::symbol
