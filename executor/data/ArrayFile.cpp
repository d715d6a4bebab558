#include "executor/data/ArrayFile.h"

#include <algorithm>
#include <map>

#include "executor/base/NoMemory.h"
#include "executor/data/ForeignFile.h"
#include "executor/data/MxnetParams.h"
#include "executor/data/Npz.h"
#include "executor/data/PackedWeights.h"
#include "executor/data/SafeTensors.h"

namespace lstmc::data {

namespace {

class SafeTensorsArrays : public ArrayFile {
public:
  explicit SafeTensorsArrays(SafeTensors tensors) : tensors_(std::move(tensors)) {}
  size_t size() const override { return tensors_.records().size(); }
  std::string name(size_t number) const override { return tensors_.records()[number].name; }
  std::optional<Array> array(size_t number) const override {
    return tensors_.array(tensors_.records()[number]);
  }

protected:
  std::optional<size_t> numberOf(std::string_view name) const override {
    const TensorRecord *record = tensors_.find(name);
    return record ? std::optional(size_t(record - tensors_.records().data())) : std::nullopt;
  }

private:
  SafeTensors tensors_;
};

class NpzArrays : public ArrayFile {
public:
  explicit NpzArrays(std::vector<NamedArray> arrays) : arrays_(std::move(arrays)) {
    for (size_t i = 0; i < arrays_.size(); ++i)
      byName_.emplace(arrays_[i].name, i);
  }
  size_t size() const override { return arrays_.size(); }
  std::string name(size_t number) const override { return arrays_[number].name; }
  std::optional<Array> array(size_t number) const override { return arrays_[number].array; }

protected:
  std::optional<size_t> numberOf(std::string_view name) const override {
    auto found = byName_.find(name);
    return found == byName_.end() ? std::nullopt : std::optional(found->second);
  }

private:
  std::vector<NamedArray> arrays_;
  std::map<std::string_view, size_t> byName_; ///< of the names in `arrays_`
};

class MxnetArrays : public ArrayFile {
public:
  explicit MxnetArrays(MxnetParams params) : params_(std::move(params)) {}
  size_t size() const override { return params_.size(); }
  std::string name(size_t number) const override { return params_.name(number); }
  std::optional<Array> array(size_t number) const override { return params_.array(number); }
  std::optional<Array> find(std::string_view name) const override {
    const auto written = [&](std::string_view piece) { return ArrayFile::find(piece); };
    std::optional<Array> whole = written(name);
    return whole ? whole : packedWeights(name, written);
  }

protected:
  std::optional<size_t> numberOf(std::string_view name) const override {
    return params_.find(name);
  }

private:
  MxnetParams params_;
};

/// A format: its suffix, whether a file begins as one, and its reader.
struct Format {
  std::string_view name, suffix;
  bool (*begins)(std::span<const uint8_t> bytes);
  Result<std::unique_ptr<ArrayFile>> (*read)(Bytes bytes, const std::string &file,
                                             const Limits &limits);
};

constexpr size_t kLooked = 4096; ///< bytes by which a format is known

Result<std::unique_ptr<ArrayFile>> readSafeTensors(Bytes bytes, const std::string &file,
                                                   const Limits &limits) {
  LSTMC_ASSIGN(SafeTensors tensors, SafeTensors::parse(std::move(bytes), file, limits));
  return std::unique_ptr<ArrayFile>(std::make_unique<SafeTensorsArrays>(std::move(tensors)));
}

Result<std::unique_ptr<ArrayFile>> readNpzFile(Bytes bytes, const std::string &file,
                                               const Limits &limits) {
  LSTMC_ASSIGN(std::vector<NamedArray> arrays, parseNpz(bytes, file, limits));
  return std::unique_ptr<ArrayFile>(std::make_unique<NpzArrays>(std::move(arrays)));
}

Result<std::unique_ptr<ArrayFile>> readMxnetParams(Bytes bytes, const std::string &file,
                                                   const Limits &limits) {
  LSTMC_ASSIGN(MxnetParams params, MxnetParams::parse(std::move(bytes), file, limits));
  return std::unique_ptr<ArrayFile>(std::make_unique<MxnetArrays>(std::move(params)));
}

/// A row for each format. The first is that of files that no row recognises: safetensors has no
/// magic number.
constexpr Format kFormats[] = {
    {"safetensors", ".safetensors", [](std::span<const uint8_t>) { return false; },
     readSafeTensors},
    {"npz", ".npz", beginsAsNpz, readNpzFile},
    {"params", ".params", isMxnetParams, readMxnetParams},
};

/// Null for a file that neither its first bytes nor its suffix make one of these.
const Format *formatFor(std::span<const uint8_t> begin, std::string_view path) {
  const auto *known =
      std::ranges::find_if(kFormats, [&](const Format &format) { return format.begins(begin); });
  if (known == std::end(kFormats))
    known = std::ranges::find_if(
        kFormats, [&](const Format &format) { return path.ends_with(format.suffix); });
  return known == std::end(kFormats) ? nullptr : known;
}

} // namespace

Result<ArrayFile::Pointer> ArrayFile::parse(Bytes bytes, const std::string &file,
                                            const Limits &limits) try {
  const Format *known = formatFor(bytes, file);
  const Format &format = known ? *known : kFormats[0];
  LSTMC_ASSIGN(std::unique_ptr<ArrayFile> arrays, format.read(std::move(bytes), file, limits));
  arrays->format_ = format.name;
  arrays->file_ = file;
  return Pointer(std::move(arrays));
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<ArrayFile::Pointer> ArrayFile::load(const std::string &path, const Limits &limits) try {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parse(std::move(bytes), path, limits);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

bool ArrayFile::isFormat(std::span<const uint8_t> begin, std::string_view path) {
  return formatFor(begin, path) != nullptr;
}

bool ArrayFile::isFormat(const std::string &path) {
  Bytes begin;
  if (Result<InputFile> file = InputFile::open(path); file.ok()) {
    begin.resize(std::min<uint64_t>(kLooked, file->bytes()));
    if (!file->read(0, begin).ok())
      begin.clear();
  }
  return isFormat(begin, path);
}

} // namespace lstmc::data
