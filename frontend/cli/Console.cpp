#include "frontend/cli/Console.h"

#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "frontend/symbol/Render.h"

namespace lstmc::cli {

static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

static bool decide(std::optional<std::string> when, bool automatic) {
  return when == "always" || (when != "never" && automatic);
}

Console::Console(const Options &options)
    : json_(options.json() || options.value("format") == "jsonl"), quiet_(options.has("quiet")),
      verbosity_(options.count("verbose")), width_(80) {
  bool terminal = isatty(STDERR_FILENO);
  const char *term = std::getenv("TERM");
  bool dumb = term && std::string_view(term) == "dumb";
  bool coloured = isSet("CLICOLOR_FORCE") || (terminal && !dumb && !isSet("NO_COLOR"));
  color_ = decide(options.value("color"), coloured);
  live_ = decide(options.value("progress"), terminal && !dumb && !json_) && !quiet_;
  winsize size{};
  if (const char *columns = std::getenv("COLUMNS"))
    width_ = std::max(20, std::atoi(columns));
  else if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width_ = size.ws_col;
}

void Console::say(const std::string &line, int level) const {
  if (!quiet_ && verbosity_ >= level)
    fmt::print(stderr, "{}\n", line);
}

void Console::print(const std::string &text) const {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Console::print(const nlohmann::ordered_json &document) const {
  // Bytes that are no UTF-8 cannot come from a checked source, but a file's name may hold them.
  print(document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int Console::fail(const Error &error) const {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.place.file = error.place.file;
  diagnostic.place.line = error.place.line;
  diagnostic.place.column = error.place.column;
  diagnostic.place.byte = error.place.byte;
  if (json_)
    fmt::print("{}\n", symbol::renderJson({diagnostic}));
  else
    fmt::print(stderr, "{}\n", error.text());
  return int(errorRecord(error.code).exit);
}

int Console::fail(const Diagnostics &diagnostics) const {
  int exit = int(ExitCode::Internal);
  for (const Diagnostic &diagnostic : diagnostics)
    if (diagnostic.severity == Severity::Error) {
      exit = int(errorRecord(diagnostic.code).exit);
      break;
    }
  if (json_)
    fmt::print("{}\n", symbol::renderJson(diagnostics));
  else
    fmt::print(stderr, "{}", symbol::render(diagnostics, color_));
  return exit;
}

void Console::warn(const Diagnostics &diagnostics) const {
  if (!diagnostics.empty() && !quiet_)
    fmt::print(stderr, "{}", symbol::render(diagnostics, color_));
}

} // namespace lstmc::cli
