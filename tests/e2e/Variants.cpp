#include "tests/e2e/Variants.h"

#include <algorithm>
#include <exception>
#include <set>
#include <stdexcept>
#include <thread>

#include <fmt/ranges.h>

#include "executor/ranks/Job.h"
#include "tests/executor/ranks/LocalWire.h"

namespace lstmc::e2e {

std::string Variant::text() const {
  std::string text = ranks > 1 ? fmt::format("{} ranks, ", ranks) : "";
  text += fmt::format("{}xcpu", devices);
  if (stages > 1)
    text += fmt::format(" --place auto={} --chunks {}", stages, chunks);
  if (!workLoads.empty())
    text += fmt::format(" --work-load-list {}", fmt::join(workLoads, ","));
  return text + fmt::format(" --accumulate {} --kv-store {} --update-on-kvstore {} "
                            "--bigarray-bound {} --bucket-bytes {} -t {}",
                            accumulate, store == passes::KvStore::Local ? "local" : "device",
                            int(updateOnStore), bigArrayBound, bucketBytes, threads);
}

passes::CompileOptions Variant::applyTo(passes::CompileOptions options) const {
  options.devices.clear();
  for (int device = 0; device < devices; ++device)
    options.devices.push_back("cpu:" + std::to_string(device));
  options.stages = stages;
  options.chunks = chunks;
  options.accumulate = accumulate;
  options.workLoads = workLoads;
  options.kvStore = store;
  options.updateOnStore = updateOnStore;
  options.bigArrayBound = bigArrayBound;
  options.bucketBytes = bucketBytes;
  return options;
}

/// Even work, or the last replica with three times the work of the first.
static std::vector<std::vector<int64_t>> loadsOf(int replicas) {
  std::vector<std::vector<int64_t>> loads = {{}};
  if (replicas > 1) {
    loads.emplace_back(size_t(replicas), 2);
    loads.back().front() = 1;
    loads.back().back() = 3;
  }
  return loads;
}

std::vector<Variant> allVariants(const Model &model) {
  std::vector<Variant> variants;
  for (int devices = 1; devices <= 8; ++devices)
    for (int stages = 1; stages <= std::min(devices, model.stages); ++stages) {
      if (devices % stages != 0)
        continue;
      for (const std::vector<int64_t> &loads : loadsOf(devices / stages))
        for (int chunks : stages > 1 ? std::vector{1, 2, 5} : std::vector{1})
          for (int accumulate : {1, 2, 4})
            for (passes::KvStore store : {passes::KvStore::Local, passes::KvStore::Device})
              for (bool updateOnStore : {true, false})
                for (int threads : {1, 2, 3})
                  variants.push_back({.devices = devices,
                                      .stages = stages,
                                      .chunks = chunks,
                                      .accumulate = accumulate,
                                      .workLoads = loads,
                                      .store = store,
                                      .updateOnStore = updateOnStore,
                                      .bigArrayBound = threads == 2 ? 1 : 0,
                                      .bucketBytes = 1024 * (3 - threads),
                                      .threads = threads});
    }
  return variants;
}

std::vector<Variant> rankVariants(const Model &model) {
  std::vector<Variant> variants = allVariants(model);
  std::erase_if(variants, [](const Variant &v) { return v.devices == 1; });
  for (Variant &v : variants)
    v.ranks = v.threads == 1 ? v.devices : v.threads == 2 ? 2 : (v.devices + 1) / 2;
  std::erase_if(variants, [](const Variant &v) { return v.ranks == 1; });
  return variants;
}

std::vector<Variant> sharingVariants(const Model &model) {
  std::vector<Variant> variants = allVariants(model);
  std::erase_if(variants, [](const Variant &v) {
    int threads = v.store == passes::KvStore::Device ? 2 : 1;
    return !v.workLoads.empty() || !v.updateOnStore || v.threads != threads;
  });
  return variants;
}

std::vector<Variant> coveringVariants(const Model &model) {
  using Pair = std::tuple<size_t, int, size_t, int>;
  std::set<Pair> met;
  std::vector<Variant> chosen;
  auto pairs = [](const Variant &v) {
    int values[] = {v.devices,
                    v.stages,
                    v.chunks,
                    v.accumulate,
                    int(!v.workLoads.empty()),
                    int(v.store),
                    int(v.updateOnStore),
                    v.threads,
                    v.ranks};
    std::vector<Pair> pairs;
    for (size_t a = 0; a < std::size(values); ++a)
      for (size_t b = a + 1; b < std::size(values); ++b)
        pairs.push_back({a, values[a], b, values[b]});
    return pairs;
  };
  // Variants that cover most come first, so that few are needed; ties keep the order of the list.
  std::vector<Variant> all = allVariants(model), ofRanks = rankVariants(model);
  all.insert(all.end(), ofRanks.begin(), ofRanks.end());
  for (size_t wanted = pairs(Variant()).size(); wanted > 0; --wanted)
    for (const Variant &variant : all) {
      size_t isNew = 0;
      for (const Pair &pair : pairs(variant))
        isNew += !met.contains(pair);
      if (isNew < wanted)
        continue;
      for (const Pair &pair : pairs(variant))
        met.insert(pair);
      chosen.push_back(variant);
    }
  return chosen;
}

/// Each rank on a thread of its own, with messages in mailboxes.
static uint64_t trainInRanks(const package::PackageData &data, const Model &model,
                             const Variant &variant, int64_t updates) {
  auto mail = std::make_shared<test::Mailboxes>(variant.ranks);
  std::vector<uint64_t> hashes(size_t(variant.ranks), 0);
  std::vector<std::exception_ptr> failures(hashes.size());
  auto trainRank = [&](int rank) {
    auto link = ranks::Link::open(
        [&](std::string &) { return std::make_unique<test::LocalWire>(mail, rank); });
    if (!link.ok())
      throw std::runtime_error(link.error().text());
    auto job = std::make_shared<ranks::Job>(std::move(*link), nullptr);
    const auto session = openAsRank(data, variant.threads, job);
    if (!job->gather("bound").ok())
      throw std::runtime_error("the ranks do not come together");
    hashes[size_t(rank)] = train(*session, model, 1, updates);
  };
  auto work = [&](int rank) {
    try {
      trainRank(rank);
    } catch (...) {
      failures[size_t(rank)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < variant.ranks; ++rank)
    threads.emplace_back(work, rank);
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  if (std::ranges::count(hashes, hashes[0]) != variant.ranks)
    throw std::runtime_error(
        fmt::format("ranks have other weights: {:016x}", fmt::join(hashes, ", ")));
  return hashes[0];
}

uint64_t trainAs(const Model &model, const Variant &variant, int64_t updates) {
  Recipe recipe = model.recipe;
  recipe.compile = variant.applyTo(recipe.compile);
  const package::PackageData data = compileNet(recipe).package;
  if (variant.ranks > 1)
    return trainInRanks(data, model, variant, updates);
  return train(*openSession(data, variant.threads), model, 1, updates);
}

} // namespace lstmc::e2e
