// Suggestions for unknown names in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

/// The kind of name that was expected.
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

/// `suggestion`, or if that is empty a list of known names, the nearest first; a few if there are
/// many.
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
