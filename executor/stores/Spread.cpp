#include "executor/stores/Spread.h"

#include <cmath>

namespace lstmc::stores {

std::vector<KeyOnServer> spreadKeys(const session::SplitStep &step, int servers, int64_t bound) {
  std::vector<KeySize> keys;
  for (size_t key = 0; key < step.keys(); ++key)
    keys.push_back({step.elements(key), step.divisible(key)});
  return spreadKeys(keys, servers, bound);
}

std::vector<KeyOnServer> spreadKeys(std::span<const KeySize> keys, int servers, int64_t bound) {
  std::vector<KeyOnServer> spread;
  for (size_t key = 0; key < keys.size(); ++key) {
    const int64_t elements = keys[key].elements;
    if (servers == 1 || bound == 0 || elements < bound || !keys[key].divisible) {
      spread.push_back({{key, 0, elements}, int(key * 9973 % size_t(servers))});
      continue;
    }
    const double share = double(elements) / servers;
    for (int server = 0; server < servers; ++server) {
      const auto begin = int64_t(std::round(share * server));
      const auto end = int64_t(std::round(share * (server + 1)));
      if (begin < end)
        spread.push_back({{key, begin, end - begin}, server});
    }
  }
  return spread;
}

std::vector<session::KeyPart> keysOf(const std::vector<KeyOnServer> &all, int server) {
  std::vector<session::KeyPart> parts;
  for (const KeyOnServer &key : all)
    if (key.server == server)
      parts.push_back(key.part);
  return parts;
}

} // namespace lstmc::stores
