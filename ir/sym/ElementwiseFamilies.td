// Families of element-wise ops. A function's formula is written once; each of its forms (two
// tensors, a tensor and a number, broadcast) is then one line.

#ifndef LSTMC_IR_SYM_ELEMENTWISEFAMILIES
#define LSTMC_IR_SYM_ELEMENTWISEFAMILIES

include "ir/sym/SymBase.td"

/// Which element types an op takes: any number, or floats only.
class Sym_Numbers<string word> { string cpp = "::lstmc::sym::Numbers::" # word; }
def AnyNumber : Sym_Numbers<"Any">;
def FloatOnly : Sym_Numbers<"Float">;

/// `emit` is a C++ expression over the scalar x (one operand) or a and b (two); `e` is a
/// ScalarEmitter (ir/sym/ScalarEmitter.h). `gradient` lists the traits of the gradient.
class Sym_Function<string meaning_, string emit_, Sym_Numbers numbers_ = AnyNumber,
                   list<Trait> gradient_ = [Sym_Gradient]> {
  string meaning = meaning_;
  string emit = emit_;
  Sym_Numbers numbers = numbers_;
  list<Trait> gradient = gradient_;
}

class Sym_Elementwise<string mnemonic, string mxnet, list<Trait> traits>
    : Sym_Op<mnemonic, mxnet, !listconcat([Sym_Scalar, Sym_Flops], traits)>;

/// The methods that all families share; `operands` declares the names that `emit` uses.
class Sym_ElementwiseMethods<string relate, string batch, string operands, string emit> {
  string definition = [{
::llvm::LogicalResult $cppClass::relateShapes(::lstmc::sym::ShapeRelation &relation) {
  return }] # relate # [{;
}
::lstmc::sym::BatchPosition $cppClass::batchOfResult(
    unsigned, ::llvm::ArrayRef<::lstmc::sym::BatchPosition> operands) {
  return }] # batch # [{;
}
::mlir::Value $cppClass::emitScalar(::mlir::OpBuilder &builder, ::mlir::ValueRange element) {
  ::lstmc::sym::ScalarEmitter e(builder, getLoc());
  }] # operands # [{
  return }] # emit # [{;
}
int64_t $cppClass::flops() { return ::lstmc::sym::elementwiseFlops(*this); }
}];
}

