// The emulated GPU reports each kind of error at its line, and accepts a correct kernel.
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/kernels/Gpu.h"

namespace lstmc::gpu {
namespace {

struct Vectors {
  Global<const float> x;
  Global<float> y;
  Global<uint32_t> flags;
  int64_t count;
};

/// x = 0, 1, ..; y = -1; flags = 0.
struct Memory {
  explicit Memory(int64_t count) : x(size_t(count)), y(size_t(count), -1), flags(8) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i);
  }
  Vectors arguments() { return {{x.data()}, {y.data()}, {flags.data()}, int64_t(x.size())}; }
  std::vector<Region> regions() {
    return {{x.data(), x.size() * 4, false, "x"},
            {y.data(), y.size() * 4, true, "y"},
            {flags.data(), flags.size() * 4, true, "flags"}};
  }
  std::vector<float> x, y;
  std::vector<uint32_t> flags;
};

template <auto Kernel>
std::optional<Fault> run(Memory &memory, LaunchShape shape, uint64_t seed = 0) {
  return launchKernel<Kernel>("test", memory.arguments(), shape, memory.regions(), seed);
}

void expectFault(const std::optional<Fault> &fault, std::string_view what) {
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->what.find(what), std::string::npos) << fault->text();
  EXPECT_EQ(fault->file, "FaultsTest.cpp");
  EXPECT_GT(fault->line, 0);
}

// ---- correct kernels ----

LSTMC_GPU_KERNEL(twice, Vectors, a) {
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads())
    a.y.store(i, 2 * a.x.load(i));
}

/// Each block reverses its part, through shared memory.
LSTMC_GPU_KERNEL(turned, Vectors, a) {
  Shared<float> s = shared<float>(0, blockThreads());
  int64_t first = blockIndex() * blockThreads();
  s.store(threadIndex(), a.x.load(first + threadIndex()));
  syncThreads();
  a.y.store(first + threadIndex(), s.load(blockThreads() - 1 - threadIndex()));
}

/// y[lane 0 of each warp] = sum of the warp.
LSTMC_GPU_KERNEL(warpSums, Vectors, a) {
  float sum = a.x.load(globalThreadIndex());
  for (int lanes = 16; lanes > 0; lanes /= 2)
    sum += shuffleXor(sum, lanes);
  if (laneIndex() == 0)
    a.y.store(globalThreadIndex(), sum);
}

/// Block b waits for block b - 1 and adds to its result.
LSTMC_GPU_KERNEL(chain, Vectors, a) {
  if (threadIndex() == 0 && blockIndex() > 0)
    spinUntilAtLeast(a.flags, blockIndex() - 1, 1);
  syncThreads();
  int64_t i = blockIndex() * blockThreads() + threadIndex();
  float before = blockIndex() > 0 ? Global<const float>{a.y.data}.load(i - blockThreads()) : 0;
  a.y.store(i, before + a.x.load(i));
  syncThreads();
  if (threadIndex() == 0)
    storeRelease(a.flags, blockIndex(), 1);
}

LSTMC_GPU_KERNEL(copied, Vectors, a) {
  Shared<float> s = shared<float>(0, blockThreads());
  copyAsync(s, threadIndex(), a.x, globalThreadIndex());
  waitForCopies();
  syncThreads();
  a.y.store(globalThreadIndex(), s.load(threadIndex() ^ 1));
}

/// Each block gives its part to the next block of its cluster, twice.
LSTMC_GPU_KERNEL(passedOn, Vectors, a) {
  Shared<float> s[] = {shared<float>(0, blockThreads()),
                       shared<float>(4 * blockThreads(), blockThreads())};
  s[0].store(threadIndex(), a.x.load(globalThreadIndex()));
  syncCluster();
  const int next = (clusterRank() + 1) % clusterBlocks();
  s[1].storeTo(next, threadIndex(), s[0].load(threadIndex()));
  syncCluster();
  s[0].storeTo(next, threadIndex(), s[1].load(threadIndex() ^ 1));
  syncCluster();
  a.y.store(globalThreadIndex(), s[0].load(threadIndex()));
}

TEST(EmulatedGpu, RightKernelsPassInAnyOrder) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Memory m(256);
    EXPECT_FALSE(run<twice>(m, {3, 64}, seed));
    EXPECT_EQ(m.y[255], 510);
    EXPECT_FALSE(run<turned>(m, {4, 64, 256}, seed));
    EXPECT_EQ(m.y[64], 127);
    EXPECT_FALSE(run<warpSums>(m, {4, 64}, seed));
    EXPECT_EQ(m.y[32], float(32 * 32 + 31 * 16));
    EXPECT_FALSE(run<copied>(m, {4, 64, 256}, seed));
    EXPECT_EQ(m.y[6], 7);
    EXPECT_FALSE(run<passedOn>(m, {4, 64, 512, false, 2}, seed));
    EXPECT_EQ(m.y[70], 71);
    EXPECT_FALSE(run<passedOn>(m, {4, 64, 512, false, 4}, seed));
    EXPECT_EQ(m.y[70], 64 * 3 + 7);
    std::optional<Fault> fault = run<chain>(m, {4, 64, 0, true}, seed);
    EXPECT_FALSE(fault) << fault->text();
    EXPECT_EQ(m.y[192], float(0 + 64 + 128 + 192));
  }
}

