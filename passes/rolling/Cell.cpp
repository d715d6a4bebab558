#include "passes/rolling/Cell.h"

#include "ir/sym/Create.h"

namespace lstmc::passes {

namespace {

using mlir::Operation;
using mlir::Value;

constexpr llvm::StringLiteral kNotGates = "its gates are not sums of W x + b and R h + b'";

struct Pair {
  Value first, second;
  Pair swapped() const { return {second, first}; }
  /// Both orders of operands, for commutative ops.
  std::array<Pair, 2> orders() const { return {*this, swapped()}; }
};

/// The operands of a binary op `Ops` that does not broadcast.
template <typename... Ops> std::optional<Pair> operandsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !llvm::isa<Ops...>(op) || op->getOperand(0).getType() != value.getType() ||
      op->getOperand(1).getType() != value.getType())
    return std::nullopt;
  return Pair{op->getOperand(0), op->getOperand(1)};
}
std::optional<Pair> termsOf(Value value) {
  return operandsOf<sym::ElemwiseAddOp, sym::BroadcastAddOp>(value);
}
std::optional<Pair> factorsOf(Value value) {
  return operandsOf<sym::ElemwiseMulOp, sym::BroadcastMulOp>(value);
}

/// The argument of an activation function, if the value is one: `Op`, or Activation by that name.
template <typename Op> Value argumentOf(Value value, llvm::StringRef name) {
  if (auto op = value.getDefiningOp<Op>())
    return op.getData();
  auto activation = value.getDefiningOp<sym::ActivationOp>();
  return activation && activation.getActType() == name ? activation.getData() : Value();
}
Value throughTanh(Value value) { return argumentOf<sym::TanhOp>(value, "tanh"); }
Value throughRelu(Value value) { return argumentOf<sym::ReluOp>(value, "relu"); }
Value throughSigmoid(Value value) { return argumentOf<sym::SigmoidOp>(value, "sigmoid"); }

/// z if the value is 1 - z, else null.
Value complemented(Value value) {
  auto op = value.getDefiningOp<sym::RminusScalarOp>();
  return op && op.getScalar().isExactlyValue(1.0) ? op.getData() : Value();
}

mlir::OpOperand *useOf(Value value, Value in) {
  for (mlir::OpOperand &operand : in.getDefiningOp()->getOpOperands())
    if (operand.get() == value)
      return &operand;
  return nullptr;
}

class Matcher {
public:
  Matcher(RnnMode mode, Value h) {
    cell.mode = mode;
    cell.h = h;
    take(h);
  }

  void take(Value value) { cell.ops.insert(value.getDefiningOp()); }
  void take(std::initializer_list<Value> values) {
    for (Value value : values)
      take(value);
  }

  /// Takes the ops between `state` and `value`, and the products of the step's input.
  void takeUpTo(Value state, Value value) {
    llvm::SmallVector<Value> open = {value};
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (!op || op == state.getDefiningOp() || llvm::isa<sym::VariableOp>(op) ||
          (op != value.getDefiningOp() && !cell.ops.insert(op)))
        continue;
      auto product = llvm::dyn_cast<sym::FullyConnectedOp>(op);
      std::optional<Pair> gated = product ? factorsOf(product.getData()) : std::nullopt;
      if (!product || (gated && (gated->first == state || gated->second == state)))
        open.append(op->operand_begin(), op->operand_end());
    }
  }

  /// Requires `z` to be the pre-activation of gate `number`.
  void gate(Value z, int64_t number) {
    if (std::optional<Part> part = partOf(z)) {
      std::optional<Pair> sum = termsOf(part->whole);
      take(part->whole);
      return sum ? addTo(*sum, part->number, number) : refuse(kNotGates);
    }
    std::optional<Pair> sum = termsOf(z);
    take(z);
    std::optional<Part> a = sum ? partOf(sum->first) : std::nullopt,
                        b = sum ? partOf(sum->second) : std::nullopt;
    if (!a || !b || a->number != b->number)
      return refuse(kNotGates);
    addTo({a->whole, b->whole}, a->number, number);
  }

  /// The product from whose result `rows`, the part of gate `number`, is sliced.
  Value productOf(Value rows, int64_t number) {
    std::optional<Part> part = partOf(rows);
    if (!part || !place(number, part->number)) {
      refuse(kNotGates);
      return {};
    }
    return part->whole;
  }

  /// False if the gate has another block, or another gate has this one.
  bool place(int64_t gate, int64_t block) {
    for (int64_t other = 0; other < gateCount(cell.mode); ++other)
      if (other != gate && cell.blocks[size_t(other)] == block)
        return false;
    int64_t &own = cell.blocks[size_t(gate)];
    if (own != -1 && own != block)
      return false;
    own = block;
    return true;
  }

  void addTo(Pair products, int64_t block, int64_t gate) {
    if (!place(gate, block))
      return refuse("two of its gates are one part of the products");
    if (!cell.products[0])
      return setProducts(products);
    for (Pair order : products.orders())
      if (order.first == Value(cell.products[0]) && order.second == Value(cell.products[1]))
        return;
    refuse(kNotGates);
  }

  void setProducts(Pair products) {
    auto product = [](Value value) { return value.getDefiningOp<sym::FullyConnectedOp>(); };
    if (!product(products.first) || !product(products.second))
      return refuse(kNotGates);
    cell.products[0] = product(products.first);
    cell.products[1] = product(products.second);
    take({products.first, products.second});
  }

  void refuse(llvm::StringRef reason) {
    if (cell.reason.empty())
      cell.reason = reason.str();
  }

  Cell cell;

