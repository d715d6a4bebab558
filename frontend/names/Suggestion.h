// What a message suggests for a name that is unknown here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

/// What a name was written as.
enum class NameKind {
  Function,  ///< an op, a layer or a built-in function
  Attribute, ///< an argument of a call
  Key,       ///< of fit or data
  Metric,
  Type,
  Method, ///< of a tensor, also without a call
  Scope,
  Flag,    ///< of the command, without dashes
  Command, ///< a subcommand
};

/// The help for a name that is not among `known`: what Synonyms.def has for it, the same letters in
/// another case, or a name that is near; empty without any of these.
std::string suggestion(NameKind kind, std::string_view written,
                       const std::vector<std::string_view> &known);

/// As `suggestion`, and where that is empty the list of all that are known, the nearest first;
/// of many, a few.
std::string suggestionOrList(NameKind kind, std::string_view written,
                             const std::vector<std::string_view> &known);

/// "num_hidden, p, layout": the nearest to `written` first, at most `most` of them.
std::string listed(std::string_view written, const std::vector<std::string_view> &known,
                   size_t most = 40);

/// The help for a module of Python (`numpy`, `torch`); empty for other names.
std::string_view moduleHelp(std::string_view module);
/// Whether files in Python call a module so: `np`, `mx`, `F`.
bool isModuleName(std::string_view name);

} // namespace lstmc
