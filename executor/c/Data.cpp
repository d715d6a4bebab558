#include <algorithm>
#include <string_view>
#include <utility>

#include "executor/base/Quote.h"
#include "executor/c/CallerStruct.h"
#include "executor/c/Guard.h"
#include "executor/c/TrainHandles.h"
#include "executor/session/UnknownName.h"
#include "executor/training/Checkpoint.h"

using namespace lstmc;

namespace {

std::unique_ptr<lstmc_data> handleOf(std::unique_ptr<data::DataSet> loaded,
                                     std::shared_ptr<c::UnreadInputs> unread = {}) {
  auto handle = std::make_unique<lstmc_data>();
  handle->data = std::move(loaded);
  handle->unread = std::move(unread);
  data::Learned learned = handle->data->learned();
  if (learned.vocabulary)
    handle->vocabulary.emplace(*std::move(learned.vocabulary),
                               learned.unit.value_or(data::TextUnit::Char));
  return handle;
}

/// An array of the caller's, copied.
Result<data::NamedArray> copyOf(const lstmc_array &given) {
  const lstmc_tensor &tensor = given.tensor;
  if (!given.name)
    return fail(ErrorCode::E0001, "arrays: found a null pointer, want a name");
  if (lstmc_dtype_bytes(tensor.dtype) == 0 || tensor.rank < 1 || tensor.rank > LSTMC_MAX_RANK)
    return fail(ErrorCode::E0001,
                "array {}: found type {} and rank {}, want an lstmc_dtype and 1 "
                "to {} axes",
                inQuotes(given.name), int(tensor.dtype), tensor.rank, LSTMC_MAX_RANK);
  data::NamedArray array;
  array.name = given.name;
  array.array.dtype = DType(tensor.dtype);
  array.array.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  const SafeSize bytes = data::arrayBytes(array.array.shape, array.array.dtype);
  if (!bytes.value())
    return fail(ErrorCode::E0001, "array {}: found shape {}, want extents from 0", array.name,
                data::shapeText(array.array.shape));
  if (!tensor.data && *bytes.value() > 0)
    return fail(ErrorCode::E0001, "array {}: found a null pointer, want elements", array.name);
  const auto *from = static_cast<const uint8_t *>(tensor.data);
  array.array.bytes.assign(from, from + *bytes.value());
  return array;
}

/// A caller's struct as this version has it; E0001 for a size that no version has had.
template <typename Struct> Result<Struct> checked(const Struct &given, std::string_view what) {
  if (given.size < sizeof given || !c::restIsZero(given))
    return fail(ErrorCode::E0001, "{}: found size {}, of which lstmc {} knows {}", what, given.size,
                LSTMC_VERSION, sizeof given);
  return c::taken(given);
}

Error ended(std::string_view what, int with) {
  return fail(ErrorCode::E0001, "the source of {} has ended it: found {} from it", what, with);
}

/// Calls `release` once, when the last copy goes.
std::shared_ptr<void> owned(void *user, void (*release)(void *)) {
  return {static_cast<void *>(nullptr), [user, release](void *) {
            if (release)
              release(user);
          }};
}

data::CalledSamples samplesOf(const lstmc_rows &rows, std::shared_ptr<c::UnreadInputs> unread) {
  data::CalledSamples samples;
  samples.count = rows.count;
  samples.valid = rows.valid;
  samples.shuffle = rows.shuffle != 0;
  samples.fill = [rows, unread = std::move(unread), owner = owned(rows.user, rows.release)](
                     int64_t index, std::span<data::CalledInput> inputs) -> Status {
    lstmc_place place{inputs, *unread, true};
    if (const int result = rows.fill(rows.user, index, &place); result != 0)
      return ended("rows", result);
    return {};
  };
  return samples;
}

data::CalledBatches batchesOf(const lstmc_batches &given, std::shared_ptr<c::UnreadInputs> unread) {
  data::CalledBatches batches;
  batches.batches = given.batches;
  batches.continues = given.continues != 0;
  batches.lastRows = given.last_rows;
  batches.next = [given, unread = std::move(unread), owner = owned(given.user, given.release)](
                     std::span<data::CalledInput> inputs) -> Result<int64_t> {
    lstmc_place place{inputs, *unread, false};
    const int result = given.next(given.user, &place);
    if (result < 0)
      return ended("batches", result);
    return result > 0 ? place.rows : 0;
  };
  if (given.mark)
    batches.mark = [given]() -> Result<std::string> {
      size_t length = 0;
      const char *mark = given.mark(given.user, &length);
      if (!mark)
        return ended("batches", 0);
      return std::string(mark, length);
    };
  if (given.seek)
    batches.seek = [given](std::string_view mark) -> Status {
      if (const int result = given.seek(given.user, mark.data(), mark.size()); result != 0)
        return ended("batches", result);
      return {};
    };
  return batches;
}

Status open(const char *spec, std::optional<data::Learned> learned, lstmc_data **data) {
  LSTMC_ASSIGN(data::DataSpec parsed, data::DataSpec::parse(spec));
  if (learned && learned->vocabulary)
    parsed.vocabularyFile.clear(); // it is not read
  LSTMC_ASSIGN(auto loaded, data::DataSet::load(parsed, learned ? &*learned : nullptr));
  *data = handleOf(std::move(loaded)).release();
  return {};
}

} // namespace

