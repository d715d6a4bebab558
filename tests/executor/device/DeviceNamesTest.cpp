#include "executor/device/DeviceNames.h"

#include <gtest/gtest.h>

namespace lstmc {
namespace {

std::string parsed(std::string_view list) {
  auto devices = parseDevices(list);
  if (!devices.ok())
    return devices.error().text();
  std::string text;
  for (const DeviceName &device : *devices)
    text += (text.empty() ? "" : " ") + device.text();
  return text;
}

TEST(DeviceNames, CountBeforeTheXIndexAfterTheColon) {
  EXPECT_EQ(parsed("cpu"), "cpu:0");
  EXPECT_EQ(parsed("4xcpu"), "cpu:0 cpu:1 cpu:2 cpu:3");
  EXPECT_EQ(parsed("cpu:0,2"), "cpu:0 cpu:2");
  EXPECT_EQ(parsed("2xgpu"), "gpu:0 gpu:1");
  EXPECT_EQ(parsed("cpu:1,gpu:0"), "cpu:1 gpu:0");
  EXPECT_EQ(parsed("2xtrap,cpu:0"), "trap:0 trap:1 cpu:0");
  EXPECT_EQ(parsed("2xnull,cpu:0"), "null:0 null:1 cpu:0");
}

TEST(DeviceNames, AGpuThatStandsTwiceIsTwoDevices) {
  EXPECT_EQ(parsed("gpu:0,0"), "gpu:0 gpu:0.1");
  EXPECT_EQ(parsed("emu:1,0,1,1,0"), "emu:1 emu:0 emu:1.1 emu:1.2 emu:0.1");
  EXPECT_EQ(parsed("gpu:0,gpu:0.1"), "gpu:0 gpu:0.1");
  EXPECT_EQ(parsed("gpu:0.2,0,0"), "gpu:0.2 gpu:0 gpu:0.1");
  EXPECT_EQ(parsed("2xemu,emu:1"), "emu:0 emu:1 emu:1.1");
  EXPECT_EQ(wholeDevice("gpu:3.1"), "gpu:3");
  EXPECT_EQ(wholeDevice("cpu:0"), "cpu:0");
}

TEST(DeviceNames, RefusalsNameTheItem) {
  constexpr const char *kWant = ", want a list such as cpu, 4xcpu, cpu:0,2 or gpu:0";
  auto refusal = [&](std::string item, std::string why) {
    return "error[E0001]: device \"" + item + "\": " + why + kWant;
  };
  EXPECT_EQ(parsed(""), refusal("", "found an unknown kind of device"));
  EXPECT_EQ(parsed("tpu:0"), refusal("tpu:0", "found an unknown kind of device"));
  EXPECT_EQ(parsed("0,1"), refusal("0", "found a number without a kind of device before it"));
  EXPECT_EQ(parsed("cpu:"), refusal("cpu:", "found no index after the colon"));
  EXPECT_EQ(parsed("cpu:-1"), refusal("cpu:-1", "found no index after the colon"));
  EXPECT_EQ(parsed("0xcpu"), refusal("0xcpu", "found a count outside 1 to 64"));
  EXPECT_EQ(parsed("2xcpu,1"), refusal("1", "found a number without a kind of device before it"));
  for (const char *item : {"gpu:0.", "gpu:0.0", "gpu:0.x", "cpu:0.1"})
    EXPECT_EQ(parsed(item), refusal(item, "found a part that is none of a GPU"));
  EXPECT_EQ(parsed("gpu:.1"), refusal("gpu:.1", "found no index after the colon"));
  EXPECT_EQ(parsed("gpu:0.1,gpu:0.1"),
            "error[E0001]: devices \"gpu:0.1,gpu:0.1\": found gpu:0.1 twice, want each part once");
  EXPECT_EQ(parsed("cpu:1,4xcpu"),
            "error[E0001]: devices \"cpu:1,4xcpu\": found cpu:1 twice, want each cpu once");
}

} // namespace
} // namespace lstmc
