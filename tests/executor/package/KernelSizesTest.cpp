// Every size that follows from extents: a package with exactly this size is accepted, one with less
// is refused. The launches are those of the conformance tests, whose kernels use the whole size.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "executor/package/Package.h"
#include "tests/executor/package/LaunchPackage.h"

namespace lstmc::package {
namespace {

using conformance::allKernels;
using conformance::Case;
using conformance::casesOf;
using conformance::TestLaunch;

bool hasExtentOfZero(const TestLaunch &launch) {
  for (const conformance::Array &array : launch.operands)
    if (array.storage && (array.storage->elements() == 0 || array.tensor.elements() == 0))
      return true;
  return false;
}

TEST(KernelSizes, PackagesOfTheConformanceLaunchesAreAccepted) {
  int accepted = 0;
  for (KernelId id : allKernels())
    for (const Case &c : casesOf(id)) {
      const TestLaunch launch = c.make();
      if (hasExtentOfZero(launch))
        continue;
      auto package = Package::open(serialize(launchPackage(launch)));
      if (package.ok())
        ++accepted;
      else // kernels can do this, but the format does not allow it
        EXPECT_NE(package.error().code, ErrorCode::E0612) << c.name << package.error().text();
    }
  EXPECT_GT(accepted, 1000);
}

/// The operand without its last element.
PackageData shortened(const TestLaunch &launch, size_t operand) {
  PackageData data = launchPackage(launch);
  --data.entries[0].programs[0].launches[0].operands[operand].shape[0];
  return data;
}

TEST(KernelSizes, OneElementLessIsRefused) {
  struct Sized {
    KernelId id;
    std::string_view operand;
  };
  int refused = 0;
  for (auto [id, name] : {Sized{KernelId::RnnForward, "scratch"},
                          {KernelId::RnnForward, "w"},
                          {KernelId::RnnForward, "r"},
                          {KernelId::RnnBackward, "scratch"},
                          {KernelId::RnnBackward, "rt"},
                          {KernelId::WeightGradient, "scratch"},
                          {KernelId::Pack, "p"},
                          {KernelId::Product, "p"},
                          {KernelId::Initialise, "scratch"}}) {
    const auto operand = size_t(kernelRecord(id).operand(name));
    for (const Case &c : casesOf(id)) {
      const TestLaunch launch = c.make();
      if (hasExtentOfZero(launch) || !launch.operands[operand].storage ||
          !Package::open(serialize(launchPackage(launch))).ok())
        continue;
      auto package = Package::open(serialize(shortened(launch, operand)));
      ASSERT_FALSE(package.ok()) << c.name << " with less " << name;
      EXPECT_EQ(package.error().code, ErrorCode::E0605) << package.error().text();
      EXPECT_NE(package.error().message.find(std::string(name) + " of "), std::string::npos)
          << package.error().text();
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

} // namespace
} // namespace lstmc::package
