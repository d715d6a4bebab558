#include "executor/package/Check.h"

#include <cmath>
#include <unordered_set>

#include "executor/abi/EntryNames.h"
#include "executor/abi/FastRules.h"
#include "executor/abi/Packing.h"
#include "executor/package/Plan.h"

namespace lstmc::package {

namespace {

constexpr size_t kMaxNameBytes = 4096;

/// Names that may stand once, and are there and not too long.
class Names {
public:
  Status add(const std::string &name, const Path &path) {
    if (name.empty() || name.size() > kMaxNameBytes)
      return refuse(path, ErrorCode::E0604, "found {} bytes, want 1 to {}", name.size(),
                    kMaxNameBytes);
    LSTMC_TRY(checkText(path, name));
    if (!names_.insert(name).second)
      return refuse(path, ErrorCode::E0612, "found {} again, want it once", inQuotes(name));
    return {};
  }
  bool has(const std::string &name) const { return names_.contains(name); }

private:
  std::unordered_set<std::string_view> names_;
};

class NamesCheck {
public:
  explicit NamesCheck(const PackageData &data) : data(data), owned(data.buffers.size()) {}

  Status run() {
    LSTMC_TRY(numerics());
    LSTMC_TRY(parameters());
    LSTMC_TRY(states());
    LSTMC_TRY(packed());
    LSTMC_TRY(entries());
    return metrics();
  }

private:
  const PackageData &data;
  std::vector<bool> owned; ///< buffers that a parameter, gradient, slot or state has
  Names parameterNames;
  Names outputNames; ///< of evaluate and step
  Names scoresNames; ///< outputs of evaluate of role scores

  Status numerics() {
    if (!fastRulesOf(data.numerics))
      return refuse(Path("numerics"), ErrorCode::E0604, "found {}, want rules that are known here",
                    inQuotes(data.numerics));
    return {};
  }

  Status location(uint32_t index, const Path &path) {
    return checkIndex(Path(path, "location"), index, data.locations.size(), "locations");
  }

  /// A buffer of that kind that nobody else has.
  Status own(uint32_t index, Kind kind, const Path &path) {
    LSTMC_TRY(checkIndex(path, index, data.buffers.size(), "buffers"));
    if (data.buffers[index].kind != kind)
      return refuse(path, ErrorCode::E0605, "found buffers[{}] of kind {}, want {}", index,
                    kKindNames[size_t(data.buffers[index].kind)], kKindNames[size_t(kind)]);
    if (data.buffers[index].entry != kPersistent)
      return refuse(path, ErrorCode::E0611, "found buffers[{}] of an entry, want one that persists",
                    index);
    if (owned[index])
      return refuse(path, ErrorCode::E0612, "found buffers[{}] again, want it once", index);
    owned[index] = true;
    return {};
  }

  /// Copies of one value on several devices.
  Status copies(const std::vector<uint32_t> &buffers, Kind kind, std::string_view field,
                const Path &path) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      Path at(path, field, int64_t(i));
      if (i >= data.devices.size())
        return refuse(at, ErrorCode::E0604, "found more than the {} devices", data.devices.size());
      LSTMC_TRY(own(buffers[i], kind, at));
      LSTMC_TRY(sameValue(buffers[i], buffers[0], at));
      for (size_t j = 0; j < i; ++j)
        if (data.buffers[buffers[j]].device == data.buffers[buffers[i]].device)
          return refuse(at, ErrorCode::E0605, "found two on device {}, want one per device",
                        data.buffers[buffers[i]].device);
    }
    return {};
  }

  /// Parts of one value, of whole tiles of the norm (docs/numerics.md rule 9), one per device.
  Status slices(const std::vector<uint32_t> &buffers, const Buffer &whole, const Path &path) {
    int64_t left = whole.elements();
    for (size_t i = 0; i < buffers.size(); ++i) {
      Path at(path, "buffers", int64_t(i));
      LSTMC_TRY(own(buffers[i], Kind::Optimizer, at));
      const Buffer &buffer = data.buffers[buffers[i]];
      if (buffer.dtype != whole.dtype || buffer.shape.size() != 1)
        return refuse(at, ErrorCode::E0605, "found {}, want a slice of {}",
                      typeText(buffer.dtype, buffer.shape), typeText(whole.dtype, whole.shape));
      for (size_t j = 0; j < i; ++j)
        if (data.buffers[buffers[j]].device == buffer.device)
          return refuse(at, ErrorCode::E0605, "found two on device {}, want one per device",
                        buffer.device);
      left -= buffer.elements();
      bool last = i + 1 == buffers.size();
      if (last ? left != 0 : left < 0 || buffer.elements() % kNormTile != 0)
        return refuse(at, ErrorCode::E0605,
                      "found a slice of {} elements, want all to have the parameter's {} and to "
                      "end on multiples of {}",
                      buffer.elements(), whole.elements(), kNormTile);
    }
    return {};
  }

