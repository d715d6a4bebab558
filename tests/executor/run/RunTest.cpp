// lstmc-run from outside: its output, its errors, and what it links.
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "tests/executor/data/MxnetFile.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc {
namespace {

namespace fs = std::filesystem;

class Run : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("lstmc-run-" + randomSuffix());
    fs::create_directory(folder);
    Bytes bytes = package::serialize(package::samplePackage());
    std::ofstream(folder / "m.lstmc", std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), int64_t(bytes.size()));
    std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8}, w{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const int64_t xShape[] = {2, 4}, wShape[] = {3, 4};
    Tensor weights = data::denseTensor(w.data(), DType::F32, wShape);
    ASSERT_TRUE(data::writeNpy(folder / "x.npy", data::denseTensor(x.data(), DType::F32, xShape),
                               OutputFile::Existing::Keep)
                    .ok());
    data::NamedTensor named{"w", weights};
    ASSERT_TRUE(
        data::writeSafeTensors(folder / "m.safetensors", {&named, 1}, OutputFile::Existing::Keep)
            .ok());
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Exit code of lstmc-run, run by the shell with this stdout and these words before it; `text`
  /// gets what it wrote to stderr.
  int runWith(const std::string &arguments, const std::string &redirection) {
    std::string command =
        "cd " + folder.string() + " && " LSTMC_RUN " " + arguments + " 2> err " + redirection;
    int status = std::system(command.c_str());
    std::ifstream file(folder / "err");
    text.assign(std::istreambuf_iterator<char>(file), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Exit code; `text` gets what it wrote to both streams, without the folder in names.
  int run(const std::string &arguments) {
    std::string command =
        "cd " + folder.string() + " && " LSTMC_RUN " " + arguments + " > out 2>&1";
    int status = std::system(command.c_str());
    std::ifstream file(folder / "out");
    text.assign(std::istreambuf_iterator<char>(file), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path folder;
  std::string text;
};

TEST_F(Run, PrintsOutputs) {
  EXPECT_EQ(run("m.lstmc -i x=@x.npy"), 0);
  EXPECT_EQ(text, "y f32[2, 3] 30 70 110 70 174 278\n");
}

TEST_F(Run, WritesOutputsAndKeepsWhatIsThere) {
  EXPECT_EQ(run("m.lstmc -i x=@x.npy -o y.npz -t 2"), 0) << text;
  auto arrays = data::loadNpz(folder / "y.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().text();
  ASSERT_EQ(arrays->size(), 1u);
  EXPECT_EQ((*arrays)[0].name, "y");
  EXPECT_EQ((*arrays)[0].array.tensor().as<float>()[5], 278);
  EXPECT_EQ(run("m.lstmc -i x=@y.npz -o y.npz"), 6);
  EXPECT_EQ(run("m.lstmc -i x=2x4xf32=1 -o y.npz"), 6) << "an existing file is kept";
  EXPECT_EQ(run("m.lstmc -i x=2x4xf32=1 -o y.npz --force"), 0) << text;
}

TEST_F(Run, FormsOfInputs) {
  EXPECT_EQ(run("m.lstmc -i x=1"), 0);
  EXPECT_EQ(text, "y f32[2, 3] 10 26 42 10 26 42\n");
  EXPECT_EQ(run("m.lstmc -i x=2x4xf32=0.5"), 0);
  EXPECT_EQ(text, "y f32[2, 3] 5 13 21 5 13 21\n");
  EXPECT_EQ(run("m.lstmc -i x=2x4xf32=random:7"), 0);
  EXPECT_NE(text, "y f32[2, 3] 0 0 0 0 0 0\n");
  EXPECT_EQ(run("m.lstmc -i x=4x2xf32=1"), 6);
  EXPECT_EQ(text, "error[E0610]: input \"x\": found f32[4, 2], want f32[2, 4]\n");
  EXPECT_EQ(run("m.lstmc -i x=2y4=1"), 2);
  EXPECT_EQ(text, "error[E0001]: input \"x\": found \"2y4\", want a type such as 32x35xi32\n");
  EXPECT_EQ(run("m.lstmc -i x=1e"), 2);
  EXPECT_EQ(text, "error[E0001]: input \"x\": found \"1e\", want @FILE.npy, @FILE.npz, a number, "
                  "or TYPE=NUMBER\n");
}

TEST_F(Run, FailuresHaveTheirExitCodes) {
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run("m.lstmc"), 2);
  EXPECT_EQ(text, "error[E0001]: input \"x\": found no -i for it, want one\n");
  EXPECT_EQ(run("m.lstmc --walk"), 2);
  EXPECT_EQ(run("m.lstmc -i x=1 --entry walk"), 2);
  EXPECT_EQ(run("m.lstmc -i x=1 -d gpu:0"), 5);
  EXPECT_EQ(run("none.lstmc -i x=1"), 6);
  EXPECT_EQ(run("x.npy -i x=1"), 6);
  EXPECT_EQ(text,
            "x.npy: byte 4: error[E0603]: identifier: found \"PY\\u0001\\u0000\", want \"LSTM\"\n");
  EXPECT_EQ(run("m.lstmc -i x=nan --check-nan"), 7);
  EXPECT_EQ(run("-h"), 0);
}

TEST_F(Run, AResultThatCannotBeWrittenIsNone) {
  for (const char *arguments :
       {"m.lstmc -i x=1", "m.lstmc -i x=1 -o -", "m.lstmc -i x=1 -o y.npz", "-h"}) {
    EXPECT_EQ(runWith(arguments, "> /dev/full"), 6) << arguments;
    EXPECT_EQ(text, "<stdout>: error[E0601]: cannot write: No space left on device\n");
  }
  EXPECT_EQ(runWith("none.lstmc -i x=1", "> /dev/full"), 6);
  EXPECT_NE(text.find("none.lstmc"), std::string::npos);
}

TEST_F(Run, DashIsStdout) {
  EXPECT_EQ(runWith("m.lstmc -i x=1 -o y.npz", "> /dev/null"), 0);
  EXPECT_EQ(runWith("m.lstmc -i x=1 -o -", "> z.npz"), 0);
  EXPECT_EQ(*readFile(folder / "y.npz"), *readFile(folder / "z.npz"));
}

TEST_F(Run, ClosedStreamsAreNoFilesOfOurs) {
  EXPECT_EQ(runWith("m.lstmc -i x=1 -o y.npz", ">&- <&-"), 0);
  EXPECT_EQ(runWith("m.lstmc -i x=1 -o z.npz", ""), 0);
  EXPECT_EQ(*readFile(folder / "y.npz"), *readFile(folder / "z.npz"));
}

TEST_F(Run, WeightsOfMxnet) {
  const std::vector<float> w(12, 0.5f);
  const int64_t shape[] = {3, 4};
  data::NamedTensor named{"w", data::denseTensor(const_cast<float *>(w.data()), DType::F32, shape)};
  ASSERT_TRUE(
      data::writeSafeTensors(folder / "w.safetensors", {&named, 1}, OutputFile::Existing::Keep)
          .ok());
  const auto write = [&](test::MxnetVersion version, const std::vector<std::string> &names) {
    const Bytes bytes = test::MxnetFile().array(version, {3, 4}, w).named(names);
    return writeFile(folder / "w.params", asText(bytes), OutputFile::Existing::Replace);
  };
  for (test::MxnetVersion version : test::kMxnetVersions) {
    ASSERT_TRUE(write(version, {"arg:w"}).ok());
    EXPECT_EQ(run("m.lstmc -i x=1 --params w.safetensors"), 0) << text;
    const std::string same = text;
    EXPECT_EQ(run("m.lstmc -i x=1 --params w.params"), 0) << text;
    EXPECT_EQ(text, same);
  }
  ASSERT_TRUE(write(test::MxnetVersion::V2, {}).ok());
  EXPECT_EQ(run("m.lstmc -i x=1 --params w.params"), 6);
  EXPECT_EQ(text,
            "w.params: error[E0610]: parameter \"w\": found no tensor of that name, want one\n");
}

TEST_F(Run, WeightsOfAnotherModelAreRefused) {
  std::vector<float> w(12);
  const int64_t shape[] = {4, 3};
  data::NamedTensor named{"w", data::denseTensor(w.data(), DType::F32, shape)};
  ASSERT_TRUE(
      data::writeSafeTensors(folder / "w.safetensors", {&named, 1}, OutputFile::Existing::Keep)
          .ok());
  EXPECT_EQ(run("m.lstmc -i x=1 --params w.safetensors"), 6);
  EXPECT_EQ(text,
            "w.safetensors: error[E0610]: parameter \"w\": found f32[4, 3], want f32[3, 4]\n");
  named.name = "v";
  ASSERT_TRUE(
      data::writeSafeTensors(folder / "v.safetensors", {&named, 1}, OutputFile::Existing::Keep)
          .ok());
  EXPECT_EQ(run("m.lstmc -i x=1 --params v.safetensors"), 6);
  EXPECT_EQ(text, "v.safetensors: error[E0610]: parameter \"w\": found no tensor of that name, "
                  "want one\n");
}

TEST(RunProgram, LinksNoCompiler) {
  auto file = readFile(LSTMC_RUN);
  ASSERT_TRUE(file.ok());
  const uint8_t *bytes = file->data();
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes);
  ASSERT_EQ(std::memcmp(header->e_ident, ELFMAG, SELFMAG), 0);
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes + header->e_shoff);
  std::vector<std::string> needed;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNAMIC)
      continue;
    const char *names =
        reinterpret_cast<const char *>(bytes + sections[sections[i].sh_link].sh_offset);
    auto *entry = reinterpret_cast<const Elf64_Dyn *>(bytes + sections[i].sh_offset);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED)
        needed.emplace_back(names + entry->d_un.d_val);
  }
  EXPECT_FALSE(needed.empty());
  for (const std::string &name : needed) {
    EXPECT_EQ(name.find("LLVM"), std::string::npos) << name;
    EXPECT_EQ(name.find("MLIR"), std::string::npos) << name;
  }
}

} // namespace
} // namespace lstmc
