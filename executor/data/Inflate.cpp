#include "executor/data/Inflate.h"

#include <algorithm>

#include <zlib.h>

#include "executor/base/SafeSize.h"

namespace lstmc::data {
namespace {

/// Unpacks `packed` block by block. Owns zlib's state and frees it on every return path.
class Unpacker {
public:
  Unpacker(const StoredBytes &packed, int windowBits) : packed_(packed), unpacked_(kBlock) {
    ready_ = ::inflateInit2(&z, windowBits) == Z_OK;
  }
  ~Unpacker() {
    if (ready_)
      ::inflateEnd(&z);
  }
  Unpacker(const Unpacker &) = delete;
  Unpacker &operator=(const Unpacker &) = delete;
  bool ready() const { return ready_; }

  uint64_t read() const { return given_ - z.avail_in; }
  uint64_t written() const { return written_; }

  /// Unpacks until `written()` is `most`, the packed bytes are used up or the stream ends. Returns
  /// zlib's last result.
  Result<int> pump(uint64_t most, const TakeBlock &take) {
    int answer = Z_OK;
    do {
      if (z.avail_in == 0 && given_ < packed_.size()) {
        uint64_t more = std::min(kBlock, packed_.size() - given_);
        LSTMC_ASSIGN(std::span<const uint8_t> block, packed_.read(given_, more, buffer_));
        z.next_in = const_cast<uint8_t *>(block.data());
        z.avail_in = uInt(more);
        given_ += more;
      }
      z.next_out = unpacked_.data();
      z.avail_out = uInt(std::min(kBlock, most - written_));
      answer = ::inflate(&z, Z_NO_FLUSH);
      auto count = size_t(z.next_out - unpacked_.data());
      written_ += count;
      LSTMC_TRY(take(std::span<const uint8_t>(unpacked_).first(count)));
    } while (answer == Z_OK && written_ < most && (read() < packed_.size() || z.avail_out == 0));
    return answer;
  }

  z_stream z{};

private:
  static constexpr uint64_t kBlock = 256 << 10;

  const StoredBytes &packed_;
  Bytes buffer_, unpacked_;
  uint64_t given_ = 0, written_ = 0; ///< bytes that zlib was given, and that it has unpacked
  bool ready_ = false;
};

constexpr int kRaw = -MAX_WBITS;
constexpr int kGzip = MAX_WBITS + 16;

Place shifted(Place place, uint64_t bytes) {
  place.byte += int64_t(bytes);
  return place;
}

Error noMemory(const Place &place) {
  return failAt(place, ErrorCode::E0601, "packed data: no memory to unpack them");
}

} // namespace

Status inflateRaw(const StoredBytes &packed, uint64_t bytes, const Place &place,
                  const Limits &limits, const TakeBlock &take) {
  if (!(SafeSize(packed.size()) * limits.ratio).within(UINT64_MAX) ||
      bytes > packed.size() * limits.ratio)
    return failAt(
        place, ErrorCode::E0606,
        "packed data: found {} bytes from {}, want at most {} times as many (limit ratio)", bytes,
        packed.size(), limits.ratio);
  Unpacker stream(packed, kRaw);
  if (!stream.ready())
    return noMemory(place);
  // One byte more than declared, to detect a stream that is longer.
  LSTMC_ASSIGN(int answer, stream.pump(bytes + 1, take));
  const uint64_t read = stream.read(), written = stream.written();
  if (written > bytes)
    return failAt(place, ErrorCode::E0605, "packed data: found more than {} bytes, want {}", bytes,
                  bytes);
  if (answer == Z_DATA_ERROR || answer == Z_NEED_DICT)
    return failAt(shifted(place, read), ErrorCode::E0603, "packed data: found no deflate stream");
  if (answer == Z_MEM_ERROR)
    return noMemory(place);
  if (answer != Z_STREAM_END)
    return failAt(shifted(place, read), ErrorCode::E0602,
                  "packed data: found the end after {} bytes unpacked, want {}", written, bytes);
  if (written != bytes || read != packed.size())
    return failAt(shifted(place, read), ErrorCode::E0605,
                  "packed data: found {} bytes unpacked of {} packed, want {} of {}", written, read,
                  bytes, packed.size());
  return {};
}

Status gunzip(const StoredBytes &packed, const std::string &file, const Limits &limits,
              const TakeBlock &take) {
  Unpacker stream(packed, kGzip);
  if (!stream.ready())
    return noMemory({file, 0, 0, 0});
  for (uint64_t most = 64 << 10;;) { // the ratio is compared when this is reached
    uint64_t readBefore = stream.read(), writtenBefore = stream.written();
    LSTMC_ASSIGN(int answer, stream.pump(most, take));
    const uint64_t read = stream.read(), written = stream.written();
    Place place{file, 0, 0, int64_t(read)};
    if (written / std::max<uint64_t>(read, 1) > limits.ratio)
      return failAt(place, ErrorCode::E0606,
                    "gzip: found {} bytes from {}, want at most {} times as many (limit ratio)",
                    written, read, limits.ratio);
    if (answer == Z_STREAM_END) {
      if (read == packed.size())
        return {};
      LSTMC_ASSIGN(bool another, isGzip(packed, read));
      if (!another)
        return failAt(place, ErrorCode::E0605, "gzip: found {} bytes after the end, want none",
                      packed.size() - read);
      ::inflateReset(&stream.z);
    } else if (answer == Z_DATA_ERROR || answer == Z_NEED_DICT) {
      return failAt(place, ErrorCode::E0603, "gzip: found {}, want a valid stream",
                    stream.z.msg ? stream.z.msg : "a dictionary");
    } else if (answer == Z_MEM_ERROR) {
      return noMemory(place);
    } else if (read == packed.size() && written < most) {
      return failAt(place, ErrorCode::E0602, "gzip: found the end of the file inside a stream");
    } else if (read == readBefore && written == writtenBefore) {
      return failAt(place, ErrorCode::E0603, "gzip: found a stream that stands still");
    }
    if (written == most)
      most *= 2;
  }
}

Result<bool> isGzip(const StoredBytes &bytes, uint64_t begin) {
  if (bytes.size() - begin < 2)
    return false;
  uint8_t magic[2] = {};
  LSTMC_TRY(bytes.readTo(begin, magic));
  return magic[0] == 0x1f && magic[1] == 0x8b;
}

} // namespace lstmc::data
