#include "backends/cpu/rates/Rates.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

namespace lstmc::cpu {

using Lanes = float __attribute__((vector_size(64)));

/// Reads everything once; the sum keeps the compiler from removing the reads.
static float readOnce(const std::vector<Lanes> &data) {
  Lanes a{}, b{}, c{}, d{};
  for (size_t i = 0; i + 4 <= data.size(); i += 4) {
    a += data[i];
    b += data[i + 1];
    c += data[i + 2];
    d += data[i + 3];
  }
  Lanes sum = (a + b) + (c + d);
  return sum[0];
}

static double rateOfOne(size_t bytes) {
  std::vector<Lanes> data(std::max<size_t>(bytes / sizeof(Lanes), 4));
  volatile float sink = readOnce(data);
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    int passes = int(std::max<size_t>(1, (size_t(64) << 20) / std::max<size_t>(bytes, 1)));
    auto begin = std::chrono::steady_clock::now();
    for (int pass = 0; pass < passes; ++pass)
      sink = sink + readOnce(data);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, double(data.size() * sizeof(Lanes)) * passes / seconds);
  }
  return best;
}

double streamRate(size_t bytes, int threads) {
  static std::map<std::pair<size_t, int>, double> known;
  auto [found, isNew] = known.try_emplace({bytes, threads}, 0);
  if (isNew) {
    std::vector<double> rates(size_t(threads), 0.0);
    {
      std::vector<std::jthread> team; // joins the threads also if one cannot be started
      for (int i = 0; i < threads; ++i)
        team.emplace_back([&, i] { rates[size_t(i)] = rateOfOne(bytes / size_t(threads)); });
    }
    for (double rate : rates)
      found->second += rate;
  }
  return found->second;
}

} // namespace lstmc::cpu