// ---- one error each ----

LSTMC_GPU_KERNEL(pastTheEnd, Vectors, a) { a.y.store(globalThreadIndex() + 1, 0); }
LSTMC_GPU_KERNEL(beforeTheBegin, Vectors, a) {
  a.y.store(globalThreadIndex(), a.x.load(globalThreadIndex() - 1));
}
LSTMC_GPU_KERNEL(writesInput, Vectors, a) {
  Global<float>{const_cast<float *>(a.x.data)}.store(globalThreadIndex(), 0);
}
LSTMC_GPU_KERNEL(pastShared, Vectors, a) {
  (void)a;
  shared<float>(0, 64).store(threadIndex() + 1, 0);
}
LSTMC_GPU_KERNEL(unwritten, Vectors, a) {
  a.y.store(globalThreadIndex(), shared<float>(0, 64).load(threadIndex()));
}
LSTMC_GPU_KERNEL(noMeeting, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 1);
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64));
}
LSTMC_GPU_KERNEL(warpMeetingOnly, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 1);
  syncWarp();
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64));
}
LSTMC_GPU_KERNEL(twoBlocksOnePlace, Vectors, a) { a.y.store(threadIndex(), float(blockIndex())); }
LSTMC_GPU_KERNEL(twoBlocksReadAndWrite, Vectors, a) {
  if (blockIndex() == 0)
    a.y.store(threadIndex(), 1);
  else
    a.y.store(threadIndex() + 64, Global<const float>{a.y.data}.load(threadIndex()));
}
/// The thread that publishes has not synchronised with the threads whose values it publishes.
LSTMC_GPU_KERNEL(publishedTooEarly, Vectors, a) {
  if (blockIndex() == 0) {
    a.y.store(threadIndex(), 1);
    if (threadIndex() == 0)
      storeRelease(a.flags, 0, 1);
  } else {
    spinUntilAtLeast(a.flags, 0, 1);
    a.y.store(64 + threadIndex(), Global<const float>{a.y.data}.load(threadIndex()));
  }
}
LSTMC_GPU_KERNEL(notAllMeet, Vectors, a) {
  (void)a;
  if (threadIndex() != 5)
    syncThreads();
}
LSTMC_GPU_KERNEL(twoMeetings, Vectors, a) {
  (void)a;
  if (threadIndex() < 32)
    syncThreads();
  else
    syncThreads();
}
LSTMC_GPU_KERNEL(halfWarpExchanges, Vectors, a) {
  if (laneIndex() < 16)
    a.y.store(globalThreadIndex(), shuffle(1.0f, 0));
}
struct alignas(16) Four {
  float v[4];
};
LSTMC_GPU_KERNEL(misaligned, Vectors, a) {
  Global<const Four> x{reinterpret_cast<const Four *>(a.x.data + 1 + threadIndex() % 2)};
  a.y.store(globalThreadIndex(), x.load(0).v[0]);
}
LSTMC_GPU_KERNEL(waitsInVain, Vectors, a) { spinUntilAtLeast(a.flags, 0, 1); }
LSTMC_GPU_KERNEL(readsTooEarly, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  copyAsync(s, threadIndex(), a.x, globalThreadIndex());
  a.y.store(globalThreadIndex(), s.load(threadIndex()));
}
LSTMC_GPU_KERNEL(copyWithoutMeeting, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  copyAsync(s, threadIndex(), a.x, globalThreadIndex());
  waitForCopies();
  syncWarp();
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64));
}

LSTMC_GPU_KERNEL(writesToNobody, Vectors, a) {
  (void)a;
  syncCluster();
  shared<float>(0, 64).storeTo(clusterBlocks(), threadIndex(), 1);
}
LSTMC_GPU_KERNEL(writesTooEarly, Vectors, a) {
  (void)a;
  shared<float>(0, 64).storeTo(1 - clusterRank(), threadIndex(), 1);
  syncCluster();
}
LSTMC_GPU_KERNEL(writesTooLate, Vectors, a) {
  (void)a;
  syncCluster();
  if (clusterRank() == 0) {
    for (int wait = 0; wait < 3; ++wait)
      syncThreads();
    shared<float>(0, 64).storeTo(1, threadIndex(), 1);
  }
}
LSTMC_GPU_KERNEL(noClusterMeeting, Vectors, a) {
  shared<float>(0, 64).store(threadIndex(), 0);
  syncCluster();
  shared<float>(0, 64).storeTo(1 - clusterRank(), threadIndex(), 1);
  syncThreads();
  a.y.store(globalThreadIndex(), shared<float>(0, 64).load(threadIndex()));
  syncCluster();
}
LSTMC_GPU_KERNEL(aBlockStaysAway, Vectors, a) {
  (void)a;
  if (clusterRank() == 0)
    syncCluster();
}

