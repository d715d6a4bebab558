#include "frontend/torch/Modules.h"

#include <algorithm>
#include <regex>

#include <fmt/ranges.h>

#include "executor/base/Quote.h"

namespace lstmc::torch {

namespace {

using data::SafeTensors;
using data::TensorRecord;

constexpr size_t kMostOrdered = 7; ///< modules whose orders are tried: 5,040 of them

Error refuse(const SafeTensors &file, const TensorRecord &tensor, ErrorCode code,
             const std::string &text) {
  return failAt({.file = file.file(), .byte = int64_t(tensor.byte)}, code, "tensor {}: {}",
                inQuotes(tensor.name), text);
}

/// Tensors of one module, by what follows the last dot of their names.
using Parts = std::map<std::string, const TensorRecord *>;

class Reader {
public:
  Reader(const SafeTensors &file, Recurrence recurrence)
      : file_(file), gates_(gatesOf(recurrence)) {}

  Result<Module> read(const std::string &name, const Parts &parts) {
    module_ = {.name = name};
    if (parts.contains("weight_ih_l0")) {
      LSTMC_TRY(readRecurrent(parts));
    } else {
      LSTMC_TRY(readPlain(parts));
    }
    return module_;
  }

private:
  Status readPlain(const Parts &parts) {
    for (const auto &[part, tensor] : parts)
      if (part != "weight" && part != "bias")
        return refuse(file_, *tensor, ErrorCode::E0613,
                      "belongs to no Embedding, Linear, LayerNorm, LSTM, GRU or RNN");
    auto find = [&](const char *part) {
      auto found = parts.find(part);
      return found == parts.end() ? nullptr : found->second;
    };
    module_.weight = find("weight");
    module_.bias = find("bias");
    if (!module_.weight)
      return refuse(file_, *module_.bias, ErrorCode::E0613, "is a bias without a weight");
    size_t rank = module_.weight->shape.size();
    if (rank == 1 && module_.bias)
      module_.kind = Module::Kind::LayerNorm;
    else if (rank == 2)
      module_.kind = module_.bias ? Module::Kind::Linear : Module::Kind::Matrix;
    else
      return refuse(file_, *module_.weight, ErrorCode::E0613,
                    "has the shape of no Embedding, Linear or LayerNorm: " +
                        data::shapeText(module_.weight->shape));
    return module_.bias ? expect(*module_.bias, {module_.weight->shape[0]}) : Status();
  }

  Status readRecurrent(const Parts &parts) {
    module_.kind = Module::Kind::Recurrent;
    static const std::regex kPart("(weight|bias)_(ih|hh)_l(0|[1-9][0-9]{0,3})(_reverse)?");
    for (const auto &[part, tensor] : parts) {
      if (part.starts_with("weight_hr_l"))
        return refuse(file_, *tensor, ErrorCode::E0613,
                      "is a projection (proj_size), which lstmc does not have");
      std::smatch match;
      if (!std::regex_match(part, match, kPart))
        return refuse(file_, *tensor, ErrorCode::E0613, "belongs to no recurrent layer");
      size_t layer = std::stoul(match[3]), direction = match[4].matched;
      if (module_.layers.size() <= layer)
        module_.layers.resize(layer + 1);
      if (module_.layers[layer].size() <= direction)
        module_.layers[layer].resize(direction + 1);
      Direction &d = module_.layers[layer][direction];
      bool input = match[2] == "ih";
      (match[1] == "weight" ? input ? d.inputs : d.recurrent
       : input              ? d.inputBias
                            : d.recurrentBias) = tensor;
    }
    return checkLayers(*parts.at("weight_ih_l0"));
  }

