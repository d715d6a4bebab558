// What MXNet's files have otherwise than the op records.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace lstmc::sym {

struct FileRecord {
  std::string_view op;   ///< MXNet's canonical name
  std::string_view name; ///< of the op in files, where it is another
  bool missing;          ///< MXNet 1.9.1 has no such op
  int outputs;           ///< of a node, hidden ones included; 0: those that users see
  std::vector<std::string_view> required; ///< attributes that have a default here alone
  std::vector<std::pair<std::string_view, std::string_view>> attributes; ///< ours, and the file's
  /// An alias of the op under which MXNet has another op, and what its output is called there.
  std::vector<std::pair<std::string_view, std::string_view>> aliasOutputs;

  /// "loss" of make_loss; empty for other names.
  std::string_view outputOf(std::string_view alias) const;
};

/// Null for an op that files have as its record says.
const FileRecord *fileRecordOf(std::string_view op);

} // namespace lstmc::sym
