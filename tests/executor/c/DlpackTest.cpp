// Tensors of other libraries, by structs that are laid out as DLPack has them.
#include <numeric>

#include <gtest/gtest.h>
#include <lstmc/dlpack.hpp>
#include <lstmc/lstmc.hpp>

#include "tests/executor/c/SampleBytes.h"

namespace {

struct DlTensor {
  void *data;
  struct {
    std::int32_t device_type, device_id;
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Managed {
  DlTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(Managed *);
};
struct Versioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(Versioned *);
  std::uint64_t flags;
  DlTensor dl_tensor;
};

struct X {
  std::vector<float> values = std::vector<float>(10);
  std::int64_t shape[2] = {2, 4}, strides[2] = {4, 1};
  Managed managed = {{values.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 8}, nullptr, nullptr};
  X() { std::iota(values.begin(), values.end(), -1.0f); }
};

TEST(CppDlpack, ATensorIsAnInputAndAnOutputATensor) {
  const lstmc::Package package = lstmc::Package::read(lstmc::test::sampleBytes());
  lstmc::Session session = package.session({.threads = 1});
  X x; // its elements begin after two others
  session.run({{"x", std::span(x.values).subspan(2)}});
  const auto y = session.output<float>("y");
  const std::vector<float> want(y.begin(), y.end());
  session.run({{"x", std::vector<float>(8)}});
  session.run({lstmc::from_dlpack("x", x.managed)});
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), want);
  x.managed.dl_tensor.strides = nullptr; // dense
  session.run({lstmc::from_dlpack("x", x.managed)});

  auto *out = lstmc::to_dlpack<Versioned>(session.output<float>("y"));
  session.run({{"x", std::vector<float>(8)}});
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->version.major, 1u);
  const DlTensor &tensor = out->dl_tensor;
  EXPECT_EQ(std::vector<std::int64_t>(tensor.shape, tensor.shape + tensor.ndim),
            (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.strides[0], 3);
  EXPECT_EQ(tensor.strides[1], 1);
  EXPECT_EQ(int(tensor.dtype.code), 2);
  EXPECT_EQ(int(tensor.dtype.bits), 32);
  EXPECT_EQ(tensor.device.device_type, 1);
  const auto *values = static_cast<const float *>(tensor.data);
  EXPECT_EQ(std::vector<float>(values, values + 6), want); // a copy of what was there
  EXPECT_EQ(session.try_run({*lstmc::try_from_dlpack("x", *out)}).error().message(),
            "input \"x\": found 6 values of f32, want 8: f32[2, 4]");
  out->deleter(out);
}

TEST(CppDlpack, ElementTypesAreThoseOfDlpack) {
  const auto code = [](auto value) {
    std::int64_t shape = 1;
    auto *out =
        lstmc::to_dlpack<Managed>(lstmc::Tensor<decltype(value)>(&value, std::span(&shape, 1)));
    const int found = out->dl_tensor.dtype.code * 100 + out->dl_tensor.dtype.bits;
    EXPECT_EQ(lstmc::from_dlpack("x", *out).dtype(), lstmc::dtype_of<decltype(value)>);
    out->deleter(out);
    return found;
  };
  EXPECT_EQ(code(std::int8_t()), 8);
  EXPECT_EQ(code(std::int32_t()), 32);
  EXPECT_EQ(code(std::int64_t()), 64);
  EXPECT_EQ(code(std::uint8_t()), 108);
  EXPECT_EQ(code(lstmc::Half()), 216);
  EXPECT_EQ(code(1.0), 264);
  EXPECT_EQ(code(lstmc::BFloat16()), 416);
  EXPECT_EQ(code(true), 608);
}

TEST(CppDlpack, WhatCannotBeReadSaysWhy) {
  const auto refused = [](auto change) {
    X x;
    change(x);
    const auto input = lstmc::try_from_dlpack("x", x.managed);
    EXPECT_FALSE(input);
    return input ? std::string() : std::string(input.error().message());
  };
  EXPECT_NE(refused([](X &x) {
              x.managed.dl_tensor.device.device_type = 2;
            }).find("another device (type 2 of DLPack)"),
            std::string::npos);
  EXPECT_NE(refused([](X &x) { x.strides[0] = 5; }).find("strides with gaps"), std::string::npos);
  EXPECT_NE(refused([](X &x) { x.managed.dl_tensor.dtype.bits = 128; }).find("128 bits"),
            std::string::npos);
  EXPECT_NE(refused([](X &x) { x.managed.dl_tensor.dtype.lanes = 4; }).find("no type of lstmc"),
            std::string::npos);
}

} // namespace
