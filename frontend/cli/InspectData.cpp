#include "frontend/cli/InspectData.h"

#include <algorithm>
#include <cmath>

#include "executor/base/InputFile.h"
#include "executor/data/ArrayFile.h"
#include "executor/data/Csv.h"
#include "executor/data/Idx.h"
#include "executor/data/Npy.h"
#include "executor/data/TokenText.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Operand.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ArrayRow {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
};

void printArrays(const std::string &path, std::string_view kind, const std::vector<ArrayRow> &rows,
                 Console &console) {
  if (console.json()) {
    Json list = Json::array();
    for (const ArrayRow &row : rows)
      list.push_back({{"name", row.name}, {"dtype", dtypeName(row.dtype)}, {"shape", row.shape}});
    console.print(
        Json{{"schema", "lstmc.inspect/1"}, {"file", path}, {"kind", kind}, {"parameters", list}});
    return;
  }
  console.print(fmt::format("{}: {}, {} arrays", path, kind, rows.size()));
  for (const ArrayRow &row : rows)
    console.print(fmt::format("  {:<40} {}", row.name, package::typeText(row.dtype, row.shape)));
}

struct FileKind {
  std::string_view name;
  bool (*is)(const std::string &path);
  Result<std::vector<ArrayRow>> (*read)(const std::string &path, const lstmc::Limits &limits);
};

std::vector<ArrayRow> rowsOf(const data::ArrayFile &file) {
  std::vector<ArrayRow> rows;
  for (size_t i = 0; i < file.size(); ++i)
    if (std::optional<data::Array> array = file.array(i))
      rows.push_back({file.name(i), array->dtype, std::move(array->shape)});
  return rows;
}

Result<std::vector<ArrayRow>> npyRows(const std::string &path, const lstmc::Limits &limits) {
  LSTMC_ASSIGN(data::Array array, data::loadNpy(path, limits));
  return std::vector<ArrayRow>{{"", array.dtype, array.shape}};
}

Result<std::vector<ArrayRow>> idxRows(const std::string &path, const lstmc::Limits &limits) {
  LSTMC_ASSIGN(data::Array array, data::loadIdx(path, limits));
  return std::vector<ArrayRow>{{"", array.dtype, array.shape}};
}

constexpr FileKind kArrayFiles[] = {
    {"npy", [](const std::string &path) { return path.ends_with(".npy"); }, npyRows},
    {"idx",
     [](const std::string &path) {
       return path.find("-ubyte") != std::string::npos || path.ends_with(".gz") ||
              path.ends_with(".idx");
     },
     idxRows},
};

/// A table's columns: what kind they are, and how many cells are missing.
CommandResult inspectTable(const std::string &path, const lstmc::Limits &limits, Console &console) {
  LSTMC_CHECKED_ASSIGN(data::CsvTable table, data::loadCsv(path, {}, limits));
  Json list = Json::array();
  std::string text =
      fmt::format("{}: csv, {} rows, {} columns", path, table.rows, table.columns.size());
  for (const data::CsvColumn &column : table.columns) {
    std::string kind =
        column.text ? fmt::format("text, {} different", column.symbols.size()) : "number";
    text += fmt::format("\n  {:<40} {}{}", column.name, kind,
                        column.missing ? fmt::format(", {} missing", column.missing) : "");
    list.push_back({{"name", column.name},
                    {"kind", column.text ? "text" : "number"},
                    {"symbols", column.symbols.size()},
                    {"missing", column.missing}});
  }
  if (console.json())
    console.print(Json{{"schema", "lstmc.inspect/1"},
                       {"file", path},
                       {"kind", "csv"},
                       {"rows", table.rows},
                       {"columns", list}});
  else
    console.print(text);
  return ExitCode::Ok;
}

/// What a `text:` source makes of a file, by each unit.
CommandResult inspectText(const std::string &path, const lstmc::Limits &limits, Console &console) {
  LSTMC_CHECKED_ASSIGN(Bytes bytes, readFile(path));
  Json units = Json::array();
  std::string text = fmt::format("{}: text, {} bytes", path, bytes.size());
  for (std::string_view name : {"char", "word", "byte"}) {
    int64_t tokens = 0;
    data::TextUnit unit = *data::parseTextUnit(name);
    LSTMC_CHECKED_TRY(
        data::eachToken(asText(bytes), unit, path, limits, [&](std::string_view, int, int) {
          ++tokens;
          return Status();
        }));
    LSTMC_CHECKED_ASSIGN(data::Vocabulary vocabulary,
                         data::makeVocabulary(asText(bytes), unit, path, limits));
    text += fmt::format("\n  unit={:<5} {:>10} symbols, {:>7} different", name, tokens,
                        vocabulary.size());
    units.push_back({{"unit", name}, {"symbols", tokens}, {"vocab", vocabulary.size()}});
  }
  if (console.json())
    console.print(Json{{"schema", "lstmc.inspect/1"},
                       {"file", path},
                       {"kind", "text"},
                       {"bytes", bytes.size()},
                       {"units", units}});
  else
    console.print(text);
  return ExitCode::Ok;
}

} // namespace

CommandResult inspectData(const std::string &path, const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(lstmc::Limits limits, fileLimits(options));
  if (data::ArrayFile::isFormat(path)) {
    LSTMC_CHECKED_ASSIGN(data::ArrayFile::Pointer file, data::ArrayFile::load(path, limits));
    printArrays(path, file->format(), rowsOf(*file), console);
    return ExitCode::Ok;
  }
  for (const FileKind &kind : kArrayFiles)
    if (kind.is(path)) {
      LSTMC_CHECKED_ASSIGN(std::vector<ArrayRow> rows, kind.read(path, limits));
      printArrays(path, kind.name, rows, console);
      return ExitCode::Ok;
    }
  return path.ends_with(".csv") ? inspectTable(path, limits, console)
                                : inspectText(path, limits, console);
}

} // namespace lstmc::cli
