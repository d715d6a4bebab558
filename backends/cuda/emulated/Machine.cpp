#include "backends/cuda/emulated/Machine.h"

#include <cstring>
#include <memory>
#include <random>

#include <boost/context/fiber.hpp>
#include <fmt/format.h>
#include <xmmintrin.h>

#include "backends/cuda/emulated/EmulatedGpu.h"
#include "backends/cuda/emulated/Shadow.h"
#include "backends/cuda/emulated/Stacks.h"

namespace lstmc::gpu {

std::string Fault::text() const {
  return fmt::format("{}, block {}, thread {}, {}:{}: {}", kernel, block, thread, file, line, what);
}

namespace {

namespace context = boost::context;

/// The state of a thread.
enum class State { Ready, AtBlockMeeting, AtWarpMeeting, AtClusterMeeting, Spinning, Done };

struct PendingCopy {
  int offset;
  const void *from;
  int bytes;
  Where where;
};

struct Block;

struct Thread {
  Block *block = nullptr;
  Moment moment;
  int index = 0; ///< in its block
  State state = State::Ready;
  Where where; ///< source line of the barrier or value that it waits for
  context::fiber fiber;
  context::fiber *back = nullptr; ///< fiber that runs when this one waits
  Clock known;
  uint64_t given = 0, taken = 0; ///< values of an exchange
  int lane = 0;                  ///< the lane whose value is taken in an exchange
  void *part = nullptr;          ///< of what the warp does together
  machine::WarpWork work = nullptr;
  const uint32_t *flag = nullptr;
  uint32_t wanted = 0;
  std::vector<PendingCopy> copies;
};

struct Block {
  int64_t index = 0;
  std::vector<Thread> threads;
  std::vector<unsigned char> memory; ///< shared memory
  std::vector<bool> written, pending;
  Shadow shadow;
  std::span<Block> cluster; ///< that it is in
  bool metCluster = false;  ///< all blocks of the cluster have begun
};

struct RegionShadow {
  const Region *region;
  Shadow shadow;
};

/// One launch.
class Machine {
public:
  Machine(std::string_view kernel, void (*body)(const void *), const void *arguments,
          const LaunchShape &shape, std::span<const Region> regions, uint64_t seed)
      : kernel(kernel), body(body), arguments(arguments), shape(shape), random(seed) {
    // Nothing is recorded of bytes that are only read.
    for (const Region &region : regions)
      memory.push_back({&region, Shadow(region.writable ? region.bytes : 0)});
  }

  std::optional<Fault> run() {
    if (!fits())
      return fault;
    int64_t together = shape.cooperative ? shape.blocks : shape.cluster;
    for (int64_t first = 0; first < shape.blocks && !fault; first += together)
      runBlocks(first, together);
    return fault;
  }

  // ---- called by threads ----

  static thread_local Machine *current;
  int64_t blocks() const { return shape.blocks; }
  int cluster() const { return shape.cluster; }
  Thread *running = nullptr;

  /// Where the bytes are on the host.
  void *touchGlobal(const void *address, int bytes, bool write, const Where &where) {
    if (uintptr_t(address) % uintptr_t(bytes) != 0)
      refuse(where, fmt::format("{} {} bytes at an address that is no multiple of {}",
                                write ? "writes" : "reads", bytes, bytes));
    RegionShadow *found = regionOf(address, bytes);
    if (!found)
      refuse(where,
             fmt::format("{} {} bytes outside of its operands", write ? "writes" : "reads", bytes));
    if (write && !found->region->writable)
      refuse(where, fmt::format("writes to {}, which is only read", found->region->name));
    const uint64_t offset = uintptr_t(address) - uintptr_t(found->region->begin);
    if (found->region->writable)
      check(found->shadow, offset, bytes, write, where,
            [&] { return fmt::format("byte {} of {}", offset, found->region->name); });
    return found->region->place(offset);
  }

