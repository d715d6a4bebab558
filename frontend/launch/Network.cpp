#include "frontend/launch/Network.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lstmc::launch {

namespace {

struct Interface {
  std::string name, address;
};

std::string textOf(const sockaddr *address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in *>(address)->sin_addr, text, sizeof(text));
  return text;
}

/// Those with an IPv4 address.
std::vector<Interface> interfaces() {
  std::vector<Interface> all;
  ifaddrs *first = nullptr;
  if (::getifaddrs(&first) != 0)
    return all;
  for (const ifaddrs *at = first; at; at = at->ifa_next)
    if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET)
      all.push_back({at->ifa_name, textOf(at->ifa_addr)});
  ::freeifaddrs(first);
  return all;
}

std::optional<sockaddr_in> resolve(const std::string &host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  if (::getaddrinfo(host.c_str(), "9", &hints, &found) != 0 || !found)
    return std::nullopt;
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof(address));
  ::freeaddrinfo(found);
  return address;
}

} // namespace

bool isThisMachine(const std::string &host) {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  if (host == "localhost" || host == name)
    return true;
  const std::optional<sockaddr_in> address = resolve(host);
  if (!address)
    return false;
  const std::string text = textOf(reinterpret_cast<const sockaddr *>(&*address));
  return text.starts_with("127.") ||
         std::ranges::any_of(interfaces(), [&](const Interface &i) { return i.address == text; });
}

Result<std::string> addressOfInterface(const std::string &name) {
  std::vector<std::string> names;
  for (const Interface &interface : interfaces()) {
    if (interface.name == name)
      return interface.address;
    names.push_back(interface.name);
  }
  return fail(ErrorCode::E0001, "--interface: found \"{}\", want one of {}", name,
              fmt::join(names, ", "));
}

Result<std::string> addressTowards(const std::string &host) {
  const std::optional<sockaddr_in> there = resolve(host);
  if (!there)
    return fail(ErrorCode::E0801,
                "host {} has no IPv4 address here; where only ssh knows it, --interface NAME says "
                "by which network hosts reach this machine",
                host);
  // Connecting a datagram socket sends nothing; it only selects the route.
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  socklen_t size = sizeof(here);
  const bool found =
      socket >= 0 &&
      ::connect(socket, reinterpret_cast<const sockaddr *>(&*there), sizeof(*there)) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr *>(&here), &size) == 0;
  const int reason = errno;
  if (socket >= 0)
    ::close(socket);
  if (!found)
    return fail(ErrorCode::E0801, "no network leads to host {} ({}): {}", host,
                textOf(reinterpret_cast<const sockaddr *>(&*there)), std::strerror(reason));
  return textOf(reinterpret_cast<const sockaddr *>(&here));
}

std::string peerOf(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getpeername(socket, reinterpret_cast<sockaddr *>(&address), &size);
  return fmt::format("{}:{}", textOf(reinterpret_cast<const sockaddr *>(&address)),
                     ntohs(address.sin_port));
}

} // namespace lstmc::launch
