#include "tests/nets/Chance.h"

#include <algorithm>

namespace lstmc::nets {

namespace {

/// Attributes that make an op draw no random numbers.
struct WithoutChance {
  std::string_view op, attribute;
  double number;
};
constexpr WithoutChance kWithoutChance[] = {
    {"Dropout", "p", 0},
    {"RNN", "p", 0},
    {"random_uniform", "low", 1},
    {"random_uniform", "high", 1},
    {"random_normal", "scale", 0},
    {"LeakyReLU", "lower_bound", 0.25},
    {"LeakyReLU", "upper_bound", 0.25},
};

} // namespace

void switchOffChance(symbol::NodeView &node) {
  for (const auto &[op, name, number] : kWithoutChance)
    if (node.op == op) {
      std::erase_if(node.attributes, [&](const auto &attribute) { return attribute.name == name; });
      node.attributes.push_back({std::string(name), number});
    }
}

} // namespace lstmc::nets
