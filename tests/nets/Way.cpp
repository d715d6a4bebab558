#include "tests/nets/Way.h"

#include <set>
#include <tuple>

#include "tests/nets/Draw.h"

namespace lstmc::nets {

std::string Way::text() const {
  return variant.text() + (place ? " --place each group" : "") +
         (recompute ? " --recompute all" : "") + (segments ? " --recompute steps=3" : "") + " at " +
         std::string(cpu::kLevelNames[size_t(level)]);
}

passes::CompileOptions Way::applyTo(passes::CompileOptions options,
                                    const std::vector<std::string> &groups,
                                    const std::vector<std::string> &layers) const {
  options = variant.applyTo(std::move(options));
  if (place)
    for (size_t i = 0; i < groups.size(); ++i)
      options.place.push_back({groups[i], options.devices[i % size_t(variant.stages)]});
  if (recompute) {
    options.recompute = groups;
    options.recompute.insert(options.recompute.end(), layers.begin(), layers.end());
  }
  options.segments = segments ? 3 : 0;
  return options;
}

/// A part of the batch has one of the eight shards.
static bool mayHaveSegments(const e2e::Variant &v) {
  return v.workLoads.empty() && v.devices / v.stages * v.accumulate >= 8;
}

Way simplest(Way way, const std::function<bool(const Way &)> &fails) {
  auto attempt = [&](auto change) {
    Way changed = way;
    change(changed);
    if (changed.text() != way.text() && fails(changed))
      way = changed;
  };
  attempt([](Way &w) { w = {.variant = {.devices = 2}}; });
  attempt([](Way &w) { w = {.variant = {.accumulate = 2}}; });
  attempt([](Way &w) { w = {.variant = {.devices = 2, .stages = 2}}; });
  attempt([](Way &w) { w.recompute = false; });
  attempt([](Way &w) { w.segments = false; });
  attempt([](Way &w) { w.place = false; });
  attempt([](Way &w) { w.level = cpu::machineLevel(); });
  attempt([](Way &w) { w.variant.threads = 1; });
  attempt([](Way &w) { w.variant.workLoads.clear(); });
  attempt([](Way &w) {
    w.variant.accumulate = 1;
    w.segments &= mayHaveSegments(w.variant);
  });
  attempt([](Way &w) { w.variant.chunks = 1; });
  attempt([](Way &w) { w.variant.bigArrayBound = 0; });
  attempt([](Way &w) { w.variant.bucketBytes = 0; });
  attempt([](Way &w) { w.variant.store = passes::KvStore::Local; });
  attempt([](Way &w) { w.variant.updateOnStore = true; });
  for (int stages : {1, 2, 3})
    for (int replicas : {1, 2, 3, 4})
      attempt([&](Way &w) {
        if (stages * replicas >= w.variant.devices || stages > w.variant.stages)
          return;
        w.variant.stages = stages;
        w.variant.devices = stages * replicas;
        w.variant.workLoads.clear();
        w.place &= stages > 1;
        w.variant.chunks = stages > 1 ? w.variant.chunks : 1;
        w.segments &= mayHaveSegments(w.variant);
      });
  return way;
}

namespace {

using Properties = std::vector<int64_t>;

Properties propertiesOf(const Way &way) {
  const e2e::Variant &v = way.variant;
  return {v.devices,          v.stages,        v.chunks,  v.accumulate,    !v.workLoads.empty(),
          int64_t(v.store),   v.updateOnStore, v.threads, v.bigArrayBound, v.bucketBytes,
          int64_t(way.level), way.recompute,   way.place, way.segments};
}

Way drawWay(Draw &draw) {
  Way way;
  e2e::Variant &v = way.variant;
  v.devices = int(draw.between(1, 8));
  v.stages = int(draw.between(1, std::min(4, v.devices)));
  while (v.devices % v.stages != 0)
    --v.stages;
  v.chunks = v.stages > 1 ? draw.oneOf({1, 2, 5}) : 1;
  v.accumulate = draw.oneOf({1, 1, 2, 4});
  if (int replicas = v.devices / v.stages; replicas > 1 && draw.chance(0.4)) {
    v.workLoads.assign(size_t(replicas), 2);
    v.workLoads.front() = 1;
    v.workLoads.back() = 3;
  }
  v.store = draw.chance(0.5) ? passes::KvStore::Local : passes::KvStore::Device;
  v.updateOnStore = draw.chance(0.5);
  v.threads = int(draw.between(1, 3));
  v.bigArrayBound = draw.oneOf({0, 1, 1});
  v.bucketBytes = draw.oneOf({0, 200, 2048});
  way.level = cpu::Level(draw.between(0, int64_t(cpu::machineLevel())));
  way.recompute = draw.chance(0.4);
  way.place = v.stages > 1 && draw.chance(0.4);
  way.segments = mayHaveSegments(v) && draw.chance(0.5);
  return way;
}

} // namespace

const std::vector<Way> &coveringWays() {
  static const std::vector<Way> kWays = [] {
    std::set<std::tuple<size_t, int64_t, size_t, int64_t>> met;
    std::vector<Way> chosen;
    Draw draw(1);
    // Take the best of some candidates, until none has anything new for a long time.
    for (int idle = 0; idle < 20;) {
      Way best;
      std::vector<std::tuple<size_t, int64_t, size_t, int64_t>> most;
      for (int candidate = 0; candidate < 60; ++candidate) {
        Way way = drawWay(draw);
        Properties values = propertiesOf(way);
        std::vector<std::tuple<size_t, int64_t, size_t, int64_t>> fresh;
        for (size_t a = 0; a < values.size(); ++a)
          for (size_t b = a + 1; b < values.size(); ++b)
            if (std::tuple pair{a, values[a], b, values[b]}; !met.contains(pair))
              fresh.push_back(pair);
        if (fresh.size() > most.size()) {
          most = std::move(fresh);
          best = way;
        }
      }
      if (most.empty()) {
        ++idle;
        continue;
      }
      met.insert(most.begin(), most.end());
      chosen.push_back(best);
    }
    return chosen;
  }();
  return kWays;
}

} // namespace lstmc::nets
