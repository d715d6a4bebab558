// The kernel rnn_forward: one recurrent layer in one direction.
//
// The input projection of a chunk of steps is one product. Then the steps of the chunk run one
// after the other; each block of units computes its gates while the sums are still in cache.
// Workers divide the units and synchronise once per step. If all weights fit into each core's L2,
// they divide the batch instead and need no synchronisation.
#include "backends/cpu/runtime/Cell.h"
#include "backends/cpu/runtime/Columns.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/RnnSplit.h"
#include "backends/cpu/runtime/RowLengths.h"
#include "backends/cpu/runtime/Rows.h"
#include "executor/abi/Scratch.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

template <RnnMode Mode> class Forward {
  static constexpr int G = gateCount(Mode);
  static constexpr bool kLstm = Mode == RnnMode::Lstm;
  /// Vectors in a block of units: all gates of one vector of units, or several vectors if there is
  /// one gate.
  static constexpr int kVectors = G > 1 ? G : kGranuleVectors *kBlockGranules;
  /// Rows whose gates are computed at the same time: as many as registers hold.
  static constexpr int kTogether = kWidth == 16 ? 2 : 1;
  /// Units are divided among workers in multiples of this.
  static constexpr int64_t kUnits = G > 1 ? kWidth : kGranule;

public:
  Forward(const RnnForwardLaunch &launch, Worker &worker)
      : l_(launch), worker_(worker), reverse_(launch.reverse), T_(l_.y.shape[0]), B_(l_.y.shape[1]),
        H_(l_.y.shape[2]), I_(l_.x.shape[2]),
        chunk_(std::clamp<int64_t>(launch.chunk, 1, std::max<int64_t>(T_, 1))),
        padded_(roundUp(H_, kPanel)),
        split_(worker.index, worker.count, B_, (H_ + kUnits - 1) / kUnits, 4 * G * H_ * H_,
               bool(l_.length)),
        lengths_(l_.length, B_, T_) {
    float *at = l_.scratch.as<float>();
    RnnForwardArguments shorter = launch;
    shorter.chunk = chunk_;
    const auto parts = scratchOf(shorter, B_, H_, sizeof(float), bool(l_.gates));
    projections_ = at;
    h_[0] = at + parts.h;
    h_[1] = at + parts.nextH;
    c_ = at + parts.c;
    sweeps_ = reinterpret_cast<uint32_t *>(at + parts.sweeps);
  }

  void run() {
    if (split_.idle)
      return;
    bringState();
    uint32_t first = 0; // of workers for which the plan has no counter
    uint32_t &sweep = worker_.index < 64 ? sweeps_[worker_.index * 16] : first;
    for (int64_t s0 = 0; s0 < T_; s0 += chunk_) {
      const int64_t count = std::min(chunk_, T_ - s0);
      // With a chunk of one step, W and R of a block are read one after the other, so that a sweep
      // reads both in the same order.
      if (count > 1)
        forBlocks(sweep++ & 1, [&](auto v, int64_t u) LSTMC_LAMBDA { project<v()>(s0, count, u); });
      for (int64_t s = s0; s < s0 + count; ++s) {
        active_ = split_.unitBegin == split_.unitEnd
                      ? 0
                      : lengths_.count(stepAt(s), split_.rowBegin, split_.rowEnd);
        forBlocks(sweep++ & 1, [&](auto v, int64_t u) LSTMC_LAMBDA {
          if (count == 1)
            project<v()>(s0, 1, u);
          step<v()>(s, s0, u);
        });
        endStep(s);
      }
    }
    giveState();
  }

private:
  void meet() {
    if (split_.meets)
      worker_.barrier();
  }

  int64_t stepAt(int64_t s) const { return reverse_ ? T_ - 1 - s : s; }
  float *projection(int64_t row, int64_t u) const {
    return projections_ + row * G * padded_ + u / kPanel * G * kPanel + u % kPanel;
  }

  /// Calls f(integral_constant<int, V>, first unit) for each of this worker's blocks of units,
  /// which have V vectors.
  template <typename F> LSTMC_INLINE void forBlocks(bool down, F f) {
    if constexpr (G > 1) {
      for (int64_t i = split_.unitBegin; i < split_.unitEnd && !stopAsked(); ++i)
        f(std::integral_constant<int, kVectors>{},
          (down ? split_.unitBegin + split_.unitEnd - 1 - i : i) * kUnits);
    } else {
      forColumnBlocks(split_.unitBegin, split_.unitEnd, down,
                      [&](auto v, int64_t granule) LSTMC_LAMBDA { f(v, granule * kUnits); });
    }
  }

  /// The block at unit u of a packed [G*H, K] matrix.
  auto block(const float *p, int64_t k, int64_t u) const {
    if constexpr (G > 1)
      return GateBlock<G>{p + u / kPanel * k * G * kPanel + u % kPanel};
    else
      return columnBlock(p, k, u / kGranule);
  }
  /// Where a block's results go, in padded memory; bias [G*H] may be absent.
  template <int V>
  BlockOutput<V> blockOutput(int64_t vectorStride, const Tensor &bias, int64_t u) const {
    BlockOutput<V> output;
    output.vectorStride = vectorStride;
    output.whole = true;
    output.hasBias = bool(bias);
    for (int v = 0; bias && v < V; ++v) {
      const int64_t unit = G > 1 ? u : u + v * kWidth;
      output.bias[v] = getVector(bias, (G > 1 ? v * H_ : 0) + unit, H_ - unit);
    }
    return output;
  }

  /// Calls f(b, u, place) for each row and vector of units of this worker; `place` is its offset in
  /// a blocked matrix.
  template <typename F> void forState(F f) const {
    const int64_t end = std::min(split_.unitEnd * kUnits, padded_);
    for (int64_t b = split_.rowBegin; b < split_.rowEnd; ++b)
      for (int64_t u = split_.unitBegin * kUnits; u < end; u += kWidth)
        f(b, u, (u / kPanel * B_ + b) * kPanel + u % kPanel);
  }

  /// Copies this worker's part of h0 and c0 into the blocked matrices. If the first step can read
  /// the rows of h0 directly, it needs no other worker's part.
  void bringState() {
    forState([&](int64_t b, int64_t u, int64_t place) {
      getState(l_.h0, b, u, H_ - u).store(h_[0] + place);
      getState(l_.c0, b, u, H_ - u).store(c_ + place);
    });
    rowsOfH0_ = l_.h0 && l_.h0.strides[1] == 1;
    if (!rowsOfH0_)
      meet();
  }

  void giveState() {
    forState([&](int64_t b, int64_t u, int64_t place) {
      if (l_.hN)
        putState(l_.hN, b, u, H_ - u, Vector::load(h_[T_ & 1] + place));
      if (l_.cN)
        putState(l_.cN, b, u, H_ - u, Vector::load(c_ + place));
    });
  }

  /// W x + bi of `count` steps from s0, for a block of units.
  template <int V> void project(int64_t s0, int64_t count, int64_t u) {
    const BlockOutput<V> output = blockOutput<V>(G > 1 ? kPanel : kWidth, l_.bi, u);
    const auto weights = block(l_.w.as<float>(), I_, u);
    const Tensor &x = l_.x;
    const float *rows[kPassRows];
    float *out[kPassRows];
    int64_t left = 0;
    if (!l_.length)
      left = count * (split_.rowEnd - split_.rowBegin);
    else
      for (int64_t s = s0; s < s0 + count; ++s)
        for (int64_t b = split_.rowBegin; b < split_.rowEnd; ++b)
          left += lengths_.has(stepAt(s), b);
    int64_t s = s0, b = split_.rowBegin;
    while (left > 0) {
      const int64_t passes = (left + kPassRows - 1) / kPassRows, now = (left + passes - 1) / passes;
      for (int64_t i = 0; i < now;) {
        const int64_t t = stepAt(s);
        if (lengths_.has(t, b)) {
          rows[i] = x.as<float>() + t * x.strides[0] + b * x.strides[1];
          out[i] = projection((s - s0) * B_ + b, u);
          ++i;
        }
        if (++b == split_.rowEnd) {
          b = split_.rowBegin;
          ++s;
        }
      }
      multiplyBlock<V>(rows, kGroup, out, now, weights, I_, output);
      left -= now;
    }
  }

  /// Step s of a block of units, for all rows that are real; the others keep their state in
  /// endStep().
  template <int V> void step(int64_t s, int64_t s0, int64_t u) {
    const BlockOutput<V> output = blockOutput<V>(kWidth, l_.bh, u);
    const auto weights = block(l_.r.as<float>(), H_, u);
    static_assert(sizeof(float[kPassRows][V * kWidth]) <= kWorkerBytes);
    auto *sums = reinterpret_cast<float(*)[V * kWidth]>(workerMemory);
    const float *rows[kPassRows];
    float *out[kPassRows];
    for (int64_t r = 0; r < std::min(active_, kPassRows); ++r)
      out[r] = sums[r];
    const int64_t t = stepAt(s);
    const bool h0 = s == 0 && rowsOfH0_;
    const float *now = h0 ? l_.h0.as<float>() : h_[s & 1];
    const int64_t rowStride = h0 ? l_.h0.strides[0] : kPanel;
    const int64_t groupStride = h0 ? kGroup : B_ * kPanel;
    int64_t real[kPassRows], begin = split_.rowBegin;
    for (int64_t r = 0; r < active_;) {
      const int64_t passes = (active_ - r + kPassRows - 1) / kPassRows;
      const int64_t count = (active_ - r + passes - 1) / passes;
      begin = lengths_.take(t, begin, count, real);
      for (int64_t i = 0; i < count; ++i)
        rows[i] = now + real[i] * rowStride;
      multiplyBlock<V>(rows, groupStride, out, count, weights, H_, output);
      if constexpr (G > 1) {
        int64_t i = 0;
        for (; i + kTogether <= count; i += kTogether)
          finish<kTogether>(s, t, [&](int j) LSTMC_LAMBDA {
            const int64_t b = real[i + j];
            return Place{b, u, projection((s - s0) * B_ + b, u), sums[i + j]};
          });
        for (; i < count; ++i) {
          const int64_t b = real[i];
          finish<1>(s, t,
                    [&](int) { return Place{b, u, projection((s - s0) * B_ + b, u), sums[i]}; });
        }
        if constexpr (kLstm) {
          for (i = 0; i + 2 * kTogether <= count; i += 2 * kTogether)
            giveOutput<2 * kTogether>(s, t, u, real + i, sums + i);
          for (; i < count; ++i)
            giveOutput<1>(s, t, u, real + i, sums + i);
        }
      } else {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t b = real[i];
          const float *projected = projection((s - s0) * B_ + b, u);
          finish<V>(s, t, [&](int v) LSTMC_LAMBDA {
            return Place{b, u + v * kWidth, projected + v * kWidth, sums[i] + v * kWidth};
          });
        }
      }
      r += count;
    }
  }

  /// For one row and one vector of units: where the two sums of each gate are.
  struct Place {
    int64_t b, u;
    const float *projected;
    float *sums;
  };

  /// Gates and state of R places, placeAt(0) to placeAt(R - 1). For an lstm, c and the gate o,
  /// which overwrites its sum.
  template <int R, typename F> LSTMC_INLINE void finish(int64_t s, int64_t t, F placeAt) {
    using V = Group<R>;
    Place places[R];
    int64_t at[R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      places[i] = placeAt(i);
      at[i] = (places[i].u / kPanel * B_ + places[i].b) * kPanel + places[i].u % kPanel;
    }
    V input[G], recurrent[G];
#pragma unroll
    for (int g = 0; g < G; ++g) {
      input[g] = group<R>([&](int i) { return Vector::load(places[i].projected + g * kPanel); });
      recurrent[g] = group<R>([&](int i) { return Vector::load(places[i].sums + g * kWidth); });
    }
    Cell<Mode, V> cell;
    const V before = cell.h = group<R>([&](int i) { return Vector::load(h_[s & 1] + at[i]); });
    if constexpr (kLstm)
      cell.c = group<R>([&](int i) { return Vector::load(c_ + at[i]); });
    cell.advance(input, recurrent);

#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int64_t b = places[i].b, u = places[i].u, real = H_ - u;
      if constexpr (kLstm) {
        member(cell.c, i).store(c_ + at[i]);
        member(cell.gates[kGateO], i).store(places[i].sums + kGateO * kWidth);
      } else {
        giveRow(s, t, b, u, at[i], member(cell.h, i));
      }
      if (l_.gates)
#pragma unroll
        for (int g = 0; g < G; ++g)
          putRow(l_.gates, t, b, g * H_ + u, real, member(cell.gates[g], i));
      if (l_.cells)
        putRow(l_.cells, t, b, u, real,
               member(kLstm ? cell.c : recurrent[Mode == RnnMode::Gru ? kGateN : 0], i));
      if (l_.before)
        putRow(l_.before, t, b, u, real, member(before, i));
    }
  }

  /// h of R rows of an lstm, after finish(). It is a long chain that depends on all gates, so more
  /// rows are computed at the same time than registers hold in finish().
  template <int R>
  LSTMC_INLINE void giveOutput(int64_t s, int64_t t, int64_t u, const int64_t *rows,
                               const float (*sums)[kVectors * kWidth]) {
    const auto at = [&](int i)
                        LSTMC_LAMBDA { return (u / kPanel * B_ + rows[i]) * kPanel + u % kPanel; };
    const auto c = group<R>([&](int i) LSTMC_LAMBDA { return Vector::load(c_ + at(i)); });
    const auto gate =
        group<R>([&](int i) LSTMC_LAMBDA { return Vector::load(sums[i] + kGateO * kWidth); });
    const auto h = Cell<Mode, Group<R>>::output(gate, c);
#pragma unroll
    for (int i = 0; i < R; ++i)
      giveRow(s, t, rows[i], u, at(i), member(h, i));
  }
  LSTMC_INLINE void giveRow(int64_t s, int64_t t, int64_t b, int64_t u, int64_t at, Vector h) {
    h.store(h_[~s & 1] + at);
    putRow(l_.y, t, b, u, H_ - u, h);
  }

  /// Rows that are not real keep their state; afterwards all workers have h of the next step.
  void endStep(int64_t s) {
    if (l_.length)
      for (int64_t b = split_.rowBegin; b < split_.rowEnd; ++b)
        if (!lengths_.has(stepAt(s), b))
          passBy(s, b);
    if (s + 1 < T_)
      meet();
  }

  void passBy(int64_t s, int64_t b) {
    const int64_t t = stepAt(s);
    for (int64_t u = split_.unitBegin * kUnits; u < std::min(split_.unitEnd * kUnits, padded_);
         u += kWidth) {
      const int64_t place = (u / kPanel * B_ + b) * kPanel + u % kPanel;
      const Vector h = Vector::load(h_[s & 1] + place), zero = Vector::zero();
      const int64_t real = H_ - u;
      h.store(h_[~s & 1] + place);
      putRow(l_.y, t, b, u, real, zero);
      if (l_.gates)
        for (int g = 0; g < G; ++g)
          putRow(l_.gates, t, b, g * H_ + u, real, zero);
      if (l_.cells)
        putRow(l_.cells, t, b, u, real, kLstm ? Vector::load(c_ + place) : zero);
      if (l_.before)
        putRow(l_.before, t, b, u, real, h);
    }
  }

  const RnnForwardLaunch l_; ///< a copy, which saves a load for each operand
  Worker &worker_;
  const bool reverse_;
  const int64_t T_, B_, H_, I_, chunk_, padded_;
  const RnnSplit split_;
  const RowLengths lengths_;

  float *projections_; ///< [chunk][B][Hpad/16][G][16]: W x + bi
  float *h_[2];        ///< [Hpad/16][B][16]: state before step s in h_[s & 1]
  float *c_;           ///< the same
  uint32_t *sweeps_;   ///< per worker: number of sweeps so far, over calls too; any start value
                       ///< will do

  int64_t active_ = 0;    ///< number of this worker's rows that are real at the step
  bool rowsOfH0_ = false; ///< the first step reads h0 directly
};

void rnnForward(const RnnForwardLaunch &launch, Worker &worker) {
  switch (launch.mode) {
  case RnnMode::Relu:
    return Forward<RnnMode::Relu>(launch, worker).run();
  case RnnMode::Tanh:
    return Forward<RnnMode::Tanh>(launch, worker).run();
  case RnnMode::Lstm:
    return Forward<RnnMode::Lstm>(launch, worker).run();
  case RnnMode::Gru:
    return Forward<RnnMode::Gru>(launch, worker).run();
  }
}

} // namespace

void registerRnnForward(KernelTable &table) { table.set<rnnForward>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
