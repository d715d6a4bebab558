// Finds the scope of every name in a file by Python's rule: a name belongs to the function that
// assigns it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// The names that a file, function, lambda or comprehension assigns; a name's slot is its place in
/// the list.
struct Scope {
  enum class Kind { File, Function, Lambda, Comprehension } kind = Kind::File;
  Scope *parent = nullptr;
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, uint32_t> slots;

  uint32_t slot(std::string_view name) {
    auto [at, fresh] = slots.try_emplace(name, uint32_t(names.size()));
    if (fresh)
      names.push_back(name);
    return at->second;
  }
};

/// Numbers the names of every scope of the tree and sets `binding`, `hops` and `slot` of every
/// NameExpr.
void resolve(Tree &tree);

/// The names that a block assigns in its own scope, and the lists that it calls `append` or
/// `extend` of.
void assignedNames(Block block, std::vector<const NameExpr *> &names);

/// Whether the block has a `return`, nested functions left out.
bool returns(Block block);

} // namespace lstmc::lnet
