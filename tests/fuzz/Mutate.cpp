#include "tests/fuzz/Mutate.h"

#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

namespace lstmc::fuzz {

using namespace package;

namespace {

/// Every number of a package, with a function that gives it a new value.
class Numbers {
public:
  explicit Numbers(PackageData &data) {
    add(data.shards);
    for (Device &device : data.devices)
      add(device.arenaBytes);
    for (Buffer &buffer : data.buffers) {
      add(buffer.device, buffer.offset, buffer.bytes, buffer.dtype, buffer.kind, buffer.location,
          buffer.entry, buffer.from, buffer.to);
      addAll(buffer.shape);
    }
    for (FusedProgram &program : data.programs) {
      addAll(program.types);
      addAll(program.results);
      for (FusedInstruction &in : program.instructions)
        add(in.op, in.type, in.a, in.b, in.c, in.immediate);
    }
    for (Parameter &parameter : data.parameters) {
      addAll(parameter.buffers);
      addAll(parameter.gradients);
      for (Slot &slot : parameter.slots)
        addAll(slot.buffers);
      addLaunch(parameter.initialise);
      add(parameter.lrMult, parameter.wdMult);
    }
    for (State &state : data.states)
      addAll(state.buffers);
    for (Entry &entry : data.entries) {
      for (Binding &binding : entry.inputs)
        add(binding.buffer);
      for (Binding &binding : entry.outputs)
        add(binding.buffer);
      for (DeviceProgram &program : entry.programs) {
        add(program.device, program.commit);
        for (Launch &launch : program.launches)
          addLaunch(launch);
      }
    }
  }

  void change(Choices &choices) { sets_[choices.index(sets_.size())](choices); }

private:
  std::vector<std::function<void(Choices &)>> sets_;

  template <typename T> static T changed(T old, Choices &choices) {
    if constexpr (std::is_enum_v<T>) {
      return T(choices.byte());
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr double kValues[] = {
          0,  -0.0, 1,   -1,  0.5, 1e-300,   1e300,     3e38,
          -7, 1e18, 255, 4e9, 2.5, HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()};
      return kValues[choices.index(std::size(kValues))];
    } else {
      // Mostly close to the old value, because the first check refuses a distant one.
      using U = std::make_unsigned_t<T>;
      const uint8_t what = choices.byte();
      const U value = U(old);
      switch (what % 10) {
      case 0:
        return T(value + 1);
      case 1:
        return T(value - 1);
      case 2:
        return T(value * 2);
      case 3:
        return T(value / 2);
      case 4:
        return T(U(0) - value);
      case 5:
        return T(choices.byte());
      case 6:
        return T(U(1) << choices.index(sizeof(T) * 8));
      case 7:
        return T((U(1) << choices.index(sizeof(T) * 8)) - 1);
      case 8:
        return T(value + 64 * U(choices.byte()));
      default:
        return T(value - U(choices.byte()));
      }
    }
  }