  void touchShared(int offset, int bytes, bool write, const Where &where) {
    touchShared(*running->block, offset, bytes, write, where);
  }

  unsigned char *writeSharedOf(int rank, int offset, int bytes, const Where &where) {
    if (rank < 0 || rank >= shape.cluster)
      refuse(where, fmt::format("writes to block {} of a cluster of {}", rank, shape.cluster));
    Block &block = running->block->cluster[size_t(rank)];
    if (!running->block->metCluster)
      refuse(where, "writes to the shared memory of a block that may not have begun");
    if (std::ranges::all_of(block.threads, [](auto &t) { return t.state == State::Done; }))
      refuse(where, "writes to the shared memory of a block that has ended");
    touchShared(block, offset, bytes, true, where);
    return block.memory.data();
  }

  void touchShared(Block &block, int offset, int bytes, bool write, const Where &where) {
    if (offset < 0 || offset + bytes > int(block.memory.size()))
      refuse(where, fmt::format("{} {} bytes outside of its shared memory",
                                write ? "writes" : "reads", bytes));
    if (offset % bytes != 0)
      refuse(where, fmt::format("{} {} bytes of shared memory at {}, no multiple of {}",
                                write ? "writes" : "reads", bytes, offset, bytes));
    for (int i = offset; i < offset + bytes; ++i) {
      if (block.pending[size_t(i)])
        refuse(where,
               fmt::format("touches byte {} of shared memory, where a copy is on its way", i));
      if (!write && !block.written[size_t(i)])
        refuse(where, fmt::format("reads byte {} of shared memory, which nothing wrote", i));
      block.written[size_t(i)] = true;
    }
    check(block.shadow, uint64_t(offset), bytes, write, where,
          [&] { return fmt::format("byte {} of shared memory", offset); });
  }

  void arriveAtCluster(const Where &where) {
    if (hasArrived(running->moment))
      refuse(where, "arrives at a barrier of the cluster twice");
    ++running->moment.epoch;
  }
  void waitForCluster(const Where &where) {
    if (!hasArrived(running->moment))
      refuse(where, "waits for a cluster at which it has not arrived");
    meet(State::AtClusterMeeting, where);
  }

  void meet(State at, const Where &where) {
    if (at == State::AtBlockMeeting && hasArrived(running->moment))
      refuse(where, "meets its block between the halves of a barrier of the cluster");
    running->state = at;
    running->where = where;
    leave();
  }

  uint64_t exchange(uint64_t bits, int lane, const Where &where) {
    if (lane < 0 || lane >= kWarp)
      refuse(where, fmt::format("asks for the value of lane {}", lane));
    running->given = bits;
    running->lane = lane;
    meet(State::AtWarpMeeting, where);
    return running->taken;
  }

  void together(void *part, machine::WarpWork work, const Where &where) {
    running->part = part;
    running->work = work;
    meet(State::AtWarpMeeting, where);
    running->work = nullptr;
  }

  void storeRelease(uint32_t *flag, uint32_t value, const Where &where) {
    RegionShadow *found = regionOf(flag, sizeof(*flag));
    if (uintptr_t(flag) % sizeof(*flag) != 0)
      refuse(where, "publishes a value at an address that is no multiple of 4");
    if (!found || !found->region->writable)
      refuse(where, "publishes a value outside of the operands that it may write");
    touchFlag(*found, flag, true, where);
    Clock known = running->known;
    if (known.blocks.size() < size_t(shape.blocks))
      known.blocks.resize(size_t(shape.blocks));
    known.blocks[running->moment.block] = running->moment.seen;
    known.threads[running->moment.thread] = ++running->moment.release;
    published[flag] = std::move(known);
    *flagOf(*found, flag) = value;
    leave(); // so that other threads may see the value early
  }

