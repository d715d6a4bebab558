#include "executor/data/MxnetParams.h"

#include <chrono>

#include "executor/data/ArrayFile.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/data/MxnetFile.h"

namespace lstmc::data {
namespace {

using test::kMxnetVersions, test::MxnetFile, test::MxnetVersion;

Result<MxnetParams> parse(Bytes bytes, const Limits &limits = {}) {
  return MxnetParams::parse(std::move(bytes), "w.params", limits);
}

template <typename T> std::vector<T> elementsOf(const Array &array) {
  std::vector<T> elements(array.bytes.size() / sizeof(T));
  std::copy(array.bytes.begin(), array.bytes.end(), reinterpret_cast<uint8_t *>(elements.data()));
  return elements;
}

TEST(MxnetParams, VersionsMixedInOneFile) {
  MxnetFile file;
  for (MxnetVersion version : kMxnetVersions)
    file.array(version, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, -0.0f});
  auto read = parse(file.named({"arg:v0", "aux:v1", "v2", "arg:aux:v3"}));
  ASSERT_OK(read);
  const std::string names[] = {"v0", "v1", "v2", "aux:v3"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read->name(i), names[i]);
    ASSERT_EQ(read->find(names[i]), i);
    std::optional<Array> array = read->array(i);
    EXPECT_EQ(array->dtype, DType::F32);
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(elementsOf<float>(*array), (std::vector<float>{1, 2, 3, 4, 5, -0.0f}));
  }
  EXPECT_FALSE(read->find("arg:v0"));
}

template <typename T> void hasType(DType want) {
  auto read = parse(MxnetFile().array(MxnetVersion::V2, {2}, std::vector<T>{0, 1}).named({"w"}));
  ASSERT_OK(read);
  EXPECT_EQ(read->array(0)->dtype, want);
  EXPECT_EQ(elementsOf<uint8_t>(*read->array(0)).size(), 2 * sizeof(T));
}

TEST(MxnetParams, Types) {
  hasType<float>(DType::F32);
  hasType<double>(DType::F64);
  hasType<uint8_t>(DType::U8);
  hasType<int32_t>(DType::I32);
  hasType<int8_t>(DType::I8);
  hasType<int64_t>(DType::I64);
  hasType<bool>(DType::Bool);
  for (auto [flag, dtype] : {std::pair(2, DType::F16), {12, DType::BF16}}) {
    auto read = parse(MxnetFile()
                          .begin(MxnetVersion::V1, 1)
                          .put<int64_t>(1)
                          .type(flag)
                          .put<uint16_t>(0x3c00)
                          .named({}));
    ASSERT_OK(read);
    EXPECT_EQ(read->array(0)->dtype, dtype);
  }
}

TEST(MxnetParams, PlacesWithoutArrayAndScalars) {
  MxnetFile file;
  for (MxnetVersion version : {MxnetVersion::V0, MxnetVersion::V1, MxnetVersion::V2})
    file.begin(version, 0, /*storage=*/-1);
  file.begin(MxnetVersion::V3, -1, /*storage=*/-1);
  file.array(MxnetVersion::V3, {}, std::vector<float>{7});
  file.array(MxnetVersion::V3, {0, 4}, std::vector<float>{});
  auto read = parse(file.named({"a", "b", "c", "d", "scalar", "empty"}));
  ASSERT_OK(read);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_FALSE(read->array(i)) << i;
  EXPECT_EQ(elementsOf<float>(*read->array(4)), std::vector<float>{7});
  EXPECT_TRUE(read->array(4)->shape.empty());
  EXPECT_EQ(read->array(5)->shape, (std::vector<int64_t>{0, 4}));
}

TEST(MxnetParams, RefusedArrays) {
  constexpr auto V0 = MxnetVersion::V0, V1 = MxnetVersion::V1, V2 = MxnetVersion::V2,
                 V3 = MxnetVersion::V3;
  EXPECT_REFUSED(parse(MxnetFile().put<uint32_t>(0).named({})), E0605, "end: found");
  EXPECT_REFUSED(parse(MxnetFile().begin(V2, 1, 1).named({})), E0613,
                 "w.params: byte 28: error[E0613]: array 0 storage type: found 1 (row_sparse)");
  EXPECT_REFUSED(parse(MxnetFile().begin(V2, 1, 2).named({})), E0613, "found 2 (csr)");
  EXPECT_REFUSED(parse(MxnetFile().begin(V3, 1, 3).named({})), E0604, "storage type: found 3");
  EXPECT_REFUSED(parse(MxnetFile().begin(V2, 1, -1).put<int64_t>(1).type(0).put(1.0f).named({})),
                 E0604, "storage type: found -1");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, -1).named({})), E0604, "axes: found -1");
  EXPECT_REFUSED(parse(MxnetFile().begin(V3, -2).named({})), E0604, "axes: found -2");
  EXPECT_REFUSED(parse(MxnetFile().begin(V2, INT32_MAX).named({})), E0606, "limit rank");
  EXPECT_REFUSED(parse(MxnetFile().begin(V0, 17).named({})), E0606, "axes: found 17");
  EXPECT_REFUSED(parse(MxnetFile().begin(V0, 33).named({})), E0604, "version: found 0x21");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put<int64_t>(-4).type(0).named({})), E0604,
                 "extent: found -4");
  EXPECT_REFUSED(parse(MxnetFile()
                           .begin(V1, 3)
                           .put(int64_t(1) << 32)
                           .put(int64_t(1) << 32)
                           .put<int64_t>(0)
                           .type(0)
                           .named({})),
                 E0602, "want more than 2^63");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put(int64_t(1) << 60).type(5).named({})), E0602,
                 "want 1152921504606846976 of i8");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put<int64_t>(1).type(13).named({})), E0604,
                 "element type: found 13");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put<int64_t>(1).type(-1).named({})), E0604,
                 "element type: found -1");
  for (int32_t flag = 8; flag <= 11; ++flag)
    EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put<int64_t>(1).type(flag).named({})), E0613,
                   "which lstmc does not have");
  EXPECT_REFUSED(parse(MxnetFile().begin(V1, 1).put<int64_t>(1).type(7).put<uint8_t>(2).named({})),
                 E0604, "found 2 for a bool");
}