  template <typename... T> void add(T &...numbers) {
    (sets_.push_back([&numbers](Choices &choices) { numbers = changed(numbers, choices); }), ...);
  }
  template <typename T> void addAll(std::vector<T> &numbers) {
    for (T &number : numbers)
      add(number);
  }
  void addLaunch(Launch &launch) {
    add(launch.kernel, launch.location, launch.chunk, launch.firstStep);
    addAll(launch.ints);
    addAll(launch.floats);
    addAll(launch.instructions);
    for (Operand &operand : launch.operands) {
      add(operand.buffer, operand.offset);
      addAll(operand.shape);
      addAll(operand.strides);
    }
    for (Piece &piece : launch.pieces) {
      add(piece.operand);
      addAll(piece.window);
      addAll(piece.shape);
    }
  }
};

/// Removes an element, doubles one or swaps two.
template <typename T> void rearrange(std::vector<T> &list, Choices &choices) {
  const uint8_t what = choices.byte();
  if (list.empty()) {
    if (what % 4 == 0)
      list.emplace_back();
    return;
  }
  const size_t at = choices.index(list.size());
  switch (what % 4) {
  case 0:
    list.erase(list.begin() + ptrdiff_t(at));
    break;
  case 1: {
    T copy = list[at];
    list.insert(list.begin() + ptrdiff_t(at), std::move(copy));
    break;
  }
  case 2:
    std::swap(list[at], list[choices.index(list.size())]);
    break;
  default:
    list[at] = T(list[choices.index(list.size())]);
  }
}

Launch *launchOf(PackageData &data, Choices &choices) {
  std::vector<Launch *> launches;
  for (Parameter &parameter : data.parameters)
    launches.push_back(&parameter.initialise);
  for (Entry &entry : data.entries)
    for (DeviceProgram &program : entry.programs)
      for (Launch &launch : program.launches)
        launches.push_back(&launch);
  return launches.empty() ? nullptr : launches[choices.index(launches.size())];
}

/// Changes an extent of a launch in all operands that have it, which a comparison of operands with
/// each other does not notice.
void resize(PackageData &data, Choices &choices) {
  Launch *launch = launchOf(data, choices);
  if (!launch)
    return;
  std::vector<int64_t> extents;
  for (const Operand &operand : launch->operands)
    extents.insert(extents.end(), operand.shape.begin(), operand.shape.end());
  if (extents.empty())
    return;
  const int64_t from = extents[choices.index(extents.size())], to = 1 + choices.byte() % 40;
  for (Operand &operand : launch->operands) {
    for (int64_t &extent : operand.shape)
      if (extent == from)
        extent = to;
    if (choices.byte() % 2)
      operand.strides.clear();
  }
}

/// Makes a buffer larger or smaller and moves the buffers after it.
void stretch(PackageData &data, Choices &choices) {
  if (data.buffers.empty())
    return;
  const Buffer old = data.buffers[choices.index(data.buffers.size())];
  const uint64_t more = 64 * uint64_t(choices.byte() % 16);
  for (Buffer &buffer : data.buffers) {
    if (buffer.device != old.device)
      continue;
    if (buffer.offset > old.offset)
      buffer.offset += more;
    else if (buffer.offset == old.offset)
      buffer.bytes += more;
  }
  if (old.device < data.devices.size())
    data.devices[old.device].arenaBytes += more;
}

/// Gives an operand new extents, and sometimes new strides.
void reshape(PackageData &data, Choices &choices) {
  Launch *launch = launchOf(data, choices);
  if (!launch || launch->operands.empty())
    return;
  Operand &operand = launch->operands[choices.index(launch->operands.size())];
  operand.strides = {};
  const size_t rank = choices.byte() % 6;
  operand.shape.clear();
  for (size_t axis = 0; axis < rank; ++axis)
    operand.shape.push_back(1 + choices.byte() % 20);
  if (choices.byte() % 2)
    for (size_t axis = 0; axis < rank; ++axis)
      operand.strides.push_back(int8_t(choices.byte()) % 24);
}

} // namespace

void mutate(PackageData &data, Choices &choices) {
  const uint8_t what = choices.byte();
  if (what < 160)
    return Numbers(data).change(choices);
  if (what < 176)
    return resize(data, choices);
  if (what < 190)
    return stretch(data, choices);
  if (what < 200)
    return reshape(data, choices);
  if (what < 230) {
    Launch *launch = launchOf(data, choices);
    if (!launch)
      return;
    switch (choices.byte() % 4) {
    case 0:
      return rearrange(launch->operands, choices);
    case 1:
      return rearrange(launch->ints, choices);
    case 2:
      return rearrange(launch->floats, choices);
    default:
      return launch->operands.empty()
                 ? void()
                 : rearrange(launch->operands[choices.index(launch->operands.size())].strides,
                             choices);
    }
  }
  switch (what % 8) {
  case 0:
    return rearrange(data.buffers, choices);
  case 1:
    return rearrange(data.entries, choices);
  case 2:
    return rearrange(data.parameters, choices);
  case 3:
    return rearrange(data.programs, choices);
  case 4:
    return rearrange(data.devices, choices);
  default:
    break;
  }
  if (data.entries.empty())
    return;
  Entry &entry = data.entries[choices.index(data.entries.size())];
  switch (what % 8) {
  case 5:
    return rearrange(entry.inputs, choices);
  case 6:
    return rearrange(entry.outputs, choices);
  default:
    if (!entry.programs.empty())
      rearrange(entry.programs[choices.index(entry.programs.size())].launches, choices);
  }
}

} // namespace lstmc::fuzz
