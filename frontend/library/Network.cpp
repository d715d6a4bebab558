#include "frontend/library/Network.h"

#include <algorithm>

#include "executor/base/OutputFile.h"
#include "executor/c/CallerStruct.h"
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
static Diagnostics open(importers::Source source, lstmc_network **network) {
  auto made = std::make_unique<lstmc_network>();
  made->source = std::move(source);
  const importers::Importer *kind =
      made->source->text ? nullptr : importers::importerOf(*made->source);
  Diagnostics warnings;
  if (!kind || !kind->leavesShapesOpen) {
    std::lock_guard lock(compilerLock());
    Checked<symbol::Network> net = drawn(*made, {});
    if (!net.ok())
      return net.diagnostics();
    made->known = knownOf(*net);
    warnings = net.diagnostics();
  }
  *network = made.release();
  return warnings;
}

static Diagnostics nullArgument() {
  return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
}

/// An argument by index, in the caller's struct.
static void describe(const lstmc_network::Known::Argument &argument, lstmc_tensor_info *info) {
  lstmc_tensor_info found = {};
  found.name = argument.name.c_str();
  found.role = argument.role.c_str();
  found.tensor.dtype = lstmc_dtype(int(argument.dtype));
  found.tensor.rank = int32_t(std::min<size_t>(argument.shape.dims.size(), LSTMC_MAX_RANK));
  for (const char *&name : found.dims)
    name = "";
  for (int32_t i = 0; i < found.tensor.rank; ++i) {
    found.tensor.shape[i] = argument.shape.dims[size_t(i)].extent;
    found.dims[i] = argument.shape.dims[size_t(i)].name.c_str();
  }
  c::give(found, info);
}

} // namespace lstmc::library

using namespace lstmc;
using namespace lstmc::library;

extern "C" {

lstmc_status lstmc_network_open(const char *path, lstmc_network **network) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!path || !network)
      return nullArgument();
    return open({path, {}}, network);
  });
}

lstmc_status lstmc_network_parse(const char *name, const char *text, size_t size,
                                 lstmc_network **network) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!name || (!text && size > 0) || !network)
      return nullArgument();
    return open({name, std::string(text ? text : "", size)}, network);
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
    describe(network->known->arguments[index], info);
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
    if (!std::string_view(path).ends_with(".lnet"))
      return failureOf(
          Status(fail(ErrorCode::E0001, "a network is saved as .lnet, got \"{}\"", path)));
    if (!network->known)
      return failureOf(Status(fail(
          ErrorCode::E0001, "{} leaves shapes open: `lstmc import` takes them and writes a .lnet",
          network->source->path)));
    LSTMC_CHECKED_TRY(writeFile(path, network->known->lnet, OutputFile::Existing::Replace));
    return {};
  });
}
}
