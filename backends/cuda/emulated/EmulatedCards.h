// The cards of the emulated driver: streams with what they were given, and who carries it out.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "backends/cuda/emulated/CardMemory.h"
#include "backends/cuda/emulated/OrderCheck.h"
#include "executor/abi/Devices.h"

namespace lstmc::cuda::emulated {

/// As the driver numbers them.
enum : DriverResult {
  kDone = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kNoPeers = 217,
  kAlreadyPinned = 712,
  kNotPinned = 713,
  kInvalidCluster = 912,
  kLaunchFailed = 719,
  kNotInCapture = 900, ///< an operation that a stream cannot have while it is captured
  kCaptureInvalid = 901,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
};

struct Capture;

/// An operation: what it is called, which bytes it uses, and what carries it out with a seed of its
/// own. Returns what went wrong.
using Work = std::function<std::optional<std::string>(uint64_t seed)>;
/// Of an operation that another process has a part in: whether it can be carried out. Asked again
/// and again until it can.
using Ready = std::function<bool()>;
struct Operation {
  std::string what;
  std::vector<MemoryUse> uses;
  Work work;
  Ready ready = nullptr;
};

/// What a stream was given.
struct Item {
  Work work; ///< of an event: none
  struct Event *event = nullptr;
  uint64_t count = 0; ///< how often the event has to have been recorded
  bool waits = false;
  Ready ready = nullptr;
};

struct Stream {
  size_t number = 0; ///< of the order check
  struct Card *card = nullptr;
  std::deque<Item> items;
  Capture *capture = nullptr; ///< while it is captured
  size_t lane = 0;            ///< in the capture
};

struct Event {
  size_t number;
  struct Card *card = nullptr;
  uint64_t given = 0;                ///< how often it was to be recorded
  std::atomic<uint64_t> recorded{0}; ///< how often it was
  std::weak_ptr<Capture> capture;    ///< that it was recorded in last
  bool captured = false;             ///< whether it was recorded last in a capture
  size_t place = 0;                  ///< in the capture
};

struct Card {
  CardNumber number = 0;
  std::recursive_mutex mutex; ///< recursive: a host function may look at the device
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  int contexts = 0;                        ///< how often it is retained
  std::map<const void *, int> sharedBytes; ///< the most that a kernel may ask for, where it was set
  std::set<const void *> largeClusters;    ///< kernels that may have those
  std::string fault;
};

struct World {
  World();
  void reseed(uint64_t number);

  std::atomic<uint64_t> seed = 0;
  Card cards[kMaxDevices];
  int count = kMaxDevices; ///< of cards that the driver tells of
  CardMemory memory;
  bool checksOrder = true; ///< false where launches do not say what they touch
  std::mutex orderMutex;
  OrderCheck order;
};

/// Whether the variable is 0: then a library is not here, as on machines without it.
bool isHidden(const char *variable);

World &world();

inline thread_local Card *current = nullptr; ///< that of the thread's context
inline thread_local std::string faultText = "a launch failed";

template <typename Handle, typename T> Handle handleOf(T *object) {
  return reinterpret_cast<Handle>(object);
}
inline Stream &streamOf(DriverStream stream) { return *reinterpret_cast<Stream *>(stream); }
inline Event &eventOf(DriverEvent event) { return *reinterpret_cast<Event *>(event); }

DriverResult failed(const Card &card);

Stream &newStream(Card &card);
Event &newEvent(Card &card);
/// Carries out all that the stream was given, and forgets it.
void removeStream(Card &card, Stream &stream);

// Of streams that are captured or not; an event may be of another card than the stream that waits.
DriverResult give(Stream &stream, Operation operation);
DriverResult record(Event &event, Stream &stream);
DriverResult wait(Stream &stream, Event &event);
/// Whether a stream of another card was given to wait for an event of this one, and still has to.
bool isAwaited(const Card &card);
/// Carries out all that the stream was given; the host does not know that it is done.
DriverResult carryOut(Stream &stream);
DriverResult synchronize(Stream &stream);
/// Carries out what needs no other process, all of it, so that it is no matter how often it is
/// asked.
DriverResult query(Stream &stream);

} // namespace lstmc::cuda::emulated
