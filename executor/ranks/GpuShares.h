// Which GPUs each rank has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::ranks {

struct Gpu {
  int number = 0;       ///< of its host
  std::string identity; ///< the same in every process that sees this GPU, and of no other one
  bool operator==(const Gpu &) const = default;
};

/// What a rank says of GPUs before it takes any.
struct GpusOfRank {
  std::string host;         ///< its name
  std::string machine;      ///< tells apart hosts of one name
  std::string kind;         ///< "gpu" or "emu"; empty: it has none and wants none
  bool one = false;         ///< wants one of its host's, another than the other ranks there
  std::vector<Gpu> gpus;    ///< those of its host if it wants one of them, else those that it wants
  std::string missing;      ///< why there are none
  std::string driver, nccl; ///< versions; empty: neither is used, or not here
};

std::string packGpus(const GpusOfRank &rank);
/// E0804 for a text that is none.
Result<GpusOfRank> unpackGpus(std::string_view text);

/// The GPUs of each rank. Of n ranks of a host that want one, in their order, the i-th has the
/// i-th. E0501 where a host has fewer than that, or where two ranks have the same GPU: with both
/// ranks, host and GPU. E0804 where ranks with GPUs have different drivers or NCCL.
Result<std::vector<std::vector<Gpu>>> shareOutGpus(const std::vector<GpusOfRank> &ranks);

} // namespace lstmc::ranks
