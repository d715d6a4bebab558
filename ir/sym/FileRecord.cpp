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

} // namespace lstmc::sym
