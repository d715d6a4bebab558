#include "frontend/lnet/net/Evaluator.h"

#include <algorithm>
#include <filesystem>

#include "frontend/lnet/LayersText.h"
#include "frontend/lnet/Load.h"
#include "frontend/lnet/net/NetBuilder.h"
#include "frontend/lnet/net/NetChoice.h"

namespace lstmc::lnet {

namespace {

constexpr std::string_view kLayerNames[] = {"LSTM", "GRU", "RNNLayer"};
constexpr Prelude kLayers = {"layers.lnet", kLayersText, kLayerNames};

template <typename Part> bool has(std::string_view name) {
  return std::ranges::any_of(Part::functions(), [&](const auto &row) { return row.name == name; });
}
template <typename... Parts> bool anyHas(std::string_view name, std::tuple<Parts &...> *) {
  return (has<Parts>(name) || ...);
}

} // namespace

std::string_view layersText() { return kLayersText; }

bool isFunction(std::string_view name) {
  using AllParts = decltype(std::declval<Functions &>().parts());
  return std::ranges::find(kLayerNames, name) != std::end(kLayerNames) ||
         anyHas(name, static_cast<AllParts *>(nullptr));
}

Evaluator::Evaluator(const LoadOptions &options, Problems &problems, bool rehearses)
    : options_(options), run_(options.limits, problems, rehearses),
      files_(run_, options.includeDirs), nodes_(run_, files_), fileNet_(run_, nodes_, options),
      interpreter_(run_, files_, kLayers, builtins_, tensors_), types_(interpreter_, dims_),
      tensors_(interpreter_, nodes_, dims_, types_),
      initialValues_(interpreter_, options.dataFolders),
      functions_{IterationFunctions(interpreter_),
                 ConversionFunctions(interpreter_),
                 Settings(run_, options, dims_),
                 TrainingDefaults(run_, initialValues_),
                 Variables(run_, nodes_, dims_, fileNet_, initialValues_),
                 Initialisers(run_, initialValues_),
                 Schedules(run_),
                 Foreach(interpreter_, nodes_)} {
  std::apply([&](auto &...part) { (builtins_.add(part), ...); }, functions_.parts());
}

Module *Evaluator::runMain(const std::string &path, std::optional<std::string> text) {
  if (!text)
    text = files_.read(path, std::nullopt);
  if (!text)
    return nullptr;
  if (auto tooLong = checkLength(path, text->size(), options_.limits)) {
    run_.problems().add(std::move(*tooLong));
    return nullptr;
  }
  std::error_code failure;
  std::string key = std::filesystem::weakly_canonical(path, failure).string();
  Module &module = files_.add(path, key, std::move(*text));
  module.main = true;
  fileNet_.allow(module);
  if (!module.broken)
    interpreter_.imports.runFile(module);
  return &module;
}

FunctionObject *Evaluator::chooseNet(Module &module, bool report) {
  std::string_view fitted;
  if (functions_.training.fits.size() == 1)
    fitted = functions_.training.fits[0].net;
  NetChoice choice(module, options_.net, fitted);
  FunctionObject *net = choice.net();
  if (!net && report)
    choice.explain(run_.problems());
  return net;
}

std::map<std::string, int64_t> Evaluator::dimsOfShapes(Module &module) {
  std::map<std::string, int64_t> dims;
  FunctionObject *net = chooseNet(module, false);
  if (!net)
    return dims;
  for (size_t i = 0; i < net->types.size(); ++i) {
    if (!net->types[i])
      continue;
    const std::vector<TypeValue::Extent> &extents = net->types[i]->extents;
    const InputShape *shape = shapeFor(options_, net->def->parameters[i].name->name);
    if (!shape || extents.size() != shape->extents.size())
      continue;
    for (size_t k = 0; k < extents.size(); ++k)
      if (uint32_t dim = extents[k].dim)
        dims.emplace(dims_.name(dim), shape->extents[k]);
  }
  return dims;
}

std::optional<symbol::Network> Evaluator::drawNet(Module &module) {
  bool ofFile = fileNet_.begun() && options_.net.empty();
  FunctionObject *net = ofFile ? nullptr : chooseNet(module, true);
  if ((!net && !ofFile) || run_.aborted())
    return std::nullopt;
  std::unique_ptr<symbol::Graph> graph =
      ofFile ? fileNet_.finish(module)
             : NetBuilder(interpreter_, nodes_, types_, options_, *net).build(module);
  if (!graph)
    return std::nullopt;
  functions_.settings.checkUsed();
  if (run_.problems().any())
    return std::nullopt;
  symbol::Network loaded = describe(module, ofFile ? kFileNetName : net->name(), std::move(graph));
  if (run_.problems().any())
    return std::nullopt;
  return loaded;
}

symbol::Network Evaluator::describe(Module &module, std::string_view net,
                                    std::unique_ptr<symbol::Graph> graph) {
  symbol::Network loaded;
  loaded.net = net;
  for (FunctionObject *each : netsOf(module))
    loaded.nets.emplace_back(each->name());
  if (loaded.nets.empty())
    loaded.nets.emplace_back(net);
  loaded.fit = TrainingDefaults::of(functions_.training.fits, net);
  initialValues_.makeDeferred(*graph, loaded.fit);
  loaded.data = TrainingDefaults::of(functions_.training.data, net);
  loaded.place = TrainingDefaults::of(functions_.training.places, net);
  loaded.settings = functions_.settings.inForce();
  loaded.files = files_.paths();

  std::vector<std::pair<std::string, symbol::AttributeValue>> inForce;
  for (const SettingInForce &setting : loaded.settings)
    inForce.emplace_back(setting.name, setting.value);
  if (!loaded.fit.empty())
    graph->setFit(loaded.fit);
  if (!loaded.data.empty())
    graph->setData(loaded.data);
  if (!inForce.empty())
    graph->setSettings(inForce);
  loaded.graph = std::move(graph);
  return loaded;
}

} // namespace lstmc::lnet
