#include "frontend/keras/StateDict.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "executor/base/Quote.h"

namespace lstmc::keras {

namespace {

using data::SafeTensors;
using data::TensorRecord;

/// Tensors of a layer, by the last part of their names.
using Parts = std::map<std::string, const TensorRecord *>;

/// For each gate of abi/Gate.h, its number in the file.
std::vector<int64_t> gateOrder(Source source) {
  switch (source) {
  case Source::Lstm:
    return {0, 1, 2, 3};
  case Source::Gru:
    return {1, 0, 2};
  case Source::SimpleRnn:
    return {0};
  case Source::TensorFlowLstm:
    break;
  }
  return {0, 2, 1, 3};
}

constexpr size_t kForgetGate = 1;

Error refuse(const SafeTensors &file, const TensorRecord &tensor, ErrorCode code,
             const std::string &text) {
  return failAt({.file = file.file(), .byte = int64_t(tensor.byte)}, code, "tensor {}: {}",
                inQuotes(tensor.name), text);
}

/// "lstm" is 0, "lstm_2" is 2: the order in which Keras made them.
int64_t numberOf(const std::string &layer) {
  static const std::regex kNumber(".*_([0-9]{1,9})");
  std::smatch match;
  return std::regex_match(layer, match, kNumber) ? std::stoll(match[1]) : 0;
}

class Converter {
public:
  Converter(const SafeTensors &file, Source source)
      : file_(file), source_(source), order_(gateOrder(source)) {}

  Result<SafeTensors> run() {
    for (const TensorRecord &tensor : file_.records()) {
      if (tensor.dtype != DType::F32)
        return refuse(file_, tensor, ErrorCode::E0613,
                      fmt::format("is {}, only float32 is imported", dtypeLongName(tensor.dtype)));
      LSTMC_TRY(source_ == Source::TensorFlowLstm ? takeTensorFlow(tensor) : takeKeras(tensor));
    }
    if (stack_.empty())
      return failAt({file_.file()}, ErrorCode::E0610, "there is no recurrent layer in this file");
    for (const auto &[name, parts] : plain_)
      LSTMC_TRY(writePlain(name, parts));
    LSTMC_TRY(writeStack());
    return finish();
  }

private:
  struct Layer {
    std::string name;
    std::array<Parts, 2> directions;
  };

  Status takeKeras(const TensorRecord &tensor) {
    static const std::regex kName("(.+?)(/(forward|backward)_[^/]+)?(/[^/]*cell[^/]*)?/"
                                  "(kernel|recurrent_kernel|bias|embeddings|gamma|beta)(:0)?");
    std::smatch match;
    if (!std::regex_match(tensor.name, match, kName))
      return refuse(file_, tensor, ErrorCode::E0613,
                    "is no weight of an Embedding, Dense, LayerNormalization, LSTM, GRU or "
                    "SimpleRNN");
    std::string part = match[5];
    std::string own = match[1].str() + "/recurrent_kernel";
    bool recurrent = match[4].matched || file_.find(own) || file_.find(own + ":0");
    if (recurrent)
      layer(match[1]).directions[match[3] == "backward"][part] = &tensor;
    else
      plain_[match[1]][part] = &tensor;
    return {};
  }

  Status takeTensorFlow(const TensorRecord &tensor) {
    static const std::regex kCell(
        "(.*/)?(cell_[0-9]{1,4})/[^/]*lstm_cell/(weights|kernel|biases|bias)(:0)?");
    static const std::regex kAround("(.*/)?(embedding|softmax)(_w|_b)?(:0)?");
    std::smatch match;
    if (std::regex_match(tensor.name, match, kCell)) {
      bool matrix = match[3] == "weights" || match[3] == "kernel";
      layer(match[2]).directions[0][matrix ? "kernel" : "bias"] = &tensor;
    } else if (std::regex_match(tensor.name, match, kAround)) {
      plain_[match[2]][match[3] == "_b"   ? "bias"
                       : match[3] == "_w" ? "kernel"
                                          : "embeddings"] = &tensor;
    } else {
      return refuse(file_, tensor, ErrorCode::E0613,
                    "is no weight of a BasicLSTMCell, and neither embedding, softmax_w nor "
                    "softmax_b");
    }
    return {};
  }

