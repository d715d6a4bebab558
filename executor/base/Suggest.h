// "Did you mean": the one name that is near what was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

/// The candidate of the smallest edit distance, at most a third of the length of `written`; empty
/// on a tie and for more than 64 letters.
std::string nearest(std::string_view written, const std::vector<std::string_view> &candidates);

/// All of them, the nearest to `written` first; equally near ones as they stand, and
/// so all of them where `written` has more than 64 letters.
std::vector<std::string_view> nearestFirst(std::string_view written,
                                           std::vector<std::string_view> candidates);

/// `did you mean "Embedding"?`, or empty.
std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates);

} // namespace lstmc
