// A file without a name, for what does not fit into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "executor/base/Status.h"

namespace lstmc {

/// Bytes that are appended once and then read anywhere. The file is in the folder TMPDIR, else
/// /tmp; nobody else can open it, and it is gone when the process ends, however it ends.
class ScratchFile {
public:
  /// E0601 if the folder takes no file.
  static Result<ScratchFile> create();

  ScratchFile(ScratchFile &&other) noexcept;
  ScratchFile &operator=(ScratchFile &&other) noexcept;
  ~ScratchFile();

  /// Under which this process can open it once more, while this object is there.
  std::string path() const;

  /// E0601, which names the folder, if the disk is full.
  Status append(std::span<const uint8_t> bytes);
  /// Fills `to` from byte `begin` on, which has to be there. Safe to call from several threads.
  Status read(uint64_t begin, std::span<uint8_t> to) const;

private:
  ScratchFile(int fd, std::string folder) : fd_(fd), folder_(std::move(folder)) {}
  Error failed(const char *what) const;

  int fd_ = -1;
  std::string folder_;
};

} // namespace lstmc
