#include "executor/data/DataSet.h"

#include "executor/base/NestedFile.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/base/StandardStreams.h"
#include "executor/data/Array.h"
#include "executor/data/Scaling.h"
#include "executor/data/Sources.h"

namespace lstmc::data {

/// In one form: a checkpoint has it on one line.
static std::string inOneForm(const std::string &scaling) {
  Result<std::vector<ColumnScaling>> columns = parseScaling(scaling, "scaling", {});
  return columns.ok() ? scalingText(*columns) : scaling;
}

std::string whyUnlike(const Learned &one, const Learned &other) {
  if (!one.scaling.empty() && !other.scaling.empty() &&
      inOneForm(one.scaling) != inOneForm(other.scaling))
    return "the columns are scaled by other numbers";
  if (!one.vocabulary || !other.vocabulary)
    return "";
  const Vocabulary &ours = *one.vocabulary, &theirs = *other.vocabulary;
  for (size_t id = 0; id < std::min(ours.size(), theirs.size()); ++id)
    if (ours.symbol(id) != theirs.symbol(id))
      return fmt::format("symbol {} is {} and {}", id, inQuotes(ours.line(id)),
                         inQuotes(theirs.line(id)));
  return ours.size() == theirs.size()
             ? ""
             : fmt::format("there are {} and {} symbols", ours.size(), theirs.size());
}

Result<std::unique_ptr<DataSet>> DataSet::load(const DataSpec &spec, const Learned *learned,
                                               const Limits &limits) try {
  switch (spec.kind) {
  case DataKind::Text:
    return loadText(spec, learned, limits);
  case DataKind::Csv:
    return loadTable(spec, learned, limits);
  case DataKind::Npz:
  case DataKind::Npy:
  case DataKind::Idx:
    return loadArrays(spec, limits);
  case DataKind::Random:
    break;
  }
  return makeRandom(spec);
} catch (const std::bad_alloc &) {
  return noMemory(spec.source);
}

Result<Samples> DataSet::samples(std::vector<InputSlot> slots, bool) const {
  Samples all;
  LSTMC_ASSIGN(all.feed, feed(Part::All, std::move(slots), /*seed=*/0));
  int64_t last = all.feed->batches() - 1;
  all.count = last * all.feed->sequences() + all.feed->rows({0, last});
  return all;
}

Result<std::unique_ptr<BucketFeed>> DataSet::bucketFeed(const std::vector<std::vector<InputSlot>> &,
                                                        uint64_t) const {
  return fail(ErrorCode::E0610,
              "data {}: found buckets= for data that are no sequences, want lines=yes of a text or "
              "sequence=COLUMN of a table",
              inQuotes(spec_.source));
}

bool isInput(const DataSpec &spec, const std::string &file) {
  return spec.folders.empty() && file == "-";
}

Result<InputFile> openSource(const DataSpec &spec, const std::string &file) {
  return spec.folders.empty() ? InputFile::open(file) : openNestedFile(spec.folders, file);
}

Result<StoredBytes> readSource(const DataSpec &spec, const std::string &file, uint64_t held) {
  if (isInput(spec, file)) {
    LSTMC_ASSIGN(std::string text, readInput());
    return StoredBytes::owned(Bytes(text.begin(), text.end()));
  }
  LSTMC_ASSIGN(InputFile source, openSource(spec, file));
  return StoredBytes::of(std::move(source), held);
}

Status addTo(Sha256 &digest, const StoredBytes &bytes) {
  return bytes.eachBlock([&](std::span<const uint8_t> block) -> Status {
    digest.update(block);
    return {};
  });
}

Result<std::string> filesDigest(const DataSpec &spec) {
  Sha256 digest;
  for (const auto &[input, file] : spec.files) {
    LSTMC_ASSIGN(StoredBytes bytes, readSource(spec, file, /*held=*/0));
    LSTMC_TRY(addTo(digest, bytes));
  }
  return digest.finish();
}

int64_t splitPoint(int64_t count, double valid) { return int64_t(double(count) * (1.0 - valid)); }

std::string samplesLeftOut(int64_t count, int64_t batch, Part part, std::string_view what) {
  int64_t rest = part == Part::Train ? count % batch : 0;
  return rest == 0 ? "" : fmt::format("{} of {} {} fill no batch of {}", rest, count, what, batch);
}

Result<DataAndLabel> dataAndLabel(const std::vector<InputSlot> &slots, DataKind kind) {
  DataAndLabel found;
  for (const InputSlot &slot : slots) {
    const InputSlot *&place = slot.label ? found.label : found.data;
    if (place)
      return fail(ErrorCode::E0610, "data of kind {} fill one {}: found {} and {} in the network",
                  dataKindName(kind), slot.label ? "label" : "data input", inQuotes(place->name),
                  inQuotes(slot.name));
    place = &slot;
  }
  if (!found.data)
    return fail(ErrorCode::E0610, "data of kind {} fill a data input: found none in the network",
                dataKindName(kind));
  return found;
}

Result<int64_t> batchExtent(const std::vector<InputSlot> &slots) {
  int64_t batch = 0;
  for (const InputSlot &slot : slots) {
    if (slot.tensor.rank == 0)
      return fail(ErrorCode::E0605, "input {}: found a scalar, want a batch axis",
                  inQuotes(slot.name));
    int64_t here = slot.tensor.shape[size_t(slot.batchAxis)];
    if (batch != 0 && here != batch)
      return fail(ErrorCode::E0605, "input {}: found a batch of {}, want {} as in {}",
                  inQuotes(slot.name), here, batch, inQuotes(slots.front().name));
    batch = here;
  }
  if (batch < 1)
    return fail(ErrorCode::E0605, "network: found no input to fill");
  return batch;
}

} // namespace lstmc::data
