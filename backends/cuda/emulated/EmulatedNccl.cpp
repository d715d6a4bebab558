#include "backends/cuda/emulated/EmulatedNccl.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include <sys/random.h>
#include <unistd.h>

#include "backends/cuda/emulated/EmulatedCards.h"
#include "backends/cuda/emulated/PairSocket.h"

namespace lstmc::cuda {

using namespace emulated;

namespace {

using Kind = PairSocket::Kind;
constexpr NcclResult kSystemError = 2;
constexpr int kMostCalls = 3; ///< that a call stays in progress for, at most
using Clock = std::chrono::steady_clock;
/// Until what waits for a partner that has left is an error: a job that ends comes first.
constexpr auto kGrace = std::chrono::seconds(1);

/// One end. The thread of the communicator and those that carry out what the card was given use it.
struct Communicator {
  int rank = 0;
  Card *card = nullptr;
  DriverStream stream = nullptr; ///< of the first send or receive
  std::mutex mutex;
  PairSocket socket;
  int listener = -1;
  bool open = false, aborted = false;
  std::optional<Clock::time_point> left; ///< when the other end has, in good order
  int inProgress = 1;                    ///< calls of state() until a call is done
  int under = 0;                         ///< sends and receives that are not done
  NcclResult error = 0;
  std::deque<PairSocket::Message> wants, data; ///< of the other end, and not taken yet
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, int> listeners; ///< by name
  std::map<const void *, std::shared_ptr<Communicator>> communicators;
};
Registry &registry() {
  static auto *const registry = new Registry; // channels may be destroyed after static objects
  return *registry;
}

std::shared_ptr<Communicator> find(NcclCommunicator handle) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().communicators.find(handle);
  return found == registry().communicators.end() ? nullptr : found->second;
}

/// The card, as all processes of the machine count it.
std::vector<std::byte> identityOf(const Card &card) {
  const char *host = std::getenv("LSTMC_EMU_HOST");
  const std::string text = fmt::format("{}/{}", host ? host : "", card.number);
  const auto *first = reinterpret_cast<const std::byte *>(text.data());
  return {first, first + text.size()};
}

/// Takes what has come.
void look(Communicator &it) {
  if (!it.socket.connected() && it.listener >= 0 && it.socket.accept(it.listener)) {
    ::close(std::exchange(it.listener, -1));
    it.socket.send({Kind::Hello, 0, 0, identityOf(*it.card)});
  }
  while (auto message = it.socket.receive())
    switch (message->kind) {
    case Kind::Hello:
      it.open = true;
      if (message->bytes == identityOf(*it.card))
        it.error = kNcclInvalidUsage; // two ranks on one card
      break;
    case Kind::Want:
      it.wants.push_back(std::move(*message));
      break;
    case Kind::Data:
      it.data.push_back(std::move(*message));
      break;
    case Kind::Bye:
      it.left = Clock::now();
    }
}

// ---- the functions ----

NcclResult newId(NcclId *id) {
  uint64_t random[2] = {};
  if (::getrandom(random, sizeof(random), 0) != ssize_t(sizeof(random)))
    return kSystemError;
  const std::string name = fmt::format("lstmc-nccl-{:016x}{:016x}", random[0], random[1]);
  const int listener = PairSocket::listen(name);
  if (listener < 0)
    return kSystemError;
  *id = {};
  std::memcpy(id->bytes, name.data(), name.size());
  std::lock_guard lock(registry().mutex);
  registry().listeners[name] = listener;
  return 0;
}

NcclResult open(NcclCommunicator *handle, int ranks, NcclId id, int rank, NcclConfig *config) {
  if (ranks != 2 || rank < 0 || rank > 1 || !config || config->blocking != 0 || !current)
    return kNcclInvalidArgument;
  const std::string name(id.bytes, ::strnlen(id.bytes, sizeof(id.bytes)));
  auto made = std::make_shared<Communicator>();
  made->rank = rank;
  made->card = current;
  std::lock_guard lock(registry().mutex);
  if (rank == 0) {
    auto listener = registry().listeners.find(name);
    if (listener == registry().listeners.end())
      return kNcclInvalidArgument;
    made->listener = listener->second;
    registry().listeners.erase(listener);
  } else {
    if (!made->socket.connect(name))
      return kSystemError;
    made->socket.send({Kind::Hello, 0, 0, identityOf(*current)});
  }
  *handle = handleOf<NcclCommunicator>(made.get());
  registry().communicators[made.get()] = std::move(made);
  return kNcclInProgress;
}

NcclResult state(NcclCommunicator handle, NcclResult *state) {
  const std::shared_ptr<Communicator> it = find(handle);
  if (!it || it->aborted)
    return kNcclInvalidArgument;
  std::lock_guard lock(it->mutex);
  look(*it);
  it->inProgress -= it->inProgress > 0;
  *state = it->error ? it->error : it->inProgress > 0 || !it->open ? kNcclInProgress : 0;
  return 0;
}

/// What a send or a receive is when its turn has come: nothing, or why it fails.
struct Outcome {
  bool over = false;
  std::optional<std::string> fault;
};

std::string text(std::string_view what, uint64_t count, uint32_t type) {
  return fmt::format("{} of {} elements of type {}", what, count, type);
}

/// Of what waits for its partner.
Outcome unlessLeft(const Communicator &it, std::string fault) {
  if (it.left && Clock::now() - *it.left > kGrace)
    return {true, std::move(fault)};
  return {};
}

/// A send, from when its stream has come to it.
Outcome send(Communicator &it, const PairSocket::Message &mine, const std::byte *from,
             bool &given) {
  if (given)
    return {it.socket.sentAll(), std::nullopt};
  if (it.wants.empty())
    return unlessLeft(it, text("a send", mine.count, mine.type) +
                              " has no receive: its receiver has left");
  const PairSocket::Message want = std::move(it.wants.front());
  it.wants.pop_front();
  given = true;
  PairSocket::Message message = mine;
  message.bytes.assign(from, from + mine.count);
  it.socket.send(message);
  if (want.count != mine.count || want.type != mine.type)
    return {true, text("a send", mine.count, mine.type) + " meets " +
                      text("a receive", want.count, want.type)};
  return {it.socket.sentAll(), std::nullopt};
}

Outcome receive(Communicator &it, const PairSocket::Message &mine, std::byte *to, bool &given) {
  if (!std::exchange(given, true))
    it.socket.send({Kind::Want, mine.type, mine.count, {}});
  if (it.data.empty())
    return unlessLeft(it, text("a receive", mine.count, mine.type) +
                              " has no send: its sender has left");
  const PairSocket::Message message = std::move(it.data.front());
  it.data.pop_front();
  if (message.count != mine.count || message.type != mine.type)
    return {true, text("a receive", mine.count, mine.type) + " meets " +
                      text("a send", message.count, message.type)};
  std::memcpy(to, message.bytes.data(), message.bytes.size());
  return {true, std::nullopt};
}

/// A number below `end`.
int drawn(Card &card, int end) {
  std::lock_guard lock(card.mutex);
  return int(card.random() % unsigned(end));
}

/// Gives the stream a send or a receive.
NcclResult move(NcclCommunicator handle, const void *address, size_t count, NcclType type, int peer,
                DriverStream stream, bool sends) {
  const std::shared_ptr<Communicator> it = find(handle);
  const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(address));
  std::byte *memory = world().memory.find(begin, count);
  if (!it || it->aborted || !memory || type != kNcclByte || peer != 1 - it->rank ||
      it->card != current)
    return kNcclInvalidArgument;
  NcclResult result = 0;
  const int calls = drawn(*current, kMostCalls + 1); // not below: the card's lock comes first
  {
    std::lock_guard lock(it->mutex);
    if (!it->open || it->inProgress > 0 || it->error || (it->stream && it->stream != stream))
      return kNcclInvalidUsage;
    it->stream = stream;
    it->inProgress = calls;
    result = it->inProgress > 0 ? kNcclInProgress : 0;
    ++it->under;
  }
  const PairSocket::Message mine{Kind::Data, uint32_t(type), count, {}};
  auto outcome = std::make_shared<Outcome>();
  auto ready = [=, given = false]() mutable {
    std::lock_guard lock(it->mutex);
    if (outcome->over) // and its turn comes later
      return true;
    look(*it);
    if (!it->aborted)
      *outcome = sends ? send(*it, mine, memory, given) : receive(*it, mine, memory, given);
    it->under -= !it->aborted && outcome->over;
    return it->aborted || outcome->over;
  };
  const DriverResult refused =
      give(streamOf(stream), {sends ? "ncclSend" : "ncclRecv",
                              {{begin, count, !sends, sends ? "sent" : "received"}},
                              [=](uint64_t) { return outcome->fault; },
                              std::move(ready)});
  return refused ? 1 : result;
}

