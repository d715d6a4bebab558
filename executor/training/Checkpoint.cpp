#include "executor/training/Checkpoint.h"

#include <algorithm>

#include <sys/stat.h>

#include "executor/base/Hash.h"
#include "executor/base/NoMemory.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/training/DiskFile.h"

namespace lstmc::training {
namespace {

constexpr uint64_t kMostManifestBytes = 16 << 20;

bool isFile(const std::string &path) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

/// The tensors of `file` that the manifest lists against those in it.
Status compareTensors(const CheckpointState &state, std::string_view file,
                      const data::SafeTensors &tensors) {
  size_t listed = 0;
  for (const TensorHash &want : state.tensors) {
    if (want.file != file)
      continue;
    ++listed;
    const data::TensorRecord *found = tensors.find(want.name);
    bool same = found && found->dtype == want.dtype && found->shape == want.shape;
    if (same) {
      std::span<const uint8_t> bytes = tensors.data(*found);
      same = hashBytes(bytes.data(), bytes.size()) == want.hash;
    }
    if (!same)
      return failAt({tensors.file()}, ErrorCode::E0605, "tensor {}: found {}, want what {} says",
                    inQuotes(want.name), found ? "another type, shape or hash" : "none", kManifest);
  }
  if (listed != tensors.records().size())
    return failAt({tensors.file()}, ErrorCode::E0605, "tensors: found {}, want the {} of {}",
                  tensors.records().size(), listed, kManifest);
  return {};
}

using StoredTensors = std::vector<StoredTensor>;

/// Of tensors, how many ranks have kept back parts of their gradients: PARAMETER/residualR of rank
/// R.
template <typename Tensors> int64_t compressingRanks(const Tensors &tensors) {
  constexpr std::string_view kWord = "/residual";
  constexpr int64_t kMostRanks = 1 << 20;
  int64_t ranks = 0;
  for (const auto &tensor : tensors) {
    const std::string_view name = tensor.name;
    const size_t at = name.rfind(kWord);
    if (at == std::string_view::npos)
      continue;
    const std::string_view number = name.substr(at + kWord.size());
    const std::optional<int64_t> rank = parseNumber<int64_t>(number.substr(0, number.find('_')));
    if (rank && *rank < kMostRanks) // of a file that says more, the tensors are compared one by one
      ranks = std::max(ranks, *rank + 1);
  }
  return ranks;
}

/// A rank's residuals are no other's, so a job goes on with as many ranks as it had.
Status compareRanks(const data::SafeTensors &from, const StoredTensors &to) {
  const int64_t found = compressingRanks(from.records()), wanted = compressingRanks(to);
  if (found == wanted)
    return {};
  auto text = [](int64_t ranks) {
    return ranks == 0 ? std::string("none") : fmt::format("those of {} ranks", ranks);
  };
  return failAt({from.file()}, ErrorCode::E0610,
                "residuals of --gradient-compression: found {}, want {}", text(found),
                text(wanted));
}

/// Whether `from` has exactly (or at least) the tensors `to`, shape by shape.
Status compareWith(const data::SafeTensors &from, const StoredTensors &to, bool exactly) {
  for (const auto &[name, tensor, ranges] : to) {
    const data::TensorRecord *found = from.find(name);
    if (!found)
      return failAt({from.file()}, ErrorCode::E0610,
                    "tensor {}: found none, want one for the model", inQuotes(name));
    bool same =
        found->dtype == tensor.dtype && std::ranges::equal(found->shape, data::shapeOf(tensor));
    if (!same)
      return failAt({from.file(), 0, 0, int64_t(found->byte)}, ErrorCode::E0610,
                    "tensor {}: found {} {}, want {} {}", inQuotes(name), dtypeName(found->dtype),
                    data::shapeText(found->shape), dtypeName(tensor.dtype),
                    data::shapeText(data::shapeOf(tensor)));
  }
  if (exactly && from.records().size() != to.size())
    return failAt({from.file()}, ErrorCode::E0610, "tensors: found {}, want {} as the model has",
                  from.records().size(), to.size());
  return {};
}

void copyInto(const data::SafeTensors &from, const StoredTensors &to) {
  for (const StoredTensor &tensor : to)
    tensor.write(std::as_bytes(from.data(*from.find(tensor.name))));
}

/// Folders PREFIX-NUMBER, largest number first.
std::vector<std::pair<int64_t, std::string>>
listNumbered(const std::string &folder, std::string_view prefix, size_t leastDigits) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string &name : namesIn(folder)) {
    if (!name.starts_with(prefix))
      continue;
    std::string_view digits = std::string_view(name).substr(prefix.size());
    std::optional<int64_t> number = parseNumber<int64_t>(digits);
    if (digits.size() >= leastDigits && number && *number >= 0)
      found.emplace_back(*number, name);
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

} // namespace

Result<Checkpoint> readCheckpoint(const std::string &folder, const Limits &limits) try {
  LSTMC_ASSIGN(Bytes manifest, readFileBeneath(folder, std::string(kManifest)));
  std::string manifestPath = folder + "/" + std::string(kManifest);
  if (manifest.size() > kMostManifestBytes)
    return failAt({manifestPath}, ErrorCode::E0606, "manifest: found {} bytes, want at most {}",
                  manifest.size(), kMostManifestBytes);
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  LSTMC_ASSIGN(checkpoint.state, CheckpointState::parse(asText(manifest), manifestPath, limits));
  const CheckpointState &state = checkpoint.state;
  std::map<std::string, Bytes> files;
  for (const FileRecord &record : state.files) {
    LSTMC_ASSIGN(Bytes bytes, readFileBeneath(folder, record.name));
    std::string path = folder + "/" + record.name;
    if (bytes.size() != record.bytes)
      return failAt({path}, bytes.size() < record.bytes ? ErrorCode::E0602 : ErrorCode::E0605,
                    "file: found {} bytes, want {}", bytes.size(), record.bytes);
    if (std::string digest = sha256(bytes); digest != record.sha256)
      return failAt({path}, ErrorCode::E0609, "sha256: found {}, want {}", digest, record.sha256);
    if (!files.emplace(record.name, std::move(bytes)).second)
      return failAt({manifestPath}, ErrorCode::E0612, "files: found {} twice, want once",
                    inQuotes(record.name));
  }
  auto tensors = [&](std::string_view name) -> Result<data::SafeTensors> {
    auto found = files.find(std::string(name));
    if (found == files.end())
      return failAt({manifestPath}, ErrorCode::E0605, "files: found no {}, want one", name);
    LSTMC_ASSIGN(data::SafeTensors read,
                 data::SafeTensors::parse(std::move(found->second),
                                          folder + "/" + std::string(name), limits));
    files.erase(found);
    LSTMC_TRY(compareTensors(state, name, read));
    return read;
  };
  LSTMC_ASSIGN(checkpoint.model, tensors(kModelFile));
  LSTMC_ASSIGN(checkpoint.optimizer, tensors(kOptimizerFile));
  if (files.contains(std::string(kStatesFile))) {
    LSTMC_ASSIGN(checkpoint.states, tensors(kStatesFile));
  }
  checkpoint.attachments = std::move(files);
  return checkpoint;
} catch (const std::bad_alloc &) {
  return noMemory(folder);
}

std::vector<std::pair<int64_t, std::string>> listCheckpoints(const std::string &folder) {
  return listNumbered(folder, "update-", 6);
}

std::vector<std::pair<int64_t, std::string>> listFailedUpdates(const std::string &folder) {
  return listNumbered(folder, "nan-", 1);
}

Result<FoundCheckpoint> findCheckpoint(const std::string &path, const Limits &limits) try {
  if (isFile(path + "/" + std::string(kManifest))) {
    LSTMC_ASSIGN(Checkpoint checkpoint, readCheckpoint(path, limits));
    return FoundCheckpoint{std::move(checkpoint), {}};
  }
  std::vector<Error> passedOver;
  for (const auto &[update, name] : listCheckpoints(path)) {
    const std::string folder = fmt::format("{}/{}", path, name);
    Result<Checkpoint> checkpoint = readCheckpoint(folder, limits);
    if (checkpoint.ok() && checkpoint->state.update != update)
      checkpoint = failAt({folder}, ErrorCode::E0605, "update: found {}, want {}",
                          checkpoint->state.update, update);
    if (checkpoint.ok())
      return FoundCheckpoint{std::move(*checkpoint), std::move(passedOver)};
    passedOver.push_back(checkpoint.error());
  }
  std::string reasons;
  for (const Error &error : passedOver)
    reasons += "; passed over " + error.text();
  return failAt({path}, ErrorCode::E0601, "found no good checkpoint in this folder{}", reasons);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

bool hasOtherDigests(const Checkpoint &checkpoint, const Identity &identity) {
  auto release = [](std::string_view version) {
    return version.substr(0, version.find('.', version.find('.') + 1));
  };
  return release(checkpoint.state.version) != release(identity.producer);
}

Status restore(const Checkpoint &checkpoint, const std::string &optimizer, Trainable &model) {
  const Identity &found = checkpoint.state.identity;
  Identity want = model.identity();
  auto belongs = [&](std::string_view field, std::string_view is, std::string_view wanted,
                     std::string_view why = "") -> Status {
    if (is == wanted)
      return {};
    return failAt({checkpoint.folder}, ErrorCode::E0610, "{}: found {}, want {}{}", field,
                  inQuotes(is), inQuotes(wanted), why);
  };
  LSTMC_TRY(belongs("net", found.net, want.net));
  if (!hasOtherDigests(checkpoint, want))
    LSTMC_TRY(belongs("graph_hash", found.graphHash, want.graphHash,
                      ": the source, its settings or its shapes are not those of the checkpoint"));
  LSTMC_TRY(belongs("optimizer", checkpoint.state.optimizer, optimizer));
  LSTMC_TRY(belongs("numerics", found.numerics, want.numerics));
  LSTMC_TRY(belongs("shards", std::to_string(found.shards), std::to_string(want.shards)));
  StoredTensors parameters = model.parameters(), slots = model.slots(), states = model.states();
  LSTMC_TRY(compareWith(checkpoint.model, parameters, true));
  LSTMC_TRY(compareRanks(checkpoint.optimizer, slots));
  LSTMC_TRY(compareWith(checkpoint.optimizer, slots, true));
  if (checkpoint.states.has_value() != !states.empty())
    return failAt({checkpoint.folder}, ErrorCode::E0610, "states: found {}, want {}",
                  checkpoint.states ? "some" : "none", states.empty() ? "none" : "some");
  if (checkpoint.states)
    LSTMC_TRY(compareWith(*checkpoint.states, states, true));
  if (checkpoint.state.running.size() != model.heads().size())
    return failAt({checkpoint.folder}, ErrorCode::E0610, "numbers.running: found {} heads, want {}",
                  checkpoint.state.running.size(), model.heads().size());
  copyInto(checkpoint.model, parameters);
  copyInto(checkpoint.optimizer, slots);
  if (checkpoint.states)
    copyInto(*checkpoint.states, states);
  model.parametersChanged();
  return {};
}

Result<data::Learned> learnedFrom(const Checkpoint &checkpoint) {
  data::Learned learned{std::nullopt, checkpoint.state.unit, checkpoint.state.scaling};
  auto found = checkpoint.attachments.find(std::string(kVocabularyFile));
  if (found == checkpoint.attachments.end())
    return learned;
  LSTMC_ASSIGN(learned.vocabulary,
               data::Vocabulary::parse(asText(found->second),
                                       checkpoint.folder + "/" + std::string(kVocabularyFile)));
  return learned;
}

Status restoreParameters(const data::SafeTensors &weights, Trainable &model) {
  StoredTensors parameters = model.parameters();
  LSTMC_TRY(compareWith(weights, parameters, false));
  copyInto(weights, parameters);
  model.parametersChanged();
  return {};
}

} // namespace lstmc::training
