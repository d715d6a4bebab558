// fmt: .lnet files in the one style.

#include <algorithm>

#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Operand.h"
#include "frontend/lnet/format/Format.h"

namespace lstmc::cli {

static std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// What would change, as a unified diff of the lines between the first and the last that differ.
static std::string difference(const std::string &path, std::string_view before,
                              std::string_view after) {
  std::vector<std::string_view> a = splitLines(before), b = splitLines(after);
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  while (tail + head < a.size() && tail + head < b.size() &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::string text = fmt::format("--- {}\n+++ {}\n@@ -{},{} +{},{} @@\n", path, path, head + 1,
                                 a.size() - tail - head, head + 1, b.size() - tail - head);
  auto add = [&](char sign, const std::vector<std::string_view> &lines) {
    for (size_t i = head; i + tail < lines.size(); ++i)
      text += fmt::format("{}{}{}", sign, lines[i], lines[i].ends_with('\n') ? "" : "\n");
  };
  add('-', a);
  add('+', b);
  return text;
}

static Result<std::string> textOf(const std::string &path) {
  if (path == "-")
    return readInput();
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return std::string(bytes.begin(), bytes.end());
}

/// What becomes of a file that is not in the one style. AnswerIsNo where it was only asked whether
/// it is.
static Result<ExitCode> change(const std::string &path, std::string_view text,
                               const std::string &formatted, const Options &options,
                               Console &console) {
  if (options.diff)
    console.write(difference(path, text, formatted));
  if (options.check) {
    console.say(fmt::format("{} would change", path));
    return ExitCode::AnswerIsNo;
  }
  if (!options.diff && !options.dryRun)
    LSTMC_TRY(writeFile(path, formatted, OutputFile::Existing::Replace));
  return ExitCode::Ok;
}

/// A file that is no program is reported, and the others are formatted still.
CommandResult fmtCommand(const Options &options, Console &console) {
  if (options.operands.empty())
    return fail(ErrorCode::E0001, "fmt takes files, or - for standard input");
  LSTMC_CHECKED_TRY(fileLimits(options)); // refuses a name that there is not
  LSTMC_CHECKED_ASSIGN(lnet::Limits limits, sourceLimits(options));
  ExitCode exit = ExitCode::Ok;
  for (const std::string &path : options.operands) {
    LSTMC_CHECKED_ASSIGN(std::string text, textOf(path));
    Checked<std::string> formatted = lnet::format(path == "-" ? "<stdin>" : path, text, limits);
    if (!formatted.ok()) {
      exit = console.report(formatted.diagnostics());
    } else if (path == "-") {
      console.write(*formatted);
    } else if (*formatted != text) {
      LSTMC_CHECKED_ASSIGN(ExitCode changed, change(path, text, *formatted, options, console));
      exit = std::max(exit, changed);
    }
  }
  return exit;
}

} // namespace lstmc::cli
