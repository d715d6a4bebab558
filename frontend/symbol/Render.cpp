#include "frontend/symbol/Render.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "executor/base/Escape.h"
#include "llvm/Support/Unicode.h"

namespace lstmc::symbol {

namespace {

constexpr int kTab = 8;
constexpr int kWidest = 160; ///< cells of a line that are shown
constexpr size_t kReasons = 5;

size_t bytesOfCharacter(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/// A source line as displayed: the content of each cell. A wide character leaves its second cell
/// empty.
std::vector<std::string> layOut(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t at = 0; at < line.size();) {
    size_t bytes = std::min(bytesOfCharacter(line[at]), line.size() - at);
    std::string_view character = line.substr(at, bytes);
    int width = cellsOf(character, int(cells.size()));
    if (character == "\t")
      cells.insert(cells.end(), size_t(width), " ");
    else if (width == 0 && !cells.empty())
      cells.back() += character;
    else {
      cells.emplace_back(character);
      for (int i = 1; i < width; ++i)
        cells.emplace_back();
    }
    at += bytes;
  }
  return cells;
}

void underline(std::string &marks, const SourceRange &range, char first) {
  size_t begin = size_t(std::max(range.column - 1, 0)), length = size_t(std::max(range.length, 1));
  if (marks.size() < begin + length)
    marks.resize(begin + length, ' ');
  for (size_t i = begin; i < begin + length; ++i)
    if (marks[i] == ' ')
      marks[i] = i == begin ? first : '~';
}

/// Replaces characters that must not reach a terminal by visible text, and widens the marks under
/// them.
void escapeCells(std::vector<std::string> &cells, std::string &marks) {
  std::string wide;
  for (size_t i = 0; i < std::max(cells.size(), marks.size()); ++i) {
    char mark = i < marks.size() ? marks[i] : ' ';
    wide += mark;
    if (i >= cells.size())
      continue;
    std::string shown = escaped(cells[i]);
    if (shown != cells[i])
      wide.append(shown.size() - 1, mark == '^' ? '~' : mark);
    cells[i] = std::move(shown);
  }
  marks = std::move(wide);
}

/// The line and its marks. If the line is too wide, only the part around the caret.
void drawLine(std::string &out, const Diagnostic &diagnostic) {
  std::vector<std::string> cells = layOut(diagnostic.place.text);
  std::string marks;
  underline(marks, diagnostic.place, '^');
  for (const SourceRange &other : diagnostic.also)
    underline(marks, other, '~');
  if (int(cells.size()) <= kWidest)
    escapeCells(cells, marks);
  else
    for (std::string &cell : cells)
      cell = escaped(cell);
  size_t begin = 0, end = cells.size();
  std::string front, back;
  if (int(cells.size()) > kWidest) {
    size_t caret = size_t(std::max(diagnostic.place.column - 1, 0));
    begin = std::min(caret > kWidest / 2 ? caret - kWidest / 2 : 0, cells.size() - kWidest);
    end = begin + kWidest;
    front = begin > 0 ? "…" : "";
    back = end < cells.size() ? "…" : "";
  }
  std::string text = front;
  for (size_t i = begin; i < end; ++i)
    text += cells[i];
  marks = marks.size() > begin
              ? marks.substr(begin, begin > 0 || !back.empty() ? end - begin : std::string::npos)
              : "";
  marks.erase(marks.find_last_not_of(' ') + 1);
  out += fmt::format("{:>3} | {}{}\n    | {}{}\n", diagnostic.place.line, text, back,
                     begin > 0 ? " " : "", marks);
}

std::string_view severityWord(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

/// "E0207", or "W0207" for a warning.
std::string codeText(const Diagnostic &diagnostic) {
  std::string code(errorRecord(diagnostic.code).name);
  if (diagnostic.severity == Severity::Warning)
    code.front() = 'W';
  return code;
}

std::string placeText(const SourceRange &place) {
  if (place.file.empty())
    return "";
  if (place.line > 0)
    return fmt::format("{}:{}:{}: ", place.file, place.line, place.column);
  return place.byte >= 0 ? fmt::format("{}: byte {}: ", place.file, place.byte) : place.file + ": ";
}

void draw(std::string &out, const Diagnostic &diagnostic, bool color) {
  std::string head(severityWord(diagnostic.severity));
  if (diagnostic.severity != Severity::Note) // a note has no code of its own
    head += fmt::format("[{}]", codeText(diagnostic));
  if (color)
    head =
        fmt::format("\x1b[1;{}m{}\x1b[0m", diagnostic.severity == Severity::Error ? 31 : 35, head);
  // Names and lines may come from an untrusted file.
  out += fmt::format("{}{}: {}\n", escaped(placeText(diagnostic.place)), head,
                     escaped(diagnostic.message, true));
  if (diagnostic.place.line > 0 && !diagnostic.place.text.empty())
    drawLine(out, diagnostic);
  for (size_t i = 0; i < std::min(diagnostic.reasons.size(), kReasons); ++i)
    out += fmt::format("    = {}\n", escaped(diagnostic.reasons[i].text, true));
  if (!diagnostic.help.empty())
    out += fmt::format("    help: {}\n", escaped(diagnostic.help, true));
}

} // namespace

int cellsOf(std::string_view character, int column) {
  if (character == "\t")
    return kTab - column % kTab;
  int width =
      llvm::sys::unicode::columnWidthUTF8(llvm::StringRef(character.data(), character.size()));
  return width < 0 ? 1 : width;
}

std::string render(const Diagnostics &diagnostics, bool color) {
  std::string out;
  for (const Diagnostic &diagnostic : diagnostics)
    draw(out, diagnostic, color);
  return out;
}

std::string renderJson(const Diagnostics &diagnostics) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Diagnostic &d : diagnostics) {
    Json reasons = Json::array(), loops = Json::object();
    for (const Reason &reason : d.reasons)
      reasons.push_back({{"text", reason.text},
                         {"file", reason.place.file},
                         {"line", reason.place.line},
                         {"column", reason.place.column}});
    for (const auto &[name, value] : d.place.loops)
      loops[name] = value;
    list.push_back({{"code", codeText(d)},
                    {"severity", severityWord(d.severity)},
                    {"message", d.message},
                    {"file", d.place.file},
                    {"line", d.place.line},
                    {"column", d.place.column},
                    {"byte", d.place.byte},
                    {"length", d.place.length},
                    {"reasons", reasons},
                    {"loops", loops},
                    {"help", d.help}});
  }
  Json document = {{"schema", "lstmc.diagnostics/1"}, {"diagnostics", list}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace lstmc::symbol