  Status sameValue(uint32_t index, uint32_t first, const Path &path) {
    const Buffer &a = data.buffers[index], &b = data.buffers[first];
    if (a.shape != b.shape || a.dtype != b.dtype)
      return refuse(path, ErrorCode::E0605, "found {}, want {}, as buffers[{}]",
                    typeText(a.dtype, a.shape), typeText(b.dtype, b.shape), first);
    return {};
  }

  Status parameters() {
    for (size_t p = 0; p < data.parameters.size(); ++p) {
      const Parameter &parameter = data.parameters[p];
      Path path("parameters", int64_t(p));
      LSTMC_TRY(parameterNames.add(parameter.name, Path(path, "name")));
      LSTMC_TRY(location(parameter.location, path));
      LSTMC_TRY(checkText(Path(path, "init"), parameter.init));
      LSTMC_TRY(checkText(Path(path, "group"), parameter.group));
      if (parameter.buffers.empty())
        return refuse(Path(path, "buffers"), ErrorCode::E0604, "found none, want at least 1");
      Kind kind = parameter.auxiliary ? Kind::Auxiliary : Kind::Parameter;
      LSTMC_TRY(copies(parameter.buffers, kind, "buffers", path));
      LSTMC_TRY(copies(parameter.gradients, Kind::Gradient, "gradients", path));
      if (!parameter.gradients.empty() &&
          data.buffers[parameter.gradients[0]].shape != data.buffers[parameter.buffers[0]].shape)
        return refuse(Path(path, "gradients", 0), ErrorCode::E0605,
                      "found another shape than the parameter's");
      Names slots;
      for (size_t s = 0; s < parameter.slots.size(); ++s) {
        Path slot(path, "slots", int64_t(s));
        LSTMC_TRY(slots.add(parameter.slots[s].name, Path(slot, "name")));
        const std::vector<uint32_t> &buffers = parameter.slots[s].buffers;
        if (buffers.empty())
          return refuse(Path(slot, "buffers"), ErrorCode::E0604, "found none, want at least 1");
        LSTMC_TRY(isSliced(data, parameter, parameter.slots[s])
                      ? slices(buffers, data.buffers[parameter.buffers[0]], slot)
                      : copies(buffers, Kind::Optimizer, "buffers", slot));
      }
      for (auto [value, field] :
           {std::pair(parameter.lrMult, "lr_mult"), {parameter.wdMult, "wd_mult"}})
        if (!std::isfinite(value))
          return refuse(Path(path, field), ErrorCode::E0604, "found {}, want a finite number",
                        value);
      LSTMC_TRY(initialise(parameter, Path(path, "initialise")));
      const Buffer &buffer = data.buffers[parameter.buffers[0]];
      const uint64_t bytes = uint64_t(buffer.elements()) * dtypeBytes(buffer.dtype);
      if (!parameter.values.empty() && parameter.values.size() != bytes)
        return refuse(Path(path, "values"), ErrorCode::E0605, "found {} bytes, want none or {}",
                      parameter.values.size(), bytes);
    }
    return {};
  }

  /// Reads scalars that persist, and writes the parameter's first buffer, whole, and workspaces.
  Status initialise(const Parameter &parameter, const Path &path) {
    const Launch &launch = parameter.initialise;
    if (launch == Launch())
      return {};
    std::vector<CheckedView> views;
    LSTMC_TRY(checkLaunch(data, launch, path, views));
    if (isTransfer(launch.kernel))
      return refuse(Path(path, "kernel"), ErrorCode::E0611,
                    "found {}, want a kernel that one device carries out",
                    kernelRecord(launch.kernel).name);
    for (size_t i = 0; i < views.size(); ++i) {
      if (!views[i].present)
        continue;
      Path operand(path, "operands", int64_t(i)), at(operand, "buffer");
      const Buffer &buffer = data.buffers[views[i].buffer];
      uint32_t device = data.buffers[parameter.buffers[0]].device;
      if (buffer.device != device)
        return refuse(at, ErrorCode::E0611, "found buffers[{}] of device {}, want one of device {}",
                      views[i].buffer, buffer.device, device);
      if (buffer.entry == kInitial && writes(data, launch, i))
        continue;
      if (writes(data, launch, i)) {
        if (views[i].buffer != parameter.buffers[0] || launch.operands[i].shape != buffer.shape)
          return refuse(at, ErrorCode::E0611, "found buffers[{}] written, want all of buffers[{}]",
                        views[i].buffer, parameter.buffers[0]);
      } else if (buffer.kind != Kind::Scalar || buffer.entry != kPersistent) {
        return refuse(at, ErrorCode::E0611, "found buffers[{}] read, want a scalar that persists",
                      views[i].buffer);
      }
    }
    return {};
  }