  Layer &layer(const std::string &name) {
    auto found = std::ranges::find(stack_, name, &Layer::name);
    return found != stack_.end() ? *found : stack_.emplace_back(Layer{name, {}});
  }

  Status writePlain(const std::string &name, const Parts &parts) {
    static const std::map<std::string, std::string> kNames = {
        {"embeddings", "weight"}, {"kernel", "weight"}, {"gamma", "weight"},
        {"bias", "bias"},         {"beta", "bias"},
    };
    for (const auto &[part, tensor] : parts) {
      std::string to = fmt::format("{}.{}", name, kNames.at(part));
      if (part != "kernel")
        add(to, tensor->shape, values(*tensor));
      else if (tensor->shape.size() != 2)
        return refuse(file_, *tensor, ErrorCode::E0613,
                      "has the shape of no Dense layer: " + data::shapeText(tensor->shape));
      else
        add(to, {tensor->shape[1], tensor->shape[0]},
            transposed(*tensor, 0, tensor->shape[0], {0}));
    }
    return {};
  }

  Status writeStack() {
    std::ranges::sort(
        stack_, {}, [](const Layer &layer) { return std::pair(numberOf(layer.name), layer.name); });
    std::string name = source_ == Source::TensorFlowLstm ? "lstm" : stack_.front().name;
    for (size_t k = 0; k < stack_.size(); ++k)
      for (size_t d = 0; d < 2; ++d)
        if (!stack_[k].directions[d].empty())
          LSTMC_TRY(writeDirection(fmt::format("_l{}{}", k, d ? "_reverse" : ""), name,
                                   stack_[k].directions[d]));
    return {};
  }

  Status writeDirection(const std::string &suffix, const std::string &name, const Parts &parts) {
    const TensorRecord &any = *parts.begin()->second;
    auto find = [&](const char *part) {
      auto found = parts.find(part);
      return found == parts.end() ? nullptr : found->second;
    };
    const bool joined = source_ == Source::TensorFlowLstm;
    const TensorRecord *kernel = find("kernel");
    const TensorRecord *recurrent = joined ? kernel : find("recurrent_kernel");
    auto gates = int64_t(order_.size());
    if (!kernel || !recurrent || kernel->shape.size() != 2 || recurrent->shape.size() != 2 ||
        kernel->shape[1] != recurrent->shape[1] || kernel->shape[1] % gates != 0)
      return refuse(file_, any, ErrorCode::E0605,
                    fmt::format("its layer has no two matrices of {} gates", gates));
    int64_t rows = kernel->shape[1], units = rows / gates;
    int64_t inputs = kernel->shape[0] - (joined ? units : 0);
    if (inputs < 1 || recurrent->shape[0] != (joined ? inputs + units : units))
      return refuse(
          file_, *recurrent, ErrorCode::E0605,
          fmt::format("has shape {}, of {} units", data::shapeText(recurrent->shape), units));
    add(name + ".weight_ih" + suffix, {rows, inputs}, transposed(*kernel, 0, inputs, order_));
    add(name + ".weight_hh" + suffix, {rows, units},
        transposed(*recurrent, joined ? inputs : 0, units, order_));
    if (const TensorRecord *bias = find("bias"))
      return writeBias(suffix, name, *bias, rows);
    return {};
  }

