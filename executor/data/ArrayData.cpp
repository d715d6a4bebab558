#include <algorithm>

#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/base/Suggest.h"
#include "executor/data/Elements.h"
#include "executor/data/Idx.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/Outside.h"
#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"
#include "executor/data/StoredArray.h"

namespace lstmc::data {
namespace {

/// The scale of MNISTIter: mxnet.md §9.
constexpr double kPixel = 1.0 / 256;

std::vector<int64_t> without(std::span<const int64_t> shape, int axis) {
  std::vector<int64_t> rest(shape.begin(), shape.end());
  rest.erase(rest.begin() + axis);
  return rest;
}

int64_t product(std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

/// An array whose samples are copied to a slot.
struct Source {
  InputSlot slot;
  const StoredArray *array;
  double scale;         ///< factor on every element
  int64_t outer, inner; ///< number of elements of a sample before and after the sample axis
};

class ArrayFeed : public Feed {
public:
  ArrayFeed(std::vector<Source> sources, int64_t first, int64_t batch, Part part, SampleOrder order)
      : sources_(std::move(sources)), first_(first), batch_(batch), part_(part),
        order_(std::move(order)) {}

  int64_t batches() const override { return batchesOf(order_.count(), batch_, part_); }
  int64_t sequences() const override { return batch_; }
  int64_t rows(const Position &position) const override {
    return rowsOf(order_.count(), batch_, position.batch);
  }
  std::string leftOut() const override {
    return samplesLeftOut(order_.count(), batch_, part_, "samples");
  }
  bool restarts(const Position &position) const override {
    return order_.shuffles() || position.batch == 0;
  }
  std::string whyIndependent() const override { return order_.whyIndependent("samples"); }

  Status fill(const Position &position) override {
    for (int64_t n = 0; n < batch_; ++n) {
      int64_t place = std::min(position.batch * batch_ + n, order_.count() - 1);
      int64_t sample = first_ + order_.at(position.epoch, place);
      for (const Source &source : sources_)
        if (source.slot.rows.has(n))
          LSTMC_TRY(copy(source, sample, n));
    }
    return {};
  }

private:
  Status copy(const Source &source, int64_t sample, int64_t row) {
    const Tensor &to = source.slot.tensor;
    const StoredArray &from = *source.array;
    int64_t rowOffset = row * to.strides[size_t(source.slot.batchAxis)];
    int64_t samples = from.elements() / (source.outer * source.inner);
    // The elements of a sample are `outer` runs of `inner` ones.
    const uint8_t *run = nullptr;
    Status status;
    eachIndexBut(to, source.slot.batchAxis, [&](int64_t number, int64_t offset) {
      if (!status.ok())
        return;
      if (number % source.inner == 0) {
        int64_t first = (number / source.inner * samples + sample) * source.inner;
        Result<const uint8_t *> read = from.read(first, source.inner, buffer_);
        status = read.status();
        run = read.ok() ? *read : nullptr;
      }
      if (run) {
        double value = readElement<double>(run, from.dtype(), number % source.inner);
        writeElement(to.data, to.dtype, rowOffset + offset, value * source.scale);
      }
    });
    return status;
  }

  std::vector<Source> sources_;
  int64_t first_, batch_;
  Part part_;
  SampleOrder order_;
  Bytes buffer_; ///< what was read last
};

class ArrayData : public DataSet {
public:
  ArrayData(const DataSpec &spec, std::vector<NamedStoredArray> arrays,
            std::vector<std::string> files, std::string digest)
      : DataSet(spec), arrays_(std::move(arrays)), files_(std::move(files)) {
    digest_ = std::move(digest);
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t seed) const override {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    std::vector<Source> sources;
    int64_t samples = -1;
    for (const InputSlot &slot : slots) {
      int64_t here = 0;
      LSTMC_ASSIGN(Source source, bind(slot, here));
      if (samples >= 0 && here != samples)
        return failAt({fileOf(slot.name)}, ErrorCode::E0605,
                      "array {}: found {} samples, want {} as in {}", inQuotes(slot.name), here,
                      samples, inQuotes(slots.front().name));
      samples = here;
      sources.push_back(std::move(source));
    }
    int64_t split = splitPoint(samples, spec_.valid);
    int64_t begin = part == Part::Valid ? split : 0;
    int64_t end = part == Part::Train ? split : samples;
    if (batchesOf(end - begin, batch, part) < 1)
      return failAt({fileOf(slots.front().name)}, ErrorCode::E0605,
                    "samples: found {} in this part, want at least {}", end - begin,
                    part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    auto make = [&](const std::vector<InputSlot> &to) -> Result<std::unique_ptr<Feed>> {
      for (size_t i = 0; i < to.size(); ++i)
        sources[i].slot = to[i];
      SampleOrder order(end - begin, spec_.shuffle && part == Part::Train, seed);
      return std::unique_ptr<Feed>(new ArrayFeed(sources, begin, batch, part, std::move(order)));
    };
    bool inFile =
        std::ranges::any_of(sources, [](const Source &one) { return one.array->inFile(); });
    return inFile ? readAhead(std::move(slots), make) : make(slots);
  }

  /// An input that is no label has to be there.
  bool fills(const InputSlot &slot) const override { return !slot.label || find(slot.name); }

  std::vector<ArrayShape> arrayShapes() const override {
    std::vector<ArrayShape> shapes;
    for (const NamedStoredArray &named : arrays_)
      shapes.push_back({named.name, {named.array.shape().begin(), named.array.shape().end()}});
    return shapes;
  }

private:
  const NamedStoredArray *find(std::string_view name) const {
    for (const NamedStoredArray &named : arrays_)
      if (named.name == name)
        return &named;
    return nullptr;
  }
  /// "; there is "lenght"", or empty.
  std::string nearArray(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const NamedStoredArray &named : arrays_)
      names.push_back(named.name);
    const std::string near = nearest(name, names);
    return near.empty() ? "" : fmt::format("; there is {}", inQuotes(near));
  }
  std::string fileOf(std::string_view name) const {
    const NamedStoredArray *named = find(name);
    return named ? files_[size_t(named - arrays_.data())] : files_.front();
  }

  /// Finds the array for a slot, and the axis of its samples; `samples` is their number.
  Result<Source> bind(const InputSlot &slot, int64_t &samples) const {
    const NamedStoredArray *named = find(slot.name);
    if (!named)
      return failAt({files_.front()}, ErrorCode::E0610,
                    "array {}: found none, want one for the input{}", inQuotes(slot.name),
                    nearArray(slot.name));
    const StoredArray &array = named->array;
    std::span<const int64_t> shape = array.shape();
    std::vector<int64_t> want = without(shapeOf(slot.tensor), slot.batchAxis);
    Source source{slot, &array, 1.0, 1, product(want)};
    int rank = int(shape.size());
    bool images = spec_.kind == DataKind::Idx;
    // Samples are on the slot's batch axis, or else on the first axis.
    if (rank > slot.batchAxis && without(shape, slot.batchAxis) == want) {
      samples = shape[size_t(slot.batchAxis)];
      source.outer = product(shape.first(size_t(slot.batchAxis)));
      source.inner = product(shape.subspan(size_t(slot.batchAxis) + 1));
    } else if (rank > 0 && (without(shape, 0) == want ||
                            (images && product(without(shape, 0)) == product(want)))) {
      samples = shape[0];
    } else {
      std::vector<int64_t> wanted(want);
      wanted.insert(wanted.begin(), -1);
      return failAt({fileOf(slot.name)}, ErrorCode::E0605,
                    "array {}: found shape {}, want {} with any number of samples for -1",
                    inQuotes(slot.name), shapeText(shape), shapeText(wanted));
    }
    if (images && !slot.label && array.dtype() == DType::U8 && isFloat(slot.tensor.dtype))
      source.scale = kPixel;
    LSTMC_TRY(checkValues(slot, array));
    if (slot.range && source.scale == 1)
      LSTMC_TRY(checkRange(source));
    return source;
  }

  /// Whether a finite number of the one may be infinite in the other.
  static bool narrows(DType from, DType to) {
    return to == DType::F16 || (from == DType::F64 && to != DType::F64);
  }

  /// Refuses values that the input's type or the number of classes cannot hold.
  Status checkValues(const InputSlot &slot, const StoredArray &array) const {
    int64_t classes = slot.label ? spec_.classes : 0;
    if (isFloat(slot.tensor.dtype) && !narrows(array.dtype(), slot.tensor.dtype) && classes == 0)
      return {};
    return array.eachPart([&](const uint8_t *elements, int64_t first, int64_t count) -> Status {
      for (int64_t i = 0; i < count; ++i) {
        double value = readElement<double>(elements, array.dtype(), i);
        if (!representable(value, slot.tensor.dtype))
          return failAt({fileOf(slot.name)}, ErrorCode::E0604,
                        "array {} element {}: found {}, want a value of {}", inQuotes(slot.name),
                        first + i, value, dtypeLongName(slot.tensor.dtype));
        if (classes && !(value >= 0 && value < double(classes)))
          return failAt({fileOf(slot.name)}, ErrorCode::E0604,
                        "array {} element {}: found label {}, want 0 to {}", inQuotes(slot.name),
                        first + i, value, classes - 1);
      }
      return {};
    });
  }

  /// Refuses values that are out of range for the network's input.
  Status checkRange(const Source &source) const {
    const StoredArray &array = *source.array;
    int64_t samples = array.elements() / (source.outer * source.inner);
    return array.eachPart([&](const uint8_t *elements, int64_t first, int64_t count) -> Status {
      std::optional<int64_t> at = firstOutside(elements, array.dtype(), count, *source.slot.range);
      if (!at)
        return {};
      return failAt({fileOf(source.slot.name)}, ErrorCode::E0604,
                    "array {} row {}{}: found {}, want {}", inQuotes(source.slot.name),
                    (first + *at) / source.inner % samples, placeText(array.shape(), first + *at),
                    readElement<double>(elements, array.dtype(), *at), source.slot.range->text());
    });
  }

  std::vector<NamedStoredArray> arrays_;
  std::vector<std::string> files_; ///< one per array
};

/// Of names, types, shapes and elements.
std::string digestOf(const std::vector<NamedArray> &arrays) {
  Sha256 digest;
  auto add = [&](std::string_view text) {
    digest.update({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  };
  for (const auto &[name, array] : arrays) {
    add(fmt::format("{} {} {}\n", inQuotes(name), dtypeName(array.dtype), shapeText(array.shape)));
    digest.update(array.bytes);
  }
  return digest.finish();
}

std::vector<NamedStoredArray> inMemory(std::vector<NamedArray> arrays) {
  std::vector<NamedStoredArray> stored;
  for (NamedArray &named : arrays)
    stored.push_back({std::move(named.name), StoredArray(std::move(named.array))});
  return stored;
}

} // namespace

std::unique_ptr<DataSet> DataSet::ofArrays(std::vector<NamedArray> arrays, DataSpec spec) {
  spec.kind = DataKind::Npz;
  std::string digest = digestOf(arrays);
  std::vector<std::string> files(std::max<size_t>(arrays.size(), 1), spec.source);
  return std::make_unique<ArrayData>(spec, inMemory(std::move(arrays)), std::move(files),
                                     std::move(digest));
}

Result<std::unique_ptr<DataSet>> loadArrays(const DataSpec &spec, const Limits &limits) {
  std::vector<NamedStoredArray> arrays;
  std::vector<std::string> files;
  Sha256 digest;
  for (const auto &[input, file] : spec.files) {
    LSTMC_ASSIGN(StoredBytes bytes, readSource(spec, file, limits.dataMemory));
    LSTMC_TRY(addTo(digest, bytes));
    if (spec.kind == DataKind::Npz) {
      LSTMC_ASSIGN(arrays, readNpz(bytes, file, limits));
      files.assign(std::max<size_t>(arrays.size(), 1), file);
      continue;
    }
    Result<StoredArray> array = spec.kind == DataKind::Npy
                                    ? readNpy(std::move(bytes), file, limits)
                                    : readIdx(std::move(bytes), file, limits);
    if (!array.ok())
      return array.error();
    arrays.push_back({input, std::move(*array)});
    files.push_back(file);
  }
  return std::unique_ptr<DataSet>(
      new ArrayData(spec, std::move(arrays), std::move(files), digest.finish()));
}

} // namespace lstmc::data
