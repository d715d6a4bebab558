#include "executor/stores/NetworkDigest.h"

#include <fmt/ranges.h>

#include "executor/abi/FastRules.h"
#include "executor/base/Sha256.h"

namespace lstmc::stores {

std::string networkDigest(const package::Package &package) {
  const package::PackageData &data = package.data();
  std::string text =
      fmt::format("producer {}\nnet {}\ngraph {}\nnumerics {}\nshards {}\n", data.producer,
                  data.net, data.graphHash, data.numerics, data.shards);
  for (const auto &[kind, settings] : {std::pair("setting", &data.settings), {"fit", &data.fit}})
    for (const package::Setting &setting : *settings)
      text += fmt::format("{} {}={}\n", kind, setting.name, setting.value);
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &input : entry.inputs)
      text += fmt::format("{} {} {}\n", entry.name, input.name,
                          fmt::join(data.buffers[input.buffer].shape, "x"));
  for (const package::State &state : data.states)
    text += fmt::format("state {}\n", state.name);
  if (fastRulesOf(data.numerics) != FastRules())
    text += fmt::format("package {}\n", package.digest());
  return sha256({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

} // namespace lstmc::stores
