#include "tests/executor/loaders/Loaders.h"

#include "executor/data/ArrayFile.h"
#include "executor/data/Csv.h"
#include "executor/data/DataSet.h"
#include "executor/data/Idx.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "executor/package/Package.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/CheckpointWriter.h"
#include "tests/executor/data/MxnetFile.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::test {
namespace {

void writeCheckpoint(const std::string &folder) {
  using namespace training;
  FakeModel model;
  auto writer = CheckpointWriter::open(
      {folder, 3, 0, CheckpointWriter::Options::Existing::GoOn, {{"vocab.txt", "a\nb\n"}}, {}});
  ASSERT_OK(writer);
  CheckpointState state;
  state.identity = model.identity();
  state.optimizer = "adam";
  state.update = 1;
  state.running = {{0.1, 2, 0, 1}};
  (*writer)->save(state, model, true);
  for (const auto &result : (*writer)->finished(true))
    ASSERT_OK(result);
}

std::function<Status(const std::string &)> dataOf(std::string_view unit) {
  return [spec = *data::DataSpec::parse(fmt::format("text:?,unit={}", unit))](
             const std::string &path) mutable {
    spec.files[0].second = path;
    return data::DataSet::load(spec).status();
  };
}

} // namespace

std::vector<Loader> makeLoaders(const TemporaryFolder &folder) {
  constexpr auto kKeep = OutputFile::Existing::Keep;
  float w[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3};
  std::vector<data::NamedTensor> tensors = {{"w", data::denseTensor(w, DType::F32, shape)},
                                            {"v", data::denseTensor(w, DType::F32, shape)}};
  EXPECT_TRUE(
      data::writeSafeTensors(folder / "a.safetensors", tensors, kKeep, {{"net", "a"}}).ok());
  EXPECT_TRUE(data::writeNpy(folder / "a.npy", tensors[0].tensor, kKeep).ok());
  EXPECT_TRUE(data::writeNpz(folder / "a.npz", tensors, kKeep).ok());
  writeText(folder / "a.params",
            asText(MxnetFile()
                       .array(MxnetVersion::V2, {2, 3}, std::vector<float>(6, 1))
                       .array(MxnetVersion::V0, {3}, std::vector<float>(3, 2))
                       .named({"arg:w", "a name that is longer than a string object holds"})));
  writeText(folder / "a.idx", std::string("\0\0\x08\x02\0\0\0\x01\0\0\0\x02\x05\x06", 14));
  writeText(folder / "a.csv", "a,\"b \"\"c\"\"\"\n1.5,NW\nNA,\"x,y\"\n2,NW\n");
  writeText(folder / "a.txt", "one two\nthr\xc3\xa9\xc3\xa9 one\n");
  package::Bytes package = package::serialize(package::samplePackage());
  writeText(folder / "a.lstmc", {reinterpret_cast<const char *>(package.data()), package.size()});
  writeCheckpoint(folder / "checkpoint");

  using Path = const std::string &;
  return {
      {"safetensors", folder / "a.safetensors",
       [](Path path) { return data::SafeTensors::load(path).status(); }},
      {"npy", folder / "a.npy", [](Path path) { return data::loadNpy(path).status(); }},
      {"npz", folder / "a.npz", [](Path path) { return data::loadNpz(path).status(); }},
      {"params", folder / "a.params",
       [](Path path) { return data::ArrayFile::load(path).status(); }},
      {"idx", folder / "a.idx", [](Path path) { return data::loadIdx(path).status(); }},
      {"csv", folder / "a.csv", [](Path path) { return data::loadCsv(path).status(); }},
      {"text", folder / "a.txt", dataOf("char")},
      {"words", folder / "a.txt", dataOf("word")},
      {"package", folder / "a.lstmc",
       [](Path path) { return package::Package::open(path).status(); }},
      {"checkpoint", folder / "checkpoint",
       [](Path path) { return training::findCheckpoint(path).status(); }},
  };
}

} // namespace lstmc::test
