#include "executor/base/Status.h"

namespace lstmc {

static constexpr ErrorRecord kRecords[] = {
#define LSTMC_ERROR(CODE, EXIT, TITLE, TEXT) {ErrorCode::CODE, #CODE, ExitCode::EXIT, TITLE, TEXT},
#include "executor/base/Errors.def"
};

const ErrorRecord &errorRecord(ErrorCode code) { return kRecords[static_cast<int>(code)]; }

std::optional<ErrorRecord> findError(std::string_view name) {
  for (const ErrorRecord &record : kRecords)
    if (record.name == name)
      return record;
  return std::nullopt;
}

std::vector<std::string_view> errorNames() {
  std::vector<std::string_view> names;
  for (const ErrorRecord &record : kRecords)
    names.push_back(record.name);
  return names;
}

std::string Error::text() const {
  std::string where = place.file;
  if (place.line > 0)
    where += fmt::format(":{}:{}", place.line, place.column);
  else if (place.byte >= 0)
    where += fmt::format(": byte {}", place.byte);
  if (!where.empty())
    where += ": ";
  return fmt::format("{}error[{}]: {}", where, errorRecord(code).name, message);
}

} // namespace lstmc
