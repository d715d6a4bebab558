// Ways to carry one training out that must give one result.
#pragma once

#include <string>
#include <vector>

#include "tests/e2e/Net.h"

namespace lstmc::e2e {

/// What the user may ask for without asking for other numbers.
struct Variant {
  int devices = 1, stages = 1, chunks = 1, accumulate = 1;
  std::vector<int64_t> workLoads; ///< one per replica; empty: even
  passes::KvStore store = passes::KvStore::Device;
  bool updateOnStore = true;
  int64_t bigArrayBound = 0, bucketBytes = 0; ///< in allVariants, as many as there are threads say
  int threads = 1;                            ///< per device

  std::string text() const;
  passes::CompileOptions applyTo(passes::CompileOptions options) const;
};

/// All of them for a model, of 1 to 8 devices.
std::vector<Variant> allVariants(const Model &model);

/// Those that differ in who has which rows and layers, and where gradients are added: 1 to 8
/// devices, all stages and chunks, parts one after the other, both stores, arrays cut and whole.
std::vector<Variant> sharingVariants(const Model &model);

/// Some of them, in which every two values of two properties meet that meet in any.
std::vector<Variant> coveringVariants(const Model &model);

/// The hash of the model's weights after so many updates, carried out like that.
uint64_t trainAs(const Model &model, const Variant &variant, int64_t updates);

} // namespace lstmc::e2e
