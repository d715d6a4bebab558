// Which rows of an input a process reads that has some of the devices.
#include <gtest/gtest.h>

#include "backends/registry/Devices.h"
#include "executor/session/InputRows.h"
#include "executor/session/RemoteDevice.h"
#include "tests/executor/package/TransferPackage.h"

namespace lstmc::session {
namespace {

using package::transfers::kRows;

class InputRows : public testing::Test {
protected:
  package::PackageData data = package::TransferPackage(4).data;

  /// Along axis 1 of x, which the first device has and sends to the others in parts.
  RowWindow of(std::vector<bool> here, int axis = 1) const {
    Devices devices;
    for (bool one : here)
      devices.push_back(one ? std::move(makeDevices("cpu", {1, Engine::Fast})->front())
                            : makeRemoteDevice("cpu:9"));
    const package::Entry &step = data.entries[0];
    const auto x = std::ranges::find(step.inputs, "x", &package::Binding::name);
    return rowsRead(data, step, *x, axis, devices);
  }
};

TEST_F(InputRows, AreThoseOfTheDevicesHere) {
  EXPECT_EQ(of({true, false, false, false}), (RowWindow{0, kRows}));
  EXPECT_EQ(of({false, true, false, false}), (RowWindow{kRows, 2 * kRows}));
  EXPECT_EQ(of({false, false, true, true}), (RowWindow{2 * kRows, 4 * kRows}));
  EXPECT_EQ(of({true, false, false, true}), (RowWindow{0, 4 * kRows}));
  EXPECT_EQ(of({false, false, false, false}), RowWindow::none());
}

TEST_F(InputRows, AlongAnotherAxisAreAll) {
  EXPECT_EQ(of({false, true, false, false}, 0), (RowWindow{0, package::transfers::kColumns}));
}

TEST_F(InputRows, ThatAreReadBackwardsAreTheSame) {
  for (package::DeviceProgram &program : data.entries[0].programs)
    for (package::Launch &launch : program.launches)
      if (launch.kernel == KernelId::Send && launch.operands[0].strides.size() == 2) {
        package::Operand &x = launch.operands[0];
        for (size_t axis : {0u, 1u}) {
          x.offset += (x.shape[axis] - 1) * x.strides[axis];
          x.strides[axis] = -x.strides[axis];
        }
      }
  EXPECT_EQ(of({false, true, false, false}), (RowWindow{kRows, 2 * kRows}));
}

} // namespace
} // namespace lstmc::session
