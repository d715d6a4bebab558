#include "frontend/cli/GradientWatch.h"

#include <algorithm>
#include <cmath>

#include "executor/package/Package.h"

namespace lstmc::cli {

std::vector<GradientWatch::Weight>
GradientWatch::weightsOf(const training::UpdateEvent &event) const {
  std::vector<Weight> weights;
  for (const training::NamedNorm &norm : event.gradientNorms) {
    auto found = std::ranges::find(package_.parameters, norm.name, &package::Parameter::name);
    if (found == package_.parameters.end())
      continue;
    const package::Buffer &buffer = package_.buffers[found->buffers[0]];
    if (buffer.shape.size() > 1)
      weights.push_back({&*found, norm.value / std::sqrt(double(buffer.elements()))});
  }
  return weights;
}

void GradientWatch::look(const training::UpdateEvent &event) {
  if (warned_ || event.gradientNorms.empty())
    return;
  std::vector<Weight> weights = weightsOf(event);
  if (weights.size() < 3)
    return; // there is no median to speak of
  std::ranges::sort(weights, {},
                    [](const Weight &weight) { return std::pair(weight.size, weight.parameter); });
  const double median = weights[weights.size() / 2].size;
  auto vanished = std::ranges::count_if(
      weights, [&](const Weight &weight) { return weight.size * kFar < median; });
  auto exploded = std::ranges::count_if(
      weights, [&](const Weight &weight) { return weight.size > median * kFar; });
  if (vanished == 0 && exploded == 0)
    return;
  warned_ = true;
  const Weight &worst = vanished > 0 ? weights.front() : weights.back();
  auto others = (vanished > 0 ? vanished : exploded) - 1;
  Diagnostic warning;
  warning.code = ErrorCode::E0704;
  warning.severity = Severity::Warning;
  warning.place = package::rangeOf(package_.locations[worst.parameter->location]);
  warning.message = fmt::format(
      "the gradient of {}{} {}: {:.2g} an element at update {}, where the median of all weights is "
      "{:.2g}",
      worst.parameter->name,
      others > 0 ? fmt::format(" (and {} other weight{})", others, others > 1 ? "s" : "") : "",
      vanished > 0 ? "vanishes" : "explodes", worst.size, event.progress.update, median);
  console_.warn({warning});
}

} // namespace lstmc::cli
