#include "executor/base/Status.h"

#include <iterator>

namespace lstmc {

static constexpr ExitCode kExits[] = {
#define LSTMC_ERROR(CODE, EXIT) ExitCode::EXIT,
#include "executor/base/Errors.def"
};

static constexpr ErrorRecord kRecords[] = {
#define LSTMC_ERROR_TEXT(CODE, TITLE, TEXT)                                                        \
  {ErrorCode::CODE, #CODE, kExits[static_cast<int>(ErrorCode::CODE)], TITLE, TEXT},
#include "executor/base/ErrorTexts.def"
};

// errorRecord() finds a record by its index: ErrorTexts.def has the codes of Errors.def in order.
static_assert(std::size(kRecords) == std::size(kExits));
static_assert([] {
  for (std::size_t index = 0; index < std::size(kRecords); ++index)
    if (static_cast<std::size_t>(kRecords[index].code) != index)
      return false;
  return true;
}());

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
