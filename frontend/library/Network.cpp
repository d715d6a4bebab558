#include "frontend/library/Network.h"

#include <algorithm>

#include "executor/base/OutputFile.h"
#include "executor/c/CallerStruct.h"
#include "frontend/cli/ModelFiles.h"
#include "frontend/driver/MemoryFit.h"
#include "frontend/driver/ReadSource.h"
#include "frontend/library/GraphSettings.h"
#include "frontend/lnet/Emit.h"
#include "frontend/symbol/Copy.h"
#include "frontend/symbol/View.h"

namespace lstmc::library {

std::mutex &compilerLock() {
  static std::mutex kLock;
  return kLock;
}

static symbol::Network networkOf(const symbol::Graph &graph) {
  symbol::Network net;
  net.net = graph.name();
  net.nets = {net.net};
  net.fit = graph.fit();
  net.data = graph.data();
  net.graph = symbol::copyOf(graph);
  return net;
}

Checked<symbol::Network> drawn(const lstmc_network &network, const Options &options) {
  Checked<symbol::Network> net = network.source
                                     ? driver::loadSource(*network.source, options.request)
                                     : Checked<symbol::Network>(networkOf(*network.graph));
  if (!net.ok() || !options.initializer)
    return net;
  std::erase_if(net->fit, [](const symbol::Setting &s) { return s.key == "initializer"; });
  net->fit.push_back(*options.initializer);
  net->graph->setFit(net->fit);
  return net;
}

static Checked<driver::Model> compileOnce(const lstmc_network &network, const Options &options,
                                          const driver::ModelRequest &request) {
  Checked<symbol::Network> net = drawn(network, options);
  if (!net.ok())
    return net.diagnostics();
  Diagnostics warnings = net.diagnostics();
  const bool isFile = network.source && !network.source->text;
  Checked<driver::Model> model = driver::compileNet(
      std::move(*net), isFile ? network.source->path : "", options.request, request);
  if (model.ok())
    model->warnings.insert(model->warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

Checked<driver::Model> compiled(const lstmc_network &network, const Options &options,
                                const driver::ModelRequest &request) {
  Checked<driver::Model> model = compileOnce(network, options, request);
  const bool isFile = network.source && !network.source->text;
  if (!model.ok() && isFile && model.diagnostics().front().code == ErrorCode::E0401)
    if (std::optional<driver::Model> less = driver::withLessMemory(
            network.source->path, options.request, request,
            [&](const driver::CompileRequest &changed) {
              return compileOnce(network, {changed, options.initializer}, request);
            }))
      return std::move(*less);
  return model;
}

lstmc_network::Known knownOf(const symbol::Network &net) {
  lstmc_network::Known known;
  const symbol::GraphView view = symbol::view(*net.graph);
  const auto shapes = net.graph->inferredShapes();
  for (const std::string &name : net.graph->listArguments()) {
    lstmc_network::Known::Argument argument{name, "parameter", DType::F32, {}};
    for (const symbol::InputView &input : view.inputs)
      if (input.name == name) {
        argument.role = input.role == symbol::Role::Label ? "label" : "data";
        argument.dtype = input.dtype;
        argument.shape = input.shape;
      }
    for (const symbol::NodeView &node : view.nodes)
      if (node.name == name && node.kind != symbol::NodeView::Kind::Op)
        argument.dtype = node.dtype;
    if (const auto shape =
            std::ranges::find(shapes, name, &std::pair<std::string, symbol::Shape>::first);
        argument.role == "parameter" && shape != shapes.end())
      argument.shape = shape->second;
    known.arguments.push_back(std::move(argument));
  }
  known.outputs = net.graph->outputNames();
  known.hash = net.graph->hash();
  known.lnet = lnet::emitLnet(*net.graph, net.fit, net.data, net.place);
  return known;
}

/// Reads a source, for its errors and for what is known of it.
static Diagnostics open(importers::Source source, Options given, lstmc_network **network) {
  auto made = std::make_unique<lstmc_network>();
  made->source = std::move(source);
  made->given = std::move(given);
  if (!made->source->text && importers::isWeights(made->source->path)) {
    LSTMC_CHECKED_ASSIGN(importers::Imported read, importers::readWeights(*made->source, {}));
    made->source->text = std::move(read.text);
    made->weights = std::move(read.tensors);
  }
  const importers::Importer *kind =
      made->source->text ? nullptr : importers::importerOf(*made->source);
  Diagnostics warnings;
  if (!kind || !kind->leavesShapesOpen || !made->given.request.shape.empty()) {
    std::lock_guard lock(compilerLock());
    Checked<symbol::Network> net = drawn(*made, made->given);
    if (!net.ok())
      return net.diagnostics();
    made->known = knownOf(*net);
    if (!made->weights.empty())
      made->known->lnet = *made->source->text; // says what it assumes
    warnings = net.diagnostics();
  }
  *network = made.release();
  return warnings;
}

static Diagnostics nullArgument() {
  return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
}

constexpr std::string_view kSymbolFile = "-symbol.json";

/// Writes MXNet's file of that name. Warnings name ops that MXNet does not have.
static Diagnostics saveSymbol(const lstmc_network &network, std::string_view path) {
  std::lock_guard lock(compilerLock());
  Checked<symbol::Network> net = drawn(network, network.given);
  if (!net.ok())
    return net.diagnostics();
  const std::string prefix(path.substr(0, path.size() - kSymbolFile.size()));
  LSTMC_CHECKED_ASSIGN(const std::vector<std::string> told,
                       cli::writeNetwork(prefix, *net, OutputFile::Existing::Replace));
  Diagnostics warnings;
  for (const std::string &message : told) {
    Diagnostic warning;
    warning.code = ErrorCode::E0613;
    warning.severity = Severity::Warning;
    warning.message = message;
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

/// Without extents; names are the caller's.
static lstmc_tensor_info infoOf(const std::string &name, const char *role, DType dtype) {
  lstmc_tensor_info info = {};
  info.name = name.c_str();
  info.role = role;
  info.tensor.dtype = lstmc_dtype(int(dtype));
  std::ranges::fill(info.dims, "");
  return info;
}

static lstmc_tensor_info infoOf(const lstmc_network::Known::Argument &argument) {
  lstmc_tensor_info info = infoOf(argument.name, argument.role.c_str(), argument.dtype);
  info.tensor.rank = int32_t(std::min<size_t>(argument.shape.dims.size(), LSTMC_MAX_RANK));
  for (int32_t i = 0; i < info.tensor.rank; ++i) {
    info.tensor.shape[i] = argument.shape.dims[size_t(i)].extent;
    info.dims[i] = argument.shape.dims[size_t(i)].name.c_str();
  }
  return info;
}

static lstmc_tensor_info infoOf(const data::NamedArray &weight) {
  lstmc_tensor_info info = infoOf(weight.name, "parameter", weight.array.dtype);
  info.tensor.data = const_cast<uint8_t *>(weight.array.bytes.data()); // it is only read
  info.tensor.rank = int32_t(weight.array.shape.size());
  std::ranges::copy(weight.array.shape, info.tensor.shape);
  return info;
}

} // namespace lstmc::library

using namespace lstmc;
using namespace lstmc::library;

extern "C" {

lstmc_status lstmc_network_open(const char *path, lstmc_network **network) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!path || !network)
      return nullArgument();
    return open({path, {}}, {}, network);
  });
}

lstmc_status lstmc_network_open_with(const char *path, const lstmc_option *options, size_t count,
                                     const lstmc_place *place, lstmc_network **network) {
  return guarded(place, [&]() -> Diagnostics {
    if (!path || !network || (!options && count > 0))
      return nullArgument();
    for (size_t i = 0; i < count; ++i)
      if (const std::string_view name = options[i].name ? options[i].name : "";
          name != "dims" && name != "shapes")
        return failureOf(Status(
            fail(ErrorCode::E0001, "a network is opened with dims and shapes, got \"{}\"", name)));
    LSTMC_CHECKED_ASSIGN(Options given, optionsOf(options, count, Kind::Source, place));
    return open({path, {}}, std::move(given), network);
  });
}

lstmc_status lstmc_network_parse(const char *name, const char *text, size_t size,
                                 lstmc_network **network) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!name || (!text && size > 0) || !network)
      return nullArgument();
    return open({name, std::string(text ? text : "", size)}, {}, network);
  });
}

