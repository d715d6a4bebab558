#include "backends/cuda/text/Nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "backends/cuda/text/Headers.h"
#include "backends/cuda/text/LoadTable.h"
#include "executor/base/Sha256.h"

namespace lstmc::cuda {

namespace {

/// As nvcc compiles the kernels (images/CompileImage.cmake).
constexpr const char *kOptions[] = {"--std=c++20",      "--fmad=false",
                                    "--ftz=true",       "--prec-div=true",
                                    "--prec-sqrt=true", "--device-as-default-execution-space",
                                    "--device-int128",  "--no-source-include"};

/// Fills `nvrtc`; the first symbol that is missing.
const char *fill(Nvrtc &nvrtc, void *library) {
  const char *missing = nullptr;
#define LSTMC_NVRTC(FIELD, SYMBOL, PARAMETERS)                                                     \
  nvrtc.FIELD = reinterpret_cast<NvrtcResult(*) PARAMETERS>(dlsym(library, SYMBOL));               \
  if (!nvrtc.FIELD && !missing)                                                                    \
    missing = SYMBOL;
#include "backends/cuda/text/Nvrtc.def"
  return missing;
}

/// Of the compiler: NVRTC_ERROR_OUT_OF_MEMORY.
constexpr NvrtcResult kNoMemory = 1;

class NvrtcCompiler final : public TextCompiler {
public:
  explicit NvrtcCompiler(Nvrtc nvrtc) : nvrtc_(std::move(nvrtc)) {
    int count = 0;
    if (nvrtc_.architectures(&count) == 0) {
      architectures_.resize(size_t(count));
      nvrtc_.listArchitectures(architectures_.data());
    }
  }

  std::string identity(int architecture) const override {
    int major = 0, minor = 0;
    nvrtc_.version(&major, &minor);
    std::string text = fmt::format("NVRTC {}.{}", major, minor);
    for (const std::string &option : options(architecture))
      text += " " + option;
    for (const TextHeader &header : textHeaders())
      text += fmt::format("\n{} {}", header.name, sha256(asBytes(header.text)));
    return text;
  }

  Result<Bytes> compile(const std::string &text, int architecture) const override {
    std::vector<const char *> names, texts;
    for (const TextHeader &header : textHeaders()) {
      names.push_back(header.name);
      texts.push_back(header.text);
    }
    NvrtcProgram program = nullptr;
    if (NvrtcResult error = nvrtc_.create(&program, text.c_str(), "fused.cu", int(names.size()),
                                          texts.data(), names.data()))
      return fail(ErrorCode::E0503, "{}: no program can be made (error {})", nvrtc_.where, error);
    Result<Bytes> image = compiled(program, architecture);
    nvrtc_.destroy(&program);
    return image;
  }

private:
  bool knows(int architecture) const {
    return std::ranges::find(architectures_, architecture) != architectures_.end();
  }
  std::vector<std::string> options(int architecture) const {
    std::vector<std::string> all(std::begin(kOptions), std::end(kOptions));
    all.push_back(knows(architecture)
                      ? fmt::format("--gpu-architecture=sm_{}", architecture)
                      : fmt::format("--gpu-architecture=compute_{}", newestBelow(architecture)));
    return all;
  }
  int newestBelow(int architecture) const {
    int newest = 0;
    for (int known : architectures_)
      if (known <= architecture)
        newest = std::max(newest, known);
    return newest;
  }

  Result<Bytes> compiled(NvrtcProgram program, int architecture) const {
    const std::vector<std::string> list = options(architecture);
    std::vector<const char *> words;
    for (const std::string &option : list)
      words.push_back(option.c_str());
    if (NvrtcResult error = nvrtc_.compile(program, int(words.size()), words.data())) {
      const std::string log = logOf(program);
      return fail(ErrorCode::E0503, "{} refuses the text of fused programs: {}", nvrtc_.where,
                  !log.empty()         ? log
                  : error == kNoMemory ? "out of memory"
                                       : fmt::format("error {}", error));
    }
    const bool code = knows(architecture);
    size_t bytes = 0;
    (code ? nvrtc_.codeBytes : nvrtc_.textBytes)(program, &bytes);
    Bytes image(bytes);
    (code ? nvrtc_.code : nvrtc_.text)(program, reinterpret_cast<char *>(image.data()));
    return image;
  }
  std::string logOf(NvrtcProgram program) const {
    size_t bytes = 0;
    nvrtc_.logBytes(program, &bytes);
    std::string log(bytes, '\0');
    nvrtc_.log(program, log.data());
    return log.substr(0, log.find('\0'));
  }

  Nvrtc nvrtc_;
  std::vector<int> architectures_; ///< that it knows
};

constexpr int kOldestMajor = 12; ///< that knows C++20

} // namespace

Result<Nvrtc> loadNvrtc(const LibraryPlaces &places) {
  std::string looked;
  for (const std::string &file : places.files) {
    Nvrtc nvrtc;
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? fill(nvrtc, library) : nullptr;
    if (library && !missing) {
      nvrtc.where = file;
      return nvrtc;
    }
    looked += fmt::format("{}{}{}", looked.empty() ? "" : ", ", file,
                          missing ? fmt::format(" (has no function {})", missing) : "");
  }
  return notFound("NVRTC", looked, places);
}

std::unique_ptr<TextCompiler> nvrtcCompiler(Nvrtc nvrtc) {
  return std::make_unique<NvrtcCompiler>(std::move(nvrtc));
}

Result<const TextCompiler *> machineCompiler(int driverVersion) {
  static const Result<std::unique_ptr<TextCompiler>> loaded =
      [&]() -> Result<std::unique_ptr<TextCompiler>> {
    LibraryPlaces places;
    for (int major = driverVersion / 1000; major >= kOldestMajor; --major)
      places.add(placesOf(fmt::format("libnvrtc.so.{}", major),
                          {fmt::format("cu{}/lib", major), std::string("cuda_nvrtc/lib")}));
    LSTMC_ASSIGN(Nvrtc nvrtc, loadNvrtc(places));
    return nvrtcCompiler(std::move(nvrtc));
  }();
  if (!loaded.ok())
    return loaded.error();
  return loaded->get();
}

} // namespace lstmc::cuda