NcclResult abort(NcclCommunicator handle) {
  const std::shared_ptr<Communicator> it = find(handle);
  if (!it || it->aborted)
    return kNcclInvalidArgument;
  std::lock_guard lock(it->mutex);
  it->aborted = true;
  if (it->under == 0) {
    if (it->open)
      it->socket.send({Kind::Bye, 0, 0, {}});
    it->socket.close();
  }
  if (it->listener >= 0)
    ::close(std::exchange(it->listener, -1));
  return 0;
}

const char *errorText(NcclResult error) {
  switch (error) {
  case 0:
    return "no error";
  case 1:
    return faultText.c_str();
  case kSystemError:
    return "unhandled system error";
  case kNcclInvalidArgument:
    return "invalid argument";
  case kNcclInvalidUsage:
    return "invalid usage";
  case kNcclInProgress:
    return "in progress";
  default:
    return "unknown result";
  }
}

Nccl makeTable() {
  Nccl nccl;
  nccl.version = [](int *version) { return *version = 22809, 0; };
  nccl.newId = newId;
  nccl.open = open;
  nccl.state = state;
  nccl.send = [](const void *from, size_t count, NcclType type, int peer, NcclCommunicator handle,
                 DriverStream stream) {
    return move(handle, from, count, type, peer, stream, true);
  };
  nccl.receive = [](void *to, size_t count, NcclType type, int peer, NcclCommunicator handle,
                    DriverStream stream) {
    return move(handle, to, count, type, peer, stream, false);
  };
  nccl.abort = abort;
  nccl.errorText = errorText;
  return nccl;
}

} // namespace

Result<const Nccl *> emulatedNccl() {
  static const Nccl nccl = makeTable();
  if (isHidden("LSTMC_EMU_NCCL"))
    return fail(ErrorCode::E0503, "NCCL was not found; LSTMC_EMU_NCCL=0 hides the emulated one");
  return &nccl;
}

} // namespace lstmc::cuda
