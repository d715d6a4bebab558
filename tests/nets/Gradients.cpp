#include "tests/nets/Gradients.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "executor/base/Philox.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/SymOps.h"
#include "tests/nets/Chance.h"
#include "tests/nets/Rebuild.h"

namespace lstmc::nets {

using symbol::EdgeView;
using symbol::GraphView;
using symbol::NodeView;
using symbol::Symbol;

namespace {

/// Ops whose gradient is by definition not the derivative of their result: the gradient stops, or
/// all equal elements get it, or it is 1 where the result, divided by 0, is 0.
bool hasGradientOfItsOwn(const NodeView &node) {
  if (node.op == "Cast")
    return std::ranges::any_of(node.attributes, [](const symbol::NamedAttribute &attribute) {
      auto dtype = std::get_if<std::string>(&attribute.value);
      return dtype && !dtype->starts_with("float");
    });
  if (node.op == "LayerNorm" || node.op == "BatchNorm" ||
      node.op == "GroupNorm") // none flows through mean and deviation
    return node.outputs > 1;
  constexpr std::string_view kOps[] = {"BlockGrad", "max", "min", "_mod", "broadcast_mod"};
  return std::ranges::find(kOps, node.op) != std::end(kOps);
}

bool isHead(const NodeView &node, mlir::MLIRContext &context) {
  const sym::OpRecord *op = sym::findOpRecord(node.op);
  return op && mlir::OperationName(op->opName, &context).hasInterface<sym::LossHead>();
}

/// Replaces heads by their input, and switches off random numbers.
GraphView withoutHeads(GraphView view) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<sym::SymDialect>();
  std::vector<std::optional<EdgeView>> gives(view.nodes.size());
  auto follow = [&](EdgeView &edge) {
    if (!edge.input && gives[edge.index])
      edge = *gives[edge.index];
  };
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    NodeView &node = view.nodes[i];
    for (auto &[name, edge] : node.inputs)
      follow(edge);
    if (node.kind != NodeView::Kind::Op)
      continue;
    if (isHead(node, context))
      gives[i] = node.inputs.front().second;
    switchOffChance(node);
  }
  std::ranges::for_each(view.outputs, follow);
  return pruned(view);
}

std::optional<Symbol> apply(symbol::Graph &graph, symbol::Call call) {
  Checked<std::vector<Symbol>> made = graph.apply(call);
  return made.ok() ? std::optional(made->front()) : std::nullopt;
}

/// A loss: the sum of all outputs, each multiplied by factors of its own.
std::unique_ptr<Rebuilt> withLoss(const GraphView &view) {
  std::unique_ptr<Rebuilt> made = rebuild(view);
  if (!made)
    return nullptr;
  symbol::Graph &graph = *made->graph;
  std::vector<Symbol> sums;
  for (const EdgeView &output : view.outputs) {
    Symbol value = made->at(output);
    if (value.dtype() != DType::F32)
      continue;
    symbol::VariableOptions options{
        .dtype = DType::F32, .shape = value.shape(), .shareIsMeant = true};
    std::string name = fmt::format("factor{}", sums.size());
    Checked<Symbol> factor = graph.variable(name, options);
    if (!factor.ok())
      return nullptr;
    auto product = apply(graph, {.op = "elemwise_mul", .positional = {value, *factor}});
    auto sum = product ? apply(graph, {.op = "sum", .positional = {*product}}) : product;
    if (!sum)
      return nullptr;
    sums.push_back(*sum);
  }
  if (sums.empty())
    return nullptr;
  auto all = apply(graph, {.op = "add_n", .positional = sums});
  auto loss = all ? apply(graph, {.op = "MakeLoss", .positional = {*all}, .name = "loss"}) : all;
  if (!loss)
    return nullptr;
  for (const Diagnostic &diagnostic : graph.finish({*loss}))
    if (diagnostic.severity == Severity::Error)
      return nullptr;
  return made;
}

using Numbers = std::vector<double>;

/// The loss along a line through a parameter.
class Line {
public:
  Line(Session &session, const std::string &parameter, uint64_t seed, uint64_t which)
      : session_(session), x_(*session.parameter(parameter)),
        at_(x_.as<double>(), x_.as<double>() + x_.elements()) {
    for (size_t i = 0; i < at_.size(); ++i)
      direction_.push_back(randomUniform(seed, i, uint32_t(which), 99) < 0.5 ? -1 : 1);
  }
  double along(const Numbers &gradient) const {
    double sum = 0;
    for (size_t i = 0; i < gradient.size(); ++i)
      sum += gradient[i] * direction_[i];
    return sum;
  }
  double loss(double h) {
    for (size_t i = 0; i < at_.size(); ++i)
      x_.as<double>()[i] = at_[i] + h * direction_[i];
    session_.parametersChanged();
    session_.resetStates();
    if (!session_.run("forward").ok())
      return NAN;
    const package::PackageData &data = session_.package().data();
    const package::Entry &entry = data.entries[*session_.package().findEntry("forward")];
    return session_.output("forward", entry.outputs[0].name)->as<double>()[0];
  }
  void back() {
    std::copy(at_.begin(), at_.end(), x_.as<double>());
    session_.parametersChanged();
  }

private:
  Session &session_;
  Tensor x_;
  Numbers at_, direction_;
};

