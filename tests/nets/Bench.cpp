#include "tests/nets/Bench.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "passes/planning/Layouts.h"

namespace lstmc::nets {

namespace {

void check(const Status &status, std::string_view what) {
  if (!status.ok())
    throw std::runtime_error(fmt::format("{}: {}", what, status.error().text()));
}
template <typename T> T check(Result<T> made, std::string_view what) {
  if (!made.ok())
    throw std::runtime_error(fmt::format("{}: {}", what, made.error().text()));
  return std::move(*made);
}

template <typename T> bool allFinite(const Tensor &x) {
  return std::all_of(x.as<T>(), x.as<T>() + x.elements(), [](T v) { return std::isfinite(v); });
}
bool finite(const Tensor &x) {
  return x.dtype == DType::F32   ? allFinite<float>(x)
         : x.dtype == DType::F64 ? allFinite<double>(x)
                                 : true;
}

uint64_t hashOf(const Tensor &x) {
  return hashBytes(x.data, size_t(x.elements()) * dtypeBytes(x.dtype));
}

double element(const std::string &name, DType dtype, double u) {
  if (name.starts_with("length"))
    return std::floor(u * 6);
  if (!isFloat(dtype) || name.starts_with("index") || name.ends_with("label"))
    return std::floor(u * 3);
  return 2 * u - 1;
}

class Run {
public:
  Run(Session &session, double learningRate, uint64_t seed)
      : session_(session), data_(session.package().data()), seed_(seed) {
    session.setScalar("learning_rate", learningRate);
    session.setScalar("seed", int64_t(3));
    session.setScalar("update", int64_t(1));
  }

  Outcome run() {
    for (const char *entry : {"forward", "evaluate"})
      if (session_.hasEntry(entry)) {
        session_.resetStates();
        if (!call(entry, 1))
          return std::move(outcome_);
      }
    session_.resetStates();
    for (int64_t update = 1; update <= 3 && session_.hasEntry("step"); ++update)
      if (!call("step", update))
        return std::move(outcome_);
    keepWhatPersists();
    for (const DevicePeak &peak : session_.peaks())
      if (peak.touchedBytes > peak.plannedBytes)
        throw std::runtime_error(fmt::format("{} used {} bytes of {} that were planned",
                                             peak.device, peak.touchedBytes, peak.plannedBytes));
    return std::move(outcome_);
  }

private:
  /// False if a value is not finite.
  bool call(const std::string &entry, int64_t update) {
    if (filled_ != std::pair(entry, update))
      feed(session_, entry, update, seed_);
    session_.setScalar("update", update);
    // As in a training loop; not called if the host can access the memory of inputs.
    Status done = session_.run(entry, [&] {
      feed(session_, entry, update + 1, seed_);
      filled_ = {entry, update + 1};
      return true;
    });
    if (!done.ok() && done.error().code == ErrorCode::E0701)
      return isNotFinite(entry);
    check(done, entry);
    for (const package::Binding &output :
         data_.entries[*session_.package().findEntry(entry)].outputs)
      if (!keep(fmt::format("{} of {} {}", output.name, entry, update),
                check(session_.output(entry, output.name), output.name)))
        return false;
    return true;
  }
  bool isNotFinite(const std::string &where) {
    outcome_.notFinite = where;
    return false;
  }
  bool keep(std::string name, const Tensor &value) {
    if (!finite(value))
      return isNotFinite(name);
    outcome_.bits.push_back({std::move(name), hashOf(value)});
    return true;
  }

  void keepWhatPersists() {
    for (const package::State &state : data_.states)
      keep("state " + state.name, check(session_.state(state.name), state.name));
    for (const package::Parameter &parameter : data_.parameters) {
      keep("parameter " + parameter.name,
           check(session_.parameter(parameter.name), parameter.name));
      for (const package::Slot &slot : parameter.slots)
        keep(parameter.name + "'s " + slot.name,
             check(session_.slot(parameter.name, slot.name), parameter.name));
    }
  }

  Session &session_;
  const package::PackageData &data_;
  uint64_t seed_;
  std::pair<std::string, int64_t> filled_; ///< the entry and the update that have their inputs
  Outcome outcome_;
};

/// The optimizer that fit(..) names.
passes::CompileOptions optionsOf(const symbol::Network &net, double &learningRate) {
  passes::CompileOptions options;
  options.net = net.net;
  for (const symbol::Setting &setting : net.fit) {
    auto number = std::get_if<double>(&setting.value);
    auto text = std::get_if<std::string>(&setting.value);
    if (setting.key == "optimizer" && text)
      options.optimizer.name = *text;
    else if (setting.key == "carry" && text)
      options.carry = {*text};
    else if (!number)
      continue;
    else if (setting.key == "learning_rate")
      learningRate = *number;
    else if (setting.key == "momentum")
      options.optimizer.keys["momentum"] = *number;
    else if (setting.key == "wd")
      options.optimizer.wd = *number;
    else if (setting.key == "clip_gradient")
      options.optimizer.clipGradient = *number;
    else if (setting.key == "clip_gradient_norm")
      options.optimizer.clipGradientNorm = *number;
  }
  return options;
}

symbol::Network load(const std::string &text) {
  Checked<symbol::Network> net = lnet::loadText("net.lnet", text);
  if (!net.ok())
    throw std::runtime_error(symbol::render(net.diagnostics()));
  return std::move(*net);
}

} // namespace

std::string Outcome::differsFrom(const Outcome &other) const {
  if (notFinite != other.notFinite)
    return notFinite.empty() ? other.notFinite : notFinite;
  if (!notFinite.empty())
    return {};
  if (bits.size() != other.bits.size())
    return fmt::format("{} values instead of {}", bits.size(), other.bits.size());
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] != other.bits[i])
      return bits[i].first;
  return {};
}

void feed(Session &session, std::string_view entry, int64_t update, uint64_t seed) {
  const package::PackageData &data = session.package().data();
  for (const package::Binding &binding : data.entries[*session.package().findEntry(entry)].inputs) {
    if (binding.role == "scalar")
      continue;
    Tensor to = check(session.input(entry, binding.name), binding.name);
    auto salt = uint32_t(hashBytes(binding.name.data(), binding.name.size()));
    for (int64_t i = 0; i < to.elements(); ++i) {
      double value =
          element(binding.name, to.dtype, randomUniform(seed, uint64_t(i), salt, uint32_t(update)));
      writeElement(to.data, to.dtype, i, value);
    }
  }
}

Outcome carryOut(Session &session, double learningRate, uint64_t seed) {
  return Run(session, learningRate, seed).run();
}

Bench::Bench(const std::string &text) : net_(load(text)), view_(symbol::view(*net_.graph)) {
  options_ = optionsOf(net_, learningRate_);
  for (const symbol::NodeView &node : view_.nodes) {
    if (!node.group.empty() && std::ranges::find(groups_, node.group) == groups_.end())
      groups_.push_back(node.group);
    if (node.kind == symbol::NodeView::Kind::Op && (node.op == "RNN" || layers_.size() % 2 == 1))
      layers_.push_back(node.name);
  }
  module_ = symbol::takeModule(*net_.graph);
}

Checked<passes::Compiled> Bench::compile(const passes::CompileOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module_->clone();
  return planning::compile(*copy, options);
}

} // namespace lstmc::nets
