#include "executor/training/CheckpointState.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "executor/base/InputFile.h"
#include "executor/base/NoMemory.h"
#include "executor/base/NumberText.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/StrictJson.h"
#include "executor/training/JsonText.h"

namespace lstmc::training {
namespace {

using nlohmann::json;

std::string kindOf(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

/// Reads the fields of one object. The first fault is kept, and everything read after it is a
/// default.
class Fields {
public:
  Fields(const json &object, std::string path, const std::string &file, std::optional<Error> &error)
      : object_(object), path_(std::move(path)), file_(file), error_(error) {
    if (!object.is_object())
      refuse(path_.empty() ? "manifest" : path_, object, "an object");
  }

  bool has(const char *key) const { return object_.is_object() && object_.contains(key); }
  std::string text(const char *key) {
    const json *value = find(key);
    if (value && !value->is_string())
      refuse(name(key), *value, "a string");
    return value && value->is_string() ? value->get<std::string>() : std::string();
  }
  /// A list as JSON text; empty where there is null. Before 0.2 it was in a string.
  std::string jsonText(const char *key) {
    const json *value = find(key);
    if (!value || value->is_null())
      return {};
    if (value->is_string())
      return value->get<std::string>();
    if (!value->is_array())
      refuse(name(key), *value, "a list");
    return value->dump();
  }
  int64_t integer(const char *key, int64_t least, int64_t most = INT64_MAX) {
    const json *value = find(key);
    bool good = value && value->is_number_integer() &&
                (!value->is_number_unsigned() || value->get<uint64_t>() <= uint64_t(INT64_MAX)) &&
                value->get<int64_t>() >= least && value->get<int64_t>() <= most;
    if (value && !good)
      refuse(name(key), *value, fmt::format("an integer from {}", least));
    return good ? value->get<int64_t>() : least;
  }
  uint64_t unsignedInteger(const char *key) {
    const json *value = find(key);
    bool good = value && value->is_number_unsigned();
    if (value && !good)
      refuse(name(key), *value, "an integer from 0");
    return good ? value->get<uint64_t>() : 0;
  }
  double real(const char *key) {
    const json *value = find(key);
    return value ? hex(*value, name(key)).value_or(0) : 0;
  }
  std::optional<double> optionalReal(const char *key) {
    const json *value = find(key);
    return value && !value->is_null() ? hex(*value, name(key)) : std::nullopt;
  }
  const json &list(const char *key) {
    static const json kEmpty = json::array();
    const json *value = find(key);
    if (value && !value->is_array())
      refuse(name(key), *value, "a list");
    return value && value->is_array() ? *value : kEmpty;
  }
  Fields object(const char *key) {
    static const json kEmpty = json::object();
    const json *value = find(key);
    return Fields(value ? *value : kEmpty, name(key), file_, error_);
  }
  Fields element(const json &value, const char *key, size_t index) {
    return Fields(value, fmt::format("{}[{}]", name(key), index), file_, error_);
  }
  const json &raw() const { return object_; }

  std::optional<double> hex(const json &value, const std::string &field) {
    std::optional<double> number =
        value.is_string() ? parseHexFloat(value.get<std::string>()) : std::nullopt;
    if (!number)
      refuse(field, value, "a finite hex float");
    return number;
  }
  void refuse(const std::string &field, const json &found, std::string_view want) {
    if (!error_)
      error_ =
          failAt({file_}, ErrorCode::E0604, "{}: found {}, want {}", field, kindOf(found), want);
  }

private:
  std::string name(const char *key) const { return path_.empty() ? key : path_ + "." + key; }
  const json *find(const char *key) {
    auto found = object_.is_object() ? object_.find(key) : object_.end();
    if (object_.is_object() && found != object_.end())
      return &*found;
    if (!error_)
      error_ = failAt({file_}, ErrorCode::E0604, "{}: found nothing, want this field", name(key));
    return nullptr;
  }

  const json &object_;
  std::string path_;
  const std::string &file_;
  std::optional<Error> &error_;
};

// The manifest vouches for all other files, and its last line for the manifest: the SHA-256 of the
// document as it would read without that line.
constexpr std::string_view kSchema = "lstmc.checkpoint/1";
constexpr std::string_view kEnd = "\n}";
constexpr std::string_view kSealBegin = ",\n \"manifest_sha256\": \"";
constexpr std::string_view kSealEnd = "\"\n}\n";
constexpr size_t kDigestLetters = 64;

std::string seal(std::string document) {
  std::string digest = sha256(asBytes(document));
  document.erase(document.size() - kEnd.size());
  return document + std::string(kSealBegin) + digest + std::string(kSealEnd);
}

Status checkSeal(std::string_view text, const std::string &file) {
  size_t tail = kSealBegin.size() + kDigestLetters + kSealEnd.size();
  std::string_view body = text.substr(0, text.size() - std::min(tail, text.size()));
  std::string_view rest = text.substr(body.size());
  bool sealed = rest.starts_with(kSealBegin) && rest.ends_with(kSealEnd) && rest.size() == tail;
  if (!sealed)
    return failAt({file, 0, 0, int64_t(body.size())}, ErrorCode::E0602,
                  "manifest_sha256: found no such line at the end, want one");
  std::string_view digest = rest.substr(kSealBegin.size(), kDigestLetters);
  std::string found = sha256(asBytes(std::string(body) + std::string(kEnd)));
  if (found != digest)
    return failAt({file}, ErrorCode::E0609, "manifest_sha256: found {}, want {}", found,
                  inQuotes(digest));
  return {};
}

TensorHash readTensor(Fields fields) {
  TensorHash tensor;
  tensor.file = fields.text("file");
  tensor.name = fields.text("name");
  std::string dtype = fields.text("dtype");
  std::optional<DType> known = parseDType(dtype);
  if (!known)
    fields.refuse("tensors dtype", dtype, "the name of a type");
  tensor.dtype = known.value_or(DType::F32);
  for (const json &extent : fields.list("shape")) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > uint64_t(INT64_MAX))
      fields.refuse("tensors shape", extent, "an extent");
    else
      tensor.shape.push_back(extent.get<int64_t>());
  }
  std::string hash = fields.text("hash");
  auto [end, fault] = std::from_chars(hash.data(), hash.data() + hash.size(), tensor.hash, 16);
  if (fault != std::errc() || end != hash.data() + hash.size())
    fields.refuse("tensors hash", hash, "16 hex digits");
  return tensor;
}

} // namespace

