#include "executor/stores/Protocol.h"

#include <array>
#include <cstring>

namespace lstmc::stores {

using ranks::Header;

Channel::Channel(ranks::Link &link, int peer, const std::string &digest)
    : link_(link), peer_(peer), program_(ranks::firstHalf(digest)) {}

Header Channel::header(bool sends, size_t bytes) {
  Header header;
  header.program = program_;
  header.from = uint32_t(sends ? link_.rank() : peer_);
  header.to = uint32_t(sends ? peer_ : link_.rank());
  header.sequence = sends ? sent_++ : received_++;
  header.count = bytes;
  header.dtype = DType::U8;
  return header;
}

Status Channel::sendMessage(int tag, std::span<const std::byte> payload) {
  buffer_.resize(Header::kBytes + payload.size());
  const uint32_t sum = ranks::copyWithChecksum(payload, std::span(buffer_).subspan(Header::kBytes));
  header(true, payload.size()).write(std::span(buffer_).first(Header::kBytes), sum);
  return link_.sendBytes(peer_, tag, buffer_);
}

Result<std::span<const std::byte>> Channel::receiveMessage(int tag, size_t bytes) {
  buffer_.resize(Header::kBytes + bytes);
  LSTMC_TRY(link_.receiveBytes(peer_, tag, buffer_));
  const auto payload = std::span<const std::byte>(buffer_).subspan(Header::kBytes);
  if (auto difference =
          header(false, bytes).differs(std::span(buffer_).first(Header::kBytes), payload))
    return fail(ErrorCode::E0804, "rank {} sent {}", peer_, *difference);
  return payload;
}

Status Channel::ask(const Question &question) {
  const std::array<int64_t, 5> words{int64_t(question.ask), question.clock, question.staleness,
                                     question.signal, question.packed};
  return sendMessage(ranks::kTagQuestion, std::as_bytes(std::span(words)));
}

Result<Question> Channel::read(std::span<const std::byte> message) {
  std::array<int64_t, 5> words{};
  const auto payload = message.subspan(Header::kBytes);
  if (payload.size() != sizeof(words))
    return fail(ErrorCode::E0804, "rank {} asked with {} bytes, want {}", peer_, payload.size(),
                sizeof(words));
  if (auto difference =
          header(false, payload.size()).differs(message.first(Header::kBytes), payload))
    return fail(ErrorCode::E0804, "rank {} sent {}", peer_, *difference);
  std::memcpy(words.data(), payload.data(), payload.size());
  if (words[0] < 0 || words[0] >= kAsks)
    return fail(ErrorCode::E0804, "rank {} asked for {}, want below {}", peer_, words[0], kAsks);
  return Question{Ask(words[0]), words[1], words[2], words[3], words[4]};
}

Status Channel::sendWeights(int64_t signal, std::span<const std::byte> weights) {
  std::vector<std::byte> payload(sizeof(signal) + weights.size());
  std::memcpy(payload.data(), &signal, sizeof(signal));
  std::memcpy(payload.data() + sizeof(signal), weights.data(), weights.size());
  return sendMessage(ranks::kTagAnswer, payload);
}

Result<int64_t> Channel::receiveWeights(std::span<std::byte> weights) {
  int64_t signal = 0;
  LSTMC_ASSIGN(std::span<const std::byte> payload,
               receiveMessage(ranks::kTagAnswer, sizeof(signal) + weights.size()));
  std::memcpy(&signal, payload.data(), sizeof(signal));
  std::memcpy(weights.data(), payload.data() + sizeof(signal), weights.size());
  return signal;
}

Status Channel::send(std::span<const std::byte> bytes) {
  return sendMessage(ranks::kTagAnswer, bytes);
}

Status Channel::receive(std::span<std::byte> bytes) {
  LSTMC_ASSIGN(std::span<const std::byte> payload, receiveMessage(ranks::kTagAnswer, bytes.size()));
  std::memcpy(bytes.data(), payload.data(), bytes.size());
  return {};
}

} // namespace lstmc::stores
