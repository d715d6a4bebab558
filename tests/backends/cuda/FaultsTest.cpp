// The emulated GPU reports each kind of error at its line, and accepts a correct kernel.
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/kernels/Gpu.h"
#include "cmake/SourceFolder.h"

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
std::optional<Fault> run(Memory &memory, LaunchShape shape, uint64_t seed = 0,
                         std::string_view name = "test") {
  return launchKernel<Kernel>(name, memory.arguments(), shape, memory.regions(), seed);
}

/// The lines of a kernel below that end with "// here"; of one without such lines, that of its
/// name.
std::set<int> linesOf(const std::string &kernel) {
  std::ifstream source(std::string(LSTMC_SOURCE_DIR) + "/tests/backends/cuda/FaultsTest.cpp");
  std::set<int> lines;
  int first = 0, number = 0;
  for (std::string line; std::getline(source, line) && !(first && line.starts_with("}"));) {
    ++number;
    if (line.starts_with("LSTMC_GPU_KERNEL(" + kernel + ","))
      first = number;
    if (first && line.ends_with("// here"))
      lines.insert(number);
    if (first == number && line.ends_with("}"))
      break;
  }
  return lines.empty() ? std::set<int>{first} : lines;
}

/// Whose fault it is; -1: of any, because the order of turns decides.
struct Whose {
  int64_t block = -1;
  int thread = -1;
};

void expectFault(const std::optional<Fault> &fault, const std::string &kernel, LaunchShape shape,
                 std::string_view what, Whose whose) {
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->what.find(what), std::string::npos) << fault->text();
  EXPECT_EQ(fault->kernel, kernel);
  EXPECT_EQ(fault->file, "FaultsTest.cpp");
  EXPECT_TRUE(linesOf(kernel).contains(fault->line)) << fault->text();
  EXPECT_TRUE(fault->block >= 0 && fault->block < shape.blocks) << fault->text();
  EXPECT_TRUE(fault->thread >= 0 && fault->thread < shape.threads) << fault->text();
  EXPECT_EQ(whose.block < 0 ? -1 : fault->block, whose.block) << fault->text();
  EXPECT_EQ(whose.thread < 0 ? -1 : fault->thread, whose.thread) << fault->text();
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
  arriveAtCluster();
  a.y.store(globalThreadIndex(), 0);
  waitForCluster();
  a.y.store(globalThreadIndex(), s[0].load(threadIndex()));
}

/// Two blocks may publish to one flag while a third thread waits for it.
LSTMC_GPU_KERNEL(publishedTwice, Vectors, a) {
  if (threadIndex() == 0)
    storeRelease(a.flags, 0, 1);
  if (blockIndex() == 0 && threadIndex() == 32) {
    spinUntilAtLeast(a.flags, 0, 1);
    spinUntilAtLeast(a.flags, 0, 1);
  }
}
/// Block 1 may read the flag once it has waited for it, because nothing else writes it then.
LSTMC_GPU_KERNEL(flagReadAfterwards, Vectors, a) {
  if (threadIndex() == 0 && blockIndex() == 0)
    storeRelease(a.flags, 0, 7);
  if (threadIndex() == 0 && blockIndex() == 1) {
    spinUntilAtLeast(a.flags, 0, 7);
    a.y.store(0, float(a.flags.load(0)));
  }
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
    std::ranges::fill(m.flags, 0);
    fault = run<publishedTwice>(m, {2, 64, 0, true}, seed);
    EXPECT_FALSE(fault) << fault->text();
    std::ranges::fill(m.flags, 0);
    fault = run<flagReadAfterwards>(m, {2, 64, 0, true}, seed);
    EXPECT_FALSE(fault) << fault->text();
    EXPECT_EQ(m.y[0], 7);
  }
}

// ---- one error each ----