/// One operand.
class Sym_Unary<string mnemonic, string mxnet, Sym_Function function, list<string> aliases = []>
    : Sym_Elementwise<mnemonic, mxnet, function.gradient> {
  let mxnetAliases = aliases;
  let summary = function.meaning;
  let description = [{
    Applied to each element x of `data`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data);
  let results = (outs Sym_Tensor:$output);
  let extraClassDefinition = Sym_ElementwiseMethods<
      "relateEqual(relation, *this, " # function.numbers.cpp # ")", "operands[0]",
      "::mlir::Value x = element[0];", function.emit>.definition;
}

/// Two operands of one shape.
class Sym_Binary<string mnemonic, string mxnet, Sym_Function function, list<string> aliases = []>
    : Sym_Elementwise<mnemonic, mxnet, function.gradient> {
  let mxnetAliases = aliases;
  let summary = function.meaning # " of tensors of one shape";
  let description = [{
    Applied to each pair of elements a of `lhs` and b of `rhs`; nothing is broadcast.
      * same-shape: `lhs`, `rhs` and `output` have one shape and type.

    ```mlir
    %y = sym.}] # mnemonic # [{ %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs);
  let results = (outs Sym_Tensor:$output);
  let extraClassDefinition = Sym_ElementwiseMethods<
      "relateEqual(relation, *this, " # function.numbers.cpp # ")", "firstBatch(operands)",
      "::mlir::Value a = element[0], b = element[1];", function.emit>.definition;
}

/// Two operands of one rank; extents of 1 broadcast.
class Sym_Broadcast<string mnemonic, string mxnet, Sym_Function function, list<string> aliases = []>
    : Sym_Elementwise<mnemonic, mxnet, !listconcat([Sym_AlignsRanks], function.gradient)> {
  let mxnetAliases = aliases;
  let summary = function.meaning # ", with broadcasting of extents of 1";
  let description = [{
    Applied to each pair of elements a of `lhs` and b of `rhs`. In a call the operands may differ in
    rank: the one of lower rank gets leading axes of extent 1.
      * same-rank: `lhs`, `rhs` and `output` have one rank and type.
      * stretch: extents of an axis are equal, or one of them is 1 and is repeated.

    ```mlir
    %y = sym.}] # mnemonic # [{ %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs);
  let results = (outs Sym_Tensor:$output);
  let extraClassDefinition = Sym_ElementwiseMethods<
      "relateBroadcast(relation, *this, " # function.numbers.cpp # ")",
      "broadcastBatch(*this, operands)",
      "::mlir::Value a = element[0], b = element[1];", function.emit>.definition;
}

/// A tensor and a number, which is converted to the tensor's type. `operands` defines which of the two
/// is a and which is b.
class Sym_ScalarForm<string mnemonic, string mxnet, Sym_Function function, list<string> aliases,
                     string operands>
    : Sym_Elementwise<mnemonic, mxnet, function.gradient> {
  let mxnetAliases = aliases;
  let description = [{
    `scalar` is converted to the type of `data` first. `is_int` is accepted because MXNet's files
    have it, and ignored.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x {scalar = 2.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, F64Attr:$scalar, Sym_Flag<"true">:$is_int);
  let results = (outs Sym_Tensor:$output);
  let extraClassDefinition = Sym_ElementwiseMethods<
      "relateEqual(relation, *this, " # function.numbers.cpp # ")", "operands[0]",
      operands, function.emit>.definition;
}
class Sym_WithScalar<string mnemonic, string mxnet, Sym_Function function,
    list<string> aliases = []>
    : Sym_ScalarForm<mnemonic, mxnet, function, aliases,
          "::mlir::Value a = element[0], b = e.number(a.getType(), getScalar().convertToDouble());"> {
  let summary = function.meaning # ", with b a number";
}
class Sym_ScalarFirst<string mnemonic, string mxnet, Sym_Function function,
    list<string> aliases = []>
    : Sym_ScalarForm<mnemonic, mxnet, function, aliases,
          "::mlir::Value b = element[0], a = e.number(b.getType(), getScalar().convertToDouble());"> {
  let summary = function.meaning # ", with a a number";
}

//===---- functions of two --------------------------------------------------------------------===//

def F_Add : Sym_Function<"a + b", "e.add(a, b)">;
def F_Sub : Sym_Function<"a - b", "e.sub(a, b)">;
def F_Mul : Sym_Function<"a * b", "e.mul(a, b)">;
def F_Div : Sym_Function<"a / b; integers truncate", "e.div(a, b)">;
def F_Mod : Sym_Function<"a modulo b, with the sign of b", "e.apply(ScalarOp::Mod, {a, b})">;
def F_Power : Sym_Function<"a to the power b", "e.apply(ScalarOp::Pow, {a, b})", FloatOnly>;
def F_Maximum : Sym_Function<"the larger of a and b", "e.apply(ScalarOp::Max, {a, b})">;
def F_Minimum : Sym_Function<"the smaller of a and b", "e.apply(ScalarOp::Min, {a, b})">;
def F_Hypot
    : Sym_Function<"square root of a*a + b*b", "e.apply(ScalarOp::Hypot, {a, b})", FloatOnly>;

class Sym_Test<string meaning, string emit>
    : Sym_Function<meaning # " as 0 or 1 in their type", "e.fromBool(" # emit # ", a.getType())",
                   AnyNumber, [Sym_NoGradient]>;
class Sym_Comparison<string op, string scalar> : Sym_Test<"a " # op # " b",
    "e.apply(ScalarOp::" # scalar # ", {a, b})">;
class Sym_Logical<string op> : Sym_Test<"a " # op # " b of what is not 0",
    "e.apply(ScalarOp::" # op # ", {e.isNonzero(a), e.isNonzero(b)})">;
def F_Equal : Sym_Comparison<"==", "Equal">;
def F_NotEqual : Sym_Comparison<"!=", "NotEqual">;
def F_Greater : Sym_Comparison<">", "Greater">;
def F_GreaterEqual : Sym_Comparison<">=", "GreaterEqual">;
def F_Lesser : Sym_Comparison<"<", "Less">;
def F_LesserEqual : Sym_Comparison<"<=", "LessEqual">;
def F_LogicalAnd : Sym_Logical<"And">;
def F_LogicalOr : Sym_Logical<"Or">;
def F_LogicalXor : Sym_Logical<"Xor">;

#endif // LSTMC_IR_SYM_ELEMENTWISEFAMILIES
