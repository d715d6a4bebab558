#include "passes/planning/Remedies.h"

#include <algorithm>

namespace lstmc::planning {

namespace {

class Search {
public:
  Search(double seconds, const PlanWith &planWith) : seconds_(seconds), planWith_(planWith) {}

  /// Whether the plan fits with the change, which is then kept.
  bool fitsWith(Change change) {
    std::optional<Outcome> outcome = planWith_(change);
    if (!outcome)
      return false;
    Remedy remedy{std::move(change), std::move(outcome->peaks),
                  outcome->seconds / std::max(seconds_, 1e-12) - 1};
    if (!result_.nearest || mostOf(remedy.peaks) < mostOf(result_.nearest->peaks))
      result_.nearest = remedy;
    if (!outcome->fits)
      return false;
    auto isSame = [&](const Remedy &known) {
      return known.peaks == remedy.peaks && known.timeFraction == remedy.timeFraction;
    };
    if (std::none_of(result_.found.begin(), result_.found.end(),
                     isSame)) // a split may come out as another remedy
      result_.found.push_back(std::move(remedy));
    return true;
  }

  Remedies take() { return std::move(result_); }

private:
  double seconds_;
  const PlanWith &planWith_;
  Remedies result_;
};

} // namespace

uint64_t mostOf(const std::vector<uint64_t> &peaks) {
  return peaks.empty() ? 0 : *std::max_element(peaks.begin(), peaks.end());
}

Remedies remediesFor(const Misfit &misfit, const PlanWith &planWith) {
  Search search(misfit.seconds, planWith);
  for (const std::vector<std::string> &layers : misfit.layers)
    if (search.fitsWith({Change::Kind::Recompute, 0, layers}))
      break;
  for (const std::string &steps : misfit.steps)
    if (search.fitsWith({Change::Kind::Recompute, 0, {steps}}))
      break;
  for (int64_t parts = 2 * misfit.accumulate; parts <= 8 * misfit.accumulate; parts *= 2)
    if (search.fitsWith({Change::Kind::Accumulate, parts}))
      break;
  for (Change::Kind kind : {Change::Kind::Replicas, Change::Kind::Split})
    for (size_t count = 2 * misfit.devices; count <= misfit.mostDevices; count *= 2)
      if (search.fitsWith({kind, int64_t(count)}))
        break;
  for (int64_t rows = misfit.batch.value_or(0) / 2; rows >= 1; rows /= 2)
    if (search.fitsWith({Change::Kind::Batch, rows}))
      break;
  return search.take();
}

} // namespace lstmc::planning