  Status writeBias(const std::string &suffix, const std::string &name, const TensorRecord &bias,
                   int64_t rows) {
    const bool two = source_ == Source::Gru;
    if (two && bias.shape == std::vector<int64_t>{rows})
      return refuse(file_, bias, ErrorCode::E0613,
                    "is of a GRU with reset_after=False, which lstmc does not have");
    if (bias.shape != (two ? std::vector<int64_t>{2, rows} : std::vector<int64_t>{rows}))
      return refuse(file_, bias, ErrorCode::E0605,
                    fmt::format("has shape {} beside {} rows", data::shapeText(bias.shape), rows));
    std::vector<float> all = values(bias);
    for (int64_t which = 0; which < (two ? 2 : 1); ++which) {
      std::vector<float> reordered = byGates(all.data() + which * rows, rows);
      if (source_ == Source::TensorFlowLstm)
        for (int64_t i = 0, units = rows / 4; i < units; ++i)
          reordered[size_t(int64_t(kForgetGate) * units + i)] += 1;
      add(name + (which == 0 ? ".bias_ih" : ".bias_hh") + suffix, {rows}, std::move(reordered));
    }
    return {};
  }

  std::vector<float> byGates(const float *from, int64_t rows) const {
    std::vector<float> to;
    int64_t units = rows / int64_t(order_.size());
    for (int64_t gate : order_)
      to.insert(to.end(), from + gate * units, from + (gate + 1) * units);
    return to;
  }

  /// Rows [begin, begin + count) of a matrix [.., G*H], transposed, its gates in `order`.
  std::vector<float> transposed(const TensorRecord &tensor, int64_t begin, int64_t count,
                                const std::vector<int64_t> &order) const {
    std::vector<float> from = values(tensor), to;
    to.reserve(size_t(count * tensor.shape[1]));
    int64_t columns = tensor.shape[1], units = columns / int64_t(order.size());
    for (int64_t gate : order)
      for (int64_t unit = 0; unit < units; ++unit)
        for (int64_t row = 0; row < count; ++row)
          to.push_back(from[size_t((begin + row) * columns + gate * units + unit)]);
    return to;
  }

  std::vector<float> values(const TensorRecord &tensor) const {
    std::span<const uint8_t> bytes = file_.data(tensor);
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return numbers;
  }

  void add(const std::string &name, const std::vector<int64_t> &shape, std::vector<float> numbers) {
    numbers_.push_back(std::move(numbers));
    tensors_.push_back({name, data::denseTensor(numbers_.back().data(), DType::F32, shape)});
  }

  Result<SafeTensors> finish() const {
    std::string header = data::safetensorsHeader(tensors_);
    Bytes bytes(header.size());
    std::memcpy(bytes.data(), header.data(), header.size());
    for (const std::vector<float> &numbers : numbers_) {
      size_t end = bytes.size();
      bytes.resize(end + numbers.size() * sizeof(float));
      std::memcpy(bytes.data() + end, numbers.data(), numbers.size() * sizeof(float));
    }
    return SafeTensors::parse(std::move(bytes), file_.file());
  }

  const SafeTensors &file_;
  Source source_;
  std::vector<int64_t> order_;
  std::map<std::string, Parts> plain_;
  std::vector<Layer> stack_;
  std::deque<std::vector<float>> numbers_;
  std::vector<data::NamedTensor> tensors_;
};

} // namespace

Result<SafeTensors> asStateDict(const SafeTensors &file, Source source) {
  return Converter(file, source).run();
}

std::vector<std::string> assumptions(const SafeTensors &file, Source source) {
  if (source == Source::TensorFlowLstm)
    return {"forget_bias is 1, and the activation tanh"};
  const bool both = std::ranges::any_of(file.records(), [](const TensorRecord &tensor) {
    return tensor.name.find("/backward_") != std::string::npos;
  });
  std::vector<std::string> texts = {
      source == Source::SimpleRnn
          ? "the activation of SimpleRNN is tanh, and Dense has none"
          : "activations are tanh and, of gates, sigmoid (no hard_sigmoid), and Dense has none",
      "no step is masked (mask_zero, Masking)",
      both ? "Bidirectional has merge_mode=\"concat\""
           : "layers read forward (go_backwards=False)"};
  return texts;
}

} // namespace lstmc::keras