LSTMC_GPU_KERNEL(pastTheEnd, Vectors, a) { a.y.store(globalThreadIndex() + 1, 0); }
LSTMC_GPU_KERNEL(beforeTheBegin, Vectors, a) {
  a.y.store(globalThreadIndex(), a.x.load(globalThreadIndex() - 1)); // here
}
LSTMC_GPU_KERNEL(writesInput, Vectors, a) {
  Global<float>{const_cast<float *>(a.x.data)}.store(globalThreadIndex(), 0); // here
}
LSTMC_GPU_KERNEL(pastShared, Vectors, a) {
  (void)a;
  shared<float>(0, 64).store(threadIndex() + 1, 0); // here
}
LSTMC_GPU_KERNEL(unwritten, Vectors, a) {
  a.y.store(globalThreadIndex(), shared<float>(0, 64).load(threadIndex())); // here
}
LSTMC_GPU_KERNEL(noMeeting, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 1);                                         // here
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64)); // here
}
LSTMC_GPU_KERNEL(warpMeetingOnly, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 1); // here
  syncWarp();
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64)); // here
}
LSTMC_GPU_KERNEL(twoBlocksOnePlace, Vectors, a) { a.y.store(threadIndex(), float(blockIndex())); }
LSTMC_GPU_KERNEL(twoBlocksReadAndWrite, Vectors, a) {
  if (blockIndex() == 0)
    a.y.store(threadIndex(), 1); // here
  else
    a.y.store(threadIndex() + 64, Global<const float>{a.y.data}.load(threadIndex())); // here
}
/// The thread that publishes has not synchronised with the threads whose values it publishes.
LSTMC_GPU_KERNEL(publishedTooEarly, Vectors, a) {
  if (blockIndex() == 0) {
    a.y.store(threadIndex(), 1); // here
    if (threadIndex() == 0)
      storeRelease(a.flags, 0, 1);
  } else {
    spinUntilAtLeast(a.flags, 0, 1);
    a.y.store(64 + threadIndex(), Global<const float>{a.y.data}.load(threadIndex())); // here
  }
}
LSTMC_GPU_KERNEL(loadsAFlag, Vectors, a) {
  if (globalThreadIndex() == 0)
    storeRelease(a.flags, 0, 1); // here
  if (globalThreadIndex() == 64)
    a.y.store(0, float(a.flags.load(0))); // here
}
LSTMC_GPU_KERNEL(storesAFlag, Vectors, a) {
  if (globalThreadIndex() == 0)
    storeRelease(a.flags, 0, 1); // here
  if (globalThreadIndex() == 64)
    a.flags.store(0, 1); // here
}
LSTMC_GPU_KERNEL(waitsForAStore, Vectors, a) {
  if (globalThreadIndex() == 0)
    a.flags.store(0, 1); // here
  if (globalThreadIndex() == 64)
    spinUntilAtLeast(a.flags, 0, 1); // here
}
Global<uint32_t> misalignedFlags(const Vectors &a) {
  return {reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(a.flags.data) + 2)};
}
LSTMC_GPU_KERNEL(publishesMisaligned, Vectors, a) {
  storeRelease(misalignedFlags(a), 0, 1); // here
}
LSTMC_GPU_KERNEL(waitsMisaligned, Vectors, a) {
  spinUntilAtLeast(misalignedFlags(a), 0, 1); // here
}
LSTMC_GPU_KERNEL(notAllMeet, Vectors, a) {
  (void)a;
  if (threadIndex() != 5)
    syncThreads(); // here
}
LSTMC_GPU_KERNEL(twoMeetings, Vectors, a) {
  (void)a;
  if (threadIndex() < 32)
    syncThreads(); // here
  else
    syncThreads(); // here
}
LSTMC_GPU_KERNEL(halfWarpExchanges, Vectors, a) {
  if (laneIndex() < 16)
    a.y.store(globalThreadIndex(), shuffle(1.0f, 0)); // here
}
struct alignas(16) Four {
  float v[4];
};
LSTMC_GPU_KERNEL(misaligned, Vectors, a) {
  Global<const Four> x{reinterpret_cast<const Four *>(a.x.data + 1 + threadIndex() % 2)};
  a.y.store(globalThreadIndex(), x.load(0).v[0]); // here
}
LSTMC_GPU_KERNEL(misalignedShared, Vectors, a) {
  (void)a;
  if (threadIndex() == 37)
    shared<Four>(8, 4).store(0, {}); // here
}
LSTMC_GPU_KERNEL(waitsInVain, Vectors, a) { spinUntilAtLeast(a.flags, 0, 1); }
LSTMC_GPU_KERNEL(readsTooEarly, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  copyAsync(s, threadIndex(), a.x, globalThreadIndex());
  a.y.store(globalThreadIndex(), s.load(threadIndex())); // here
}
LSTMC_GPU_KERNEL(copyWithoutMeeting, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  copyAsync(s, threadIndex(), a.x, globalThreadIndex());
  waitForCopies();
  syncWarp();
  a.y.store(globalThreadIndex(), s.load((threadIndex() + 32) % 64)); // here
}

