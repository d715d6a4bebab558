#include "executor/training/EventFile.h"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace lstmc::training {
namespace {

/// CRC-32C (Castagnoli), reflected, a byte at a time.
constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}();

/// As TFRecord stores it: rotated by 15 bits and moved by a constant.
uint32_t maskedCrc(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes)
    crc = crc >> 8 ^ kCrcTable[(crc ^ uint8_t(c)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <typename T> void appendLittleEndian(std::string &to, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to += char(uint64_t(value) >> 8 * i & 0xff);
}

/// Fields of a protocol buffer by their wire types.
struct Message {
  std::string bytes;

  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += char(value | 0x80);
    bytes += char(value);
  }
  void whole(int field, uint64_t value) {
    varint(uint64_t(field) << 3);
    varint(value);
  }
  void real(int field, double value) {
    varint(uint64_t(field) << 3 | 1);
    appendLittleEndian(bytes, std::bit_cast<uint64_t>(value));
  }
  void real(int field, float value) {
    varint(uint64_t(field) << 3 | 5);
    appendLittleEndian(bytes, std::bit_cast<uint32_t>(value));
  }
  void text(int field, std::string_view value) {
    varint(uint64_t(field) << 3 | 2);
    varint(value.size());
    bytes += value;
  }
};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

Result<EventFile> EventFile::create(const std::string &folder) {
  std::error_code failure; // opening says it better
  std::filesystem::create_directories(folder, failure);
  char host[256] = "host";
  ::gethostname(host, sizeof(host) - 1);
  std::string path = fmt::format("{}/events.out.tfevents.{}.{}.{}.lstmc", folder, int64_t(now()),
                                 host, ::getpid());
  EventFile made;
  made.path_ = path;
  made.file_.reset(std::fopen(path.c_str(), "wbxe"), [](std::FILE *file) {
    if (file)
      std::fclose(file);
  });
  if (!made.file_)
    return failAt({path}, ErrorCode::E0601, "cannot write: {}", std::strerror(errno));
  Message event;
  event.real(1, now());
  event.text(3, "brain.Event:2");
  made.head_ = made.write(event.bytes);
  return made;
}

Status EventFile::scalar(std::string_view tag, int64_t step, double value) {
  Message point, summary, event;
  point.text(1, tag);
  point.real(2, float(value));
  summary.text(1, point.bytes);
  event.real(1, now());
  event.whole(2, uint64_t(step));
  event.text(5, summary.bytes);
  return write(event.bytes);
}

Status EventFile::write(const std::string &event) {
  std::string length, record;
  appendLittleEndian(length, uint64_t(event.size()));
  record = length;
  appendLittleEndian(record, maskedCrc(length));
  record += event;
  appendLittleEndian(record, maskedCrc(event));
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0)
    return failAt({path_}, ErrorCode::E0601, "cannot write: {}", std::strerror(errno));
  return {};
}

void EventLog::write(const std::string &tag, int64_t step, const std::optional<double> &value) {
  if (value)
    told(file_.scalar(tag, step, *value));
}

void EventLog::told(const Status &status) const {
  if (!status.ok())
    lost_(status.error());
}

void EventLog::start(const StartEvent &) { told(file_.head()); }

void EventLog::update(const UpdateEvent &event) {
  const int64_t step = event.progress.update;
  auto write = [&](const std::string &tag, const std::optional<double> &value) {
    this->write(tag, step, value);
  };
  write("train/loss", event.loss);
  write("train/perplexity", event.perplexity);
  write("train/gradient_norm", event.gradientNorm);
  write("train/learning_rate", event.learningRate);
  if (event.labelsPerSecond)
    write("train/labels_per_s", *event.labelsPerSecond);
  for (const auto &[name, value] : event.metrics)
    if (name != "loss" && name != "perplexity")
      write("train/" + name, value);
  for (const NamedNorm &norm : event.gradientNorms)
    write("gradient_norm/" + norm.name, norm.value);
}

void EventLog::valid(const ValidEvent &event) {
  const int64_t step = event.progress.update;
  write("valid/loss", step, event.loss);
  for (const auto &[name, value] : event.metrics)
    if (name != "loss")
      write("valid/" + name, step, value);
}

} // namespace lstmc::training
