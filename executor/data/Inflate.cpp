#include "executor/data/Inflate.h"

#include <algorithm>

#include <zlib.h>

#include "executor/base/SafeSize.h"

namespace lstmc::data {
namespace {

/// Owns zlib's state and frees it on every return path.
class Stream {
public:
  explicit Stream(int windowBits) { ready_ = ::inflateInit2(&z, windowBits) == Z_OK; }
  ~Stream() {
    if (ready_)
      ::inflateEnd(&z);
  }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  bool ready() const { return ready_; }

  z_stream z{};

private:
  bool ready_ = false;
};

constexpr uint64_t kMostAtOnce = 1u << 30; // zlib counts in 32 bits
constexpr int kRaw = -MAX_WBITS;
constexpr int kGzip = MAX_WBITS + 16;

/// Feeds the stream from `packed` and writes `out` from `written` on, until one of them is used up
/// or the stream ends. Returns zlib's last result.
int pump(Stream &stream, std::span<const uint8_t> packed, uint64_t &read, Bytes &out,
         uint64_t &written) {
  int answer = Z_OK;
  do {
    stream.z.next_in = const_cast<uint8_t *>(packed.data()) + read;
    stream.z.avail_in = uInt(std::min<uint64_t>(packed.size() - read, kMostAtOnce));
    stream.z.next_out = out.data() + written;
    stream.z.avail_out = uInt(std::min<uint64_t>(out.size() - written, kMostAtOnce));
    answer = ::inflate(&stream.z, Z_NO_FLUSH);
    read = uint64_t(stream.z.next_in - packed.data());
    written = uint64_t(stream.z.next_out - out.data());
  } while (answer == Z_OK && read < packed.size() && written < out.size());
  return answer;
}

Place shifted(Place place, uint64_t bytes) {
  place.byte += int64_t(bytes);
  return place;
}

Error noMemory(const Place &place) {
  return failAt(place, ErrorCode::E0601, "packed data: no memory to unpack them");
}

} // namespace

Result<Bytes> inflateRaw(std::span<const uint8_t> packed, uint64_t bytes, const Place &place,
                         const Limits &limits) {
  if (!(SafeSize(packed.size()) * limits.ratio).within(UINT64_MAX) ||
      bytes > packed.size() * limits.ratio)
    return failAt(
        place, ErrorCode::E0606,
        "packed data: found {} bytes from {}, want at most {} times as many (limit ratio)", bytes,
        packed.size(), limits.ratio);
  Stream stream(kRaw);
  if (!stream.ready())
    return noMemory(place);
  // One byte more than declared, to detect a stream that is longer.
  Bytes out(bytes + 1);
  uint64_t read = 0, written = 0;
  int answer = pump(stream, packed, read, out, written);
  if (written > bytes)
    return failAt(place, ErrorCode::E0605, "packed data: found more than {} bytes, want {}", bytes,
                  bytes);
  if (answer == Z_DATA_ERROR || answer == Z_NEED_DICT)
    return failAt(shifted(place, read), ErrorCode::E0603, "packed data: found no deflate stream");
  if (answer != Z_STREAM_END)
    return failAt(shifted(place, read), ErrorCode::E0602,
                  "packed data: found the end after {} bytes unpacked, want {}", written, bytes);
  if (written != bytes || read != packed.size())
    return failAt(shifted(place, read), ErrorCode::E0605,
                  "packed data: found {} bytes unpacked of {} packed, want {} of {}", written, read,
                  bytes, packed.size());
  out.resize(bytes);
  return out;
}

Result<Bytes> gunzip(std::span<const uint8_t> packed, const std::string &file,
                     const Limits &limits) {
  Stream stream(kGzip);
  if (!stream.ready())
    return noMemory({file, 0, 0, 0});
  Bytes out;
  uint64_t read = 0, written = 0;
  while (true) {
    if (written == out.size())
      out.resize(std::max<uint64_t>(2 * out.size(), 64 << 10));
    uint64_t readBefore = read, writtenBefore = written;
    int answer = pump(stream, packed, read, out, written);
    Place place{file, 0, 0, int64_t(read)};
    if (written / std::max<uint64_t>(read, 1) > limits.ratio)
      return failAt(place, ErrorCode::E0606,
                    "gzip: found {} bytes from {}, want at most {} times as many (limit ratio)",
                    written, read, limits.ratio);
    if (answer == Z_STREAM_END) {
      if (read == packed.size())
        break;
      if (!isGzip(packed.subspan(read)))
        return failAt(place, ErrorCode::E0605, "gzip: found {} bytes after the end, want none",
                      packed.size() - read);
      ::inflateReset(&stream.z);
    } else if (answer == Z_DATA_ERROR || answer == Z_NEED_DICT) {
      return failAt(place, ErrorCode::E0603, "gzip: found {}, want a valid stream",
                    stream.z.msg ? stream.z.msg : "a dictionary");
    } else if (answer == Z_MEM_ERROR) {
      return noMemory(place);
    } else if (read == packed.size() && written < out.size()) {
      return failAt(place, ErrorCode::E0602, "gzip: found the end of the file inside a stream");
    } else if (read == readBefore && written == writtenBefore) {
      return failAt(place, ErrorCode::E0603, "gzip: found a stream that stands still");
    }
  }
  out.resize(written);
  return out;
}

} // namespace lstmc::data
