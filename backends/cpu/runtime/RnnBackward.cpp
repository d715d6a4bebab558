// The kernel rnn_backward: one recurrent layer in one direction, steps descending, then the
// gradient of the inputs of all steps as one product. Work is divided as in rnn_forward.
#include "backends/cpu/runtime/Cell.h"
#include "backends/cpu/runtime/Columns.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/RnnSplit.h"
#include "backends/cpu/runtime/RowLengths.h"
#include "backends/cpu/runtime/Rows.h"
#include "executor/abi/Scratch.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

template <RnnMode Mode> class Backward {
  static constexpr int G = gateCount(Mode);
  static constexpr bool kLstm = Mode == RnnMode::Lstm, kGru = Mode == RnnMode::Gru;

public:
  Backward(const RnnBackwardLaunch &launch, Worker &worker)
      : l_(launch), worker_(worker), reverse_(launch.reverse), T_(l_.y.shape[0]), B_(l_.y.shape[1]),
        H_(l_.y.shape[2]), padded_(roundUp(H_, kPanel)),
        split_(worker.index, worker.count, B_, granules(H_), 4 * G * H_ * H_, bool(l_.length)),
        lengths_(l_.length, B_, T_) {
    float *at = l_.scratch.as<float>();
    const auto parts = scratchOf(launch, B_, H_, sizeof(float));
    hidden_[0] = at;
    hidden_[1] = at + parts.next;
    dh_ = at + parts.dh;
    dc_ = at + parts.dc;
  }

  /// Out of line, so that the sums of all modes are not in one frame.
  __attribute__((noinline)) void run() {
    if (!split_.idle)
      backward();
    if (!l_.dx)
      return;
    worker_.barrier();
    const Tensor &dgates = l_.dgates, &dx = l_.dx;
    RowGrid grid{T_,
                 B_,
                 dgates.as<float>(),
                 dgates.strides[0],
                 dgates.strides[1],
                 dx.as<float>(),
                 dx.strides[0],
                 dx.strides[1]};
    multiplyGrid(grid, l_.wt.as<float>(), dx.shape[2], G * H_, Tensor(), worker_.index,
                 worker_.count);
  }

private:
  void backward() {
    bringState();
    bool down = false;
    for (int64_t s = T_ - 1; s >= 0; --s) {
      forBlocks(down = !down, [&](auto v, int64_t u) LSTMC_LAMBDA {
        if (s + 1 < T_)
          carry<v()>(s + 1, u);
        step<v()>(s, u);
      });
      active_ = split_.unitBegin == split_.unitEnd
                    ? 0
                    : lengths_.count(stepAt(s), split_.rowBegin, split_.rowEnd);
      if (s > 0 || l_.dh0)
        meet();
    }
    if (l_.dh0 && T_ > 0)
      forBlocks(!down, [&](auto v, int64_t u) LSTMC_LAMBDA { carry<v()>(0, u); });
    giveState();
  }

  void meet() {
    if (split_.meets)
      worker_.barrier();
  }
  int64_t stepAt(int64_t s) const { return reverse_ ? T_ - 1 - s : s; }
  bool counts(int64_t s, int64_t b) const { return lengths_.has(stepAt(s), b); }
  /// Offset of the units from u of row b in a matrix blocked as [Hpad/16][B][16].
  int64_t place(int64_t b, int64_t u) const { return (u / kPanel * B_ + b) * kPanel + u % kPanel; }

  template <typename F> LSTMC_INLINE void forBlocks(bool down, F f) {
    forColumnBlocks(split_.unitBegin, split_.unitEnd, down,
                    [&](auto v, int64_t granule) LSTMC_LAMBDA { f(v, granule * kGranule); });
  }

  /// Calls f(b, u) for each row and vector of units of this worker.
  template <typename F> void forState(F f) const {
    const int64_t end = std::min(split_.unitEnd * kGranule, padded_);
    for (int64_t b = split_.rowBegin; b < split_.rowEnd; ++b)
      for (int64_t u = split_.unitBegin * kGranule; u < end; u += kWidth)
        f(b, u);
  }
  void bringState() {
    forState([&](int64_t b, int64_t u) {
      getState(l_.dhN, b, u, H_ - u).store(dh_ + place(b, u));
      getState(l_.dcN, b, u, H_ - u).store(dc_ + place(b, u));
    });
  }
  void giveState() {
    forState([&](int64_t b, int64_t u) {
      if (l_.dh0)
        putState(l_.dh0, b, u, H_ - u, Vector::load(dh_ + place(b, u)));
      if (l_.dc0)
        putState(l_.dc0, b, u, H_ - u, Vector::load(dc_ + place(b, u)));
    });
  }

  /// dh before step s, for rows that are real at s: the gradients of R h + bh times R, in one chain
  /// over all gates.
  template <int V> void carry(int64_t s, int64_t u) {
    BlockOutput<V> output;
    output.vectorStride = kWidth;
    output.whole = true;
    PanelBlock weights = columnBlock(l_.rt.as<float>(), G * H_, u / kGranule);
    alignas(64) float sums[kPassRows][V * kWidth];
    const float *rows[kPassRows];
    float *out[kPassRows];
    for (int64_t r = 0; r < std::min(active_, kPassRows); ++r)
      out[r] = sums[r];
    int64_t real[kPassRows], begin = split_.rowBegin;
    for (int64_t r = 0; r < active_;) {
      const int64_t passes = (active_ - r + kPassRows - 1) / kPassRows;
      const int64_t count = (active_ - r + passes - 1) / passes;
      begin = lengths_.take(stepAt(s), begin, count, real);
      for (int g = 0; g < G; ++g) {
        for (int64_t i = 0; i < count; ++i)
          rows[i] = hidden_[s & 1] + g * B_ * padded_ + real[i] * kPanel;
        multiplyBlock<V>(rows, B_ * kPanel, out, count, weights.from(g * H_), H_, output, g > 0,
                         g == G - 1);
      }
      for (int64_t i = 0; i < count; ++i)
        for (int v = 0; v < V; ++v) {
          float *dh = dh_ + place(real[i], u + v * kWidth);
          Vector product = Vector::load(sums[i] + v * kWidth);
          if constexpr (kGru)
            product = product + Vector::load(dh);
          product.store(dh);
        }
      r += count;
    }
  }

  template <int V> void step(int64_t s, int64_t u) {
    for (int64_t b = split_.rowBegin; b < split_.rowEnd; ++b)
      if (counts(s, b))
        backward<V>(s, b, u);
      else
        for (int v = 0; v < V; ++v)
          passBy(s, b, u + v * kWidth);
  }

  /// Computes one row and R vectors of units.
  template <int R> void backward(int64_t s, int64_t b, int64_t u) {
    const int64_t t = stepAt(s);
    const bool first = s == 0 || !counts(s - 1, b);
    const int64_t previous = first ? 0 : stepAt(s - 1);
    auto state = [&](const float *matrix) {
      return group<R>([&](int i) { return Vector::load(matrix + place(b, u + i * kWidth)); });
    };
    auto row = [&](const Tensor &from, int64_t step, int64_t offset) {
      return group<R>([&](int i) {
        const int64_t unit = u + i * kWidth;
        return getRow(from, step, b, offset + unit, H_ - unit);
      });
    };
    auto initial = [&](const Tensor &from) {
      return group<R>([&](int i) {
        const int64_t unit = u + i * kWidth;
        return getState(from, b, unit, H_ - unit);
      });
    };
    CellGradient<Mode, Group<R>> cell;
    cell.dh = state(dh_) + (l_.dy ? row(l_.dy, t, 0) : Group<R>::zero());
#pragma unroll
    for (int g = 0; g < G; ++g)
      cell.gates[g] = row(l_.gates, t, g * H_);
    if constexpr (kLstm || kGru)
      cell.cell = row(l_.cells, t, 0);
    if constexpr (kLstm) {
      cell.dc = state(dc_);
      cell.cBefore = !first ? row(l_.cells, previous, 0) : initial(l_.c0);
    }
    if constexpr (kGru)
      cell.before = l_.before ? row(l_.before, t, 0)
                    : !first  ? row(l_.y, previous, 0)
                              : initial(l_.h0);
    cell.backward();
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int64_t unit = u + i * kWidth, at = place(b, unit);
      if constexpr (kLstm)
        member(cell.dc, i).store(dc_ + at);
      if constexpr (kGru)
        member(cell.direct, i).store(dh_ + at);
#pragma unroll
      for (int g = 0; g < G; ++g)
        putGate(t, b, unit, g, hidden_[s & 1] + at, member(cell.input[g], i),
                member(cell.hidden[g], i));
    }
  }

  LSTMC_INLINE void putGate(int64_t t, int64_t b, int64_t u, int g, float *blocked, Vector input,
                            Vector hidden) {
    hidden.store(blocked + g * B_ * padded_);
    putRow(l_.dgates, t, b, g * H_ + u, H_ - u, input);
    if (l_.dhidden)
      putRow(l_.dhidden, t, b, g * H_ + u, H_ - u, hidden);
  }

  void passBy(int64_t s, int64_t b, int64_t u) {
    for (int g = 0; g < G; ++g)
      putGate(stepAt(s), b, u, g, hidden_[s & 1] + place(b, u), Vector::zero(), Vector::zero());
  }

  const RnnBackwardLaunch l_; ///< a copy, which saves a load for each operand
  Worker &worker_;
  const bool reverse_;
  const int64_t T_, B_, H_, padded_;
  const RnnSplit split_;
  const RowLengths lengths_;

  float *hidden_[2];   ///< [G][Hpad/16][B][16]: gradient of R h + bh at step s in hidden_[s & 1]
  float *dh_, *dc_;    ///< [Hpad/16][B][16]: gradient of the state after the step
  int64_t active_ = 0; ///< number of this worker's rows that were real at the step after this one
};

void rnnBackward(const RnnBackwardLaunch &launch, Worker &worker) {
  switch (launch.mode) {
  case RnnMode::Relu:
    return Backward<RnnMode::Relu>(launch, worker).run();
  case RnnMode::Tanh:
    return Backward<RnnMode::Tanh>(launch, worker).run();
  case RnnMode::Lstm:
    return Backward<RnnMode::Lstm>(launch, worker).run();
  case RnnMode::Gru:
    return Backward<RnnMode::Gru>(launch, worker).run();
  }
}

} // namespace

void registerRnnBackward(KernelTable &table) { table.set<rnnBackward>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
