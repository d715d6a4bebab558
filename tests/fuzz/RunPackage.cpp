#include "tests/fuzz/RunPackage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/runtime/KernelTable.h"
#include "executor/base/Numeric.h"
#include "executor/device/HostDevice.h"
#include "executor/reference/Reference.h"
#include "executor/session/Session.h"

namespace lstmc::fuzz {

using namespace package;

namespace {

constexpr uint64_t kMostBytes = 1 << 20; ///< for all arenas
constexpr double kMostWork = 1 << 23;    ///< number of operations, roughly

double elementsOf(const Operand &operand) {
  double elements = 1;
  for (int64_t extent : operand.shape)
    elements *= double(extent);
  return elements;
}

/// An upper bound of the kernel's operations. Except for the kernels below, it is at most the
/// elements of one operand times the longest axis.
double workOf(const PackageData &data, const Launch &launch) {
  double most = 1, longest = 1, all = 0; // longest axis; vectors are packed or scratch
  for (const Operand &operand : launch.operands) {
    most = std::max(most, elementsOf(operand));
    all += elementsOf(operand);
    for (int64_t extent : operand.shape)
      if (operand.shape.size() > 1)
        longest = std::max(longest, double(extent));
  }
  switch (launch.kernel) {
  case KernelId::Fused:
    return most * double(1 + programOf(data, launch).instructions.size());
  case KernelId::Product:
  case KernelId::RnnForward:
  case KernelId::RnnBackward:
  case KernelId::WeightGradient:
  case KernelId::Gather:
  case KernelId::OneHot:
  case KernelId::PickGradient:
    return 4 * all * longest;
  case KernelId::Initialise:
    return argumentsOf<InitialiseArguments>(launch).kind == InitKind::Orthogonal
               ? all * longest * 16
               : 50 * all;
  default:
    return 8 * all;
  }
}

bool isSmall(const PackageData &data) {
  uint64_t bytes = 0;
  for (const package::Device &device : data.devices)
    bytes += device.arenaBytes;
  double work = 0;
  for (const Parameter &parameter : data.parameters)
    work += workOf(data, parameter.initialise);
  for (const Entry &entry : data.entries)
    for (const DeviceProgram &program : entry.programs)
      for (const Launch &launch : program.launches)
        work += workOf(data, launch);
  return bytes <= kMostBytes && work <= kMostWork;
}

template <cpu::Level L> KernelFunction kernelOf(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(L).find(id, operands);
}

KernelChooser chooserOf(uint8_t choice) {
  constexpr KernelChooser kLevels[] = {kernelOf<cpu::Level::Scalar>, kernelOf<cpu::Level::Avx2>,
                                       kernelOf<cpu::Level::Avx512>};
  const int levels = int(cpu::machineLevel()) + 1;
  if (choice % (levels + 1) < levels)
    return kLevels[choice % (levels + 1)];
  return [](KernelId id, std::span<const Tensor>) { return reference::kernel(id); };
}

/// Mostly small whole numbers, sometimes any number.
void fill(const Tensor &tensor, uint8_t kind) {
  constexpr double kAnything[] = {0,
                                  -1,
                                  1e9,
                                  -1e9,
                                  0.5,
                                  3e38,
                                  -3e38,
                                  1e-40,
                                  -0.,
                                  2147e6,
                                  HUGE_VAL,
                                  -HUGE_VAL,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  7};
  for (int64_t e = 0; e < tensor.elements(); ++e)
    writeElement(tensor.data, tensor.dtype, e,
                 kind % 4 == 0 ? kAnything[size_t(e + kind) % std::size(kAnything)]
                               : double((e * 7 + kind) % 11) - 3);
}

} // namespace

bool runPackage(Package::Pointer package, Choices &choices) {
  const PackageData &data = package->data();
  if (!isSmall(data))
    return false;
  const KernelChooser chooser = chooserOf(choices.byte());
  std::vector<std::unique_ptr<lstmc::Device>> devices;
  for (const package::Device &device : data.devices)
    devices.push_back(std::move(*makeHostDevice(device.name, chooser, 1)));
  SessionOptions options;
  options.oneThread = true;
  Result<std::unique_ptr<Session>> session = Session::create(package, std::move(devices), options);
  if (!session.ok())
    return false;
  (void)(*session)->initialise(7).ok();
  const uint8_t kind = choices.byte();
  for (const Entry &entry : data.entries) {
    for (const Binding &input : entry.inputs)
      if (Result<Tensor> tensor = (*session)->input(entry.name, input.name); tensor.ok())
        fill(*tensor, kind);
    (*session)->setScalar("learning_rate", 0.125);
    (*session)->setScalar("update", int64_t(1));
    (void)(*session)->run(entry.name).ok();
  }
  (void)(*session)->compareReplicas().ok();
  (void)(*session)->weightsHash();
  return true;
}

} // namespace lstmc::fuzz