LSTMC_GPU_KERNEL(writesToNobody, Vectors, a) {
  (void)a;
  syncCluster();
  shared<float>(0, 64).storeTo(clusterBlocks(), threadIndex(), 1); // here
}
LSTMC_GPU_KERNEL(writesTooEarly, Vectors, a) {
  (void)a;
  shared<float>(0, 64).storeTo(1 - clusterRank(), threadIndex(), 1); // here
  syncCluster();
}
LSTMC_GPU_KERNEL(writesTooLate, Vectors, a) {
  (void)a;
  syncCluster();
  if (clusterRank() == 0) {
    for (int wait = 0; wait < 3; ++wait)
      syncThreads();
    shared<float>(0, 64).storeTo(1, threadIndex(), 1); // here
  }
}
LSTMC_GPU_KERNEL(noClusterMeeting, Vectors, a) {
  shared<float>(0, 64).store(threadIndex(), 0);
  syncCluster();
  shared<float>(0, 64).storeTo(1 - clusterRank(), threadIndex(), 1); // here
  syncThreads();
  a.y.store(globalThreadIndex(), shared<float>(0, 64).load(threadIndex())); // here
  syncCluster();
}
/// What comes between the halves of a barrier is seen by nobody after it.
LSTMC_GPU_KERNEL(writesAfterArriving, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 0);
  syncCluster();
  arriveAtCluster();
  s.store(threadIndex(), 1); // here
  waitForCluster();
  a.y.store(globalThreadIndex(), s.load(threadIndex() ^ 32)); // here
}
LSTMC_GPU_KERNEL(writesToOthersAfterArriving, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 0);
  syncCluster();
  arriveAtCluster();
  s.storeTo(1 - clusterRank(), threadIndex(), 1); // here
  waitForCluster();
  a.y.store(globalThreadIndex(), s.load(threadIndex())); // here
}
/// Nor is there anything of others to be seen between them.
LSTMC_GPU_KERNEL(readsAfterArriving, Vectors, a) {
  Shared<float> s = shared<float>(0, 64);
  s.store(threadIndex(), 0);
  syncCluster();
  if (threadIndex() == 32)
    s.store(32, 1); // here
  arriveAtCluster();
  if (threadIndex() == 0)
    a.y.store(globalThreadIndex(), s.load(32)); // here
  waitForCluster();
}
LSTMC_GPU_KERNEL(waitsWithoutArriving, Vectors, a) {
  (void)a;
  waitForCluster(); // here
}
LSTMC_GPU_KERNEL(arrivesTwice, Vectors, a) {
  (void)a;
  arriveAtCluster();
  arriveAtCluster(); // here
  waitForCluster();
}
LSTMC_GPU_KERNEL(meetsBetweenTheHalves, Vectors, a) {
  (void)a;
  arriveAtCluster();
  syncThreads(); // here
  waitForCluster();
}
LSTMC_GPU_KERNEL(aBlockStaysAway, Vectors, a) {
  (void)a;
  if (clusterRank() == 0)
    syncCluster(); // here
}

