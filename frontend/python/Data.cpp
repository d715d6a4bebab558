#include "frontend/python/Data.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/base/Numeric.h"
#include "executor/data/ForeignFile.h"
#include "executor/data/Outside.h"
#include "executor/data/Sources.h"
#include "frontend/python/Gil.h"
#include "frontend/python/Models.h"
#include "frontend/python/Values.h"

namespace nb = nanobind;

namespace lstmc::python {

namespace {

/// Fills batches by a call of Python: `source.fill(epoch, batch, {input: array to write to})`;
/// where there are slots of several buckets, `source.bucket(epoch, batch)` is called before, and
/// says of which the batch is. What they raise passes through the loop of the training, which it
/// ends.
class CalledFeed : public data::BucketFeed {
public:
  CalledFeed(nb::object source, std::vector<std::vector<data::InputSlot>> slots, int64_t batches,
             bool continues)
      : source_(std::move(source)), slots_(std::move(slots)), batches_(batches),
        continues_(continues) {}
  ~CalledFeed() override {
    GilHeld held;
    source_.reset();
  }

  int64_t batches() const override { return batches_; }
  int64_t sequences() const override {
    const data::InputSlot &slot = slots_.front().front();
    return slot.tensor.shape[size_t(slot.batchAxis)];
  }
  bool restarts(const data::Position &at) const override { return !continues_ || at.batch == 0; }
  std::string whyIndependent() const override {
    return continues_ ? "" : "the iterator's attribute continues is False";
  }

  size_t bucket(const data::Position &at) override {
    GilHeld held;
    nb::object number = stayAtExit([&] { return source_.attr("bucket")(at.epoch, at.batch); });
    used_ = nb::cast<size_t>(number);
    return used_;
  }

  Status fill(const data::Position &at) override {
    GilHeld held;
    nb::dict views;
    for (const data::InputSlot &slot : slots_[used_])
      views[slot.name.c_str()] = viewOf(slot.tensor, source_);
    stayAtExit([&] { source_.attr("fill")(at.epoch, at.batch, views); });
    for (const data::InputSlot &slot : slots_[used_])
      checkRange(slot, at);
    return {};
  }

private:
  static void checkRange(const data::InputSlot &slot, const data::Position &at) {
    if (!slot.range || !slot.tensor.dense())
      return;
    const Tensor &tensor = slot.tensor;
    if (std::optional<int64_t> found =
            data::firstOutside(tensor.as<uint8_t>(), tensor.dtype, tensor.elements(), *slot.range))
      throw Failure(fail(ErrorCode::E0604,
                         "batch {} of epoch {}, array \"{}\" element {}: found {}, "
                         "want {}",
                         at.batch, at.epoch, slot.name, *found,
                         readElement<double>(tensor.data, tensor.dtype, *found),
                         slot.range->text()));
  }

  nb::object source_;
  std::vector<std::vector<data::InputSlot>> slots_; ///< by bucket
  size_t used_ = 0;
  int64_t batches_;
  bool continues_;
};

data::DataSpec specNamed(std::string source) {
  data::DataSpec spec;
  spec.source = std::move(source);
  spec.shuffle = false;
  return spec;
}

/// The user's own batches.
class CalledData : public data::DataSet {
public:
  CalledData(nb::object source, int64_t batches, bool continues)
      : DataSet(specNamed("batches")), source_(std::move(source)), batches_(batches),
        continues_(continues) {
    digest_ = "batches";
  }
  ~CalledData() override {
    GilHeld held;
    source_.reset();
  }

