#include "frontend/torch/StateDict.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "frontend/torch/Modules.h"

namespace lstmc::torch {

namespace {

using data::TensorRecord;

class Writer {
public:
  Writer(const data::SafeTensors &file, const ImportRequest &request)
      : file_(file), request_(request) {}

  Imported write(const std::vector<Module> &modules) {
    assume(modules);
    for (size_t i = 0; i < modules.size(); ++i) {
      bool last = i + 1 == modules.size();
      if (i > 0)
        warnBetween(modules[i - 1], modules[i], i == 1);
      switch (modules[i].kind) {
      case Module::Kind::Recurrent:
        recurrent(modules[i]);
        break;
      case Module::Kind::LayerNorm:
        layerNorm(modules[i]);
        break;
      case Module::Kind::Linear:
        linear(modules[i]);
        break;
      case Module::Kind::Matrix:
        i == 0 && !last ? embedding(modules[i]) : linear(modules[i]);
        break;
      }
    }
    for (const std::string &assumption : result_.assumptions)
      result_.text += fmt::format("# assumed: {}\n", assumption);
    result_.text += header(modules.front(), modules.size() > 1) + body_ + "    return x\n";
    return std::move(result_);
  }

private:
  /// Records the facts that no tensor determines.
  void assume(const std::vector<Module> &modules) {
    auto assumed = [&](std::string text) { result_.assumptions.push_back(std::move(text)); };
    assumed(request_.batchFirst ? "the input is [N, T, ..] (batch_first=True); else --layout TNC"
                                : "the input is [T, N, ..] (batch_first=False)");
    assumed("every step is returned; after the last one, SequenceLast or slice_axis");
    if (modules.size() > 1)
      assumed("nothing without weights stands between modules (activations, residual sums)");
    if (modules.size() > 1 && modules.front().kind == Module::Kind::Matrix)
      assumed(fmt::format("{} is an Embedding, no Linear without a bias", shown(modules.front())));
    if (std::ranges::any_of(modules,
                            [](const Module &m) { return m.kind == Module::Kind::LayerNorm; }))
      assumed(fmt::format("eps of LayerNorm is {}", request_.layerNormEpsilon));
    for (const std::string &text : request_.assumptions)
      assumed(text);
  }

  /// Warns if a module without weights was probably between two others.
  void warnBetween(const Module &before, const Module &after, bool isSecond) {
    auto isLinear = [&](const Module &module, bool isFirst) {
      return module.kind == Module::Kind::Linear ||
             (module.kind == Module::Kind::Matrix && !isFirst);
    };
    std::string text;
    if (std::string missing = missingBetween(before.name, after.name); !missing.empty())
      text = fmt::format("{} has no weights in the file: if it is an activation, it belongs here",
                         missing);
    else if (isLinear(before, isSecond) && isLinear(after, false))
      text = fmt::format(
          "{} follows {}, a Linear after a Linear: if an activation is between them, it "
          "belongs here",
          shown(after), shown(before));
    if (text.empty())
      return;
    body_ += fmt::format("    # {}\n", text);
    result_.warnings.push_back(text);
  }

  /// "head.1 to head.2" between "head.0" and "head.3"; empty for other names.
  static std::string missingBetween(const std::string &before, const std::string &after) {
    static const std::regex kNumbered("(.*?)([0-9]{1,9})");
    std::smatch one, two;
    if (!std::regex_match(before, one, kNumbered) || !std::regex_match(after, two, kNumbered) ||
        one[1] != two[1] || (one[1].length() > 0 && !one[1].str().ends_with('.')))
      return {};
    int64_t from = std::stoll(one[2]) + 1, to = std::stoll(two[2]) - 1;
    if (from > to)
      return {};
    return from == to ? fmt::format("{}{}", one[1].str(), from)
                      : fmt::format("{0}{1} to {0}{2}", one[1].str(), from, to);
  }

  static std::string shown(const Module &module) {
    std::string name = module.name.empty() ? "the module" : module.name;
    std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '_');
    return name;
  }

  std::string header(const Module &first, bool several) const {
    std::string axes = request_.batchFirst ? "N, T" : "T, N";
    std::string input = first.kind == Module::Kind::Matrix && several
                            ? fmt::format("int32[{}]", axes)
                            : fmt::format("float32[{}, {}]", axes, first.inputs());
    return fmt::format("N, T = dim(\"batch\", 1), dim(\"seq\", 32)\n\ndef net(data: {}):\n", input);
  }

