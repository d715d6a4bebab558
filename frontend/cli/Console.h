// Where a command's words go: results to stdout, everything else to stderr.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Options.h"
#include "frontend/driver/Notices.h"

namespace lstmc::cli {

class Console : public driver::Notices {
public:
  explicit Console(const Options &options);

  /// Opens --log, where one is asked for; E0601, E0608.
  Status openLog(const Options &options);

  /// One line on stderr, unless --quiet. `level` 0 is always said, 1 with -v, 2 with -vv. The log
  /// has all of them.
  void say(const std::string &line, int level = 0) const override;
  /// A line for the log alone.
  void note(const std::string &line) const { log("info", {{"text", line}}); }
  /// A result on stdout: as it is, or as a line.
  void write(std::string_view text) const;
  void print(const std::string &text) const;
  void print(const nlohmann::ordered_json &document) const;

  /// Reports what kept the work from being done, on stderr, or with --json as lstmc.diagnostics/1
  /// on stdout. Last comes the command that explains the first error, unless that is one of usage.
  /// Returns the exit code of the first error. Main.cpp calls it, and `fmt`, which goes on to the
  /// next file.
  ExitCode report(const Diagnostics &errors) const;
  /// The exit code of a command: reports what it failed with, and on stderr when it was done and
  /// its results did not reach stdout.
  int finish(const CommandResult &result) const;
  /// Warnings that came with a success.
  void warn(const Diagnostics &diagnostics) const override;

  bool json() const { return json_; }
  bool color() const { return color_; }
  /// Whether one line may be redrawn on stderr.
  bool live() const { return live_; }
  bool quiet() const { return quiet_; }
  int width() const { return width_; }

private:
  void log(std::string_view level, const nlohmann::ordered_json &fields) const;
  void log(const Diagnostics &diagnostics) const;

  bool muted_; ///< a rank that is not the first says nothing
  bool json_, quiet_, color_, live_;
  int verbosity_, width_;
  std::vector<std::shared_ptr<std::FILE>> logs_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace lstmc::cli