  void spinUntilAtLeast(const uint32_t *flag, uint32_t value, const Where &where) {
    if (!shape.cooperative)
      refuse(where, "waits for another block in a launch that is not cooperative");
    RegionShadow *found = regionOf(flag, sizeof(*flag));
    if (uintptr_t(flag) % sizeof(*flag) != 0)
      refuse(where, "waits for a value at an address that is no multiple of 4");
    if (!found)
      refuse(where, "waits for a value outside of its operands");
    running->flag = flagOf(*found, flag);
    running->wanted = value;
    meet(State::Spinning, where);
    if (auto clock = published.find(flag); clock != published.end())
      running->known.merge(clock->second);
    if (found->region->writable)
      touchFlag(*found, flag, false, where);
  }

  void copyAsync(int offset, const void *from, int bytes, const Where &where) {
    touchShared(offset, bytes, true, where);
    touchGlobal(from, bytes, false, where);
    for (int i = offset; i < offset + bytes; ++i)
      running->block->pending[size_t(i)] = true;
    running->copies.push_back({offset, from, bytes, where});
  }

  /// Copies as late as allowed: no data arrive before the thread waits for them.
  void waitForCopies() {
    for (const PendingCopy &copy : running->copies) {
      const void *from = touchGlobal(copy.from, copy.bytes, false, copy.where);
      std::memcpy(running->block->memory.data() + copy.offset, from, size_t(copy.bytes));
      for (int i = copy.offset; i < copy.offset + copy.bytes; ++i)
        running->block->pending[size_t(i)] = false;
    }
    running->copies.clear();
  }

private:
  static bool hasArrived(const Moment &moment) { return moment.seen < moment.epoch; }

  bool fits() {
    auto refuseLaunch = [&](std::string what) {
      fault = Fault{kernel, 0, 0, std::move(what), "launch", 0};
      return false;
    };
    if (shape.threads < kWarp || shape.threads > kMaxThreads || shape.threads % kWarp != 0)
      return refuseLaunch(fmt::format("{} threads a block, want whole warps and at most {}",
                                      shape.threads, kMaxThreads));
    if (shape.blocks < 1)
      return refuseLaunch("no blocks");
    if (shape.sharedBytes < 0 || shape.sharedBytes > kMaxSharedBytes)
      return refuseLaunch(fmt::format("{} bytes of shared memory a block, want at most {}",
                                      shape.sharedBytes, kMaxSharedBytes));
    if (shape.cluster < 1 || shape.cluster > kMaxCluster || shape.blocks % shape.cluster != 0)
      return refuseLaunch(fmt::format("{} blocks in clusters of {}, want whole clusters of at most "
                                      "{}",
                                      shape.blocks, shape.cluster, kMaxCluster));
    int perProcessor = std::max(
        1, std::min(2048 / shape.threads, kMaxSharedBytes / std::max(1, shape.sharedBytes)));
    if (shape.cooperative && shape.blocks > int64_t(kMultiprocessors) * perProcessor)
      return refuseLaunch(fmt::format("a cooperative launch of {} blocks, of which {} fit the card",
                                      shape.blocks, int64_t(kMultiprocessors) * perProcessor));
    return true;
  }

  /// With nothing that orders it: neither a load nor a store may use the place of a flag.
  void touchFlag(RegionShadow &region, const uint32_t *flag, bool write, const Where &where) {
    const uint64_t offset = uintptr_t(flag) - uintptr_t(region.region->begin);
    check(
        region.shadow, offset, sizeof(*flag), write, where,
        [&] { return fmt::format("the flag at byte {} of {}", offset, region.region->name); },
        /*ofFlag=*/true);
  }

  static uint32_t *flagOf(const RegionShadow &region, const uint32_t *flag) {
    return static_cast<uint32_t *>(
        region.region->place(uintptr_t(flag) - uintptr_t(region.region->begin)));
  }

