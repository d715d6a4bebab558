#include "executor/session/HostScalars.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/ranges.h>

#include "executor/base/Numeric.h"
#include "executor/base/Quote.h"

namespace lstmc::session {
namespace {

constexpr std::string_view kRate = "learning_rate", kUpdate = "update", kSeed = "seed";

double realOf(const ScalarInput &scalar) {
  return scalar.isInteger ? double(scalar.integer) : scalar.real;
}
int64_t integerOf(const ScalarInput &scalar) {
  return scalar.isInteger ? scalar.integer : convert<int64_t>(scalar.real);
}

/// As a view has the value.
std::array<std::byte, 8> encoded(const ScalarInput &scalar) {
  std::array<std::byte, 8> bytes = {};
  if (scalar.isInteger)
    writeElement(bytes.data(), scalar.place.layout.dtype, 0, scalar.integer);
  else
    writeElement(bytes.data(), scalar.place.layout.dtype, 0, scalar.real);
  return bytes;
}

void assign(ScalarInput &scalar, double value) {
  scalar.isInteger = false;
  scalar.real = value;
  scalar.integer = convert<int64_t>(value);
}
void assign(ScalarInput &scalar, int64_t value) {
  scalar.isInteger = true;
  scalar.integer = value;
  scalar.real = double(value);
}

/// Index of the row's input that a scalar is; kMostInputs if it is none.
size_t inputOf(const UpdateFormula &formula, std::string_view name) {
  const auto &inputs = formula.row().inputs;
  const std::string_view plain = name.substr(std::min(name.size(), kOptimizerPrefix.size()));
  return plain.empty() ? kMostInputs : size_t(std::ranges::find(inputs, plain) - inputs);
}

} // namespace

HostScalars::HostScalars(const package::PackageData &data, BoundEntry &entry)
    : entry_(&entry), held_(entry.scalars.size()) {
  if (!entry.source)
    return; // one that is not run
  std::vector<bool> read(data.buffers.size());
  for (const package::DeviceProgram &program : entry.source->programs)
    for (const package::Launch &launch : program.launches)
      for (const package::Operand &operand : launch.operands)
        if (operand.buffer != package::kNoBuffer)
          read[operand.buffer] = true;
  size_t next = 0;
  for (const package::Binding &input : entry.source->inputs) {
    if (input.role != "scalar")
      continue;
    ScalarInput &scalar = entry.scalars[next];
    if (entry.changesParameters && isFloat(scalar.place.layout.dtype))
      assign(scalar, std::numeric_limits<double>::quiet_NaN());
    held_[next] = {encoded(scalar), read[input.buffer]};
    ++next;
  }
}

const ScalarInput *HostScalars::find(std::string_view name) const {
  auto found = std::ranges::find(entry_->scalars, name, &ScalarInput::name);
  return found == entry_->scalars.end() ? nullptr : &*found;
}

Tensor HostScalars::view(std::string_view name) {
  const ScalarInput *scalar = find(name);
  if (!scalar)
    return {};
  Tensor view = scalar->place.layout;
  view.data = held_[size_t(scalar - entry_->scalars.data())].bytes.data();
  return view;
}

template <typename T> bool HostScalars::set(std::string_view name, T value) {
  const ScalarInput *found = find(name);
  if (!found)
    return false;
  const auto at = size_t(found - entry_->scalars.data());
  assign(entry_->scalars[at], value);
  held_[at].bytes = encoded(entry_->scalars[at]);
  return true;
}
template bool HostScalars::set(std::string_view, double);
template bool HostScalars::set(std::string_view, int64_t);

bool HostScalars::isMissing(size_t at, const UpdateFormula &formula) const {
  const ScalarInput &scalar = entry_->scalars[at];
  if (scalar.name == kSeed || scalar.name.starts_with(kOptimizerPrefix))
    return false;
  if (!held_[at].read && !(scalar.name == kUpdate && formula.readsUpdate()))
    return false;
  if (isFloat(scalar.place.layout.dtype))
    return std::isnan(realOf(scalar));
  return scalar.name == kUpdate && integerOf(scalar) == 0;
}

Status HostScalars::missing(const UpdateFormula &formula) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < entry_->scalars.size(); ++i) {
    const std::string_view name = entry_->scalars[i].name;
    if (isMissing(i, formula))
      names.push_back(name == kRate     ? "learning_rate (the rate of this update)"
                      : name == kUpdate ? "update (its number, from 1)"
                                        : std::string(name));
  }
  return fail(ErrorCode::E0001, "{} needs {}, which {} not given", entry_->name,
              fmt::join(names, " and "), names.size() == 1 ? "was" : "were");
}

Status HostScalars::take(const UpdateFormula &formula, Part part) {
  for (size_t i = 0; i < held_.size(); ++i) {
    ScalarInput &scalar = entry_->scalars[i];
    const DType dtype = scalar.place.layout.dtype;
    if (held_[i].bytes == encoded(scalar))
      continue; // else the caller has written to its view
    if (isFloat(dtype))
      assign(scalar, readElement<double>(held_[i].bytes.data(), dtype, 0));
    else
      assign(scalar, readElement<int64_t>(held_[i].bytes.data(), dtype, 0));
    held_[i].bytes = encoded(scalar);
  }
  return entry_->changesParameters && part == Part::All ? check(formula) : Status();
}

Status HostScalars::check(const UpdateFormula &formula) const {
  for (size_t i = 0; i < held_.size(); ++i) {
    const ScalarInput &scalar = entry_->scalars[i];
    if (isMissing(i, formula))
      return missing(formula);
    if (scalar.name == kRate && held_[i].read &&
        !(realOf(scalar) >= 0 && std::isfinite(realOf(scalar))))
      return fail(ErrorCode::E0001, "{} of {}: found {}, want a finite rate from 0", kRate,
                  entry_->name, realOf(scalar));
    if (scalar.name == kUpdate && integerOf(scalar) < 0)
      return fail(ErrorCode::E0001, "{} of {}: found {}, want the number of an update, from 1",
                  kUpdate, entry_->name, integerOf(scalar));
    if (scalar.name.starts_with(kOptimizerPrefix) && inputOf(formula, scalar.name) == kMostInputs)
      return fail(ErrorCode::E0610, "input {} of {}: the package's optimizer {} computes none",
                  inQuotes(scalar.name), entry_->name, formula.row().name);
  }
  return {};
}

void HostScalars::write(UpdateFormula &formula) const {
  UpdateScalars update;
  if (entry_->changesParameters) {
    const ScalarInput *rate = find(kRate), *number = find(kUpdate);
    update = formula.at(rate ? realOf(*rate) : 0, number ? integerOf(*number) : 0);
  }
  for (const ScalarInput &scalar : entry_->scalars) {
    if (entry_->changesParameters && scalar.name == kRate)
      scalar.place.set(update.learningRate);
    else if (entry_->changesParameters && scalar.name.starts_with(kOptimizerPrefix))
      scalar.place.set(update.inputs[inputOf(formula, scalar.name)]);
    else
      scalar.write();
  }
}

} // namespace lstmc::session
