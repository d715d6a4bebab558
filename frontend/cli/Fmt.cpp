// fmt: .lnet files in the one style.

#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Model.h"
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

int fmtCommand(const Options &options, Console &console) {
  if (options.operands.empty())
    return console.fail(fail(ErrorCode::E0001, "fmt takes files, or - for standard input"));
  Result<lnet::LoadOptions> load = loadOptions(options, {});
  if (!load.ok())
    return console.fail(load.error());
  int exit = 0;
  for (const std::string &path : options.operands) {
    std::string text;
    if (path == "-") {
      Result<std::string> input = readInput();
      if (!input.ok())
        return console.fail(input.error());
      text = std::move(*input);
    } else {
      Result<Bytes> bytes = readFile(path);
      if (!bytes.ok())
        return console.fail(bytes.error());
      text.assign(bytes->begin(), bytes->end());
    }
    Checked<std::string> formatted =
        lnet::format(path == "-" ? "<stdin>" : path, text, load->limits);
    if (!formatted.ok()) {
      exit = console.fail(formatted.diagnostics());
      continue;
    }
    if (path == "-") {
      console.write(*formatted);
      continue;
    }
    if (*formatted == text)
      continue;
    if (options.has("diff"))
      console.write(difference(path, text, *formatted));
    if (options.has("check")) {
      console.say(fmt::format("{} would change", path));
      exit = std::max(exit, int(ExitCode::AnswerIsNo));
    } else if (!options.has("diff") && !options.has("dry-run")) {
      if (Status status = writeFile(path, *formatted, OutputFile::Existing::Replace); !status.ok())
        return console.fail(status.error());
    }
  }
  return exit;
}

} // namespace lstmc::cli
