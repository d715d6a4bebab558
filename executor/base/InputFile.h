// Reads files, whole or in parts, into memory that we own.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {

using Bytes = std::vector<uint8_t>;

/// A regular file, read with `pread`. Mapping it would turn a file that shrinks meanwhile into a
/// signal; here that is an error (E0602). A file that grows or is written to after it was opened is
/// refused (E0605).
class InputFile {
public:
  /// E0601 if the path is missing, unreadable or no regular file. The path may contain symlinks,
  /// because a user typed it.
  static Result<InputFile> open(const std::string &path);
  /// The same for a NAME that comes from a file in `folder`. It has to be one path component
  /// without separators, and name a regular file that is no link and has no other name.
  static Result<InputFile> openBeneath(const std::string &folder, const std::string &name);

  uint64_t bytes() const { return bytes_; }
  /// The name that messages have for it; at first that under which it was opened.
  void setName(std::string name) { path_ = std::move(name); }
  /// Fills `to` from byte `begin` on. Safe to call from several threads.
  Status read(uint64_t begin, std::span<uint8_t> to) const;
  /// The whole file. E0601 without memory for it.
  Result<Bytes> readAll() const;

private:
  class Descriptor;
  static Result<InputFile> of(Descriptor descriptor, const std::string &path, bool oneName);

  std::shared_ptr<Descriptor> descriptor_;
  std::string path_;
  uint64_t bytes_ = 0;
  timespec changed_{}; ///< when it was opened
};

/// All of a file, as InputFile::open and readAll have it.
Result<Bytes> readFile(const std::string &path);
/// All of a file, as InputFile::openBeneath and readAll have it.
Result<Bytes> readFileBeneath(const std::string &folder, const std::string &name);

inline std::string_view asText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace lstmc
