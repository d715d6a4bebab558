// Writes a file so that it exists either complete or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// A file that is written in its destination folder and renamed by `commit`. Until then its name is
/// `.NAME.RANDOM.part`; it is created exclusively with mode 0600. The destructor removes it, and so
/// does removeTemporaryFiles() from a signal handler. An existing file is kept (E0608) with
/// Existing::Keep; a symbolic link stays, and what it leads to is replaced. A device or a pipe
/// (/dev/null) is no file to keep or replace: it is written directly, and `commit` only closes it.
class OutputFile {
public:
  enum class Existing { Keep, Replace };

  static Result<OutputFile> create(const std::string &path, Existing existing);

  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::span<const uint8_t> bytes);
  Status write(std::string_view text);

  /// Syncs the file, gives it the mode that the umask allows, and renames it. E0601 if any of that
  /// fails, E0608 if the destination was created meanwhile; in both cases nothing is left on disk.
  Status commit();

private:
  OutputFile() = default;
  Error failed(const char *what, int error) const;

  std::string path_, temporary_; ///< the second is empty for a device or a pipe
  int fd_ = -1;
  int slot_ = -1; ///< index in the table that removeTemporaryFiles walks
  Existing existing_ = Existing::Keep;
};

/// Links are followed. Such a file is not there to be kept, so no --force is needed to write to it.
bool isDeviceOrPipe(const std::string &path);

/// Writes a small file in one call.
Status writeFile(const std::string &path, std::string_view text, OutputFile::Existing existing);

/// Unlinks every output file that is not committed. Async-signal-safe, for a process that is about
/// to be killed by a signal.
void removeTemporaryFiles();

/// 12 letters for the name of a temporary file, from the system's random source.
std::string randomSuffix();

} // namespace lstmc
