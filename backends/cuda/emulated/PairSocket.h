// What the two ends of an emulated communicator tell each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lstmc::cuda::emulated {

/// A socket between two processes of one user on one machine. No function waits.
class PairSocket {
public:
  enum class Kind : uint32_t { Hello, Want, Data, Bye };
  struct Message {
    Kind kind = Kind::Bye;
    uint32_t type = 0;
    uint64_t count = 0; ///< of elements, or whatever the kind says
    std::vector<std::byte> bytes;
  };

  /// Name of a socket, and who listens there; -1 if the system refuses.
  static int listen(const std::string &name);

  PairSocket() = default;
  ~PairSocket() { close(); }
  PairSocket(const PairSocket &) = delete;
  PairSocket &operator=(const PairSocket &) = delete;

  /// False if nobody listens.
  bool connect(const std::string &name);
  /// The first one of this user that has connected, if one has.
  bool accept(int listener);
  bool connected() const { return socket_ >= 0; }

  void send(const Message &message);
  /// Sends and receives what it can, and returns the next message.
  std::optional<Message> receive();
  /// Whether the other end has all that was sent.
  bool sentAll();
  void close();

private:
  void move();

  int socket_ = -1;
  std::deque<std::byte> out_, in_;
};

} // namespace lstmc::cuda::emulated