  Status checkLayers(const TensorRecord &first) {
    const Direction &lowest = module_.layers[0][0];
    if (!lowest.recurrent || lowest.recurrent->shape.size() != 2 || first.shape.size() != 2)
      return refuse(file_, first, ErrorCode::E0605, "has no matrix weight_hh_l0 beside it");
    module_.units = lowest.recurrent->shape[1];
    LSTMC_TRY(checkGates(*lowest.recurrent));
    size_t directions = module_.layers[0].size();
    int64_t inputs = first.shape[1];
    for (size_t l = 0; l < module_.layers.size(); ++l) {
      if (module_.layers[l].size() != directions)
        return refuse(file_, first, ErrorCode::E0605,
                      fmt::format("layer 0 has {} and layer {} has {}", count(directions), l,
                                  count(module_.layers[l].size())));
      for (const Direction &direction : module_.layers[l])
        LSTMC_TRY(checkDirection(direction, first, l, inputs));
      inputs = int64_t(directions) * module_.units;
    }
    return {};
  }

  static std::string count(size_t directions) {
    return fmt::format("{} direction{}", directions, directions == 1 ? "" : "s");
  }

  Status checkGates(const TensorRecord &recurrent) {
    int64_t rows = recurrent.shape[0], units = module_.units;
    if (units > 0 && rows == gates_ * units)
      return {};
    std::string is = "no recurrent layer's";
    if (units > 0 && rows == 4 * units)
      is = "an nn.LSTM's: --as torch-lstm";
    if (units > 0 && rows == 3 * units)
      is = "an nn.GRU's: --as torch-gru";
    if (units > 0 && rows == units)
      is = "an nn.RNN's: --as torch-rnn";
    return refuse(file_, recurrent, ErrorCode::E0610,
                  fmt::format("found {}, which is {}", data::shapeText(recurrent.shape), is));
  }

  Status checkDirection(const Direction &direction, const TensorRecord &first, size_t layer,
                        int64_t inputs) {
    if (!direction.inputs || !direction.recurrent)
      return refuse(file_, first, ErrorCode::E0605,
                    fmt::format("layer {} lacks a weight_ih or weight_hh", layer));
    int64_t rows = gates_ * module_.units;
    LSTMC_TRY(expect(*direction.inputs, {rows, inputs}));
    LSTMC_TRY(expect(*direction.recurrent, {rows, module_.units}));
    for (const TensorRecord *bias : {direction.inputBias, direction.recurrentBias})
      if (bias)
        LSTMC_TRY(expect(*bias, {rows}));
    return {};
  }

  Status expect(const TensorRecord &tensor, const std::vector<int64_t> &shape) {
    if (tensor.shape == shape)
      return {};
    return refuse(file_, tensor, ErrorCode::E0605,
                  fmt::format("found shape {}, want {}", data::shapeText(tensor.shape),
                              data::shapeText(shape)));
  }

