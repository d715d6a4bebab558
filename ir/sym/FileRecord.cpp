#include "ir/sym/FileRecord.h"

#include <algorithm>

namespace lstmc::sym {

const FileRecord *fileRecordOf(std::string_view op) {
  static const std::vector<FileRecord> kRecords = {
#include "ir/sym/FileRecords.inc"
  };
  const auto found = std::ranges::find(kRecords, op, &FileRecord::op);
  return found == kRecords.end() ? nullptr : &*found;
}

std::string_view FileRecord::outputOf(std::string_view alias) const {
  for (auto [name, output] : aliasOutputs)
    if (name == alias)
      return output;
  return {};
}

} // namespace lstmc::sym