TEST(MxnetParams, RefusedLists) {
  const auto one = [] { return MxnetFile().array(MxnetVersion::V2, {1}, std::vector<float>{1}); };
  const auto two = [&] { return one().array(MxnetVersion::V2, {1}, std::vector<float>{2}); };
  Bytes magic = one().named({});
  magic[0] = 0x13;
  EXPECT_REFUSED(parse(magic), E0603, "magic number: found 0x113");
  Bytes reserved = one().named({});
  reserved[15] = 1;
  EXPECT_REFUSED(parse(reserved), E0603, "reserved");
  Bytes count = one().named({});
  count[23] = 0x10; // 2^60
  EXPECT_REFUSED(parse(count), E0602, "byte 16: error[E0602]: count of arrays");
  EXPECT_REFUSED(parse(two().named({"a"})), E0605, "count of names: found 1, want 0 or 2");
  EXPECT_REFUSED(parse(two().named({"a", "b", "c"})), E0605, "count of names: found 3");
  EXPECT_REFUSED(parse(two().named({"a", "a"})), E0612, "name 1: found \"a\", which names array 0");
  EXPECT_REFUSED(parse(two().named({"arg:a", "aux:a"})), E0612, "found \"aux:a\"");
  EXPECT_REFUSED(parse(two().named({"a", ""})), E0604, "name 1: found \"\"");
  EXPECT_REFUSED(parse(one().named({"arg:"})), E0604, "want a name");
  EXPECT_REFUSED(parse(one().named({"\xff"})), E0604, "want UTF-8");
  EXPECT_REFUSED(parse(one().named({std::string(5000, 'a')})), E0606, "limit name");
  Bytes longName = one().named({"abc"});
  longName[longName.size() - 4] = 0x7f; // the length's last byte
  EXPECT_REFUSED(parse(longName), E0602, "name 0");
  Bytes trailing = one().named({"a"});
  trailing.push_back(0);
  EXPECT_REFUSED(parse(trailing), E0605, "found 1 bytes after the last name");
  Limits small;
  small.rank = 1;
  EXPECT_REFUSED(
      parse(MxnetFile().array(MxnetVersion::V1, {1, 1}, std::vector<float>{1}).named({}), small),
      E0606, "axes: found 2, want at most 1");
}

TEST(MxnetParams, MillionsOfEmptyArraysTakeLittleTime) {
  constexpr size_t kArrays = 3'000'000;
  MxnetFile file;
  std::vector<std::string> names;
  for (size_t i = 0; i < kArrays; ++i) {
    file.array(MxnetVersion::V0, {0}, std::vector<float>());
    names.push_back(std::to_string(i));
  }
  Bytes bytes = file.named(names);
  auto begin = std::chrono::steady_clock::now();
  auto read = parse(std::move(bytes));
  auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_OK(read);
  EXPECT_EQ(read->find("2999999"), kArrays - 1);
  // 0.5 s with optimisation; a test is compiled without, and runs beside others.
  EXPECT_LT(took, std::chrono::seconds(5));
}

//===---- any format --------------------------------------------------------------------------===//