extern "C" {

lstmc_status lstmc_data_open(const char *spec, const char *learned_from, lstmc_data **data) {
  if (!spec || !data)
    return c::nullArgument();
  *data = nullptr;
  return c::guarded([&]() -> Status {
    std::optional<data::Learned> learned;
    if (learned_from) {
      LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(learned_from));
      LSTMC_ASSIGN(learned, training::learnedFrom(found.checkpoint));
    }
    return open(spec, std::move(learned), data);
  });
}

lstmc_status lstmc_data_open_like(const char *spec, const lstmc_data *like, lstmc_data **data) {
  if (!spec || !like || !data)
    return c::nullArgument();
  *data = nullptr;
  return c::guarded([&] { return open(spec, like->data->learned(), data); });
}

lstmc_status lstmc_data_arrays(const lstmc_array *arrays, size_t count, double valid,
                               uint32_t shuffle, lstmc_data **data) {
  if (!arrays || !data)
    return c::nullArgument();
  *data = nullptr;
  return c::guarded([&]() -> Status {
    if (count == 0 || !(valid >= 0 && valid < 1))
      return fail(ErrorCode::E0001,
                  "arrays: found {} and a share of {}, want arrays, and a share "
                  "from 0 to below 1",
                  count, valid);
    std::vector<data::NamedArray> copies;
    for (size_t i = 0; i < count; ++i) {
      LSTMC_ASSIGN(data::NamedArray copy, copyOf(arrays[i]));
      copies.push_back(std::move(copy));
    }
    data::DataSpec spec;
    spec.kind = data::DataKind::Npz;
    spec.source = "arrays";
    spec.valid = valid;
    spec.shuffle = shuffle != 0;
    *data = handleOf(data::DataSet::ofArrays(std::move(copies), std::move(spec))).release();
    return {};
  });
}

lstmc_status lstmc_place_input(lstmc_place *place, const char *name, lstmc_tensor *tensor) {
  if (!place || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    std::vector<std::string_view> names;
    for (data::CalledInput &input : place->inputs) {
      names.push_back(input.slot->name);
      if (input.slot->name != name)
        continue;
      input.asked = true;
      c::describe(input.tensor, tensor);
      return {};
    }
    for (c::UnreadInputs::Input &input : place->unread.inputs)
      if (input.slot.name == name) {
        c::describe(input.slot.tensor, tensor);
        tensor->data = input.memory.data();
        if (place->isRow) {
          std::copy(tensor->shape + input.slot.batchAxis + 1, tensor->shape + tensor->rank,
                    tensor->shape + input.slot.batchAxis);
          --tensor->rank;
        }
        return {};
      }
    return session::unknownName("input", name, "the network", std::move(names));
  });
}

int64_t lstmc_place_rows(const lstmc_place *place) {
  if (!place || place->isRow || place->inputs.empty())
    return place ? 1 : 0;
  const data::InputSlot &slot = *place->inputs.front().slot;
  return slot.tensor.shape[size_t(slot.batchAxis)];
}

lstmc_status lstmc_place_end(lstmc_place *batch, int64_t rows) {
  if (!batch)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    const int64_t most = lstmc_place_rows(batch);
    if (batch->isRow || rows < 1 || rows > most)
      return fail(ErrorCode::E0001, "a last batch: found {} samples, want 1 to {} of a batch", rows,
                  most);
    batch->rows = rows == most ? data::kWholeBatch : rows;
    return {};
  });
}

lstmc_status lstmc_data_rows(const lstmc_rows *rows, lstmc_data **data) {
  if (!rows || !data)
    return c::nullArgument();
  *data = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(const lstmc_rows given, checked(*rows, "rows"));
    if (!given.fill)
      return fail(ErrorCode::E0001, "rows: found no fill, want one");
    auto unread = std::make_shared<c::UnreadInputs>();
    LSTMC_ASSIGN(auto made, data::ofSamples(samplesOf(given, unread)));
    *data = handleOf(std::move(made), std::move(unread)).release();
    return {};
  });
}

lstmc_status lstmc_data_batches(const lstmc_batches *batches, lstmc_data **data) {
  if (!batches || !data)
    return c::nullArgument();
  *data = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(const lstmc_batches given, checked(*batches, "batches"));
    if (given.last_rows < 0)
      return fail(ErrorCode::E0001, "last_rows: found {}, want a number from 0", given.last_rows);
    if (!given.next)
      return fail(ErrorCode::E0001, "batches: found no next, want one");
    auto unread = std::make_shared<c::UnreadInputs>();
    LSTMC_ASSIGN(auto made, data::ofBatches(batchesOf(given, unread)));
    *data = handleOf(std::move(made), std::move(unread)).release();
    return {};
  });
}

const lstmc_vocabulary *lstmc_data_vocabulary(const lstmc_data *data) {
  return data && data->vocabulary ? &*data->vocabulary : nullptr;
}

void lstmc_data_close(lstmc_data *data) { delete data; }
}