  /// Name of the module's layer: its own, with _ for characters that are not allowed, or the kind's
  /// name if it has none.
  std::string nameOf(const Module &module, const char *otherwise) {
    std::string name = module.name.empty() ? otherwise : module.name;
    for (char &c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)))
        c = '_';
    std::string unique = name;
    for (int i = 2; !names_.insert(unique).second; ++i)
      unique = fmt::format("{}_{}", name, i);
    return unique;
  }

  void line(const Module &module, std::string_view what, int64_t from, int64_t to,
            const std::string &text, std::string_view results = "x") {
    body_ += fmt::format("    {} = {}\n", results, text);
    result_.modules.push_back(
        fmt::format("{:<12} {} {} -> {}", module.name.empty() ? "-" : module.name, what, from, to));
    input_ = "x";
  }

  void embedding(const Module &module) {
    std::string name = nameOf(module, "embed");
    const std::vector<int64_t> &shape = module.weight->shape;
    line(module, "Embedding", shape[0], shape[1],
         fmt::format("Embedding({}, input_dim={}, output_dim={}, name=\"{}\")", input_, shape[0],
                     shape[1], name));
    take(name + "_weight", *module.weight);
  }

  void linear(const Module &module) {
    std::string name = nameOf(module, "linear");
    line(module, "Linear", module.inputs(), module.outputs(),
         fmt::format("FullyConnected({}, num_hidden={}, flatten=False, {}name=\"{}\")", input_,
                     module.outputs(), module.bias ? "" : "no_bias=True, ", name));
    take(name + "_weight", *module.weight);
    if (module.bias)
      take(name + "_bias", *module.bias);
  }

  void layerNorm(const Module &module) {
    std::string name = nameOf(module, "norm");
    line(module, "LayerNorm", module.inputs(), module.outputs(),
         fmt::format("LayerNorm({}, axis=-1, eps={}, name=\"{}\")", input_,
                     request_.layerNormEpsilon, name));
    take(name + "_gamma", *module.weight);
    take(name + "_beta", *module.bias);
  }

  void recurrent(const Module &module) {
    std::string name = nameOf(module, "rnn");
    size_t layers = module.layers.size(), directions = module.layers[0].size();
    bool lstm = request_.recurrence == Recurrence::Lstm,
         gru = request_.recurrence == Recurrence::Gru;
    std::string text = fmt::format("{}({}, num_hidden={}",
                                   lstm  ? "LSTM"
                                   : gru ? "GRU"
                                         : "RNNLayer",
                                   input_, module.units);
    if (layers > 1)
      text += fmt::format(", num_layers={}", layers);
    if (request_.recurrence == Recurrence::RnnRelu)
      text += ", activation=\"relu\"";
    if (directions == 2)
      text += ", bidirectional=True";
    if (request_.batchFirst)
      text += ", layout=\"NTC\"";
    line(module,
         fmt::format("{}, {} layer{}{},", moduleName(request_.recurrence).substr(3), layers,
                     layers == 1 ? "" : "s", directions == 2 ? " both ways" : ""),
         module.inputs(), module.outputs(), text + fmt::format(", name=\"{}\")", name),
         lstm ? "x, h, c" : "x, h");
    for (size_t l = 0; l < layers; ++l)
      for (size_t d = 0; d < directions; ++d)
        takeDirection(prefix(name, l, d), module.layers[l][d],
                      gatesOf(request_.recurrence) * module.units);
  }

  /// Prefix of a layer's parameter names in a direction, as in frontend/lnet/layers.lnet.
  static std::string prefix(const std::string &name, size_t layer, size_t direction) {
    if (direction == 1)
      return fmt::format("{}_r{}_", name, layer);
    return layer == 0 ? name + "_" : fmt::format("{}_l{}_", name, layer);
  }

  void takeDirection(const std::string &prefix, const Direction &direction, int64_t rows) {
    take(prefix + "i2h_weight", *direction.inputs);
    take(prefix + "h2h_weight", *direction.recurrent);
    takeBias(prefix + "i2h_bias", direction.inputBias, rows);
    takeBias(prefix + "h2h_bias", direction.recurrentBias, rows);
  }

  void takeBias(const std::string &name, const TensorRecord *bias, int64_t rows) {
    if (bias)
      return take(name, *bias);
    Bytes &zeros = result_.zeros.emplace_back(size_t(rows) * sizeof(float));
    result_.weights.push_back({name, data::denseTensor(zeros.data(), DType::F32, {&rows, 1})});
  }

  void take(const std::string &name, const TensorRecord &tensor) {
    // The bytes are only read.
    void *bytes = const_cast<uint8_t *>(file_.data(tensor).data());
    result_.weights.push_back({name, data::denseTensor(bytes, tensor.dtype, tensor.shape)});
  }

  const data::SafeTensors &file_;
  const ImportRequest &request_;
  Imported result_;
  std::string body_, input_ = "data";
  std::set<std::string> names_;
};

} // namespace

Result<Imported> importStateDict(const data::SafeTensors &file, const ImportRequest &request) {
  LSTMC_ASSIGN(std::vector<Module> found, modulesOf(file, request.recurrence));
  LSTMC_ASSIGN(std::vector<Module> modules, inOrder(std::move(found), request.order, file.file()));
  return Writer(file, request).write(modules);
}

} // namespace lstmc::torch
