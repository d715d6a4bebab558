// The entry `init`, and that it writes every copy of what several devices hold.
#include "executor/package/Check.h"

namespace lstmc::package {

namespace {

enum class Role : uint8_t { Other, Authority, Copy };

class InitCheck {
public:
  explicit InitCheck(const PackageData &data)
      : data(data), roles(data.buffers.size()), written(data.buffers.size()) {}

  Status run() {
    for (const Parameter &parameter : data.parameters) {
      note(parameter.buffers);
      for (const Slot &slot : parameter.slots)
        if (!isSliced(data, parameter, slot))
          note(slot.buffers);
    }
    for (size_t e = 0; e < data.entries.size(); ++e)
      if (data.entries[e].name == kInitEntry)
        LSTMC_TRY(entry(e));
    for (size_t p = 0; p < data.parameters.size(); ++p) {
      const Parameter &parameter = data.parameters[p];
      Path path("parameters", int64_t(p));
      LSTMC_TRY(allWritten(parameter.buffers, path));
      for (size_t s = 0; s < parameter.slots.size(); ++s)
        if (!isSliced(data, parameter, parameter.slots[s]))
          LSTMC_TRY(allWritten(parameter.slots[s].buffers, Path(path, "slots", int64_t(s))));
    }
    return {};
  }

private:
  const PackageData &data;
  std::vector<Role> roles;
  std::vector<bool> written; ///< by init

  void note(const std::vector<uint32_t> &buffers) {
    for (size_t i = 0; i < buffers.size(); ++i)
      roles[buffers[i]] = i == 0 ? Role::Authority : Role::Copy;
  }

  /// It runs when another entry's inputs have been given already, so it has no memory of its own
  /// that could lie in theirs.
  Status entry(size_t index) {
    const Entry &init = data.entries[index];
    Path path("entries", int64_t(index));
    if (!init.inputs.empty())
      return refuse(Path(path, "inputs"), ErrorCode::E0611, "found {}, want none for init",
                    init.inputs.size());
    if (!init.outputs.empty())
      return refuse(Path(path, "outputs"), ErrorCode::E0611, "found {}, want none for init",
                    init.outputs.size());
    for (size_t b = 0; b < data.buffers.size(); ++b)
      if (data.buffers[b].entry == int32_t(index))
        return refuse(Path(Path("buffers", int64_t(b)), "entry"), ErrorCode::E0611,
                      "found {}, which is init, want one that may have buffers of its own", index);
    for (size_t p = 0; p < init.programs.size(); ++p)
      LSTMC_TRY(program(init.programs[p], Path(path, "programs", int64_t(p))));
    return {};
  }

  /// What it may write is written after `commit` in any entry.
  Status program(const DeviceProgram &program, const Path &path) {
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      Path at(path, "launches", int64_t(i));
      for (size_t k = 0; k < launch.operands.size(); ++k) {
        uint32_t buffer = launch.operands[k].buffer;
        if (buffer == kNoBuffer || !writes(data, launch, k))
          continue;
        if (roles[buffer] != Role::Copy)
          return refuse(Path(Path(at, "operands", int64_t(k)), "buffer"), ErrorCode::E0611,
                        "found buffers[{}] written by init, want a copy of a parameter or slot",
                        buffer);
        written[buffer] = true;
      }
    }
    return {};
  }

  Status allWritten(const std::vector<uint32_t> &buffers, const Path &path) const {
    for (size_t i = 1; i < buffers.size(); ++i)
      if (!written[buffers[i]])
        return refuse(
            Path(path, "buffers", int64_t(i)), ErrorCode::E0611,
            "found buffers[{}], which init does not write, want a launch of init that does",
            buffers[i]);
    return {};
  }
};

} // namespace

Status checkInit(const PackageData &data) { return InitCheck(data).run(); }

} // namespace lstmc::package