TEST(ArrayFile, FormatsAreKnownByTheirBytes) {
  test::TemporaryFolder folder;
  float w[2] = {1, 2};
  int64_t shape[] = {2};
  std::vector<NamedTensor> tensors = {{"w", denseTensor(w, DType::F32, shape)}};
  constexpr auto kReplace = OutputFile::Existing::Replace;
  const auto mxnet = [&](const std::string &path) -> Status {
    return writeFile(
        path,
        asText(MxnetFile().array(MxnetVersion::V2, {2}, std::vector<float>{1, 2}).named({"arg:w"})),
        kReplace);
  };
  for (const char *name : {"a.safetensors", "a.npz", "a.params", "a.weights", "a"}) {
    std::string path = folder / name;
    for (auto [format, written] :
         {std::pair("safetensors", writeSafeTensors(path, tensors, kReplace)),
          {"npz", Status()},
          {"params", Status()}}) {
      if (std::string_view(format) == "npz")
        written = writeNpz(path, tensors, kReplace);
      if (std::string_view(format) == "params")
        written = mxnet(path);
      ASSERT_OK(written);
      if (std::string_view(format) == "safetensors" && !std::string_view(name).ends_with(format))
        continue; // has no magic number; another suffix is another format's
      auto file = ArrayFile::load(path);
      ASSERT_OK(file);
      EXPECT_EQ((*file)->format(), format) << name;
      ASSERT_EQ((*file)->size(), 1u);
      EXPECT_EQ((*file)->name(0), "w");
      ASSERT_TRUE((*file)->find("w"));
      EXPECT_EQ(elementsOf<float>(*(*file)->find("w")), (std::vector<float>{1, 2}));
      EXPECT_FALSE((*file)->find("v"));
    }
  }
}

TEST(ArrayFile, AFileThatNoFormatKnowsIsReadAsItsSuffixSays) {
  Bytes text{'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '.'};
  EXPECT_REFUSED(ArrayFile::parse(text, "a.params"), E0603, "magic number");
  EXPECT_REFUSED(ArrayFile::parse(text, "a.safetensors"), E0606, "header length");
  EXPECT_REFUSED(ArrayFile::parse(text, "a.bin"), E0606, "header length");
  EXPECT_FALSE(ArrayFile::parse(text, "a.npz").ok());
  Bytes pickle{0x80, 2, 0x8a, '\n', 'l', 0xfc, 0x9c, 'F', 0xf9, ' ', 'j'};
  EXPECT_REFUSED(ArrayFile::parse(pickle, "a.params"), E0603, "this is a PyTorch file");
}

/// A file of one LSTM layer of 1 unit and 2 inputs, gate by gate, all numbers in the order of the
/// vector from `first` on.
Bytes byGates(const std::string &prefix, const std::string &gates, bool backward) {
  MxnetFile file;
  std::vector<std::string> names;
  float next = 0;
  for (bool bias : {false, true})
    for (const char *direction : {"l0_", "r0_"}) {
      if (direction[0] == 'r' && !backward)
        continue;
      for (const char *part : {"i2h", "h2h"})
        for (char gate : gates) {
          const int64_t width = bias ? 1 : part[0] == 'i' ? 2 : 1;
          std::vector<float> row(size_t(width), 0);
          for (float &element : row)
            element = next++;
          file.array(MxnetVersion::V2,
                     bias ? std::vector<int64_t>{1} : std::vector{int64_t(1), width}, row);
          names.push_back(fmt::format("arg:{}{}{}_{}_{}", prefix, direction, part, gate,
                                      bias ? "bias" : "weight"));
        }
    }
  return file.named(names);
}

TEST(ArrayFile, WeightsOfMxnetThatAreThereGateByGate) {
  for (auto [gates, backward, elements] :
       {std::tuple("ifco", false, 20), {"rzo", false, 15}, {"ifco", true, 40}}) {
    auto file = ArrayFile::parse(byGates("lstm_", gates, backward), "w.params");
    ASSERT_OK(file);
    std::optional<Array> vector = (*file)->find("lstm_parameters");
    ASSERT_TRUE(vector);
    EXPECT_EQ(vector->shape, std::vector<int64_t>{elements});
    std::vector<float> found = elementsOf<float>(*vector);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], float(i)) << gates;
    const auto rows = int64_t(std::string_view(gates).size());
    std::optional<Array> matrix = (*file)->find("lstm_l0_i2h_weight");
    ASSERT_TRUE(matrix);
    EXPECT_EQ(matrix->shape, (std::vector<int64_t>{rows, 2}));
    EXPECT_EQ((*file)->find("lstm_l0_h2h_bias")->shape, std::vector<int64_t>{rows});
    EXPECT_FALSE((*file)->find("lstm_l1_i2h_weight"));
    EXPECT_FALSE((*file)->find("gru_parameters"));
    EXPECT_FALSE((*file)->find("parameters"));
  }
}

TEST(ArrayFile, FilesThatMxnetWrote) {
  LSTMC_DATA_FILE(trained, "mxnet/go_test-0001.params");
  auto file = ArrayFile::load(trained);
  ASSERT_OK(file);
  EXPECT_EQ((*file)->format(), "params");
  EXPECT_GT((*file)->size(), 0u);
  LSTMC_DATA_FILE(legacy, "mxnet/legacy_ndarray.v0");
  auto arrays = MxnetParams::parse(*readFile(legacy), legacy);
  ASSERT_OK(arrays);
  ASSERT_EQ(arrays->size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    std::vector<float> elements = elementsOf<float>(*arrays->array(i));
    ASSERT_EQ(elements.size(), 128u);
    for (size_t j = 0; j < elements.size(); ++j)
      EXPECT_EQ(elements[j], float(j));
  }
}

} // namespace
} // namespace lstmc::data
