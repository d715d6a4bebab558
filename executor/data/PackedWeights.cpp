#include "executor/data/PackedWeights.h"

#include <array>
#include <string>

#include <fmt/format.h>

namespace lstmc::data {

namespace {

using Find = std::function<std::optional<Array>(std::string_view)>;

/// Gates in the order in which their rows are stacked.
constexpr std::array<std::string_view, 4> kLstm = {"i", "f", "c", "o"};
constexpr std::array<std::string_view, 3> kGru = {"r", "z", "o"};

/// Puts `more` below `to`: rows of the same width and type.
bool append(Array &to, const Array &more) {
  if (to.dtype != more.dtype || to.shape.size() != more.shape.size() || to.shape.empty() ||
      !std::equal(to.shape.begin() + 1, to.shape.end(), more.shape.begin() + 1))
    return false;
  to.shape[0] += more.shape[0];
  to.bytes.insert(to.bytes.end(), more.bytes.begin(), more.bytes.end());
  return true;
}

/// `begin` and `end` are those of the name around the gate: "lstm_i2h_" and "_weight".
template <typename Gates>
std::optional<Array> stacked(std::string_view begin, std::string_view end, const Gates &gates,
                             const Find &find) {
  std::optional<Array> all;
  for (std::string_view gate : gates) {
    std::optional<Array> piece = find(fmt::format("{}{}{}", begin, gate, end));
    if (!piece || (all && !append(*all, *piece)))
      return std::nullopt;
    if (!all)
      all = std::move(piece);
  }
  return all;
}

std::optional<Array> byGates(std::string_view name, const Find &find) {
  for (std::string_view part : {"i2h", "h2h"})
    for (std::string_view end : {"_weight", "_bias"}) {
      if (!name.ends_with(std::string(part) + std::string(end)))
        continue;
      const std::string begin = std::string(name.substr(0, name.size() - end.size())) + "_";
      if (std::optional<Array> lstm = stacked(begin, end, kLstm, find))
        return lstm;
      return stacked(begin, end, kGru, find);
    }
  return std::nullopt;
}

std::optional<Array> wholeOrByGates(const std::string &name, const Find &find) {
  std::optional<Array> whole = find(name);
  return whole ? whole : byGates(name, find);
}

/// Appends all elements of the array of that name.
bool appendElements(Array &to, const std::string &name, const Find &find) {
  std::optional<Array> part = wholeOrByGates(name, find);
  if (!part)
    return false;
  int64_t elements = 1;
  for (int64_t extent : part->shape)
    elements *= extent;
  part->shape = {elements};
  if (to.shape.empty())
    to = std::move(*part);
  else if (!append(to, *part))
    return false;
  return true;
}

std::optional<Array> vector(std::string_view prefix, const Find &find) {
  constexpr int kMostLayers = 1000;
  Array all;
  for (std::string_view kind : {"weight", "bias"})
    for (int layer = 0; layer < kMostLayers; ++layer) {
      const auto nameOf = [&](char direction, std::string_view part) {
        return fmt::format("{}{}{}_{}_{}", prefix, direction, layer, part, kind);
      };
      if (!wholeOrByGates(nameOf('l', "i2h"), find)) {
        if (layer == 0)
          return std::nullopt;
        break;
      }
      for (char direction : {'l', 'r'}) {
        if (direction == 'r' && !wholeOrByGates(nameOf('r', "i2h"), find))
          continue;
        for (std::string_view part : {"i2h", "h2h"})
          if (!appendElements(all, nameOf(direction, part), find))
            return std::nullopt;
      }
    }
  return all;
}

} // namespace

std::optional<Array> packedWeights(std::string_view name, const Find &find) {
  constexpr std::string_view kVector = "parameters";
  return name.ends_with(kVector) ? vector(name.substr(0, name.size() - kVector.size()), find)
                                 : byGates(name, find);
}

} // namespace lstmc::data