  RegionShadow *regionOf(const void *address, int bytes) {
    RegionShadow *found = nullptr;
    auto begin = uintptr_t(address);
    for (RegionShadow &candidate : memory) {
      auto first = uintptr_t(candidate.region->begin);
      if (begin < first || begin + uintptr_t(bytes) > first + candidate.region->bytes)
        continue;
      // An operand that is written in place of another has two regions; the shadow of the writable
      // region is used for both.
      if (!found || (!found->region->writable && candidate.region->writable))
        found = &candidate;
    }
    return found;
  }

  template <typename Place>
  void check(Shadow &shadow, uint64_t offset, int bytes, bool write, const Where &where,
             Place place, bool ofFlag = false) {
    Thread &t = *running;
    const Access *other = shadow.forWords(offset, bytes, [&](Word &word, uint8_t mask) {
      const Access now = {t.moment, mask, ofFlag};
      return write ? word.write(now, t.known) : word.read(now, t.known);
    });
    if (other)
      refuse(
          where,
          fmt::format("{} {}, which thread {} of block {} touched with nothing that orders the two",
                      write ? "writes" : "reads", place(),
                      other->moment.thread % uint32_t(shape.threads), other->moment.block));
  }

  [[noreturn]] void refuse(const Where &where, std::string what) {
    std::string_view file = where.file_name();
    if (size_t slash = file.rfind('/'); slash != std::string_view::npos)
      file.remove_prefix(slash + 1);
    throw Fault{kernel,          running->block->index, running->index,
                std::move(what), std::string(file),     int(where.line())};
  }

  void leave() {
    context::fiber &back = *running->back;
    back = std::move(back).resume();
  }

  // ---- scheduling ----

  void runBlocks(int64_t first, int64_t count) {
    std::vector<Block> blocks(static_cast<size_t>(count));
    std::vector<Thread *> threads;
    for (int64_t b = 0; b < count; ++b) {
      Block &block = blocks[size_t(b)];
      block.index = first + b;
      block.cluster =
          std::span(blocks).subspan(size_t(b - b % shape.cluster), size_t(shape.cluster));
      block.memory.assign(size_t(shape.sharedBytes), 0xcb);
      block.written.assign(size_t(shape.sharedBytes), false);
      block.pending.assign(size_t(shape.sharedBytes), false);
      block.shadow = Shadow(uint64_t(shape.sharedBytes));
      block.threads.resize(size_t(shape.threads));
      for (int i = 0; i < shape.threads; ++i) {
        Thread &thread = block.threads[size_t(i)];
        thread.block = &block;
        thread.index = i;
        thread.moment.thread = uint32_t(block.index * shape.threads + i);
        thread.moment.block = uint32_t(block.index);
        thread.moment.warp = thread.moment.thread / kWarp;
        thread.fiber = fiberOf(thread);
        threads.push_back(&thread);
      }
    }
    size_t left = threads.size();
    while (left > 0 && !fault) {
      bool moved = false;
      std::shuffle(threads.begin(), threads.begin() + ptrdiff_t(left), random);
      for (size_t i = 0; i < left && !fault; ++i)
        moved |= turn(*threads[i]);
      for (Block &block : blocks)
        moved |=
            meetings(block) || (&block == block.cluster.data() && clusterMeeting(block.cluster));
      size_t before = left;
      left = size_t(std::partition(threads.begin(), threads.begin() + ptrdiff_t(left),
                                   [](Thread *t) { return t->state != State::Done; }) -
                    threads.begin());
      if (!moved && left == before && !fault)
        standstill(threads.front());
    }
  }

  context::fiber fiberOf(Thread &thread) {
    return context::fiber(std::allocator_arg, StackOf{&Stacks::ofThread()},
                          [this, &thread](context::fiber &&from) {
                            thread.back = &from;
                            try {
                              body(arguments);
                              waitForCopies();
                            } catch (const Fault &found) {
                              fault = found;
                            }
                            thread.state = State::Done;
                            return std::move(from);
                          });
  }