  const SafeTensors &file_;
  int64_t gates_;
  Module module_;
};

/// Whether each module's input fits the previous one's output.
bool fits(const std::vector<const Module *> &order) {
  for (size_t i = 1; i < order.size(); ++i) {
    const Module &before = *order[i - 1];
    bool embeds = i == 1 && before.kind == Module::Kind::Matrix;
    int64_t given = embeds ? before.weight->shape[1] : before.outputs();
    if (order[i]->inputs() != given)
      return false;
  }
  return true;
}

std::string names(const std::vector<const Module *> &order) {
  std::string text;
  for (const Module *module : order)
    text += (text.empty() ? "" : ",") + module->name;
  return text;
}

std::vector<Module> copies(const std::vector<const Module *> &order) {
  std::vector<Module> result;
  for (const Module *module : order)
    result.push_back(*module);
  return result;
}

/// Every order that fits, the first few of them. A matrix without a bias that comes first may also
/// be a Linear over the input; it is taken for an Embedding then.
std::vector<std::vector<const Module *>> ordersOf(const std::vector<Module> &modules) {
  std::vector<const Module *> order;
  for (const Module &module : modules)
    order.push_back(&module);
  std::vector<std::vector<const Module *>> found;
  std::ranges::sort(order);
  do {
    if (fits(order))
      found.push_back(order);
  } while (found.size() < 3 && std::ranges::next_permutation(order).found);
  return found;
}

} // namespace

int64_t Module::inputs() const {
  return kind == Kind::Recurrent   ? layers[0][0].inputs->shape[1]
         : kind == Kind::LayerNorm ? weight->shape[0]
                                   : weight->shape[1];
}
int64_t Module::outputs() const {
  return kind == Kind::Recurrent ? units * int64_t(layers[0].size()) : weight->shape[0];
}

int64_t gatesOf(Recurrence recurrence) {
  return recurrence == Recurrence::Lstm ? 4 : recurrence == Recurrence::Gru ? 3 : 1;
}

std::string_view moduleName(Recurrence recurrence) {
  return recurrence == Recurrence::Lstm  ? "nn.LSTM"
         : recurrence == Recurrence::Gru ? "nn.GRU"
                                         : "nn.RNN";
}

Result<std::vector<Module>> modulesOf(const SafeTensors &file, Recurrence recurrence) {
  std::map<std::string, Parts> parts;
  for (const TensorRecord &tensor : file.records()) {
    if (tensor.dtype != DType::F32)
      return refuse(file, tensor, ErrorCode::E0613,
                    fmt::format("found {}, want float32: save the module after .float()",
                                dtypeLongName(tensor.dtype)));
    size_t dot = tensor.name.rfind('.');
    std::string module = dot == std::string::npos ? "" : tensor.name.substr(0, dot);
    parts[module][tensor.name.substr(dot == std::string::npos ? 0 : dot + 1)] = &tensor;
  }
  std::vector<Module> modules;
  Reader reader(file, recurrence);
  for (const auto &[name, tensors] : parts) {
    LSTMC_ASSIGN(Module module, reader.read(name, tensors));
    modules.push_back(std::move(module));
  }
  if (std::ranges::none_of(
          modules, [](const Module &module) { return module.kind == Module::Kind::Recurrent; }))
    return failAt({.file = file.file()}, ErrorCode::E0610,
                  "holds no weights of an {}: no tensor is called weight_ih_l0",
                  moduleName(recurrence));
  return modules;
}

Result<std::vector<Module>> inOrder(std::vector<Module> modules,
                                    const std::vector<std::string> &wanted,
                                    const std::string &file) {
  std::vector<const Module *> order;
  std::vector<std::string> there;
  for (const Module &module : modules)
    there.push_back(module.name);
  if (wanted.empty()) {
    if (modules.size() > kMostOrdered)
      return failAt({.file = file}, ErrorCode::E0610,
                    "holds {} modules; say in which order with --modules: {}", modules.size(),
                    fmt::join(there, ","));
    std::vector<std::vector<const Module *>> orders = ordersOf(modules);
    if (orders.empty())
      return failAt({.file = file}, ErrorCode::E0610, "its modules fit one another in no order: {}",
                    fmt::join(there, ", "));
    if (orders.size() > 1)
      return failAt({.file = file}, ErrorCode::E0610,
                    "its modules fit one another in several orders; --modules {} or --modules {}",
                    names(orders[0]), names(orders[1]));
    return copies(orders.front());
  }
  for (const std::string &name : wanted) {
    auto found = std::ranges::find(modules, name, &Module::name);
    if (found == modules.end())
      return failAt({.file = file}, ErrorCode::E0610, "has no module {}; it has {}", inQuotes(name),
                    fmt::join(there, ", "));
    order.push_back(&*found);
  }
  for (const Module &module : modules)
    if (std::ranges::count(wanted, module.name) != 1)
      return failAt({.file = file}, ErrorCode::E0610,
                    "module {} stands in --modules {} times, want once", inQuotes(module.name),
                    std::ranges::count(wanted, module.name));
  if (!fits(order))
    return failAt({.file = file}, ErrorCode::E0610,
                  "a module of {} cannot read what the one before it gives", names(order));
  return copies(order);
}

} // namespace lstmc::torch