/// The derivative along a line; nullopt if forward has a corner there, or is too curved or too
/// large to measure.
std::optional<double> derivative(Line &line) {
  const double h = 1e-4, middle = line.loss(0);
  double central[3], bend[3];
  for (int i = 0; i < 3; ++i) {
    double step = h / (1 << i), up = line.loss(step), down = line.loss(-step);
    central[i] = (up - down) / (2 * step);
    bend[i] = std::fabs((up - middle) - (middle - down)) / step;
  }
  line.back();
  double coarse = (4 * central[1] - central[0]) / 3, fine = (4 * central[2] - central[1]) / 3;
  double noise = 1e-13 * std::fabs(middle) / h;
  bool smooth = std::fabs(coarse - fine) <= 1e-7 * std::fabs(fine) + 1e-9 + noise &&
                bend[2] <= 0.7 * bend[1] + 1e-7 + noise;
  bool told = noise <= 1e-6 * std::fabs(fine) + 1e-7;
  // A jump on each side, one up and one down, looks smooth from afar.
  const double close = h / 100, near = (line.loss(close) - line.loss(-close)) / (2 * close);
  line.back();
  bool same = std::fabs(near - fine) <= 1e-5 * std::fabs(fine) + 1e-7 + 200 * noise;
  return smooth && told && same && std::isfinite(fine) ? std::optional(fine) : std::nullopt;
}

class GradientCheck {
public:
  GradientCheck(Session &session, uint64_t seed, std::map<std::string, int64_t> &counts)
      : session_(session), seed_(seed), counts_(counts) {}

  std::string run() {
    placeParameters();
    session_.setScalar("learning_rate", 0.0);
    session_.setScalar("update", int64_t(1));
    session_.setScalar("seed", int64_t(3));
    for (const char *entry : {"forward", "step"})
      feed(session_, entry, 1, seed_);
    session_.resetStates();
    if (Status done = session_.run("step"); !done.ok()) {
      if (done.error().code != ErrorCode::E0701)
        throw std::runtime_error(done.error().text());
      ++counts_["gradients not finite"];
      return {};
    }
    std::map<std::string, Numbers> gradients = readGradients();
    feed(session_, "forward", 1, seed_);
    uint64_t which = 0;
    for (const package::Parameter &parameter : session_.package().data().parameters) {
      if (std::string wrong = check(parameter, gradients[parameter.name], ++which); !wrong.empty())
        return wrong;
    }
    return {};
  }

private:
  void placeParameters() {
    uint32_t number = 0;
    for (const package::Parameter &parameter : session_.package().data().parameters) {
      Tensor x = *session_.parameter(parameter.name);
      ++number;
      for (int64_t i = 0; x.dtype == DType::F64 && i < x.elements(); ++i)
        x.as<double>()[i] = 1.4 * randomUniform(seed_, uint64_t(i), number, 7) - 0.7;
    }
    session_.parametersChanged();
  }

  std::map<std::string, Numbers> readGradients() {
    std::map<std::string, Numbers> gradients;
    for (const package::Parameter &parameter : session_.package().data().parameters)
      if (Result<Tensor> gradient = session_.output("step", "gradient:" + parameter.name);
          gradient.ok() && gradient->dtype == DType::F64)
        gradients[parameter.name].assign(gradient->as<double>(),
                                         gradient->as<double>() + gradient->elements());
    return gradients;
  }

  std::string check(const package::Parameter &parameter, const Numbers &gradient, uint64_t which) {
    if (parameter.auxiliary || session_.parameter(parameter.name)->dtype != DType::F64)
      return {};
    if (std::ranges::any_of(gradient, [](double g) { return !std::isfinite(g); })) {
      ++counts_["gradients not finite"];
      return {};
    }
    Line line(session_, parameter.name, seed_, which);
    std::optional<double> want = derivative(line);
    if (!want) {
      ++counts_["gradients with a corner"];
      return {};
    }
    ++counts_["gradients"];
    double found = line.along(gradient), size = 0;
    for (double g : gradient)
      size += std::fabs(g);
    if (std::fabs(found - *want) <= 1e-5 * std::max(size, std::fabs(*want)) + 1e-7)
      return {};
    return fmt::format("{}: {} along a line, differences say {}", parameter.name, found, *want);
  }

  Session &session_;
  uint64_t seed_;
  std::map<std::string, int64_t> &counts_;
};

} // namespace

std::string judgeGradients(const Bench &bench, uint64_t seed,
                           std::map<std::string, int64_t> &counts) {
  GraphView view = withoutHeads(bench.view());
  if (std::ranges::any_of(view.nodes, hasGradientOfItsOwn)) {
    ++counts["gradients by definition"];
    return {};
  }
  std::unique_ptr<Rebuilt> made = withLoss(view);
  if (!made) {
    ++counts["gradients without a loss"];
    return {};
  }
  passes::CompileOptions options;
  options.entries = {"forward", "step"};
  options.dtype = DType::F64;
  options.optimizer.name = "none";
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*made->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok()) {
    ErrorCode code = compiled.diagnostics().front().code;
    if (code != ErrorCode::E0402 && code != ErrorCode::E0403)
      return "in f64: " + symbol::render(compiled.diagnostics());
    ++counts["gradients refused"];
    return {};
  }
  auto session = e2e::openSession(compiled->package, 1);
  return GradientCheck(*session, seed, counts).run();
}

} // namespace lstmc::nets
