#include "frontend/cli/LayerMonitor.h"

#include <algorithm>
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

/// Gradients by buffer: what the launch reads that writes one parameter.
static std::map<uint32_t, std::string> gradientNames(const package::PackageData &data) {
  using package::Kind;
  std::map<uint32_t, std::string> names;
  auto look = [&](const package::Launch &launch) {
    std::set<std::string> parameters;
    std::vector<uint32_t> gradients;
    for (size_t i = 0; i < launch.operands.size(); ++i) {
      const uint32_t index = launch.operands[i].buffer;
      if (index == package::kNoBuffer)
        continue;
      const package::Buffer &buffer = data.buffers[index];
      if (buffer.kind == Kind::Parameter && package::writes(data, launch, i))
        parameters.insert(buffer.name);
      else if (buffer.kind == Kind::Gradient)
        gradients.push_back(index);
    }
    if (parameters.size() == 1)
      for (uint32_t gradient : gradients)
        names[gradient] = *parameters.begin() + "_grad";
  };
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs)
      std::ranges::for_each(program.launches, look);
  return names;
}

LayerMonitor::LayerMonitor(const Console &console, Session &session, std::string pattern,
                           int64_t interval)
    : console_(console), session_(session), pattern_(std::move(pattern)), interval_(interval),
      gradients_(gradientNames(session.package().data())) {}

void LayerMonitor::watch(int64_t update) {
  update_ = update + 1;
  session_.setObserver(update % interval_ == 0 ? this : nullptr);
}

void LayerMonitor::tick(const training::UpdateEvent &event) {
  if (looked_ && !found_) {
    Diagnostic warning;
    warning.code = ErrorCode::E0001;
    warning.severity = Severity::Warning;
    warning.message = fmt::format("--monitor has no effect: no layer, parameter or gradient has a "
                                  "name like \"{}\"",
                                  pattern_);
    console_.warn({warning});
    found_ = true; // once
  }
  watch(event.progress.update);
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
  looked_ = true;
  const package::PackageData &data = session_.package().data();
  for (size_t i = 0; i < view.operands.size(); ++i) {
    const DeviceTensor &operand = view.operands[i];
    if (!operand || operand.layout.elements() == 0 || !package::writes(data, view.launch, i))
      continue;
    const uint32_t index = view.launch.operands[i].buffer;
    const package::Buffer &buffer = data.buffers[index];
    auto gradient = gradients_.find(index);
    const std::string &name = gradient == gradients_.end() ? buffer.name : gradient->second;
    using package::Kind;
    bool shown =
        isFloat(buffer.dtype) && buffer.kind != Kind::Workspace && buffer.kind != Kind::Packed;
    if (!shown || !matches(view.location, name))
      continue;
    found_ = true;
    console_.say(fmt::format("monitor   update {} {} {} {:.6g}  {}:{}", update_, view.device, name,
                             statistic(operand.forHost(scratch_)), view.location.file,
                             view.location.line));
  }
}

} // namespace lstmc::cli