private:
  struct Part {
    Value whole;
    int64_t number;
  };

  /// The columns of a gate in the value that holds all gates.
  std::optional<Part> partOf(Value value) {
    auto result = llvm::dyn_cast<mlir::OpResult>(value);
    if (!result || sym::rankedType(value).getRank() != 2)
      return std::nullopt;
    const int64_t gates = gateCount(cell.mode), units = sym::rankedType(cell.h).getDimSize(1);
    auto all = [&](Value whole) {
      auto type = sym::rankedType(whole);
      return type.getRank() == 2 && type.getDimSize(1) == gates * units &&
             sym::rankedType(value).getDimSize(1) == units;
    };
    auto cut = llvm::dyn_cast<sym::SliceChannelOp>(result.getOwner());
    if (cut && all(cut.getData()) && sym::normalAxis(cut.getAxis(), 2) == 1) {
      take(value);
      return Part{cut.getData(), int64_t(result.getResultNumber())};
    }
    auto slice = llvm::dyn_cast<sym::SliceAxisOp>(result.getOwner());
    if (!slice || !all(slice.getData()) || sym::normalAxis(slice.getAxis(), 2) != 1)
      return std::nullopt;
    const int64_t begin = sym::normalAxis(slice.getBegin(), gates * units);
    if (begin % units != 0)
      return std::nullopt;
    take(value);
    return Part{slice.getData(), begin / units};
  }
};

/// h' = o tanh(c'), c' = (f c) + (i g), sums and products with operands in either order.
std::optional<Cell> lstm(Value h) {
  std::optional<Pair> outer = factorsOf(h);
  std::optional<Cell> almost;
  auto attempt = [&](Pair output, Pair sum, Pair kept, Pair added) {
    Value c = throughTanh(output.second);
    Value o = throughSigmoid(output.first), f = throughSigmoid(kept.first),
          i = throughSigmoid(added.first), g = throughTanh(added.second);
    if (!o || !f || !i || !g)
      return false;
    Matcher matcher(RnnMode::Lstm, h);
    for (auto [gate, z] : {std::pair{kGateI, i}, {kGateF, f}, {kGateG, g}, {kGateO, o}})
      matcher.gate(z, gate);
    matcher.take({output.first, output.second, c, sum.first, sum.second, kept.first, added.first,
                  added.second});
    matcher.cell.c = c;
    matcher.cell.stateBefore = useOf(kept.second, sum.first);
    const bool whole = matcher.cell.reason.empty();
    if (whole || !almost)
      almost = std::move(matcher.cell);
    return whole;
  };
  for (Pair output : outer ? outer->orders() : std::array<Pair, 2>()) {
    Value c = output.second ? throughTanh(output.second) : Value();
    std::optional<Pair> terms = c ? termsOf(c) : std::nullopt;
    for (Pair sum : terms ? terms->orders() : std::array<Pair, 2>()) {
      std::optional<Pair> f = sum.first ? factorsOf(sum.first) : std::nullopt,
                          i = sum.second ? factorsOf(sum.second) : std::nullopt;
      if (!f || !i)
        continue;
      for (Pair kept : f->orders())
        for (Pair added : i->orders())
          if (attempt(output, sum, kept, added))
            return almost;
    }
  }
  return almost;
}

