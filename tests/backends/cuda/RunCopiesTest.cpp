// What a run of a session on a GPU copies from and to the host.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "executor/session/Session.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::cuda {
namespace {

constexpr CardNumber kCard = 43;                       // no other test has it
constexpr size_t kBytesOfX = 8 * 4, kBytesOfY = 6 * 4; // of the package; scalars have fewer

int inputsCopied = 0, outputsCopied = 0;

const Driver &countingDriver() {
  static const Driver driver = [] {
    Driver counting = emulatedDriver();
    counting.copyIn = [](DeviceAddress to, const void *from, size_t bytes, DriverStream stream) {
      inputsCopied += bytes == kBytesOfX;
      return emulatedDriver().copyIn(to, from, bytes, stream);
    };
    counting.copyOut = [](void *to, DeviceAddress from, size_t bytes, DriverStream stream) {
      outputsCopied += bytes == kBytesOfY;
      return emulatedDriver().copyOut(to, from, bytes, stream);
    };
    return counting;
  }();
  return driver;
}

class RunCopies : public testing::Test {
protected:
  RunCopies() {
    auto package = package::Package::open(package::serialize(package::samplePackage()));
    auto none = [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; };
    std::vector<std::unique_ptr<Device>> devices;
    auto device = makeGpuDevice("emu:43", countingDriver(),
                                {.card = kCard, .images = emulatedImages(), .onHost = none});
    devices.push_back(std::move(*device));
    session = std::move(*Session::create(*package, std::move(devices), {}));
    std::vector<float> w(12);
    std::iota(w.begin(), w.end(), 1.0f);
    session->storedParameter("w")->write(std::as_bytes(std::span(w)));
    session->parametersChanged();
    std::iota(x.begin(), x.end(), 1.0f);
  }

  void run() {
    inputsCopied = outputsCopied = 0;
    ASSERT_TRUE(session->run("forward").ok());
  }
  std::vector<float> stored() const {
    std::vector<float> y(6);
    session->storedOutput("forward", "y")->read(std::as_writable_bytes(std::span(y)));
    return y;
  }

  std::unique_ptr<Session> session;
  std::vector<float> x = std::vector<float>(8);
  const std::vector<float> y{30, 70, 110, 70, 174, 278};
};

TEST_F(RunCopies, AreNoneOfWhatIsSetAndReadInTheDevicesMemory) {
  const StoredTensor input = *session->storedInput("forward", "x");
  EXPECT_EQ(input.bytes(), kBytesOfX);
  for (float factor : {1.0f, 2.0f}) {
    std::vector<float> given = x, want = y;
    for (std::vector<float> *values : {&given, &want})
      for (float &value : *values)
        value *= factor;
    input.write(std::as_bytes(std::span(given)));
    run();
    EXPECT_EQ(inputsCopied, 0);
    EXPECT_EQ(outputsCopied, 0);
    EXPECT_EQ(stored(), want);
  }
}

TEST_F(RunCopies, AreThoseOfViewsThatTheHostHas) {
  const Tensor input = *session->input("forward", "x"), output = *session->output("forward", "y");
  std::ranges::copy(x, input.as<float>());
  run();
  EXPECT_EQ(inputsCopied, 1);
  EXPECT_EQ(outputsCopied, 1);
  EXPECT_EQ(std::vector(output.as<float>(), output.as<float>() + 6), y);
  EXPECT_EQ(stored(), y);
  // The view is what the next run takes.
  const std::vector<float> none(8);
  session->storedInput("forward", "x")->write(std::as_bytes(std::span(none)));
  EXPECT_EQ(input.as<float>()[1], 0);
  run();
  EXPECT_EQ(stored(), std::vector<float>(6));
}

TEST_F(RunCopies, AScalarIsNotStoredOnTheDevice) {
  EXPECT_EQ(session->storedInput("step", "learning_rate").error().text(),
            "error[E0001]: input \"learning_rate\" of step is a scalar, which is kept by the host");
}

} // namespace
} // namespace lstmc::cuda
