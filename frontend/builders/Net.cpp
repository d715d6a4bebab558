#include "frontend/builders/Net.h"

#include <map>

#include "frontend/builders/Ops.h"

namespace lstmc::build {

struct NetState {
  explicit NetState(std::string name) : graph(std::move(name)) {}
  symbol::Graph graph;
  Diagnostics errors, warnings;
  std::map<std::string, int> layers; ///< that got a name of their kind, by kind
  bool finished = false;
};

Net::Net(std::string name) : state_(std::make_shared<NetState>(std::move(name))) {}

/// The state of a Net without a network: rejects all calls with an error.
static NetState &nowhere() {
  static thread_local NetState kState("nowhere");
  return kState;
}

static Diagnostic problem(ErrorCode code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  return diagnostic;
}

static const Diagnostics &noNetwork() {
  static const Diagnostics kErrors = {
      problem(ErrorCode::E0203, "the net is that of a value that has none")};
  return kErrors;
}

Value Net::data(const std::string &name, DType dtype, const symbol::Shape &shape, Place place) {
  if (!state_)
    return {};
  return value(take(graph().input(name, dtype, shape, symbol::Role::Data, origin(place))));
}

Value Net::label(const std::string &name, DType dtype, const symbol::Shape &shape, Place place) {
  if (!state_)
    return {};
  return value(take(graph().input(name, dtype, shape, symbol::Role::Label, origin(place))));
}

Value Net::parameter(const std::string &name, const symbol::VariableOptions &options, Place place) {
  if (!state_)
    return {};
  return value(take(graph().variable(name, options, origin(place))));
}

//===---- scopes ------------------------------------------------------------------------------===//

Scoped::Scoped(std::shared_ptr<NetState> state, symbol::Scope scope) : state_(std::move(state)) {
  if (state_)
    state_->graph.push(std::move(scope));
}
Scoped::~Scoped() {
  if (state_)
    state_->graph.pop();
}

Scoped Net::group(std::string name) const {
  return Scoped(state_, {symbol::Scope::Kind::ContextGroup, std::move(name)});
}
Scoped Net::recompute() const { return Scoped(state_, {symbol::Scope::Kind::Recompute, {}}); }
Scoped Net::type(DType dtype) const {
  return Scoped(state_, {symbol::Scope::Kind::DType, std::string(dtypeLongName(dtype))});
}
Scoped Net::prefix(std::string name) const {
  return Scoped(state_, {symbol::Scope::Kind::NameScope, std::move(name)});
}

//===---- calls and the end -------------------------------------------------------------------===//

Values Net::apply(symbol::Call call) {
  if (!state_)
    return {};
  Values values;
  for (const symbol::Symbol &symbol : take(graph().apply(call)))
    values.push_back(value(symbol));
  return values;
}

Diagnostics Net::finish(const Values &outputs) {
  if (!state_)
    return noNetwork();
  std::vector<symbol::Symbol> symbols;
  for (const Value &output : outputs) {
    if (!output.state_)
      state_->errors.push_back(
          problem(ErrorCode::E0203, "output " + std::to_string(symbols.size() + 1) +
                                        " of the net \"" + graph().name() + "\" is no value"));
    symbols.push_back(output.symbol());
  }
  if (state_->errors.empty())
    for (const Diagnostic &diagnostic : graph().finish(symbols))
      note({diagnostic}, diagnostic.severity != Severity::Error);
  state_->finished = state_->errors.empty();
  return state_->errors;
}

bool Net::isFinished() const { return state_ && state_->finished; }
const Diagnostics &Net::errors() const { return state_ ? state_->errors : noNetwork(); }
const Diagnostics &Net::warnings() const { return (state_ ? *state_ : nowhere()).warnings; }
symbol::Graph &Net::graph() const { return (state_ ? *state_ : nowhere()).graph; }

void Net::note(const Diagnostics &diagnostics, bool warnings) {
  Diagnostics &into = warnings ? state_->warnings : state_->errors;
  into.insert(into.end(), diagnostics.begin(), diagnostics.end());
}

std::string Net::layerName(const std::string &name, const std::string &hint) {
  return name.empty() ? hint + std::to_string(state_->layers[hint]++) : name;
}

symbol::Origin Net::origin(const Place &place) {
  symbol::Origin origin;
  origin.file = place.file_name();
  origin.line = int(place.line());
  origin.column = int(place.column());
  return origin;
}

//===---- operators ---------------------------------------------------------------------------===//

/// Whether an op must broadcast the two: some extent is 1 in one shape only.
static bool stretch(const Value &lhs, const Value &rhs) {
  const symbol::Shape left = lhs.shape(), right = rhs.shape();
  if (!left.ranked || !right.ranked || left.dims.size() != right.dims.size())
    return false;
  for (size_t i = 0; i < left.dims.size(); ++i)
    if (left.dims[i].extent != right.dims[i].extent &&
        (left.dims[i].extent == 1 || right.dims[i].extent == 1))
      return true;
  return false;
}

Value operator+(const Value &lhs, const PlacedValue &rhs) {
  return stretch(lhs, rhs.operand) ? broadcastAdd(lhs, rhs.operand, {}, rhs.place)
                                   : elemwiseAdd(lhs, rhs.operand, {}, rhs.place);
}
Value operator-(const Value &lhs, const PlacedValue &rhs) {
  return stretch(lhs, rhs.operand) ? broadcastSub(lhs, rhs.operand, {}, rhs.place)
                                   : elemwiseSub(lhs, rhs.operand, {}, rhs.place);
}
Value operator*(const Value &lhs, const PlacedValue &rhs) {
  return stretch(lhs, rhs.operand) ? broadcastMul(lhs, rhs.operand, {}, rhs.place)
                                   : elemwiseMul(lhs, rhs.operand, {}, rhs.place);
}
Value operator/(const Value &lhs, const PlacedValue &rhs) {
  return stretch(lhs, rhs.operand) ? broadcastDiv(lhs, rhs.operand, {}, rhs.place)
                                   : elemwiseDiv(lhs, rhs.operand, {}, rhs.place);
}
Value operator+(const Value &lhs, const PlacedNumber &rhs) {
  return plusScalar(lhs, {.scalar = rhs.operand}, rhs.place);
}
Value operator-(const Value &lhs, const PlacedNumber &rhs) {
  return minusScalar(lhs, {.scalar = rhs.operand}, rhs.place);
}
Value operator*(const Value &lhs, const PlacedNumber &rhs) {
  return mulScalar(lhs, {.scalar = rhs.operand}, rhs.place);
}
Value operator/(const Value &lhs, const PlacedNumber &rhs) {
  return divScalar(lhs, {.scalar = rhs.operand}, rhs.place);
}
Value operator+(const PlacedNumber &lhs, const Value &rhs) {
  return plusScalar(rhs, {.scalar = lhs.operand}, lhs.place);
}
Value operator-(const PlacedNumber &lhs, const Value &rhs) {
  return rminusScalar(rhs, {.scalar = lhs.operand}, lhs.place);
}
Value operator*(const PlacedNumber &lhs, const Value &rhs) {
  return mulScalar(rhs, {.scalar = lhs.operand}, lhs.place);
}
Value operator/(const PlacedNumber &lhs, const Value &rhs) {
  return rdivScalar(rhs, {.scalar = lhs.operand}, lhs.place);
}
Value operator-(const PlacedValue &value) { return negative(value.operand, {}, value.place); }

} // namespace lstmc::build
