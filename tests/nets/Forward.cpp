#include "tests/nets/Forward.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "tests/nets/Chance.h"
#include "tests/nets/Rebuild.h"
#include "tests/nets/plain/Interpreter.h"

namespace lstmc::nets {

namespace {

using plain::Array;
using plain::Given;
using plain::Noise;
using plain::Number;

/// Relative difference below which elements are equal, whatever the bound: thousands of roundings.
constexpr double kEqual = 1e-11;
/// Number and relative size of disturbances of the interpreter, to see how far an output moves:
/// 4,096 roundings at each op. More runs, with single disturbances, if these do not explain a
/// difference: numbers that are equal but for roundings may compare the same by chance.
constexpr size_t kDisturbances = 4, kMostDisturbances = 64;
constexpr double kDisturbance = 0x1p-41;
/// An output may be off by this many times the farthest move.
constexpr double kMoves = 16;

std::unique_ptr<Rebuilt> withoutChance(symbol::GraphView view) {
  for (symbol::NodeView &node : view.nodes)
    switchOffChance(node);
  std::unique_ptr<Rebuilt> made = rebuild(view);
  if (!made)
    return nullptr;
  std::vector<symbol::Symbol> outputs;
  for (const symbol::EdgeView &output : view.outputs)
    outputs.push_back(made->at(output));
  for (const Diagnostic &diagnostic : made->graph->finish(outputs))
    if (diagnostic.severity == Severity::Error)
      return nullptr;
  return made;
}

Array arrayOf(const Tensor &tensor) {
  Array array =
      plain::zerosOf(plain::Index(tensor.shape.begin(), tensor.shape.begin() + tensor.rank),
                     isFloat(tensor.dtype) ? DType::F64 : tensor.dtype);
  for (int64_t i = 0; i < array.count(); ++i)
    array.x[size_t(i)] = isFloat(tensor.dtype)
                             ? Number(readElement<double>(tensor.data, tensor.dtype, i))
                             : Number(readElement<int64_t>(tensor.data, tensor.dtype, i));
  return array;
}

class ForwardCheck {
public:
  ForwardCheck(Session &session, mlir::ModuleOp written, uint64_t seed,
               std::map<std::string, int64_t> &counts)
      : session_(session), data_(session.package().data()),
        entry_(data_.entries[*session.package().findEntry("forward")]), written_(written),
        seed_(seed), counts_(counts) {}

  std::string run() {
    placeParameters();
    session_.resetStates();
    session_.setScalar("update", int64_t(1));
    session_.setScalar("seed", int64_t(3));
    Given states;
    for (int call = 1; call <= 2; ++call) {
      feed(session_, "forward", call, seed_);
      Given given = givenInputs();
      given.insert(states.begin(), states.end());
      if (Status done = session_.run("forward"); !done.ok())
        throw std::runtime_error(done.error().text());
      plain::Outcome wanted = plain::interpret(written_, given);
      if (!finite(wanted)) {
        ++counts_["forward not finite"];
        return {};
      }
      if (std::string wrong = compare(wanted, given); !wrong.empty())
        return wrong;
      states = carried(wanted);
    }
    return {};
  }

private:
  void placeParameters() {
    uint32_t number = 0;
    for (const package::Parameter &parameter : data_.parameters) {
      Tensor x = *session_.parameter(parameter.name);
      ++number;
      for (int64_t i = 0; x.dtype == DType::F64 && i < x.elements(); ++i)
        x.as<double>()[i] = 1.4 * randomUniform(seed_, uint64_t(i), number, 7) - 0.7;
    }
    session_.parametersChanged();
  }

  Given givenInputs() {
    Given given;
    for (const package::Parameter &parameter : data_.parameters)
      given[parameter.name] = arrayOf(*session_.parameter(parameter.name));
    for (const package::Binding &input : entry_.inputs)
      if (input.role != "scalar")
        given[input.name] = arrayOf(*session_.input("forward", input.name));
    return given;
  }

  Given carried(const plain::Outcome &outcome) {
    Given states;
    for (const package::State &state : data_.states)
      if (auto found = outcome.states.find(state.name); found != outcome.states.end())
        states.insert(*found);
    return states;
  }

  static bool finite(const plain::Outcome &outcome) {
    return std::ranges::all_of(outcome.outputs, [](const Array &output) {
      return std::ranges::all_of(output.x, [](Number x) { return std::isfinite(x); });
    });
  }

  std::string compare(const plain::Outcome &wanted, const Given &given) {
    std::vector<plain::Outcome> moved; // only made where it is needed
    for (size_t k = 0; k < wanted.outputs.size(); ++k) {
      const Array &want = wanted.outputs[k];
      const std::string &name = entry_.outputs[k].name;
      const Array found = arrayOf(*session_.output("forward", name));
      if (found.shape != want.shape || found.dtype != want.dtype)
        return name + " has another shape or type than the ops as written give";
      bool jumps = false;
      for (size_t i = 0; i < want.x.size(); ++i) {
        const Number off = std::fabs(found.x[i] - want.x[i]);
        if (off <= kEqual * std::fabs(want.x[i]))
          continue;
        Number most = 0;
        auto isExplained = [&] { return off <= kMoves * most || most == INFINITY; };
        for (size_t n = 0; n < kMostDisturbances && (n < kDisturbances || !isExplained()); ++n) {
          if (n == moved.size())
            moved.push_back(plain::interpret(written_, given, {kDisturbance, seed_ * 16 + 2 * n}));
          const Number move = std::fabs(moved[n].outputs[k].x[i] - want.x[i]);
          most = std::isfinite(move) ? std::fmax(most, move) : INFINITY;
        }
        if (!isExplained())
          return fmt::format("{}: element {} is {}, the ops as written give {}, give or take {}",
                             name, i, double(found.x[i]), double(want.x[i]), double(most));
        jumps |= most > Number(1e-6) * std::fabs(want.x[i]);
      }
      ++counts_[jumps ? "outputs of forward that jump" : "outputs of forward"];
    }
    return {};
  }

  Session &session_;
  const package::PackageData &data_;
  const package::Entry &entry_;
  mlir::ModuleOp written_;
  uint64_t seed_;
  std::map<std::string, int64_t> &counts_;
};

} // namespace

std::string judgeForward(const Bench &bench, uint64_t seed,
                         std::map<std::string, int64_t> &counts) {
  std::unique_ptr<Rebuilt> made = withoutChance(bench.view());
  if (!made) {
    ++counts["forward not built again"];
    return {};
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*made->graph);
  if (std::string op = plain::withoutRule(*module); !op.empty()) {
    ++counts["forward left out for " + op];
    return {};
  }
  mlir::OwningOpRef<mlir::ModuleOp> written = module->clone();
  passes::CompileOptions options;
  options.entries = {"forward"};
  options.dtype = DType::F64;
  options.carry = bench.options().carry;
  options.optimizer.name = "none";
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok()) {
    std::string code(errorRecord(compiled.diagnostics().front().code).name);
    if (code == "E0099" || code.starts_with("E06"))
      return "in f64: " + symbol::render(compiled.diagnostics());
    ++counts["forward refused " + code];
    return {};
  }
  auto session = e2e::openSession(compiled->package, 1);
  return ForwardCheck(*session, *written, seed, counts).run();
}

} // namespace lstmc::nets
