// What workers and servers say to one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/ranks/Header.h"
#include "executor/ranks/Link.h"

namespace lstmc::stores {

/// Ranks 0 to workers - 1 are workers, those after them servers.
struct Cluster {
  int workers = 1, servers = 1;
  int rankOfServer(int server) const { return workers + server; }
};

/// What a worker asks of a server. Each is a message of a header and a Question; what belongs to it
/// is in further messages.
enum class Ask : uint8_t {
  Init, ///< the first worker's weights and slots follow; `clock` updates of each worker came before
  Push, ///< the values of its update `clock` follow, packed in `packed` bytes (PackedValues.h)
        ///< unless that is 0; `signal`, by which it was asked to end, or 0
  Pull, ///< weights, when every worker has pushed `clock` - `staleness`
  Meet, ///< the same, when every worker has asked for it
  Slots, ///< what the log has not yet, and the slots: of the first worker
  End,   ///< no more is asked
};
inline constexpr int kAsks = 6;

struct Question {
  Ask ask = Ask::End;
  int64_t clock = 0, staleness = 0, signal = 0, packed = 0;
};

/// Messages between this rank and another one, in one order: headers say which package, what, from
/// whom and how many messages came before (executor/ranks/Header.h).
class Channel {
public:
  /// `digest`: of the package.
  Channel(ranks::Link &link, int peer, const std::string &digest);

  static constexpr size_t kQuestionBytes = ranks::Header::kBytes + 40;

  // Of workers.
  Status ask(const Question &question);
  /// The answer to Pull and Meet: the signal to end with after this update, or 0; `weights` takes
  /// the rest.
  Result<int64_t> receiveWeights(std::span<std::byte> weights);

  // Of servers.
  /// E0804 for what is no question of this package.
  Result<Question> read(std::span<const std::byte> message);
  Status sendWeights(int64_t signal, std::span<const std::byte> weights);

  // Of both: weights, slots and values that belong to a question.
  Status send(std::span<const std::byte> bytes);
  Status receive(std::span<std::byte> bytes);

  int peer() const { return peer_; }

private:
  ranks::Header header(bool sends, size_t bytes);
  Status sendMessage(int tag, std::span<const std::byte> payload);
  Result<std::span<const std::byte>> receiveMessage(int tag, size_t bytes);

  ranks::Link &link_;
  const int peer_;
  const std::array<uint8_t, 16> program_;
  uint64_t sent_ = 0, received_ = 0; ///< messages
  std::vector<std::byte> buffer_;    ///< of the message under way
};

} // namespace lstmc::stores
