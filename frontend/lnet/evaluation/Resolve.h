// Which scope each name of a file belongs to, as Python decides it: by where it is assigned.
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

/// Gives every scope of the tree its slots and every name its place.
void resolve(Tree &tree);

/// The names that a block assigns in its own scope, and the lists that it calls `append` or
/// `extend` of.
void assignedNames(Block block, std::vector<const NameExpr *> &names);

/// Whether a `return` of its own function stands in the block.
bool returns(Block block);

} // namespace lstmc::lnet
