// Bytes in memory or in a file, which are read in ranges.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "executor/base/InputFile.h"
#include "executor/base/ScratchFile.h"

namespace lstmc::data {

/// A range of bytes, wherever they are. Copies are cheap and share the bytes.
class StoredBytes {
public:
  /// Memory of somebody else, which has to live longer.
  StoredBytes(std::span<const uint8_t> memory) : place_(memory), size_(memory.size()) {} // implicit
  explicit StoredBytes(InputFile file) : size_(file.bytes()) { place_ = std::move(file); }
  /// The first `size` bytes of `file`.
  StoredBytes(ScratchFile file, uint64_t size)
      : place_(std::make_shared<const ScratchFile>(std::move(file))), size_(size) {}
  static StoredBytes owned(Bytes bytes);
  /// The bytes of `file`, in memory if there are at most `held`.
  static Result<StoredBytes> of(InputFile file, uint64_t held);

  uint64_t size() const { return size_; }
  bool inMemory() const { return std::holds_alternative<Memory>(place_); }
  /// `count` bytes from `begin` on, which have to be there.
  StoredBytes part(uint64_t begin, uint64_t count) const;

  /// Fills `to` from byte `begin` on. Errors are those of InputFile::read and ScratchFile::read.
  /// Safe to call from several threads.
  Status readTo(uint64_t begin, std::span<uint8_t> to) const;
  /// `count` bytes from `begin` on; `buffer` keeps them if they come from a file.
  Result<std::span<const uint8_t>> read(uint64_t begin, uint64_t count, Bytes &buffer) const;
  /// Calls `take` for all bytes, in order, a block at a time. The extents of blocks but the last
  /// are multiples of 16.
  Status eachBlock(const std::function<Status(std::span<const uint8_t>)> &take) const;
  /// All bytes, moved if nobody else shares them.
  Result<Bytes> take() &&;

private:
  using Memory = std::span<const uint8_t>;

  std::variant<Memory, InputFile, std::shared_ptr<const ScratchFile>> place_;
  std::shared_ptr<Bytes> owner_; ///< of memory that nobody else owns
  uint64_t begin_ = 0;           ///< in a file
  uint64_t size_ = 0;
};

/// Makes StoredBytes of pieces.
class StoredBytesWriter {
public:
  /// Keeps up to `held` bytes in memory; more go to a scratch file.
  explicit StoredBytesWriter(uint64_t held) : held_(held) {}
  /// Makes room for so many bytes if they will be in memory.
  void reserve(uint64_t bytes);
  /// Errors are those of ScratchFile.
  Status append(std::span<const uint8_t> bytes);
  Result<StoredBytes> finish() &&;

private:
  Status flush();

  uint64_t held_;
  Bytes bytes_; ///< not yet in the file
  std::optional<ScratchFile> file_;
  uint64_t inFile_ = 0;
};

} // namespace lstmc::data
