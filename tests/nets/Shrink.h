// A failing net made small.
#pragma once

#include <functional>
#include <string>

namespace lstmc::nets {

/// The smallest text that is found to fail still: outputs, nodes, attributes, scopes and training
/// values are left out one by one, and the batch made smaller, as long as `fails` says so.
std::string shrink(const std::string &text, const std::function<bool(const std::string &)> &fails);

} // namespace lstmc::nets
