// Where libraries of CUDA are looked for, and that a message says so.
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>

#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/text/LibraryPlaces.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// An environment of Python with two wheels.
class MissingLibraries : public ::testing::Test {
protected:
  MissingLibraries() {
    for (const char *name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"})
      unsetenv(name);
    setenv("HOME", folder.path().c_str(), 1);
    setenv("VIRTUAL_ENV", folder.path().c_str(), 1);
    for (const std::string &wheel : {cudnn, nvrtc})
      std::filesystem::create_directories(wheel);
    test::writeText(nvrtc + "/libnvrtc_none.so.13", "no library");
  }
  ~MissingLibraries() override { unsetenv("VIRTUAL_ENV"); }

  test::TemporaryFolder folder;
  const std::string packages = folder.path().string() + "/lib/python3.11/site-packages/nvidia/",
                    cudnn = packages + "cudnn/lib", nvrtc = packages + "cu13/lib";
};

TEST_F(MissingLibraries, AreTheSystemsAndThoseOfPythonsWheels) {
  const LibraryPlaces places = placesOf("libnvrtc_none.so.13", {"cu13/lib", "cuda_nvrtc/lib"});
  EXPECT_THAT(places.files, ElementsAre("libnvrtc_none.so.13", nvrtc + "/libnvrtc_none.so.13"));
  for (const std::string &looked : {nvrtc, packages + "cuda_nvrtc/lib"})
    EXPECT_THAT(places.folders, Contains(looked));
  EXPECT_THAT(places.folders, Contains("/usr/local/cuda/lib64"));
  EXPECT_EQ(std::ranges::count(places.folders, nvrtc), 1);
}

TEST_F(MissingLibraries, AreTheToolkitsThatAVariableNames) {
  setenv("CUDA_HOME", nvrtc.c_str(), 1);
  std::filesystem::create_directories(nvrtc + "/lib");
  test::writeText(nvrtc + "/lib/libcudnn_none.so.9", "no library");
  const LibraryPlaces places = placesOf("libcudnn_none.so.9", {"cudnn/lib"});
  unsetenv("CUDA_HOME");
  EXPECT_THAT(places.files, ElementsAre("libcudnn_none.so.9", nvrtc + "/lib/libcudnn_none.so.9"));
}

TEST_F(MissingLibraries, AreNamedWhereALibraryIsMissing) {
  setenv("LD_LIBRARY_PATH", "/opt/none", 1);
  const auto missing = loadCudnn(placesOf("libcudnn_none.so.9", {"cudnn/lib"}));
  const auto driver = loadDriver("libcuda_none.so.1");
  unsetenv("LD_LIBRARY_PATH");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message,
              HasSubstr("cuDNN was not found; looked for libcudnn_none.so.9 where the system looks "
                        "for libraries (LD_LIBRARY_PATH is /opt/none), and in "));
  EXPECT_THAT(missing.error().message, HasSubstr(cudnn));
  ASSERT_FALSE(driver.ok());
  EXPECT_THAT(driver.error().message,
              HasSubstr("the NVIDIA driver: libcuda_none.so.1 was not found where the system looks "
                        "for libraries (LD_LIBRARY_PATH is /opt/none)"));
  EXPECT_EQ(systemPlaces(), "where the system looks for libraries (LD_LIBRARY_PATH is not set)");
}

} // namespace
} // namespace lstmc::cuda
