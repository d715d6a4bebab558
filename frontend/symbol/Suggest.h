// "Did you mean": the one name that is near what was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc::symbol {

/// `did you mean "Embedding"?` with the candidate of the smallest edit distance, at most a third of
/// the length of what was written; empty if there is none, or more than one.
std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates);

} // namespace lstmc::symbol
