#include "executor/base/Limits.h"

#include <utility>

#include "executor/base/Tensor.h"

namespace lstmc {

Status setLimit(Limits &limits, std::string_view name, uint64_t value) {
  static constexpr std::pair<std::string_view, uint64_t Limits::*> kNames[] = {
      {"depth", &Limits::depth},   {"nodes", &Limits::nodes},
      {"rank", &Limits::rank},     {"name", &Limits::name},
      {"ratio", &Limits::ratio},   {"json-string", &Limits::jsonString},
      {"header", &Limits::header}, {"csv-line", &Limits::csvLine},
      {"record", &Limits::record}, {"data-memory", &Limits::dataMemory},
  };
  if (name == "rank" && value > kMaxRank)
    return fail(ErrorCode::E0001, "limit rank: found {}, want at most {}", value, kMaxRank);
  for (const auto &[known, member] : kNames) {
    if (name == known) {
      limits.*member = value;
      return {};
    }
  }
  return fail(ErrorCode::E0001,
              "limit \"{}\" is unknown; there are depth, nodes, rank, name, ratio, json-string, "
              "header, csv-line, record and data-memory",
              name);
}

} // namespace lstmc
