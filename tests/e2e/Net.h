// A network compiled in this process and run on host memory, with whatever kernels a test asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/runtime/Level.h"
#include "executor/device/HostDevice.h"
#include "executor/session/Session.h"
#include "frontend/lnet/Load.h"
#include "passes/Compile.h"

namespace lstmc::e2e {

/// Which net, and how it is compiled.
struct Recipe {
  std::string file;  ///< beneath the source folder: "samples/char_lm.lnet"; or an absolute path
  int64_t steps = 0; ///< of the dim seq; 0: the file's own
  lnet::LoadOptions load;
  passes::CompileOptions compile;
};

/// Fails the test by an exception that says what the compiler said.
passes::Compiled compileNet(const Recipe &recipe);
/// The same for the text of a module of sym.
passes::Compiled compileSym(const std::string &text, const passes::CompileOptions &options);

/// The kernels of a level of the cpu backend.
KernelChooser kernelsOf(cpu::Level level);

/// A session with initial values of seed 1; f32 parameters that would begin at 0 are filled too, so
/// that no term is idle. `threads` as in makeHostDevice.
std::unique_ptr<Session> openSession(const package::PackageData &data, int threads = 2,
                                     KernelChooser kernels = kernelsOf(cpu::machineLevel()));
/// The same on devices whose memory the host cannot see (backends/trap).
std::unique_ptr<Session> openUnseen(const package::PackageData &data);

/// Fills the inputs of an entry with what depends on name, element and `update` alone: `length`
/// takes 0 to `steps`, integers 0 to `classes` - 1, floats uniform in [-1, 1).
void feed(Session &session, std::string_view entry, int64_t update, int64_t classes, int64_t steps);

/// A net to be trained, with what feeds it.
struct Model {
  std::string name;
  Recipe recipe;
  int64_t classes = 2;
  double learningRate = 0.01;
  int stages = 4; ///< devices that can share its layers, at most
};

/// A character model, a word model with tied weights and an ignored label, a regression with
/// sequence lengths, a bidirectional GRU, dense layers, a cell of single ops with rows of its own,
/// ops that mix rows: odd extents, dropout, both optimizers, each kind of clipping, carried states.
std::vector<Model> models();

/// One for each .lnet file of a folder, by name, with the dims that the file has; adam.
std::vector<Model> modelsOf(const std::string &folder);

/// The hash of what updates [first, first + count) from 1 on measure, and of the weights after
/// them.
uint64_t train(Session &session, const Model &model, int64_t first, int64_t count);

} // namespace lstmc::e2e
