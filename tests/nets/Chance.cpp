#include "tests/nets/Chance.h"

#include <algorithm>

namespace lstmc::nets {

namespace {

/// Attributes that make an op draw no random numbers, or do in training what it does elsewhere.
struct WithoutChance {
  std::string_view op, attribute;
  symbol::AttributeValue value;
};
const WithoutChance kWithoutChance[] = {
    {"Dropout", "p", double(0)},           {"RNN", "p", double(0)},
    {"random_uniform", "low", double(1)},  {"random_uniform", "high", double(1)},
    {"random_normal", "scale", double(0)}, {"LeakyReLU", "lower_bound", 0.25},
    {"LeakyReLU", "upper_bound", 0.25},    {"BatchNorm", "use_global_stats", true},
};

} // namespace

void switchOffChance(symbol::NodeView &node) {
  for (const auto &[op, name, value] : kWithoutChance)
    if (node.op == op) {
      std::erase_if(node.attributes, [&](const auto &attribute) { return attribute.name == name; });
      node.attributes.push_back({std::string(name), value});
    }
}

} // namespace lstmc::nets