  /// Lets a thread run up to its next barrier; false if it cannot run.
  bool turn(Thread &thread) {
    if (thread.state == State::Spinning && *thread.flag >= thread.wanted)
      thread.state = State::Ready;
    if (thread.state != State::Ready)
      return false;
    running = &thread;
    thread.fiber = std::move(thread.fiber).resume();
    running = nullptr;
    return true;
  }

  /// Releases each barrier that all its threads have reached; false if there was none.
  bool meetings(Block &block) {
    bool any = false;
    for (size_t first = 0; first < block.threads.size() && !fault; first += kWarp)
      any |= meetingOf(std::span(block.threads).subspan(first, kWarp), State::AtWarpMeeting);
    return (!fault && meetingOf(block.threads, State::AtBlockMeeting)) || any;
  }

  bool meetingOf(std::span<Thread> group, State at) {
    if (!haveMet(group, group[0], at))
      return false;
    if (at == State::AtWarpMeeting && group[0].work) {
      void *parts[kWarp];
      for (int lane = 0; lane < kWarp; ++lane)
        parts[lane] = group[size_t(lane)].part;
      group[0].work(parts);
    }
    Clock together;
    for (const Thread &thread : group)
      together.merge(thread.known);
    for (Thread &thread : group) {
      thread.known = together;
      thread.taken = group[size_t(thread.lane)].given;
      if (at == State::AtBlockMeeting)
        thread.moment.seen = ++thread.moment.epoch;
      else
        ++thread.moment.warpEpoch;
      thread.state = State::Ready;
    }
    return true;
  }

  /// All that threads of the cluster did comes before what any of them does next.
  bool clusterMeeting(std::span<Block> cluster) {
    for (const Block &block : cluster)
      if (fault || !haveMet(block.threads, cluster[0].threads[0], State::AtClusterMeeting))
        return false;
    Clock together;
    for (Block &block : cluster) {
      block.metCluster = true;
      for (Thread &thread : block.threads) {
        together.merge(thread.known);
        thread.moment.seen = thread.moment.epoch;
        thread.state = State::Ready;
      }
      together.blocks.resize(std::max(together.blocks.size(), size_t(block.index) + 1));
      together.blocks[size_t(block.index)] = block.threads[0].moment.epoch;
    }
    for (Block &block : cluster)
      for (Thread &thread : block.threads)
        thread.known = together;
    return true;
  }

  /// Whether all these threads are at that barrier, at the line of `leader`.
  bool haveMet(std::span<const Thread> group, const Thread &leader, State at) {
    for (const Thread &thread : group)
      if (thread.state != at)
        return false;
    for (const Thread &thread : group)
      if (thread.where.line() != leader.where.line() ||
          std::strcmp(thread.where.file_name(), leader.where.file_name()) != 0) {
        fault = faultAt(thread, fmt::format("meets thread {}, which is at line {}", leader.index,
                                            leader.where.line()));
        return false;
      } else if (thread.work != leader.work) {
        fault = faultAt(thread, fmt::format("meets thread {} in another operation", leader.index));
        return false;
      }
    return true;
  }

  Fault faultAt(const Thread &thread, std::string what) const {
    std::string_view file = thread.where.file_name();
    if (size_t slash = file.rfind('/'); slash != std::string_view::npos)
      file.remove_prefix(slash + 1);
    return {kernel,          thread.block->index, thread.index,
            std::move(what), std::string(file),   int(thread.where.line())};
  }

  /// No thread can continue.
  void standstill(const Thread *thread) {
    if (thread->state == State::Spinning) {
      fault = faultAt(*thread, "waits for a value that nobody writes");
      return;
    }
    const bool ofCluster = thread->state == State::AtClusterMeeting;
    for (const Block &block : thread->block->cluster)
      for (const Thread &other : block.threads)
        if (other.state != thread->state && (ofCluster || &block == thread->block) &&
            (thread->state != State::AtWarpMeeting || other.moment.warp == thread->moment.warp)) {
          const std::string where =
              &block == thread->block ? "" : fmt::format(" of block {}", block.index);
          fault = faultAt(*thread, fmt::format("waits at a meeting that thread {}{} does not reach",
                                               other.index, where));
          return;
        }
  }

