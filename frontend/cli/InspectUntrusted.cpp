// inspect --untrusted: files are read in a process that can do nothing else.

#include <algorithm>
#include <filesystem>

#include "executor/base/Confined.h"
#include "executor/base/Escape.h"
#include "executor/base/StandardStreams.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Operand.h"

namespace lstmc::cli {

namespace {

/// The files themselves, with all in a checkpoint's folder; of sources their folders, for what they
/// import. Memory is at most 64 MiB and 4 times the files, and for sources what 10^6 nodes take.
Confinement confinementFor(const Options &options) {
  Confinement confinement;
  confinement.memoryBytes = 64 << 20;
  for (const std::string &path : options.operands) {
    std::error_code error;
    confinement.readable.push_back(path);
    const uint64_t bytes = std::filesystem::file_size(path, error);
    confinement.memoryBytes += error ? uint64_t(1) << 30 : 4 * bytes;
    if (isSource(path)) {
      confinement.memoryBytes += uint64_t(4) << 30;
      const auto folder = std::filesystem::path(path).parent_path();
      confinement.readable.push_back(folder.empty() ? "." : folder.string());
    }
  }
  confinement.readable.insert(confinement.readable.end(), options.include.begin(),
                              options.include.end());
  return confinement;
}

/// In the child: what the command says without the flag, uncoloured.
int readThem(Options options) {
  options.untrusted = false;
  options.color = When::Never;
  options.progress = When::Never;
  options.log.reset();
  Console console(options);
  return console.finish(inspectCommand(options, console));
}

/// A document is read and written again; E0604 if it is none of ours.
Status printDocument(const std::string &text, Console &console) {
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool ours =
      document.is_object() && document.contains("schema") &&
      (document["schema"] == "lstmc.inspect/1" || document["schema"] == "lstmc.diagnostics/1");
  if (!ours)
    return fail(ErrorCode::E0604, "what a confined reader said: found no document of inspect");
  console.print(document);
  return {};
}

} // namespace

CommandResult inspectUntrusted(const Options &options, Console &console) {
  if (std::ranges::find(options.operands, "-") != options.operands.end())
    return fail(ErrorCode::E0001, "--untrusted reads files, and - is none");
  Result<ConfinedResult> result =
      runConfined(confinementFor(options), [&] { return readThem(options); });
  if (!result.ok())
    return failAt({options.operands[0]}, result.error().code, "{}", result.error().message);
  writeMessage(escaped(result->messages, true));
  if (console.json() && !result->output.empty())
    LSTMC_CHECKED_TRY(printDocument(result->output, console));
  else
    console.write(escaped(result->output, true));
  const ExitCode exit{result->exit};
  const bool ours =
      exit == ExitCode::Ok || std::ranges::any_of(errorNames(), [&](std::string_view name) {
        return findError(name)->exit == exit;
      });
  if (!ours)
    return failAt({options.operands[0]}, ErrorCode::E0606,
                  "reading: ended with exit code {}, which is none of ours", result->exit);
  return exit;
}

} // namespace lstmc::cli
