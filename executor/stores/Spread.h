// Which server has which elements of which parameter, as MXNet spreads them.
#pragma once

#include "executor/session/SplitStep.h"

namespace lstmc::stores {

struct KeyOnServer {
  session::KeyPart part;
  int server;
};

struct KeySize {
  int64_t elements;
  bool divisible;
};

/// The keys in order, the parts of one in order. A key of fewer than `bound` elements (0:
/// of any number), or one that cannot be divided, is on server (9973 key) mod `servers`; another
/// one is cut into a part for each server.
std::vector<KeyOnServer> spreadKeys(std::span<const KeySize> keys, int servers, int64_t bound);
/// Those of `step`.
std::vector<KeyOnServer> spreadKeys(const session::SplitStep &step, int servers, int64_t bound);

/// The parts of one server.
std::vector<session::KeyPart> keysOf(const std::vector<KeyOnServer> &all, int server);

} // namespace lstmc::stores
