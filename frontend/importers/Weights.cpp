// Weights of torch.nn, Keras and TensorFlow, which have no network, as a kind of file.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "executor/base/Checked.h"
#include "executor/base/Escape.h"
#include "executor/data/SafeTensors.h"
#include "frontend/importers/Importer.h"
#include "frontend/keras/StateDict.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/torch/StateDict.h"

namespace lstmc::importers {

namespace {

struct RuleRow {
  WeightRule rule;
  torch::Recurrence recurrence;
  std::optional<keras::Source> keras; ///< none: a state_dict of torch.nn
};

constexpr RuleRow kRows[] = {
    {WeightRule::TorchLstm, torch::Recurrence::Lstm, {}},
    {WeightRule::TorchGru, torch::Recurrence::Gru, {}},
    {WeightRule::TorchRnn, torch::Recurrence::RnnTanh, {}},
    {WeightRule::TorchRnnRelu, torch::Recurrence::RnnRelu, {}},
    {WeightRule::KerasLstm, torch::Recurrence::Lstm, keras::Source::Lstm},
    {WeightRule::KerasGru, torch::Recurrence::Gru, keras::Source::Gru},
    {WeightRule::KerasRnn, torch::Recurrence::RnnTanh, keras::Source::SimpleRnn},
    {WeightRule::TensorFlowLstm, torch::Recurrence::Lstm, keras::Source::TensorFlowLstm}};

const RuleRow &rowOf(WeightRule rule) { return *std::ranges::find(kRows, rule, &RuleRow::rule); }

data::NamedArray copyOf(const data::NamedTensor &from) {
  const Tensor &tensor = from.tensor;
  data::NamedArray copy{from.name, {tensor.dtype, {}, {}}};
  copy.array.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  copy.array.bytes = Bytes(size_t(tensor.elements()) * dtypeBytes(tensor.dtype));
  std::memcpy(copy.array.bytes.data(), tensor.data, copy.array.bytes.size());
  return copy;
}

/// Whether a file begins as safetensors: the length of its header, then the header.
bool beginsAsTensors(std::string_view begin) { return begin.size() > 8 && begin[8] == '{'; }

Checked<Imported> loadAs(const RuleRow &row, data::SafeTensors file, const ImportRequest &request) {
  const std::string path = file.file();
  torch::ImportRequest asked = {
      .recurrence = row.recurrence, .order = request.modules, .batchFirst = request.batchFirst};
  if (row.keras) {
    asked.assumptions = keras::assumptions(file, *row.keras);
    LSTMC_CHECKED_ASSIGN(file, keras::asStateDict(file, *row.keras));
    asked.layerNormEpsilon = keras::kLayerNormEpsilon;
  }
  LSTMC_CHECKED_ASSIGN(torch::Imported made, torch::importStateDict(file, asked));
  Imported imported{.modules = std::move(made.modules),
                    .assumptions = std::move(made.assumptions),
                    .warnings = std::move(made.warnings)};
  LSTMC_CHECKED_ASSIGN(imported.text, lnet::format(path, originLine(path, row.rule) + made.text));
  std::ranges::transform(made.weights, std::back_inserter(imported.tensors), copyOf);
  return imported;
}

/// Whether a rule may be the one of a file: Keras and TensorFlow name weights by paths. nn.RNN is
/// taken as that of tanh, which is its default.
bool mayBeOf(const RuleRow &row, const data::SafeTensors &file) {
  const bool paths = std::ranges::any_of(file.records(), [](const data::TensorRecord &record) {
    return record.name.find('/') != std::string::npos;
  });
  return row.keras.has_value() == paths && row.rule != WeightRule::TorchRnnRelu;
}

Checked<Imported> loadWeights(const Source &source, const ImportRequest &request) {
  LSTMC_CHECKED_ASSIGN(data::SafeTensors file,
                       data::SafeTensors::load(source.path, request.limits));
  if (request.rule)
    return loadAs(rowOf(*request.rule), std::move(file), request);
  std::optional<Diagnostics> first;
  for (const RuleRow &row : kRows) {
    if (!mayBeOf(row, file))
      continue;
    Checked<Imported> found = loadAs(row, file, request);
    if (found.ok())
      return found;
    if (!first)
      first = std::move(found.diagnostics());
  }
  return *first;
}

} // namespace

std::string originLine(const std::string &path, std::optional<WeightRule> rule) {
  const std::string file = escaped(std::filesystem::path(path).filename().string());
  return fmt::format("# {}, brought in by: lstmc import{}\n", file,
                     rule ? fmt::format(" --as {}", wordOf(*rule)) : "");
}

std::string_view wordOf(WeightRule rule) {
  std::string_view words = kWeightRules;
  for (int i = 0; i < int(rule); ++i)
    words.remove_prefix(words.find('|') + 1);
  return words.substr(0, words.find('|'));
}

extern const Importer kWeights;
const Importer kWeights = {.name = "weights",
                           .suffix = ".safetensors",
                           .begins = beginsAsTensors,
                           .leavesShapesOpen = false,
                           .weightsAlone = true,
                           .load = loadWeights};

} // namespace lstmc::importers