/// In every order of turns.
template <auto Kernel>
void expectFound(const char *kernel, LaunchShape shape, std::string_view what, Whose whose = {}) {
  SCOPED_TRACE(kernel);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Memory m(128);
    expectFault(run<Kernel>(m, shape, seed, kernel), kernel, shape, what, whose);
  }
}
#define EXPECT_FOUND(KERNEL, SHAPE, ...) expectFound<KERNEL>(#KERNEL, SHAPE, __VA_ARGS__)

TEST(EmulatedGpu, FindsEachKindOfFault) {
  LaunchShape two{2, 64}, shared{2, 64, 256}, together{2, 64, 0, true};
  constexpr const char *kRace = "with nothing that orders the two";
  EXPECT_FOUND(pastTheEnd, two, "writes 4 bytes outside of its operands", Whose{1, 63});
  EXPECT_FOUND(beforeTheBegin, two, "reads 4 bytes outside of its operands", Whose{0, 0});
  EXPECT_FOUND(writesInput, two, "writes to x, which is only read");
  EXPECT_FOUND(pastShared, shared, "writes 4 bytes outside of its shared memory", Whose{-1, 63});
  EXPECT_FOUND(unwritten, shared, "of shared memory, which nothing wrote");
  // The order of turns decides which of the two is found.
  EXPECT_FOUND(noMeeting, shared, "shared memory, which");
  EXPECT_FOUND(warpMeetingOnly, shared, "shared memory, which");
  EXPECT_FOUND(copyWithoutMeeting, shared, "shared memory");
  EXPECT_FOUND(twoBlocksOnePlace, two, kRace);
  EXPECT_FOUND(twoBlocksReadAndWrite, two, kRace);
  EXPECT_FOUND(publishedTooEarly, together, kRace);
  EXPECT_FOUND(loadsAFlag, together, kRace);
  EXPECT_FOUND(storesAFlag, together, kRace);
  EXPECT_FOUND(waitsForAStore, together, kRace);
  EXPECT_FOUND(publishesMisaligned, two,
               "publishes a value at an address that is no multiple of 4");
  EXPECT_FOUND(waitsMisaligned, together, "waits for a value at an address that is no multiple");
  EXPECT_FOUND(notAllMeet, two, "waits at a meeting that thread 5 does not reach");
  EXPECT_FOUND(twoMeetings, two, "meets thread");
  EXPECT_FOUND(halfWarpExchanges, two, "waits at a meeting that thread");
  EXPECT_FOUND(misaligned, two, "reads 16 bytes at an address that is no multiple of 16");
  EXPECT_FOUND(misalignedShared, shared, "writes 16 bytes of shared memory at 8, no multiple of 16",
               Whose{-1, 37});
  EXPECT_FOUND(waitsInVain, together, "waits for a value that nobody writes");
  EXPECT_FOUND(waitsInVain, two, "in a launch that is not cooperative");
  EXPECT_FOUND(readsTooEarly, shared, "where a copy is on its way");
  LaunchShape cluster{2, 64, 256, false, 2};
  EXPECT_FOUND(writesToNobody, cluster, "writes to block 2 of a cluster of 2");
  EXPECT_FOUND(writesTooEarly, cluster, "of a block that may not have begun");
  EXPECT_FOUND(writesTooLate, cluster, "of a block that has ended", Whose{0, -1});
  EXPECT_FOUND(noClusterMeeting, cluster, kRace);
  EXPECT_FOUND(writesAfterArriving, cluster, kRace);
  EXPECT_FOUND(writesToOthersAfterArriving, cluster, kRace);
  EXPECT_FOUND(readsAfterArriving, cluster, kRace);
  EXPECT_FOUND(waitsWithoutArriving, cluster, "waits for a cluster at which it has not arrived");
  EXPECT_FOUND(arrivesTwice, cluster, "arrives at a barrier of the cluster twice");
  EXPECT_FOUND(meetsBetweenTheHalves, cluster, "between the halves of a barrier of the cluster");
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
            "6 blocks in clusters of 4, want whole clusters of at most 16");
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
