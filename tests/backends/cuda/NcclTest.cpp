// Channels between emulated GPUs: bytes arrive, and what NCCL would not notice is found.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/emulated/EmulatedNccl.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "executor/device/Channel.h"

namespace lstmc::cuda {
namespace {

using namespace std::chrono_literals;

constexpr CardNumber kFrom = 44, kTo = 45; // no other test has them
constexpr uint64_t kBytes = 300'000;       // more than a socket holds

const Nccl &nccl() { return **emulatedNccl(); }

/// A device with an arena, and its end of a channel.
struct Side {
  explicit Side(CardNumber card) {
    auto made = makeGpuDevice(fmt::format("emu:{}", card), emulatedDriver(),
                              {.card = card, .images = emulatedImages(), .nccl = &nccl()});
    device = std::move(*made);
    EXPECT_TRUE(device->allocate(kBytes).ok());
  }
  ChannelMaker &maker() const { return dynamic_cast<ChannelMaker &>(*device); }
  void open(const ChannelId &id, bool sends) {
    auto opened = maker().openChannel(id, sends);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    channel = std::move(*opened);
  }
  void begin(uint64_t bytes) const {
    const Status status = channel->begin(device->arena(), bytes);
    EXPECT_TRUE(status.ok()) << status.error().text();
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Channel> channel;
};

/// Looks at both ends in turn until each is done or has failed; gives what failed. A busy machine
/// may take long, so the limit ends only what would never end.
std::string await(std::initializer_list<const Side *> sides, std::chrono::milliseconds most = 60s) {
  std::string failed;
  const auto end = std::chrono::steady_clock::now() + most;
  for (const Side *side : sides)
    for (;;) {
      for (const Side *other : sides)
        if (other != side)
          (void)other->channel->done();
      const Result<bool> done = side->channel->done();
      if (!done.ok())
        failed += done.error().message + "\n";
      if (!done.ok() || *done)
        break;
      if (std::chrono::steady_clock::now() > end) {
        failed += "not done\n";
        break;
      }
    }
  return failed;
}

struct Pair {
  Pair() {
    auto id = from.maker().newChannel();
    from.open(*id, true);
    to.open(*id, false);
    EXPECT_EQ(await({&from, &to}), "");
  }
  Side from{kFrom}, to{kTo};
};

std::vector<std::byte> pattern(uint64_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = std::byte(i * 7 + i / 251);
  return bytes;
}

TEST(Nccl, BytesArrive) {
  Pair pair;
  const std::vector<std::byte> sent = pattern(kBytes);
  pair.from.device->copyIn(0, sent);
  pair.from.device->synchronize(0);
  for (uint64_t size : {uint64_t(1), kBytes, uint64_t(77)}) {
    pair.to.device->clear(0, kBytes);
    pair.to.begin(size);
    pair.from.begin(size);
    EXPECT_EQ(await({&pair.from, &pair.to}), "");
    std::vector<std::byte> got(kBytes);
    pair.to.device->copyOut(0, got);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + long(size), sent.begin()));
    EXPECT_EQ(std::count(got.begin() + long(size), got.end(), std::byte(0)), long(kBytes - size));
  }
}

TEST(Nccl, ASendIsDoneWhenItIsReceived) {
  Pair pair;
  pair.from.begin(8);
  EXPECT_EQ(await({&pair.from}, 50ms), "not done\n");
  pair.to.begin(8);
  EXPECT_EQ(await({&pair.from, &pair.to}), "");
}

TEST(Nccl, SizesThatDifferAreFoundOnBothSides) {
  Pair pair;
  pair.from.begin(8);
  pair.to.begin(12);
  const std::string failed = await({&pair.from, &pair.to});
  for (const char *said : {"a send of 8 elements of type 1 meets a receive of 12 elements",
                           "a receive of 12 elements of type 1 meets a send of 8 elements"})
    EXPECT_NE(failed.find(said), std::string::npos) << failed;
}

TEST(Nccl, ASendWithoutItsReceiveIsFound) {
  Pair pair;
  pair.from.begin(8);
  pair.to.channel.reset();
  EXPECT_NE(await({&pair.from}).find("a send of 8 elements of type 1 has no receive"),
            std::string::npos);
}

TEST(Nccl, AnAbortEndsWhatIsUnderWay) {
  Pair pair;
  pair.from.begin(8);
  EXPECT_EQ(await({&pair.from}, 10ms), "not done\n");
  pair.from.channel.reset(); // and waits for its stream
  pair.from.device->clear(0, 8);
}

TEST(Nccl, AnOperationWithoutOrderToASendIsFound) {
  Pair pair;
  const Driver &driver = emulatedDriver();
  DriverContext context;
  ASSERT_EQ(driver.retainContext(&context, kFrom), 0);
  ASSERT_EQ(driver.setContext(context), 0);
  DriverStream other;
  ASSERT_EQ(driver.createStream(&other, 0), 0);
  const auto arena = DeviceAddress(reinterpret_cast<uintptr_t>(pair.from.device->arena()));
  ASSERT_EQ(driver.setBytes(arena + 4, 1, 1, other), 0);
  const Status status = pair.from.channel->begin(pair.from.device->arena(), 8);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("ncclSend"), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("setting bytes"), std::string::npos);
  driver.destroyStream(other);
  driver.releaseContext(kFrom);
}

