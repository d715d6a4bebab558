// Where a command's words go: results to stdout, everything else to stderr.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

class Console {
public:
  explicit Console(const Options &options);

  /// One line on stderr, unless --quiet. `level` 0 is always said, 1 with -v, 2 with -vv.
  void say(const std::string &line, int level = 0) const;
  /// A result on stdout.
  void print(const std::string &text) const;
  void print(const nlohmann::ordered_json &document) const;

  /// Reports what kept the work from being done, on stderr, or with --json as lstmc.diagnostics/1 on stdout.
  /// Returns the exit code of the first error.
  int fail(const Error &error) const;
  int fail(const Diagnostics &diagnostics) const;
  /// Warnings that came with a success.
  void warn(const Diagnostics &diagnostics) const;

  bool json() const { return json_; }
  bool color() const { return color_; }
  /// Whether one line may be redrawn on stderr.
  bool live() const { return live_; }
  bool quiet() const { return quiet_; }
  int width() const { return width_; }

private:
  bool json_, quiet_, color_, live_;
  int verbosity_, width_;
};

} // namespace lstmc::cli
