#include "backends/conformance/Cases.h"
#include "backends/conformance/RecurrenceLaunch.h"

namespace lstmc::conformance {

namespace {

constexpr RnnMode kModes[] = {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru};

/// Adds forward, and backward with dgates in memory of its own and in that of the gates.
void addBoth(std::vector<Case> &cases, RnnShape shape) {
  add(cases, KernelId::RnnForward, shape.text(), [=] { return rnnForward(shape); });
  if (!shape.stash)
    return;
  add(cases, KernelId::RnnBackward, shape.text(), [=] { return rnnBackward(shape); });
  add(cases, KernelId::RnnBackward, shape.text() + " in place",
      [=] { return rnnBackward(shape, true); });
}

/// With and without each optional operand, in both directions, with and without lengths.
void addOptions(std::vector<Case> &cases, RnnMode mode) {
  for (bool reverse : {false, true})
    for (bool lengths : {false, true}) {
      RnnShape shape{.mode = mode, .reverse = reverse, .lengths = lengths};
      addBoth(cases, shape);
      for (bool RnnShape::*option :
           {&RnnShape::biases, &RnnShape::states, &RnnShape::finals, &RnnShape::stash,
            &RnnShape::gradientOfX, &RnnShape::gradientOfY, &RnnShape::gradientOfStates}) {
        RnnShape without = shape;
        without.*option = false;
        addBoth(cases, without);
      }
      RnnShape bare = shape;
      bare.biases = bare.states = bare.finals = bare.gradientOfX = bare.gradientOfStates = false;
      addBoth(cases, bare);
    }
  for (DType type : {DType::F32, DType::I64, DType::U8})
    addBoth(cases, {.mode = mode, .lengths = true, .lengthType = type});
}

void addExtents(std::vector<Case> &cases, RnnMode mode) {
  for (int64_t batch : {1, 2, 5, 8, 13})
    for (int64_t units : {1, 15, 16, 17, 40})
      addBoth(cases, {.mode = mode, .steps = 3, .batch = batch, .inputs = 9, .units = units});
  for (int64_t inputs : {1, 16, 33})
    addBoth(cases, {.mode = mode, .steps = 3, .inputs = inputs, .units = 20});
  for (int64_t steps : {1, 2, 11})
    for (int64_t chunk : {1, 3, 16})
      addBoth(cases, {.mode = mode,
                      .steps = steps,
                      .batch = 4,
                      .units = 18,
                      .reverse = steps == 2,
                      .chunk = chunk});
  addBoth(cases, {.mode = mode,
                  .steps = 6,
                  .batch = 33,
                  .inputs = 24,
                  .units = 50,
                  .lengths = true,
                  .chunk = 4});
  addBoth(cases, {.mode = mode, .steps = 3, .batch = 2, .inputs = 30, .units = 130});
  // W does not fit where R fits: shared memory of a GPU.
  addBoth(cases, {.mode = mode, .steps = 2, .batch = 2, .inputs = 1000, .units = 20});
  addBoth(cases, {.mode = mode, .steps = 3, .batch = 0});
  // The state takes more memory than the rest of the scratch.
  addBoth(cases, {.mode = mode, .steps = 2, .batch = 32, .inputs = 3, .units = 20, .stash = false});
}

void addLayouts(std::vector<Case> &cases, RnnMode mode) {
  for (Layout rows : kRowLayouts)
    for (Layout other : kAnyLayout)
      if (rows != Layout::Dense || other != Layout::Dense)
        addBoth(cases, {.mode = mode, .lengths = true, .rows = rows, .other = other});
}

/// Two directions write to adjacent halves of one y with 2H columns.
TestLaunch halfOfWiderRow(RnnMode mode) {
  RnnShape shape{.mode = mode, .units = 19, .reverse = true};
  TestLaunch launch = rnnForward(shape);
  launch["y"] = Array(DType::F32, {shape.steps, shape.batch, 2 * shape.units})
                    .slice(2, shape.units, shape.units);
  return launch;
}

/// Gates that saturate, and values that become infinite.
TestLaunch extreme(RnnMode mode) {
  TestLaunch launch = rnnForward({.mode = mode, .steps = 3, .batch = 9, .inputs = 3, .units = 17});
  launch["x"] = Array(DType::F32, {3, 9, 3}, anything(5));
  return launch;
}

/// Gradients that are infinite or no number, of units that are 0 too.
TestLaunch extremeGradients(RnnMode mode) {
  TestLaunch launch = rnnBackward({.mode = mode, .steps = 1, .batch = 9, .units = 17});
  launch["dy"] = Array(DType::F32, {1, 9, 17}, anything(7));
  return launch;
}

} // namespace

void addRecurrenceCases(std::vector<Case> &cases) {
  for (RnnMode mode : kModes) {
    addOptions(cases, mode);
    addExtents(cases, mode);
    addLayouts(cases, mode);
    addBoth(cases, {.mode = mode, .lengths = true, .type = DType::F64});
    for (DType type : {DType::F32, DType::F64})
      addBoth(cases, {.mode = mode, .batch = 9, .units = 20, .type = type, .tiny = true});
    const std::string name(kRnnModeNames[int(mode)]);
    add(cases, KernelId::RnnForward, name + " half of a wider row",
        [=] { return halfOfWiderRow(mode); });
    add(cases, KernelId::RnnForward, name + " extreme", [=] { return extreme(mode); });
    add(cases, KernelId::RnnBackward, name + " extreme", [=] { return extremeGradients(mode); });
  }
}

} // namespace lstmc::conformance