void lstmc_network_close(lstmc_network *network) { delete network; }

lstmc_status lstmc_network_argument(const lstmc_network *network, size_t index,
                                    lstmc_tensor_info *info) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!network || !info)
      return nullArgument();
    if (!network->known || index >= network->known->arguments.size())
      return failureOf(Status(fail(ErrorCode::E0001, "the network has no argument {}", index)));
    c::give(infoOf(network->known->arguments[index]), info);
    return {};
  });
}

lstmc_status lstmc_network_weight(const lstmc_network *network, size_t index,
                                  lstmc_tensor_info *info) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!network || !info)
      return nullArgument();
    if (index >= network->weights.size())
      return failureOf(Status(fail(ErrorCode::E0001, "the network came with {} weights, want {}",
                                   network->weights.size(), index + 1)));
    c::give(infoOf(network->weights[index]), info);
    return {};
  });
}

const char *lstmc_network_output(const lstmc_network *network, size_t index) {
  return network && network->known && index < network->known->outputs.size()
             ? network->known->outputs[index].c_str()
             : nullptr;
}

const char *lstmc_network_hash(const lstmc_network *network) {
  return network && network->known ? network->known->hash.c_str() : "";
}

lstmc_status lstmc_network_save(const lstmc_network *network, const char *path) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!network || !path)
      return nullArgument();
    const bool asJson = std::string_view(path).ends_with(kSymbolFile);
    if (!asJson && !std::string_view(path).ends_with(".lnet"))
      return failureOf(
          Status(fail(ErrorCode::E0001, "a network is saved as F.lnet or as F{}, got \"{}\"",
                      kSymbolFile, path)));
    if (!network->known)
      return failureOf(Status(fail(ErrorCode::E0001, "{} leaves shapes open: open it with .shapes",
                                   network->source->path)));
    if (asJson)
      return saveSymbol(*network, path);
    LSTMC_CHECKED_TRY(writeFile(path, network->known->lnet, OutputFile::Existing::Replace));
    return {};
  });
}
}
