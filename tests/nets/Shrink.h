// Reduces a failing net.
#pragma once

#include <functional>
#include <string>

namespace lstmc::nets {

/// The smallest text found that still fails: outputs, nodes, attributes, scopes and training
/// settings are removed one by one, and the batch is made smaller, as long as `fails` is true.
std::string shrink(const std::string &text, const std::function<bool(const std::string &)> &fails);

} // namespace lstmc::nets