  Status states() {
    Names names;
    for (size_t s = 0; s < data.states.size(); ++s) {
      const State &state = data.states[s];
      Path path("states", int64_t(s));
      LSTMC_TRY(names.add(state.name, Path(path, "name")));
      LSTMC_TRY(location(state.location, path));
      if (state.buffers.empty())
        return refuse(Path(path, "buffers"), ErrorCode::E0604, "found none, want at least 1");
      LSTMC_TRY(copies(state.buffers, Kind::State, "buffers", path));
    }
    return {};
  }

  Status packed() {
    Names names;
    for (size_t p = 0; p < data.packed.size(); ++p) {
      Path path("packed", int64_t(p));
      LSTMC_TRY(names.add(data.packed[p].name, Path(path, "name")));
      for (size_t i = 0; i < data.packed[p].parts.size(); ++i)
        if (!parameterNames.has(data.packed[p].parts[i]))
          return refuse(Path(path, "parts", int64_t(i)), ErrorCode::E0604,
                        "found {}, want the name of a parameter",
                        inQuotes(data.packed[p].parts[i]));
    }
    return {};
  }

  /// Outputs that the loop around a step reads: types and shapes by role and name.
  static Status measure(const Binding &output, const Buffer &held, std::string_view entry,
                        const Path &buffer) {
    const int64_t fields = entry == "evaluate" ? kEvaluationFields : kMetricFields;
    const std::vector<int64_t> &shape = held.shape;
    auto want = [&](bool fits, std::string types, std::string_view what) -> Status {
      if (fits && held.dtype == DType::F64)
        return {};
      return refuse(buffer, ErrorCode::E0605, "found {}, want {} for {}",
                    typeText(held.dtype, shape), types, what);
    };
    if (output.role == "metric")
      return want((shape.size() == 1 || shape.size() == 2) && shape.back() == fields,
                  fmt::format("f64[{0}] or f64[B,{0}]", fields), "a metric");
    if (output.role == "scores")
      return want(shape.size() == 4 && shape[0] == 2, "f64[2,O,B,Q]", "scores");
    if (output.name == "gradient_norm")
      return want(shape == std::vector<int64_t>{1}, "f64[1]", "gradient_norm");
    return {};
  }

