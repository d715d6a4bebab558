#include "tests/nets/Domains.h"

#include <cmath>
#include <map>
#include <string>

#include "frontend/symbol/Module.h"
#include "frontend/symbol/Symbol.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/SymOps.h"
#include "tests/e2e/Net.h"

namespace lstmc::nets {

namespace {

constexpr int64_t kElements = 8;

/// One call of every element-wise op, each with inputs of its own.
std::vector<std::string> callAll(symbol::Graph &graph, std::vector<symbol::Symbol> &outputs) {
  std::vector<std::string> names;
  mlir::MLIRContext &context = symbol::contextOf(graph);
  std::vector<symbol::Symbol> inputs;
  for (int i = 0; i < 3; ++i)
    inputs.push_back(
        *graph.input("x" + std::to_string(i), DType::F32, {kElements}, symbol::Role::Data));
  for (const sym::OpRecord &op : sym::opRecords()) {
    mlir::OperationName name(op.opName, &context);
    if (op.mxnetName.empty() || !name.hasInterface<sym::ScalarRule>() ||
        name.hasInterface<sym::LossHead>() || op.inputs.size() > inputs.size())
      continue;
    symbol::Call call{.op = std::string(op.mxnetName), .name = "y" + std::to_string(names.size())};
    call.positional.assign(inputs.begin(), inputs.begin() + long(op.inputs.size()));
    for (const sym::AttributeRecord &attribute : op.attributes)
      if (attribute.required)
        call.attributes.push_back({std::string(attribute.name), 0.5});
    Checked<std::vector<symbol::Symbol>> made = graph.apply(call);
    if (!made.ok())
      continue;
    outputs.push_back(made->front());
    names.push_back(std::string(op.opName));
  }
  return names;
}

/// Numbers of a range, spread by index; those of a second operand are in another order.
void fill(const Tensor &x, double low, double high, bool bothSigns, int operand) {
  for (int64_t i = 0; i < kElements; ++i) {
    int64_t at = (i * 3 + operand * 5) % kElements;
    double value = low + (high - low) * double(at) / double(kElements - 1);
    x.as<float>()[i] = float(bothSigns && (i + operand) % 2 ? -value : value);
  }
}

bool finite(const Tensor &y) {
  if (y.dtype != DType::F32)
    return true;
  for (int64_t i = 0; i < y.elements(); ++i)
    if (!std::isfinite(y.as<float>()[i]))
      return false;
  return true;
}

std::map<std::string, Domain, std::less<>> tryAll() {
  symbol::Graph graph("domains");
  std::vector<symbol::Symbol> outputs;
  std::vector<std::string> names = callAll(graph, outputs);
  if (!graph.finish(outputs).empty())
    throw std::runtime_error("the net of all element-wise ops has no shapes");
  passes::CompileOptions options;
  options.entries = {"forward"};
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    throw std::runtime_error("the net of all element-wise ops: " +
                             compiled.diagnostics().front().message);
  auto session = e2e::openSession(compiled->package, 1);
  std::map<std::string, Domain, std::less<>> domains;
  auto attempt = [&](Domain domain, double low, double high, bool bothSigns) {
    for (int i = 0; i < 3; ++i)
      if (Result<Tensor> x = session->input("forward", "x" + std::to_string(i)); x.ok())
        fill(*x, low, high, bothSigns, i);
    if (!session->run("forward").ok())
      return;
    const package::PackageData &data = compiled->package;
    const package::Entry &entry = data.entries[*session->package().findEntry("forward")];
    for (size_t i = 0; i < names.size(); ++i)
      if (finite(*session->output("forward", entry.outputs[i].name)))
        domains.try_emplace(names[i], domain);
  };
  attempt(Domain::Any, 0.0, 1.9, true);
  attempt(Domain::Unit, 0.3, 0.9, false);
  attempt(Domain::AboveOne, 1.2, 1.9, false);
  for (const std::string &name : names)
    domains.try_emplace(name, Domain::None);
  return domains;
}

} // namespace

Domain domainOf(std::string_view opName) {
  static const auto kDomains = tryAll();
  auto found = kDomains.find(opName);
  return found == kDomains.end() ? Domain::Any : found->second;
}

} // namespace lstmc::nets
