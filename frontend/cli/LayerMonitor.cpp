#include "frontend/cli/LayerMonitor.h"

#include <cmath>

#include "executor/base/Numeric.h"
#include "executor/data/Elements.h"
#include "executor/package/Package.h"
#include "passes/NamePattern.h"

namespace lstmc::cli {

/// MXNet's default of Monitor: norm(x) / sqrt(x.size).
static double statistic(const Tensor &tensor) {
  double squares = 0;
  data::eachIndexBut(tensor, -1, [&](int64_t, int64_t offset) {
    double value = readElement<double>(tensor.data, tensor.dtype, offset);
    squares += value * value;
  });
  return std::sqrt(squares / double(tensor.elements()));
}

void LayerMonitor::watch(int64_t update) {
  update_ = update + 1;
  session_.setObserver(update % interval_ == 0 ? this : nullptr);
}

bool LayerMonitor::matches(const package::Location &location, std::string_view buffer) {
  auto place = std::tuple(location.file, location.line, location.column);
  if (passes::matchesPattern(location.name, pattern_)) {
    places_.insert(place);
    return true;
  }
  // A gradient is made where its layer was written, and has a name of its own.
  return passes::matchesPattern(buffer, pattern_) || places_.contains(place);
}

void LayerMonitor::after(const LaunchView &view) {
  if (view.entry != "step")
    return;
  const package::PackageData &data = session_.package().data();
  for (size_t i = 0; i < view.operands.size(); ++i) {
    const DeviceTensor &operand = view.operands[i];
    if (!operand || operand.layout.elements() == 0 || !package::writes(data, view.launch, i))
      continue;
    const package::Buffer &buffer = data.buffers[view.launch.operands[i].buffer];
    using package::Kind;
    bool shown =
        isFloat(buffer.dtype) && buffer.kind != Kind::Workspace && buffer.kind != Kind::Packed;
    if (!shown || !matches(view.location, buffer.name))
      continue;
    console_.say(fmt::format("monitor   update {} {} {} {:.6g}  {}:{}", update_, view.device,
                             buffer.name, statistic(operand.forHost(scratch_)), view.location.file,
                             view.location.line));
  }
}

} // namespace lstmc::cli
