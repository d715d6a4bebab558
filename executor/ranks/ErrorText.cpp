#include "executor/ranks/ErrorText.h"

#include <algorithm>
#include <array>

#include "executor/base/ParseNumber.h"

namespace lstmc::ranks {

std::string packError(const Error &error) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", errorRecord(error.code).name, error.place.line,
                     error.place.column, error.place.file, error.message);
}

Error unpackError(std::string_view bytes) {
  std::array<std::string_view, 4> fields;
  for (std::string_view &field : fields) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos)
      return fail(ErrorCode::E0801, "another rank sent an error that cannot be read");
    field = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
  }
  auto number = [](std::string_view text) { return parseNumber<int>(text).value_or(0); };
  std::optional<ErrorRecord> record = findError(fields[0]);
  return {record ? record->code : ErrorCode::E0801, std::string(bytes),
          Place{std::string(fields[3]), number(fields[1]), number(fields[2])}};
}

} // namespace lstmc::ranks