  std::string kernel;
  void (*body)(const void *);
  const void *arguments;
  LaunchShape shape;
  std::mt19937_64 random;
  std::vector<RegionShadow> memory;
  std::map<const uint32_t *, Clock> published;
  std::optional<Fault> fault;
};

thread_local Machine *Machine::current = nullptr;

} // namespace

namespace {

/// The host's floating-point mode for kernels, until the destructor.
class GpuMode {
public:
  GpuMode() : saved_(_mm_getcsr()) { _mm_setcsr(kNearest); }
  ~GpuMode() { _mm_setcsr(saved_); }
  GpuMode(const GpuMode &) = delete;
  GpuMode &operator=(const GpuMode &) = delete;

private:
  static constexpr unsigned kNearest = 0x1f80; // no exception interrupts

  unsigned saved_;
};

} // namespace

std::optional<Fault> launch(std::string_view kernel, void (*body)(const void *),
                            const void *arguments, const LaunchShape &shape,
                            std::span<const Region> regions, uint64_t seed) {
  Machine machine(kernel, body, arguments, shape, regions, seed);
  const GpuMode mode;
  Machine::current = &machine;
  std::optional<Fault> fault = machine.run();
  Machine::current = nullptr;
  return fault;
}

namespace machine {

static Thread &thread() { return *Machine::current->running; }

int threadIndex() { return thread().index; }
int blockThreads() { return int(thread().block->threads.size()); }
int64_t blockIndex() { return thread().block->index; }
int64_t gridBlocks() { return Machine::current->blocks(); }
unsigned char *sharedMemory() { return thread().block->memory.data(); }
int sharedBytes() { return int(thread().block->memory.size()); }

const void *readGlobal(const void *address, int bytes, const Where &where) {
  return Machine::current->touchGlobal(address, bytes, false, where);
}
void *writeGlobal(const void *address, int bytes, const Where &where) {
  return Machine::current->touchGlobal(address, bytes, true, where);
}
void readShared(int offset, int bytes, const Where &where) {
  Machine::current->touchShared(offset, bytes, false, where);
}
void writeShared(int offset, int bytes, const Where &where) {
  Machine::current->touchShared(offset, bytes, true, where);
}
void syncThreads(const Where &where) { Machine::current->meet(State::AtBlockMeeting, where); }
void arriveAtCluster(const Where &where) { Machine::current->arriveAtCluster(where); }
void waitForCluster(const Where &where) { Machine::current->waitForCluster(where); }
int clusterBlocks() { return Machine::current->cluster(); }
unsigned char *writeSharedOf(int block, int offset, int bytes, const Where &where) {
  return Machine::current->writeSharedOf(block, offset, bytes, where);
}
void syncWarp(const Where &where) { Machine::current->meet(State::AtWarpMeeting, where); }
uint64_t exchange(uint64_t bits, int lane, const Where &where) {
  return Machine::current->exchange(bits, lane, where);
}
void together(void *part, WarpWork work, const Where &where) {
  Machine::current->together(part, work, where);
}
void storeRelease(uint32_t *flag, uint32_t value, const Where &where) {
  Machine::current->storeRelease(flag, value, where);
}
void spinUntilAtLeast(const uint32_t *flag, uint32_t value, const Where &where) {
  Machine::current->spinUntilAtLeast(flag, value, where);
}
void copyAsync(int offset, const void *from, int bytes, const Where &where) {
  Machine::current->copyAsync(offset, from, bytes, where);
}
void waitForCopies(const Where &) { Machine::current->waitForCopies(); }

} // namespace machine
} // namespace lstmc::gpu
