#include "frontend/library/Told.h"

#include <fstream>

#include <fmt/format.h>

#include "executor/c/CallerStruct.h"
#include "frontend/library/OptionNames.h"
#include "frontend/symbol/Render.h"

namespace lstmc::library {

namespace {

struct Told {
  Diagnostic diagnostic;
  std::string code, place, text;
};
struct ThreadTold {
  std::vector<Told> list;
  std::string all;
};
ThreadTold &told() {
  static thread_local ThreadTold kTold;
  return kTold;
}

std::string placeText(const SourceRange &place) {
  if (place.line > 0)
    return fmt::format("{}:{}:{}", place.file, place.line, place.column);
  return place.byte >= 0 && !place.file.empty() ? fmt::format("{}: byte {}", place.file, place.byte)
                                                : place.file;
}

/// Reads the line of the program that a place is at, where its file is there.
void readLine(SourceRange &place) {
  if (!place.text.empty() || place.line <= 0)
    return;
  std::ifstream file(place.file);
  std::string line;
  for (int i = 0; i < place.line && std::getline(file, line); ++i)
    if (i + 1 == place.line)
      place.text = line;
}

void add(Diagnostic diagnostic) {
  Told one;
  one.code = errorRecord(diagnostic.code).name;
  one.place = placeText(diagnostic.place);
  one.text = symbol::render({diagnostic});
  one.diagnostic = std::move(diagnostic);
  told().all += one.text;
  told().list.push_back(std::move(one));
}

} // namespace

SourceRange placeOf(const lstmc_place *place) {
  SourceRange range;
  if (place && place->file) {
    range.file = place->file;
    range.line = int(place->line);
    range.column = int(place->column);
  }
  return range;
}

lstmc_status tell(Diagnostics diagnostics, const lstmc_place *place) noexcept try {
  told() = {};
  lstmc_status status = LSTMC_OK;
  for (Diagnostic &diagnostic : diagnostics) {
    const bool error = diagnostic.severity == Severity::Error;
    if (error && diagnostic.place.file.empty())
      diagnostic.place = placeOf(place);
    readLine(diagnostic.place);
    diagnostic.message = withFieldNames(diagnostic.message);
    diagnostic.help = withFieldNames(diagnostic.help);
    if (error && status == LSTMC_OK)
      status = lstmc_status(int(errorRecord(diagnostic.code).exit));
    add(std::move(diagnostic));
  }
  return status;
} catch (const std::exception &) {
  told() = {};
  return LSTMC_OUT_OF_MEMORY;
}

lstmc_status tellError(ErrorCode code, std::string message, const lstmc_place *place) noexcept {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  return tell({std::move(diagnostic)}, place);
}

} // namespace lstmc::library

using namespace lstmc::library;

extern "C" {

lstmc_status lstmc_compiler_diagnostic(size_t index, lstmc_diagnostic *diagnostic) {
  if (!diagnostic || index >= told().list.size())
    return LSTMC_USAGE;
  const Told &one = told().list[index];
  lstmc_diagnostic found = {};
  if (one.diagnostic.severity == lstmc::Severity::Error)
    found.status = lstmc_status(int(lstmc::errorRecord(one.diagnostic.code).exit));
  found.code = one.code.c_str();
  found.place = one.place.c_str();
  found.message = one.diagnostic.message.c_str();
  found.text = one.text.c_str();
  lstmc::c::give(found, diagnostic);
  return LSTMC_OK;
}

const char *lstmc_compiler_reason(size_t diagnostic, size_t index) {
  if (diagnostic >= told().list.size())
    return nullptr;
  const auto &reasons = told().list[diagnostic].diagnostic.reasons;
  return index < reasons.size() ? reasons[index].text.c_str() : nullptr;
}

const char *lstmc_compiler_message(void) { return told().all.c_str(); }
const char *lstmc_compiler_version(void) { return LSTMC_VERSION; }
}