/// In every order of turns.
template <auto Kernel>
void expectFound(const char *kernel, LaunchShape shape, std::string_view what) {
  SCOPED_TRACE(kernel);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Memory m(128);
    expectFault(run<Kernel>(m, shape, seed), what);
  }
}
#define EXPECT_FOUND(KERNEL, SHAPE, WHAT) expectFound<KERNEL>(#KERNEL, SHAPE, WHAT)

TEST(EmulatedGpu, FindsEachKindOfFault) {
  LaunchShape two{2, 64}, shared{2, 64, 256}, together{2, 64, 0, true};
  constexpr const char *kRace = "with nothing that orders the two";
  EXPECT_FOUND(pastTheEnd, two, "writes 4 bytes outside of its operands");
  EXPECT_FOUND(beforeTheBegin, two, "reads 4 bytes outside of its operands");
  EXPECT_FOUND(writesInput, two, "writes to x, which is only read");
  EXPECT_FOUND(pastShared, shared, "writes 4 bytes outside of its shared memory");
  EXPECT_FOUND(unwritten, shared, "of shared memory, which nothing wrote");
  // The order of turns decides which of the two is found.
  EXPECT_FOUND(noMeeting, shared, "shared memory, which");
  EXPECT_FOUND(warpMeetingOnly, shared, "shared memory, which");
  EXPECT_FOUND(copyWithoutMeeting, shared, "shared memory");
  EXPECT_FOUND(twoBlocksOnePlace, two, kRace);
  EXPECT_FOUND(twoBlocksReadAndWrite, two, kRace);
  EXPECT_FOUND(publishedTooEarly, together, kRace);
  EXPECT_FOUND(notAllMeet, two, "waits at a meeting that thread 5 does not reach");
  EXPECT_FOUND(twoMeetings, two, "meets thread");
  EXPECT_FOUND(halfWarpExchanges, two, "waits at a meeting that thread");
  EXPECT_FOUND(misaligned, two, "reads 16 bytes at an address that is no multiple of 16");
  EXPECT_FOUND(waitsInVain, together, "waits for a value that nobody writes");
  EXPECT_FOUND(waitsInVain, two, "in a launch that is not cooperative");
  EXPECT_FOUND(readsTooEarly, shared, "where a copy is on its way");
  LaunchShape cluster{2, 64, 256, false, 2};
  EXPECT_FOUND(writesToNobody, cluster, "writes to block 2 of a cluster of 2");
  EXPECT_FOUND(writesTooEarly, cluster, "of a block that may not have begun");
  EXPECT_FOUND(writesTooLate, cluster, "of a block that has ended");
  EXPECT_FOUND(noClusterMeeting, cluster, kRace);
  EXPECT_FOUND(aBlockStaysAway, cluster, "waits at a meeting that thread 0 of block 1 does not");
}

TEST(EmulatedGpu, RefusesLaunchesThatNoCardTakes) {
  Memory m(64);
  auto what = [&](LaunchShape shape) {
    std::optional<Fault> fault = run<twice>(m, shape);
    return fault ? fault->what : "";
  };
  EXPECT_EQ(what({1, 48}), "48 threads a block, want whole warps and at most 1024");
  EXPECT_EQ(what({1, 2048}), "2048 threads a block, want whole warps and at most 1024");
  EXPECT_EQ(what({1, 64, 300000}), "300000 bytes of shared memory a block, want at most 232448");
  EXPECT_EQ(what({6, 64, 0, false, 4}),
            "6 blocks in clusters of 4, want whole clusters of at most 8");
  EXPECT_EQ(what({133, 1024, 200000, true}),
            "a cooperative launch of 133 blocks, of which 132 fit the card");
}

// A race is found in some order of turns for every seed; the same seed gives the same finding.
TEST(EmulatedGpu, AFindingIsRepeatedByItsSeed) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Memory a(128), b(128);
    std::optional<Fault> first = run<warpMeetingOnly>(a, {2, 64, 256}, seed),
                         second = run<warpMeetingOnly>(b, {2, 64, 256}, seed);
    ASSERT_TRUE(first && second) << seed;
    EXPECT_EQ(first->text(), second->text());
  }
}

} // namespace
} // namespace lstmc::gpu
