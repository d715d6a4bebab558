#include "executor/data/StoredBytes.h"

#include <algorithm>
#include <cstring>

namespace lstmc::data {

/// Bytes that are read or written at once.
constexpr uint64_t kBlock = 1 << 20;

StoredBytes StoredBytes::owned(Bytes bytes) {
  auto owner = std::make_shared<Bytes>(std::move(bytes));
  StoredBytes stored{std::span<const uint8_t>(*owner)};
  stored.owner_ = std::move(owner);
  return stored;
}

Result<StoredBytes> StoredBytes::of(InputFile file, uint64_t held) {
  if (file.bytes() > held)
    return StoredBytes(std::move(file));
  LSTMC_ASSIGN(Bytes bytes, file.readAll());
  return owned(std::move(bytes));
}

StoredBytes StoredBytes::part(uint64_t begin, uint64_t count) const {
  StoredBytes part = *this;
  part.size_ = count;
  if (const Memory *memory = std::get_if<Memory>(&place_))
    part.place_ = memory->subspan(begin, count);
  else
    part.begin_ += begin;
  return part;
}

Status StoredBytes::readTo(uint64_t begin, std::span<uint8_t> to) const {
  if (const auto *file = std::get_if<InputFile>(&place_))
    return file->read(begin_ + begin, to);
  if (const auto *scratch = std::get_if<std::shared_ptr<const ScratchFile>>(&place_))
    return (*scratch)->read(begin_ + begin, to);
  std::ranges::copy(std::get<Memory>(place_).subspan(begin, to.size()), to.begin());
  return {};
}

Result<std::span<const uint8_t>> StoredBytes::read(uint64_t begin, uint64_t count,
                                                   Bytes &buffer) const {
  if (const Memory *memory = std::get_if<Memory>(&place_))
    return memory->subspan(begin, count);
  buffer.resize(count);
  LSTMC_TRY(readTo(begin, buffer));
  return std::span<const uint8_t>(buffer);
}

Status StoredBytes::eachBlock(const std::function<Status(std::span<const uint8_t>)> &take) const {
  Bytes buffer;
  for (uint64_t at = 0; at < size_; at += kBlock) {
    LSTMC_ASSIGN(std::span<const uint8_t> block, read(at, std::min(kBlock, size_ - at), buffer));
    LSTMC_TRY(take(block));
  }
  return {};
}

Result<Bytes> StoredBytes::take() && {
  if (owner_ && owner_.use_count() == 1) {
    Memory memory = std::get<Memory>(place_);
    Bytes bytes = std::move(*owner_);
    auto begin = memory.data() - bytes.data();
    bytes.resize(size_t(begin) + memory.size());
    bytes.erase(bytes.begin(), bytes.begin() + begin);
    return bytes;
  }
  Bytes bytes(size_);
  LSTMC_TRY(readTo(0, bytes));
  return bytes;
}

void StoredBytesWriter::reserve(uint64_t bytes) {
  if (bytes <= held_)
    bytes_.reserve(bytes);
}

Status StoredBytesWriter::append(std::span<const uint8_t> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return bytes_.size() > (file_ ? kBlock : held_) ? flush() : Status();
}

Status StoredBytesWriter::flush() {
  if (!file_) {
    LSTMC_ASSIGN(file_, ScratchFile::create());
  }
  LSTMC_TRY(file_->append(bytes_));
  inFile_ += bytes_.size();
  if (bytes_.capacity() > 4 * kBlock)
    bytes_ = Bytes();
  bytes_.clear();
  return {};
}

Result<StoredBytes> StoredBytesWriter::finish() && {
  if (!file_)
    return StoredBytes::owned(std::move(bytes_));
  LSTMC_TRY(flush());
  return StoredBytes(std::move(*file_), inFile_);
}

} // namespace lstmc::data
