// A network compiled in this process and run on host memory, with the kernels that a test chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/runtime/Level.h"
#include "backends/cuda/text/TextCompiler.h"
#include "executor/device/HostDevice.h"
#include "executor/session/Session.h"
#include "frontend/lnet/Load.h"
#include "passes/Compile.h"

namespace lstmc::e2e {

/// Which net to compile, and how.
struct Recipe {
  std::string file;  ///< relative to the source folder: "samples/char_lm.lnet"; or an absolute path
  int64_t steps = 0; ///< for the dim seq; 0: the value in the file
  lnet::LoadOptions load;
  passes::CompileOptions compile;
};

/// On an error, throws an exception with the compiler's message.
passes::Compiled compileNet(const Recipe &recipe);
/// The same for the text of a module of sym.
passes::Compiled compileSym(const std::string &text, const passes::CompileOptions &options);

/// The kernels of a level of the cpu backend.
KernelChooser kernelsOf(cpu::Level level);

/// A session with initial values from seed 1. f32 parameters that would begin at 0 are filled too,
/// so that every term has an effect. `threads` as in makeHostDevice.
std::unique_ptr<Session> openSession(const package::PackageData &data, int threads = 2,
                                     KernelChooser kernels = kernelsOf(cpu::machineLevel()));
/// The same in a rank of a job, which has some of the devices.
std::unique_ptr<Session> openAsRank(const package::PackageData &data, int threads,
                                    std::shared_ptr<Peers> job);
/// The same on devices whose memory the host cannot see (backends/trap).
std::unique_ptr<Session> openUnseen(const package::PackageData &data);

/// The same on devices that run the launches of their streams in an order drawn from `seed`
/// (backends/trap).
std::unique_ptr<Session> openShuffled(const package::PackageData &data, uint64_t seed);

/// The same on emulated GPUs (backends/cuda), whose orders are drawn from `seed`. `wrap`, unless
/// null, is given each device and returns the one to use. `compiler` is that of fused programs.
using WrapDevice = std::unique_ptr<Device> (*)(std::unique_ptr<Device>);
std::unique_ptr<Session> openEmulated(const package::PackageData &data, uint64_t seed,
                                      WrapDevice wrap = nullptr,
                                      const cuda::TextCompiler *compiler = nullptr,
                                      const SessionOptions &options = {});

/// On the devices that the package names, cpus and emulated GPUs; `tiles` as in GpuOptions.
std::unique_ptr<Session> openNamed(const package::PackageData &data, uint64_t seed,
                                   std::optional<bool> tiles = std::nullopt);

/// Fills the inputs of an entry with values that depend only on name, element and `update`:
/// `length` gets 0 to `steps`, integers get 0 to `classes` - 1, floats are uniform in [-1, 1).
void feed(Session &session, std::string_view entry, int64_t update, int64_t classes, int64_t steps);

/// A net to train, and its inputs.
struct Model {
  std::string name;
  Recipe recipe;
  int64_t classes = 2;
  double learningRate = 0.01;
  int stages = 4; ///< most devices that can divide its layers
};

/// A character model, a word model with tied weights and an ignored label, a regression with
/// sequence lengths, a bidirectional GRU, dense layers, a cell of single ops with values per row,
/// ops that mix rows. They have odd extents, dropout, both optimizers, each kind of clipping, and
/// carried states.
std::vector<Model> models();

/// One for each .lnet file of a folder, in order of names, with the dims of the file; trained with
/// adam.
std::vector<Model> modelsOf(const std::string &folder);

/// The hash of the metrics of updates [first, first + count), counted from 1, and of the weights
/// after them. With `ahead`, inputs are filled while the update before ends, wherever the session
/// asks for them then; `ahead` counts these.
uint64_t train(Session &session, const Model &model, int64_t first, int64_t count,
               int64_t *ahead = nullptr);

} // namespace lstmc::e2e