/// A program's bytes, which may be no text.
static std::string hexText(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

static std::optional<std::string> bytesOfHex(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned char byte = 0;
    const char *begin = text.data() + at;
    if (const auto [end, fault] = std::from_chars(begin, begin + 2, byte, 16);
        fault != std::errc() || end != begin + 2)
      return std::nullopt;
    bytes += char(byte);
  }
  return text.size() % 2 == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

/// Counts that cannot be, given how many updates there were.
static Status checkCounters(const CheckpointState &state, const std::string &file) {
  struct Counter {
    std::string_view name;
    int64_t found;
  };
  for (const Counter &counter : {Counter{"progress.epoch", state.position.epoch},
                                 {"progress.batch", state.position.batch},
                                 {"progress.worse_validations", state.worseValidations},
                                 {"progress.best_update", state.bestUpdate},
                                 {"numbers.running_updates", state.runningUpdates}})
    if (counter.found > state.update)
      return failAt({file}, ErrorCode::E0604,
                    "{}: found {}, want at most the {} of progress.update", counter.name,
                    counter.found, state.update);
  if (state.update == 0 && (state.labels > 0 || state.samples > 0))
    return failAt({file}, ErrorCode::E0604, "progress.samples: found {} before the first update",
                  std::max(state.labels, state.samples));
  return {};
}

static void writeOptional(JsonText &json, const char *key, const std::optional<double> &value) {
  json.key(key);
  value ? json.value(hexFloat(*value)) : json.null();
}

static void writeIdentity(JsonText &json, const CheckpointState &state) {
  json.field("schema", kSchema);
  json.field("format", int64_t(kCheckpointFormat));
  json.field("version", state.version);
  json.field("net", state.identity.net);
  json.field("graph_hash", state.identity.graphHash);
  json.field("program_sha256", state.identity.programDigest);
  json.field("numerics", state.identity.numerics);
  json.field("shards", int64_t(state.identity.shards));
  json.key("settings");
  json.open('{');
  for (const auto &[name, value] : state.identity.settings)
    json.field(name, value);
  json.close('}');
  json.field("optimizer", state.optimizer);
}

static void writeProgress(JsonText &json, const CheckpointState &state) {
  json.key("progress");
  json.open('{');
  json.field("update", state.update);
  json.field("epoch", state.position.epoch);
  json.field("batch", state.position.batch);
  if (state.epochBatches > 0)
    json.field("epoch_batches", state.epochBatches);
  json.field("labels", state.labels);
  json.field("samples", state.samples);
  json.field("seconds", hexFloat(state.seconds));
  json.field("source", state.source);
  json.field("source_sha256", state.sourceDigest);
  json.key("scaling");
  state.scaling.empty() ? json.null() : json.json(state.scaling);
  json.key("unit");
  state.unit ? json.value(data::textUnitName(*state.unit)) : json.null();
  json.field("worse_validations", int64_t(state.worseValidations));
  writeOptional(json, "best_loss", state.bestLoss);
  json.field("best_update", state.bestUpdate);
  if (!state.judge.empty()) {
    json.field("best_metric", state.judge);
    writeOptional(json, "best_value", state.bestValue);
  }
  writeOptional(json, "valid_loss", state.validLoss);
  if (!state.mark.empty())
    json.field("mark", hexText(state.mark));
  if (state.plateau) {
    json.key("plateau");
    json.open('{');
    json.field("scale", hexFloat(state.plateau->scale));
    writeOptional(json, "best", state.plateau->best);
    json.field("worse", state.plateau->worse);
    json.field("cooldown", state.plateau->cooldown);
    json.close('}');
  }
  json.close('}');
}

static void writeNumbers(JsonText &json, const CheckpointState &state) {
  json.key("numbers");
  json.open('{');
  json.field("seed", state.seed);
  json.field("loss_scale", hexFloat(state.lossScale));
  json.key("carried");
  bool carried = std::any_of(state.files.begin(), state.files.end(),
                             [](const FileRecord &file) { return file.name == kStatesFile; });
  carried ? json.value(kStatesFile) : json.null();
  json.key("running");
  json.open('[');
  for (const MetricValues &head : state.running) {
    json.open('[');
    for (double value : std::span(head).first(kMetricFields)) // a step measures no more
      json.value(hexFloat(value));
    json.close(']');
  }
  json.close(']');
  json.field("running_updates", state.runningUpdates);
  json.close('}');
}

static void writeFiles(JsonText &json, const CheckpointState &state) {
  json.key("files");
  json.open('[');
  for (const FileRecord &file : state.files) {
    json.open('{');
    json.field("name", file.name);
    json.field("bytes", file.bytes);
    json.field("sha256", file.sha256);
    json.close('}');
  }
  json.close(']');
}

static void writeTensors(JsonText &json, const CheckpointState &state) {
  json.key("tensors");
  json.open('[');
  for (const TensorHash &tensor : state.tensors) {
    json.open('{');
    json.field("file", tensor.file);
    json.field("name", tensor.name);
    json.field("dtype", dtypeName(tensor.dtype));
    json.key("shape");
    json.open('[');
    for (int64_t extent : tensor.shape)
      json.value(extent);
    json.close(']');
    json.field("hash", fmt::format("{:016x}", tensor.hash));
    json.close('}');
  }
  json.close(']');
}

std::string CheckpointState::text() const {
  JsonText json;
  json.open('{');
  writeIdentity(json, *this);
  writeProgress(json, *this);
  writeNumbers(json, *this);
  writeFiles(json, *this);
  writeTensors(json, *this);
  json.close('}');
  return seal(json.take());
}

static void readIdentity(Fields &top, CheckpointState &state) {
  state.version = top.text("version");
  state.identity.net = top.text("net");
  state.identity.graphHash = top.text("graph_hash");
  state.identity.programDigest = top.text("program_sha256");
  state.identity.numerics = top.text("numerics");
  state.identity.shards = uint32_t(top.integer("shards", 1, UINT32_MAX));
  Fields settings = top.object("settings");
  for (const auto &[key, value] : settings.raw().items())
    state.identity.settings.emplace_back(key, settings.text(key.c_str()));
  state.optimizer = top.text("optimizer");
}

static void readProgress(Fields &top, CheckpointState &state) {
  Fields progress = top.object("progress");
  state.update = progress.integer("update", 0);
  state.position.epoch = progress.integer("epoch", 0);
  state.position.batch = progress.integer("batch", 0);
  if (progress.has("epoch_batches"))
    state.epochBatches = progress.integer("epoch_batches", 1);
  state.labels = progress.integer("labels", 0);
  state.samples = progress.integer("samples", 0);
  state.seconds = progress.real("seconds");
  state.source = progress.text("source");
  state.sourceDigest = progress.text("source_sha256");
  state.scaling = progress.jsonText("scaling");
  if (progress.has("unit") && !progress.raw()["unit"].is_null()) {
    state.unit = data::parseTextUnit(progress.text("unit"));
    if (!state.unit)
      progress.refuse("progress.unit", progress.raw()["unit"], "char, word or byte");
  }
  state.worseValidations = int(progress.integer("worse_validations", 0, INT32_MAX));
  state.bestLoss = progress.optionalReal("best_loss");
  state.bestUpdate = progress.integer("best_update", 0);
  if (progress.has("best_metric")) {
    state.judge = progress.text("best_metric");
    state.bestValue = progress.optionalReal("best_value");
  }
  state.validLoss = progress.optionalReal("valid_loss");
  if (progress.has("mark")) {
    const std::optional<std::string> mark = bytesOfHex(progress.text("mark"));
    if (!mark)
      progress.refuse("progress.mark", progress.raw()["mark"], "hex digits, two a byte");
    state.mark = mark.value_or("");
  }
  if (progress.has("plateau")) {
    Fields plateau = progress.object("plateau");
    state.plateau = PlateauState{plateau.real("scale"), plateau.optionalReal("best"),
                                 plateau.integer("worse", 0), plateau.integer("cooldown", 0)};
  }
}

static void readNumbers(Fields &top, CheckpointState &state) {
  Fields numbers = top.object("numbers");
  state.seed = numbers.unsignedInteger("seed");
  state.lossScale = numbers.real("loss_scale");
  state.runningUpdates = numbers.integer("running_updates", 0);
  for (const json &head : numbers.list("running")) {
    MetricValues values{};
    const bool asBefore = head.is_array() && head.size() == 4;
    if (!head.is_array() || (head.size() != size_t(kMetricFields) && !asBefore)) {
      numbers.refuse("numbers.running", head, "six hex floats a head");
      break;
    }
    for (size_t i = 0; i < head.size(); ++i)
      values[i] = numbers.hex(head[i], "numbers.running").value_or(0);
    if (asBefore) // the mean loss of the labels counted was what was reported
      values = {values[0], values[1], values[1], values[2], values[3], values[0]};
    state.running.push_back(values);
  }
}

static void readFiles(Fields &top, CheckpointState &state) {
  size_t index = 0;
  for (const json &entry : top.list("files")) {
    Fields fields = top.element(entry, "files", index++);
    state.files.push_back(
        {fields.text("name"), fields.unsignedInteger("bytes"), fields.text("sha256")});
  }
  index = 0;
  for (const json &entry : top.list("tensors"))
    state.tensors.push_back(readTensor(top.element(entry, "tensors", index++)));
}

Result<CheckpointState> CheckpointState::parse(std::string_view text, const std::string &file,
                                               const Limits &limits) try {
  LSTMC_TRY(checkSeal(text, file));
  LSTMC_ASSIGN(data::JsonTree document, data::parseJson(text, file, limits));
  std::optional<Error> error;
  Fields top(*document, "", file, error);
  int64_t format = top.integer("format", 1);
  if (!error && format != kCheckpointFormat)
    return failAt({file}, ErrorCode::E0603, "format: found {}, want {}; a newer lstmc wrote this",
                  format, kCheckpointFormat);
  if (std::string schema = top.text("schema"); !error && schema != kSchema)
    return failAt({file}, ErrorCode::E0603, "schema: found {}, want {}", inQuotes(schema), kSchema);
  CheckpointState state;
  readIdentity(top, state);
  readProgress(top, state);
  readNumbers(top, state);
  readFiles(top, state);
  if (error)
    return *error;
  LSTMC_TRY(checkCounters(state, file));
  return state;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

} // namespace lstmc::training
