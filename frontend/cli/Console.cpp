#include "frontend/cli/Console.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "executor/base/Escape.h"
#include "executor/base/StandardStreams.h"
#include "frontend/cli/LostOutput.h"
#include "frontend/driver/Ranks.h"
#include "frontend/symbol/Render.h"

namespace lstmc::cli {

static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

static bool decide(When when, bool automatic) {
  return when == When::Always || (when == When::Auto && automatic);
}

Console::Console(const Options &options)
    : muted_(jobRank() != 0), json_(options.wantsJson() || *options.format == Form::JsonLines),
      quiet_(options.quiet), verbosity_(options.verbose), width_(80) {
  bool terminal = isatty(STDERR_FILENO);
  const char *term = std::getenv("TERM");
  bool dumb = term && std::string_view(term) == "dumb";
  bool coloured = !isSet("NO_COLOR") && (isSet("CLICOLOR_FORCE") || (terminal && !dumb));
  color_ = decide(*options.color, coloured);
  live_ = decide(*options.progress, terminal && !dumb && !json_) && !quiet_ && !muted_;
  winsize size{};
  if (const char *columns = std::getenv("COLUMNS"))
    width_ = std::max(20, std::atoi(columns));
  else if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width_ = size.ws_col;
}

// Written as it happens and not renamed at the end, unlike results: a log is wanted most when the
// end was a bad one.
Status Console::openLog(const Options &options) {
  auto open = [this](const std::string &path, int how) -> Status {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (file < 0 && errno == EEXIST)
      return failAt({path}, ErrorCode::E0608, "it exists; --force overwrites it");
    if (file < 0)
      return failAt({path}, ErrorCode::E0601, "cannot write this log: {}", std::strerror(errno));
    logs_.emplace_back(::fdopen(file, "w"), std::fclose);
    return {};
  };
  if (options.log && !muted_)
    LSTMC_TRY(open(*options.log, options.force || isDeviceOrPipe(*options.log) ? O_TRUNC : O_EXCL));
  // Every rank has one of its own, which goes on when the job is started again.
  if (const char *folder = std::getenv("LSTMC_LOG_DIR"); folder && isSet("LSTMC_CONTROL")) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    LSTMC_TRY(open(fmt::format("{}/rank-{}.log", folder, jobRank()), O_APPEND));
  }
  return {};
}

static std::string nameOf(std::FILE *file) {
  const int error = errno; // is the caller's
  std::error_code unknown;
  const auto path =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", ::fileno(file)), unknown);
  errno = error;
  return unknown ? "--log" : path.string();
}

void Console::log(std::string_view level, const nlohmann::ordered_json &fields) const {
  if (logs_.empty())
    return;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  nlohmann::ordered_json line = {{"time_s", seconds}, {"level", level}};
  line.update(fields);
  std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  // The work is worth more than its log, and goes on.
  for (const auto &file : logs_)
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0)
      reportLost(failAt({nameOf(file.get())}, ErrorCode::E0601, "cannot write this log: {}",
                        std::strerror(errno)));
}

void Console::log(const Diagnostics &diagnostics) const {
  for (const Diagnostic &d : diagnostics)
    log(d.severity == Severity::Error ? "error" : "warning", {{"code", errorRecord(d.code).name},
                                                              {"text", d.message},
                                                              {"file", d.place.file},
                                                              {"line", d.place.line},
                                                              {"column", d.place.column}});
}

void Console::say(const std::string &line, int level) const {
  note(line);
  if (!muted_ && !quiet_ && verbosity_ >= level)
    writeMessage(escaped(line, true) + "\n");
}

void Console::write(std::string_view text) const {
  if (!muted_)
    writeOutput(text);
}

void Console::print(const std::string &text) const { write(escaped(text, true) + "\n"); }

void Console::print(const nlohmann::ordered_json &document) const {
  // Bytes that are no UTF-8 cannot come from a checked source, but a file's name may hold them.
  print(document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int Console::finish(const CommandResult &result) const {
  ExitCode exit = result.ok() ? result.exit() : report(result.diagnostics());
  bool done = exit == ExitCode::Ok || exit == ExitCode::AnswerIsNo;
  Status status = outputStatus();
  // A training's report has had to say what this makes of its exit code.
  done |= exit == ExitCode::File && result.ok() && !lostStatus().ok();
  if (status.ok())
    status = lostStatus();
  if (!done || status.ok())
    return int(exit);
  Diagnostics diagnostics{asDiagnostic(status.error())};
  log(diagnostics);
  writeMessage(symbol::render(diagnostics, color_)); // also with --json: stdout is what failed
  return int(ExitCode::File);
}

ExitCode Console::report(const Diagnostics &errors) const {
  log(errors);
  auto first = std::find_if(errors.begin(), errors.end(),
                            [](const Diagnostic &d) { return d.severity == Severity::Error; });
  const ErrorRecord &record = errorRecord(first == errors.end() ? ErrorCode::E0099 : first->code);
  if (json_)
    print(symbol::renderJson(errors));
  else if (!muted_)
    writeMessage(
        symbol::render(errors, color_) +
        (record.exit == ExitCode::Usage ? "" : fmt::format("lstmc explain {}\n", record.name)));
  return record.exit;
}

void Console::warn(const Diagnostics &diagnostics) const {
  log(diagnostics);
  if (!diagnostics.empty() && !quiet_ && !muted_)
    writeMessage(symbol::render(diagnostics, color_));
}

} // namespace lstmc::cli
