#include "frontend/cli/GradientWatch.h"

#include <algorithm>
#include <cmath>

#include "executor/package/Package.h"

namespace lstmc::cli {

std::vector<GradientWatch::Sized> GradientWatch::sizesOf(const training::UpdateEvent &event,
                                                         bool biases) const {
  std::vector<Sized> sizes;
  for (const package::Parameter &parameter : package_.parameters) {
    auto norm = std::ranges::find(event.gradientNorms, parameter.name, &training::NamedNorm::name);
    const package::Buffer &buffer = package_.buffers[parameter.buffers[0]];
    if (norm != event.gradientNorms.end() && (buffer.shape.size() <= 1) == biases)
      sizes.push_back({&parameter, norm->value / std::sqrt(double(buffer.elements()))});
  }
  return sizes;
}

std::optional<GradientWatch::Finding> GradientWatch::farFromAll(std::vector<Sized> sizes,
                                                                bool biases) {
  if (sizes.size() < 3)
    return std::nullopt; // there is no median to speak of
  std::ranges::sort(sizes, {}, [](const Sized &one) { return std::pair(one.size, one.parameter); });
  const double median = sizes[sizes.size() / 2].size;
  auto vanished = std::ranges::count_if(
      sizes, [&](const Sized &one) { return one.size * kFarFromAll < median; });
  auto exploded = std::ranges::count_if(
      sizes, [&](const Sized &one) { return one.size > median * kFarFromAll; });
  if (vanished == 0 && exploded == 0)
    return std::nullopt;
  const Sized &worst = vanished > 0 ? sizes.front() : sizes.back();
  const char *kind = biases ? "bias" : "weight", *plural = biases ? "es" : "s";
  auto others = (vanished > 0 ? vanished : exploded) - 1;
  return Finding{
      worst.parameter,
      fmt::format("{}{} {}: {:.2g} an element, where the median of all {}{} is {:.2g}",
                  worst.parameter->name,
                  others > 0
                      ? fmt::format(" (and {} other {}{})", others, kind, others > 1 ? plural : "")
                      : "",
                  vanished > 0 ? "vanishes" : "explodes", worst.size, kind, plural, median)};
}

std::optional<GradientWatch::Finding>
GradientWatch::farFromNeighbours(const std::vector<Sized> &sizes) {
  for (size_t i = 1; i + 1 < sizes.size(); ++i) {
    const Sized &before = sizes[i - 1], &here = sizes[i], &after = sizes[i + 1];
    const bool vanishes = here.size * kFarFromNeighbours < std::min(before.size, after.size);
    if (vanishes || here.size > std::max(before.size, after.size) * kFarFromNeighbours)
      return Finding{here.parameter,
                     fmt::format("{} {}: {:.2g} an element, where {} before it has {:.2g} and {} "
                                 "after it {:.2g}",
                                 here.parameter->name, vanishes ? "vanishes" : "explodes",
                                 here.size, before.parameter->name, before.size,
                                 after.parameter->name, after.size)};
  }
  return std::nullopt;
}

void GradientWatch::look(const training::UpdateEvent &event) {
  if (warned_ || event.gradientNorms.empty())
    return;
  std::optional<Finding> found;
  for (bool biases : {false, true}) {
    const std::vector<Sized> sizes = sizesOf(event, biases);
    if (!found)
      found = farFromAll(sizes, biases);
    if (!found)
      found = farFromNeighbours(sizes);
  }
  if (!found)
    return;
  warned_ = true;
  Diagnostic warning;
  warning.code = ErrorCode::E0704;
  warning.severity = Severity::Warning;
  warning.place = package::rangeOf(package_.locations[found->parameter->location]);
  warning.message =
      fmt::format("at update {}, the gradient of {}", event.progress.update, found->text);
  console_.warn({warning});
}

} // namespace lstmc::cli
