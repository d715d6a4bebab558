#include "frontend/symbol/Layers.h"

#include "frontend/symbol/Impl.h"

namespace lstmc::symbol {

namespace {

/// Makes the nodes of one layer; keeps the first error and then does nothing more.
class LayerMaker {
public:
  LayerMaker(Graph &graph, const std::string &name, const LayerOptions &options, std::string shown)
      : graph_(graph), name_(name), scoped_(graph.impl().scoped(name)), options_(options),
        shown_(std::move(shown)) {
    if (options_.origin.what.empty())
      options_.origin.what = shown_;
  }

  Checked<LayerOutputs> run(const std::string &mode, int64_t gates, Symbol x, int64_t units) {
    if (options_.batchMajor)
      x = first(
          apply("SwapAxis", {x}, {{"dim1", int64_t(0)}, {"dim2", int64_t(1)}}, name_ + "_swap_in"));
    int64_t rows = gates * units;
    std::vector<Symbol> parameters;
    for (const std::string &prefix : prefixes()) {
      parameters.push_back(variable(prefix + "i2h_weight", {rows, kUnknown}));
      parameters.push_back(variable(prefix + "h2h_weight", {rows, units}));
    }
    for (const std::string &prefix : prefixes()) {
      parameters.push_back(variable(prefix + "i2h_bias", {rows}));
      parameters.push_back(variable(prefix + "h2h_bias", {rows}));
    }
    Symbol packed =
        first(apply("_rnn_param_concat", parameters, {{"dim", int64_t(0)}}, name_ + "_parameters"));

    bool lstm = mode == "lstm";
    Symbol h = options_.h ? options_.h : beginState(0, x, units);
    Symbol c = !lstm ? Symbol() : options_.c ? options_.c : beginState(1, x, units);
    std::vector<Symbol> results = apply("RNN", {x, packed, h, c, options_.length},
                                        {{"state_size", units},
                                         {"num_layers", options_.layers},
                                         {"mode", mode},
                                         {"bidirectional", options_.bidirectional},
                                         {"p", options_.dropout},
                                         {"state_outputs", true},
                                         {"use_sequence_length", bool(options_.length)}},
                                        name_);
    LayerOutputs outputs;
    if (errors_.empty()) {
      outputs = {results[0], results[1], lstm ? results[2] : Symbol()};
      if (options_.batchMajor)
        outputs.output =
            first(apply("SwapAxis", {outputs.output}, {{"dim1", int64_t(0)}, {"dim2", int64_t(1)}},
                        name_ + "_swap_out"));
    }
    if (!errors_.empty())
      return std::move(errors_);
    return {outputs, std::move(warnings_)};
  }

private:
  std::vector<std::string> prefixes() const {
    std::vector<std::string> all;
    for (int64_t layer = 0; layer < options_.layers; ++layer) {
      std::string number = std::to_string(layer);
      all.push_back(layer == 0 ? scoped_ + "_" : scoped_ + "_l" + number + "_");
      if (options_.bidirectional)
        all.push_back(scoped_ + "_r" + number + "_");
    }
    return all;
  }

  Symbol variable(const std::string &name, Shape shape) {
    if (!errors_.empty())
      return {};
    VariableOptions options;
    options.shape = std::move(shape);
    options.layer = shown_;
    options.followsInLayer = std::exchange(hasParameters_, true);
    return take(graph_.variable(name, options, options_.origin));
  }

  Symbol beginState(int which, Symbol x, int64_t units) {
    if (!errors_.empty())
      return {};
    int64_t directions = options_.bidirectional ? 2 : 1;
    return take(graph_.beginState(
        scoped_ + "_begin_state_" + std::to_string(which), x.dtype().value_or(DType::F32),
        {options_.layers * directions, kUnknown, units}, options_.origin));
  }

  std::vector<Symbol> apply(std::string op, std::vector<Symbol> inputs,
                            std::vector<NamedAttribute> attributes, std::string name) {
    if (!errors_.empty())
      return {};
    Call call;
    call.op = std::move(op);
    call.positional = std::move(inputs);
    call.attributes = std::move(attributes);
    call.name = std::move(name);
    call.origin = options_.origin;
    call.shown = shown_;
    return take(graph_.apply(call));
  }

  static Symbol first(const std::vector<Symbol> &symbols) {
    return symbols.empty() ? Symbol() : symbols.front();
  }

  template <typename T> T take(Checked<T> made) {
    Diagnostics &into = made.ok() ? warnings_ : errors_;
    into.insert(into.end(), made.diagnostics().begin(), made.diagnostics().end());
    return made.ok() ? std::move(*made) : T();
  }

  Graph &graph_;
  std::string name_;
  std::string scoped_; ///< name with the prefixes of name scopes: the graph adds them to nodes, but
                       ///< not to Variables
  LayerOptions options_;
  std::string shown_;
  bool hasParameters_ = false;
  Diagnostics errors_, warnings_;
};

std::string shownAs(const char *layer, int64_t units) {
  return std::string(layer) + "(num_hidden=" + std::to_string(units) + ")";
}

} // namespace

Checked<LayerOutputs> lstm(Graph &graph, Symbol x, int64_t units, const std::string &name,
                           const LayerOptions &options) {
  return LayerMaker(graph, name, options, shownAs("LSTM", units)).run("lstm", 4, x, units);
}

Checked<LayerOutputs> gru(Graph &graph, Symbol x, int64_t units, const std::string &name,
                          const LayerOptions &options) {
  return LayerMaker(graph, name, options, shownAs("GRU", units)).run("gru", 3, x, units);
}

Checked<LayerOutputs> rnnLayer(Graph &graph, Symbol x, int64_t units, const std::string &activation,
                               const std::string &name, const LayerOptions &options) {
  return LayerMaker(graph, name, options, shownAs("RNNLayer", units))
      .run("rnn_" + activation, 1, x, units);
}

} // namespace lstmc::symbol
