#include "backends/cuda/emulated/PairSocket.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace lstmc::cuda::emulated {

namespace {

struct Head {
  uint32_t kind, type;
  uint64_t count, bytes;
};
constexpr size_t kPiece = 64 * 1024;

/// Without a file: the first byte of the name is 0.
socklen_t addressOf(const std::string &name, sockaddr_un &address) {
  address = {};
  address.sun_family = AF_UNIX;
  const size_t size = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size);
}

int newSocket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

bool ofThisUser(int socket) {
  ucred other{};
  socklen_t size = sizeof(other);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
         other.uid == ::getuid();
}

} // namespace

int PairSocket::listen(const std::string &name) {
  sockaddr_un address;
  const socklen_t size = addressOf(name, address);
  const int listener = newSocket();
  if (listener >= 0 && ::bind(listener, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
      ::listen(listener, 1) == 0)
    return listener;
  if (listener >= 0)
    ::close(listener);
  return -1;
}

bool PairSocket::connect(const std::string &name) {
  sockaddr_un address;
  const socklen_t size = addressOf(name, address);
  socket_ = newSocket();
  if (socket_ >= 0 && ::connect(socket_, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
      ofThisUser(socket_))
    return true;
  close();
  return false;
}

bool PairSocket::accept(int listener) {
  socket_ = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket_ >= 0 && !ofThisUser(socket_))
    close();
  return connected();
}

void PairSocket::send(const Message &message) {
  const Head head{uint32_t(message.kind), message.type, message.count, message.bytes.size()};
  const auto *first = reinterpret_cast<const std::byte *>(&head);
  out_.insert(out_.end(), first, first + sizeof(head));
  out_.insert(out_.end(), message.bytes.begin(), message.bytes.end());
  move();
}

std::optional<PairSocket::Message> PairSocket::receive() {
  move();
  Head head;
  if (in_.size() < sizeof(head))
    return std::nullopt;
  std::copy_n(in_.begin(), sizeof(head), reinterpret_cast<std::byte *>(&head));
  if (in_.size() - sizeof(head) < head.bytes)
    return std::nullopt;
  const auto begin = in_.begin() + long(sizeof(head)), end = begin + long(head.bytes);
  Message message{Kind(head.kind), head.type, head.count, {begin, end}};
  in_.erase(in_.begin(), end);
  return message;
}

bool PairSocket::sentAll() {
  move();
  return out_.empty();
}

void PairSocket::close() {
  if (socket_ >= 0)
    ::close(socket_);
  socket_ = -1;
}

void PairSocket::move() {
  if (!connected())
    return;
  std::vector<std::byte> piece(kPiece);
  while (!out_.empty()) {
    const size_t size = std::min(out_.size(), piece.size());
    std::copy_n(out_.begin(), size, piece.begin());
    const ssize_t sent = ::send(socket_, piece.data(), size, MSG_NOSIGNAL);
    if (sent <= 0)
      break;
    out_.erase(out_.begin(), out_.begin() + sent);
  }
  for (ssize_t got; (got = ::recv(socket_, piece.data(), piece.size(), 0)) > 0;)
    in_.insert(in_.end(), piece.begin(), piece.begin() + got);
}

} // namespace lstmc::cuda::emulated