  Status bindings(const std::vector<Binding> &bindings, bool input, int64_t entry,
                  const Path &path) {
    Names names;
    for (size_t b = 0; b < bindings.size(); ++b) {
      const Binding &binding = bindings[b];
      Path at(path, input ? "inputs" : "outputs", int64_t(b)), buffer(at, "buffer");
      LSTMC_TRY(names.add(binding.name, Path(at, "name")));
      LSTMC_TRY(checkIndex(buffer, binding.buffer, data.buffers.size(), "buffers"));
      const Buffer &held = data.buffers[binding.buffer];
      if (held.entry != kPersistent && held.entry != entry)
        return refuse(buffer, ErrorCode::E0611,
                      "found buffers[{}] of entry {}, want one of entry {}", binding.buffer,
                      held.entry, entry);
      if (held.nextOf != kNoBuffer)
        return refuse(buffer, ErrorCode::E0611,
                      "found buffers[{}], where the caller puts the next value of an input",
                      binding.buffer);
      Path role(at, "role");
      if (input) {
        bool scalar = binding.role == "scalar";
        if (!scalar && binding.role != "data" && binding.role != "label")
          return refuse(role, ErrorCode::E0604, "found {}, want data, label or scalar",
                        inQuotes(binding.role));
        Kind want = scalar ? Kind::Scalar : Kind::Input;
        if (held.kind != want)
          return refuse(buffer, ErrorCode::E0605,
                        "found buffers[{}] of kind {}, want {} for role {}", binding.buffer,
                        kKindNames[size_t(held.kind)], kKindNames[size_t(want)], binding.role);
        if (scalar && held.elements() != 1)
          return refuse(buffer, ErrorCode::E0605, "found {}, want 1 element for a scalar",
                        typeText(held.dtype, held.shape));
      } else {
        if (binding.role != "output" && binding.role != "metric" && binding.role != "scores")
          return refuse(role, ErrorCode::E0604, "found {}, want output, metric or scores",
                        inQuotes(binding.role));
        LSTMC_TRY(measure(binding, held, data.entries[size_t(entry)].name, buffer));
        if (held.kind == Kind::Activation || held.kind == Kind::Workspace)
          return refuse(buffer, ErrorCode::E0605,
                        "found buffers[{}] of kind {}, want one that lives to the end",
                        binding.buffer, kKindNames[size_t(held.kind)]);
      }
      if (binding.range && (!input || binding.role == "scalar"))
        return refuse(Path(at, "range"), ErrorCode::E0611, "found one for role {}, want none",
                      binding.role);
      if (binding.range && binding.range->low > binding.range->high)
        return refuse(Path(at, "range"), ErrorCode::E0604, "found {}, want low to high",
                      binding.range->text());
      if (!binding.dims.empty() && binding.dims.size() != held.shape.size())
        return refuse(Path(at, "dims"), ErrorCode::E0605, "found {}, want {}, one per axis",
                      binding.dims.size(), held.shape.size());
      for (size_t i = 0; i < binding.dims.size(); ++i)
        LSTMC_TRY(checkText(Path(at, "dims", int64_t(i)), binding.dims[i]));
    }
    return {};
  }

  Status entries() {
    Names names;
    for (size_t e = 0; e < data.entries.size(); ++e)
      LSTMC_TRY(names.add(data.entries[e].name, Path(Path("entries", int64_t(e)), "name")));
    for (size_t e = 0; e < data.entries.size(); ++e) {
      const Entry &entry = data.entries[e];
      Path path("entries", int64_t(e));
      if (entry.name.starts_with(kPreparePrefix)) {
        std::string prepared = entry.name.substr(kPreparePrefix.size());
        if (!names.has(prepared) || prepared.starts_with(kPreparePrefix))
          return refuse(Path(path, "name"), ErrorCode::E0604,
                        "found {}, want another entry's name after the colon",
                        inQuotes(entry.name));
        if (!entry.inputs.empty())
          return refuse(Path(path, "inputs"), ErrorCode::E0611, "found {}, want none for {}",
                        entry.inputs.size(), inQuotes(entry.name));
      }
      LSTMC_TRY(bindings(entry.inputs, true, int64_t(e), path));
      LSTMC_TRY(bindings(entry.outputs, false, int64_t(e), path));
      if (entry.name == "evaluate" || entry.name == "step")
        for (const Binding &output : entry.outputs)
          if (!outputNames.has(output.name))
            LSTMC_TRY(outputNames.add(output.name, path));
      for (const Binding &output : entry.outputs)
        if (entry.name == "evaluate" && output.role == "scores")
          LSTMC_TRY(scoresNames.add(output.name, path));
    }
    return {};
  }

  Status metrics() {
    Names names;
    for (size_t m = 0; m < data.metrics.size(); ++m) {
      Path metric("metrics", int64_t(m)), name(metric, "name");
      LSTMC_TRY(names.add(data.metrics[m].name, name));
      if (!outputNames.has(data.metrics[m].name))
        return refuse(name, ErrorCode::E0604, "found {}, want an output of evaluate or step",
                      inQuotes(data.metrics[m].name));
      const std::string &scores = data.metrics[m].scores;
      if (!scores.empty() && !scoresNames.has(scores))
        return refuse(Path(metric, "scores"), ErrorCode::E0604,
                      "found {}, want an output of evaluate of role scores", inQuotes(scores));
    }
    return {};
  }
};

} // namespace

bool isSliced(const PackageData &data, const Parameter &parameter, const Slot &slot) {
  if (slot.buffers[0] >= data.buffers.size())
    return false;
  const Buffer &first = data.buffers[slot.buffers[0]];
  return first.shape.size() == 1 &&
         first.elements() < data.buffers[parameter.buffers[0]].elements();
}

Status checkNames(const PackageData &data) { return NamesCheck(data).run(); }

} // namespace lstmc::package