/// h' = (1 - z) n + z h, n = tanh((W x + b) + r (R h + b')).
std::optional<Cell> gru(Value h) {
  std::optional<Pair> sum = termsOf(h);
  for (Pair terms : sum ? sum->orders() : std::array<Pair, 2>()) {
    std::optional<Pair> fresh = terms.first ? factorsOf(terms.first) : std::nullopt,
                        kept = terms.second ? factorsOf(terms.second) : std::nullopt;
    if (!fresh || !kept)
      continue;
    for (Pair left : fresh->orders())
      for (Pair right : kept->orders()) {
        Value z = complemented(left.first), n = throughTanh(left.second);
        Value update = z == right.first ? throughSigmoid(right.first) : Value();
        std::optional<Pair> inner = n ? termsOf(n) : std::nullopt;
        if (!update || !inner)
          continue;
        for (Pair pair : inner->orders()) {
          std::optional<Pair> gated = factorsOf(pair.second);
          for (Pair order : gated ? gated->orders() : std::array<Pair, 2>()) {
            Value r = order.first ? throughSigmoid(order.first) : Value();
            if (!r)
              continue;
            Matcher matcher(RnnMode::Gru, h);
            Value input = matcher.productOf(pair.first, kGateN),
                  recurrent = matcher.productOf(order.second, kGateN);
            if (!input || !recurrent)
              continue;
            matcher.setProducts({input, recurrent});
            matcher.gate(r, kGateR);
            matcher.gate(update, kGateZ);
            matcher.take({terms.first, terms.second, left.first, left.second, right.first, n,
                          pair.second, order.first});
            matcher.cell.stateBefore = useOf(right.second, terms.second);
            return std::move(matcher.cell);
          }
        }
      }
  }
  return std::nullopt;
}

/// h' = h + z (n - h), n = tanh((W x + b) + (R (r h) + b')): the reset gate before the product.
std::optional<Cell> gruOfOldScripts(Value h) {
  std::optional<Pair> sum = termsOf(h);
  for (Pair terms : sum ? sum->orders() : std::array<Pair, 2>()) {
    std::optional<Pair> moved = terms.second ? factorsOf(terms.second) : std::nullopt;
    for (Pair order : moved ? moved->orders() : std::array<Pair, 2>()) {
      std::optional<Pair> way =
          order.second ? operandsOf<sym::ElemwiseSubOp, sym::BroadcastSubOp>(order.second)
                       : std::nullopt;
      Value n = way && way->second == terms.first ? throughTanh(way->first) : Value();
      std::optional<Pair> inner = n ? termsOf(n) : std::nullopt;
      if (!inner || !throughSigmoid(order.first))
        continue;
      Matcher matcher(RnnMode::Gru, h);
      matcher.setProducts(*inner);
      matcher.refuse(
          "its reset gate multiplies h before the product with R, that of gru the product");
      matcher.cell.stateBefore = useOf(terms.first, h);
      matcher.takeUpTo(terms.first, h);
      return std::move(matcher.cell);
    }
  }
  return std::nullopt;
}

/// h' = tanh or relu of (W x + b) + (R h + b').
std::optional<Cell> plain(RnnMode mode, Value h, Value z) {
  std::optional<Pair> sum = termsOf(z);
  if (!sum)
    return std::nullopt;
  Matcher matcher(mode, h);
  matcher.take(z);
  matcher.setProducts(*sum);
  if (!matcher.cell.reason.empty())
    return std::nullopt;
  return std::move(matcher.cell);
}

} // namespace

bool Cell::gatesInOrder() const {
  for (int64_t gate = 0; gate < gateCount(mode); ++gate)
    if (blocks[size_t(gate)] != gate && gateCount(mode) > 1)
      return false;
  return true;
}

int64_t Cell::units() const { return sym::rankedType(h).getDimSize(1); }

std::optional<Cell> cellThatEndsWith(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  Value h = op->getResult(0);
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(h.getType());
  if (!type || type.getRank() != 2 ||
      !(type.getElementType().isF32() || type.getElementType().isF64()))
    return std::nullopt;
  if (factorsOf(h))
    return lstm(h);
  if (termsOf(h)) {
    std::optional<Cell> cell = gru(h);
    return cell ? cell : gruOfOldScripts(h);
  }
  if (Value z = throughTanh(h))
    return plain(RnnMode::Tanh, h, z);
  if (Value z = throughRelu(h))
    return plain(RnnMode::Relu, h, z);
  return std::nullopt;
}

} // namespace lstmc::passes