  Result<std::unique_ptr<data::Feed>> feed(data::Part, std::vector<data::InputSlot> slots,
                                           uint64_t) const override {
    GilHeld held;
    return std::unique_ptr<data::Feed>(
        new CalledFeed(source_, {std::move(slots)}, batches_, continues_));
  }
  Result<std::unique_ptr<data::BucketFeed>>
  bucketFeed(const std::vector<std::vector<data::InputSlot>> &slots, uint64_t) const override {
    GilHeld held;
    return std::unique_ptr<data::BucketFeed>(new CalledFeed(source_, slots, batches_, continues_));
  }

private:
  nb::object source_;
  int64_t batches_;
  bool continues_;
};

} // namespace

static PythonData ofArrays(const nb::dict &arrays, double valid, bool shuffle) {
  std::vector<data::NamedArray> copies;
  for (auto [name, array] : arrays)
    copies.push_back({nb::cast<std::string>(name), copyOf(nb::cast<HostArray>(array))});
  data::DataSpec spec = specNamed("arrays");
  spec.shuffle = shuffle;
  check(spec.set("valid", fmt::format("{}", valid)));
  return {data::DataSet::ofArrays(std::move(copies), std::move(spec)), nullptr, std::nullopt};
}

static PythonData ofBatches(nb::object source, int64_t batches, bool continues) {
  return {std::make_shared<CalledData>(std::move(source), batches, continues), nullptr,
          std::nullopt};
}

PythonLearned learnedOf(const training::Checkpoint &checkpoint) {
  return {valueOf(training::learnedFrom(checkpoint)), checkpoint.state.source};
}

/// Of the checkpoint at `path`; none of another file.
static std::optional<PythonLearned> learnedAt(const std::string &path) {
  Result<training::FoundCheckpoint> found = training::findCheckpoint(path);
  return found.ok() ? std::optional(learnedOf(found->checkpoint)) : std::nullopt;
}

/// `data` and `valid` among the given fields, over the keys of data(..) in the file `path`, as what
/// the network has learned.
static PythonData ofSpec(const std::string &path, const std::string &command,
                         const GivenFields &given,
                         const std::vector<std::pair<std::string, std::string>> &file,
                         const PythonLearned *known) {
  cli::Options options = valueOf(optionsOf(command, given));
  std::vector<package::Setting> settings;
  for (const auto &[name, value] : file)
    settings.push_back({name, value});
  if (known)
    for (package::Setting &key : cli::tableKeys(known->source, options))
      settings.push_back(std::move(key));
  cli::ModelData read = valueOf(cli::loadData(
      options, {.job = command, .trains = command == "train", .unlabelled = command == "predict"},
      settings, {path, ""}, known ? &known->learned : nullptr));
  return {std::move(read.data), std::move(read.valid), std::move(read.vocabulary),
          std::move(read.remark)};
}

void addData(nb::module_ &module) {
  nb::class_<PythonLearned>(module, "Learned", "A vocabulary, or how a table is scaled and read.");
  module.def("learned_at", &learnedAt, nb::arg("path"));
  nb::class_<PythonData>(module, "Data", "Data of a training.")
      .def("validates", // without other data for it
           [](const PythonData &data) { return data.valid || data.data->spec().valid > 0; })
      .def("learned",
           [](const PythonData &data) {
             return PythonLearned{data.data->learned(), data.data->spec().source};
           })
      .def("remark", [](const PythonData &data) { return data.remark; })
      .def("buckets", [](const PythonData &data) { return data.data->spec().buckets; })
      .def("vocabulary_size", [](const PythonData &data) -> std::optional<int64_t> {
        if (!data.vocabulary)
          return std::nullopt;
        return int64_t(data.vocabulary->size());
      });
  module.def("data_of_arrays", &ofArrays, nb::arg("arrays"), nb::arg("valid"), nb::arg("shuffle"));
  // The samples of `count` that come before the share kept for validation.
  module.def("split_point", &data::splitPoint, nb::arg("count"), nb::arg("valid"));
  module.def("data_of_batches", &ofBatches, nb::arg("source"), nb::arg("batches"),
             nb::arg("continues"));
  module.def("data_of_spec", &ofSpec, nb::arg("path"), nb::arg("command"), nb::arg("given"),
             nb::arg("file"), nb::arg("learned").none());
  module.def(
      "foreign_kind",
      [](nb::bytes begin) {
        return std::string(data::foreignKind(
            std::span(reinterpret_cast<const uint8_t *>(begin.c_str()), begin.size())));
      },
      "What a file of another program is, by its first bytes, and what to do; else empty.");
}

} // namespace lstmc::python