/// The table itself, as a program would use it wrongly.
struct Raw {
  explicit Raw(CardNumber card, const NcclId &id, int rank) {
    const Driver &driver = emulatedDriver();
    driver.retainContext(&context, card);
    enter();
    driver.createStream(&stream, 0);
    driver.allocate(&memory, 64);
    this->card = card;
    NcclConfig config;
    config.blocking = 0;
    EXPECT_EQ(nccl().open(&communicator, 2, id, rank, &config), kNcclInProgress);
  }
  ~Raw() {
    enter();
    nccl().abort(communicator);
    emulatedDriver().destroyStream(stream);
    emulatedDriver().free(memory);
    emulatedDriver().releaseContext(card);
  }
  void enter() const { emulatedDriver().setContext(context); }
  NcclResult send(DriverStream on) const {
    enter();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of a card are numbers
    return nccl().send(reinterpret_cast<const void *>(uintptr_t(memory)), 8, kNcclByte, 1,
                       communicator, on);
  }
  NcclResult state() const {
    NcclResult state = 0;
    const NcclResult result = nccl().state(communicator, &state);
    return result ? result : state;
  }
  NcclResult settled() const {
    for (int look = 0; look < 100; ++look)
      if (const NcclResult now = state(); now != kNcclInProgress)
        return now;
    return kNcclInProgress;
  }

  CardNumber card = 0;
  DriverContext context = nullptr;
  DriverStream stream = nullptr;
  DeviceAddress memory = 0;
  NcclCommunicator communicator = nullptr;
};

NcclId newId() {
  NcclId id;
  EXPECT_EQ(nccl().newId(&id), 0);
  return id;
}

TEST(Nccl, ACallBeforeTheLastOneIsDoneIsRefused) {
  const NcclId id = newId();
  const Raw from(kFrom, id, 0);
  EXPECT_EQ(from.send(from.stream), kNcclInvalidUsage); // it is not open
  const Raw to(kTo, id, 1);
  EXPECT_EQ(from.settled(), 0);
  EXPECT_EQ(to.settled(), 0);
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const NcclResult result = from.send(from.stream);
    if (result == kNcclInProgress) {
      refused += from.send(from.stream) == kNcclInvalidUsage;
      EXPECT_EQ(from.settled(), 0);
    }
  }
  EXPECT_GT(refused, 0);
  DriverStream another;
  from.enter();
  emulatedDriver().createStream(&another, 0);
  EXPECT_EQ(from.send(another), kNcclInvalidUsage);
}

TEST(Nccl, ACallAfterAnAbortIsRefused) {
  const Raw alone(kFrom, newId(), 0);
  EXPECT_EQ(nccl().abort(alone.communicator), 0);
  EXPECT_EQ(alone.state(), kNcclInvalidArgument);
  EXPECT_EQ(alone.send(alone.stream), kNcclInvalidArgument);
  EXPECT_EQ(nccl().abort(alone.communicator), kNcclInvalidArgument);
}

TEST(Nccl, ACardTwiceIsRefused) {
  const NcclId id = newId();
  const Raw one(kFrom, id, 0), two(kFrom, id, 1);
  (void)one.state();
  EXPECT_EQ(two.settled(), kNcclInvalidUsage);
  EXPECT_EQ(one.settled(), kNcclInvalidUsage);
}

TEST(Nccl, AMissingLibraryIsNamedWithWhereItWasLookedFor) {
  const auto loaded = loadNccl({{"libnccl-none.so.2", "libdl.so.2"}, {"/none", "/other"}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().text(),
            "error[E0503]: NCCL was not found; looked for libnccl-none.so.2, libdl.so.2 (has no "
            "function ncclGetVersion) " +
                systemPlaces() + ", and in /none, /other");
}

} // namespace
} // namespace lstmc::cuda
