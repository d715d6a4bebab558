// Ways to run a training that have to give the same result.
#pragma once

#include <string>
#include <vector>

#include "tests/e2e/Net.h"

namespace lstmc::e2e {

/// Options of a user that do not change the numbers.
struct Variant {
  int devices = 1, stages = 1, chunks = 1, accumulate = 1;
  std::vector<int64_t> workLoads; ///< one per replica; empty: even
  passes::KvStore store = passes::KvStore::Device;
  bool updateOnStore = true;
  int64_t bigArrayBound = 0, bucketBytes = 0; ///< allVariants derives these from `threads`
  int threads = 1;                            ///< per device
  int ranks = 1;                              ///< that share the devices out

  std::string text() const;
  passes::CompileOptions applyTo(passes::CompileOptions options) const;
};

/// All variants for a model, on 1 to 8 devices.
std::vector<Variant> allVariants(const Model &model);

/// The same on 2 to 8 devices of 2 to 8 ranks, as many as devices or fewer.
std::vector<Variant> rankVariants(const Model &model);

/// Variants that divide rows and layers or place sums in another way: 1 to 8 devices, all stages
/// and chunks, parts one after the other, both stores, arrays divided and whole.
std::vector<Variant> sharingVariants(const Model &model);

/// Some variants, of one process and of ranks: every pair of values of two properties that occurs
/// in any variant occurs in one of them.
std::vector<Variant> coveringVariants(const Model &model);

/// The hash of the model's weights after so many updates of this variant. Ranks are threads of this
/// process, and have to agree.
uint64_t trainAs(const Model &model, const Variant &variant, int64_t updates);

} // namespace lstmc::e2e
