// Ops that work element by element on tensors of one shape.

#ifndef LSTMC_IR_SYM_ELEMENTWISEOPS
#define LSTMC_IR_SYM_ELEMENTWISEOPS

include "ir/sym/ElementwiseFamilies.td"

//===---- one operand -------------------------------------------------------------------------===//

/// A scalar operation by itself.
class Sym_One<string meaning, string scalar, Sym_Numbers numbers = FloatOnly,
    list<Trait> gradient = [Sym_Gradient]>
    : Sym_Function<meaning, "e.apply(ScalarOp::" # scalar # ", x)", numbers, gradient>;
/// A step function: its gradient is 0 everywhere.
class Sym_Step<string meaning, string scalar> : Sym_One<meaning, scalar, AnyNumber,
    [Sym_NoGradient]>;

def Sym_CopyOp : Sym_Unary<"copy", "_copy", Sym_Function<"x", "x">, ["identity"]>;
def Sym_BlockGradOp
    : Sym_Unary<"block_grad", "BlockGrad", Sym_Function<"x, through which no gradient flows", "x",
        AnyNumber, [Sym_NoGradient]>,
                ["stop_gradient", "detach"]>;
def Sym_ZerosLikeOp
    : Sym_Unary<"zeros_like", "zeros_like", Sym_Function<"0", "e.number(x.getType(), 0)", AnyNumber,
        [Sym_NoGradient]>>;
def Sym_OnesLikeOp
    : Sym_Unary<"ones_like", "ones_like", Sym_Function<"1", "e.number(x.getType(), 1)", AnyNumber,
        [Sym_NoGradient]>>;

def Sym_NegativeOp : Sym_Unary<"negative", "negative", Sym_One<"-x", "Neg", AnyNumber>>;
def Sym_AbsOp : Sym_Unary<"abs", "abs", Sym_One<"absolute value", "Abs", AnyNumber>>;
def Sym_SquareOp : Sym_Unary<"square", "square", Sym_Function<"x * x", "e.mul(x, x)">>;
def Sym_SignOp : Sym_Unary<"sign", "sign", Sym_Step<"-1, 0 or 1", "Sign">>;
def Sym_RoundOp
    : Sym_Unary<"round", "round", Sym_Step<"nearest integer, halves away from 0", "Round">>;
def Sym_RintOp : Sym_Unary<"rint", "rint", Sym_Step<"nearest integer, halves down", "Rint">>;
def Sym_CeilOp : Sym_Unary<"ceil", "ceil", Sym_Step<"smallest integer not below x", "Ceil">>;
def Sym_FloorOp : Sym_Unary<"floor", "floor", Sym_Step<"largest integer not above x", "Floor">>;
def Sym_TruncOp : Sym_Unary<"trunc", "trunc", Sym_Step<"x without its fraction", "Trunc">>;
def Sym_FixOp : Sym_Unary<"fix", "fix", Sym_Step<"nearest integer towards 0", "Trunc">>;
def Sym_LogicalNotOp
    : Sym_Unary<"logical_not", "logical_not",
                Sym_Function<"1 where x is 0, else 0",
                             "e.fromBool(e.apply(ScalarOp::Equal, {x, e.number(x.getType(), 0)}), x.getType())", AnyNumber,
                             [Sym_NoGradient]>>;

def Sym_ReciprocalOp
    : Sym_Unary<"reciprocal", "reciprocal", Sym_Function<"1 / x",
        "e.div(e.number(x.getType(), 1), x)", FloatOnly>>;
def Sym_SqrtOp : Sym_Unary<"sqrt", "sqrt", Sym_One<"square root", "Sqrt">>;
def Sym_RsqrtOp
    : Sym_Unary<"rsqrt", "rsqrt",
                Sym_Function<"1 / square root",
                "e.div(e.number(x.getType(), 1), e.apply(ScalarOp::Sqrt, x))", FloatOnly>>;
def Sym_CbrtOp : Sym_Unary<"cbrt", "cbrt", Sym_One<"cube root", "Cbrt">>;
def Sym_RcbrtOp
    : Sym_Unary<"rcbrt", "rcbrt",
                Sym_Function<"1 / cube root",
                "e.div(e.number(x.getType(), 1), e.apply(ScalarOp::Cbrt, x))", FloatOnly>>;
def Sym_ExpOp : Sym_Unary<"exp", "exp", Sym_One<"e to the power x", "Exp">>;
def Sym_Expm1Op : Sym_Unary<"expm1", "expm1", Sym_One<"e to the power x, less 1", "Expm1">>;
def Sym_LogOp : Sym_Unary<"log", "log", Sym_One<"natural logarithm", "Log">>;
def Sym_Log10Op : Sym_Unary<"log10", "log10", Sym_One<"logarithm to base 10", "Log10">>;
def Sym_Log2Op : Sym_Unary<"log2", "log2", Sym_One<"logarithm to base 2", "Log2">>;
def Sym_Log1pOp : Sym_Unary<"log1p", "log1p", Sym_One<"logarithm of 1 + x", "Log1p">>;
def Sym_SinOp : Sym_Unary<"sin", "sin", Sym_One<"sine", "Sin">>;
def Sym_CosOp : Sym_Unary<"cos", "cos", Sym_One<"cosine", "Cos">>;
def Sym_TanOp : Sym_Unary<"tan", "tan", Sym_One<"tangent", "Tan">>;
def Sym_ArcsinOp : Sym_Unary<"arcsin", "arcsin", Sym_One<"inverse sine", "Asin">>;
def Sym_ArccosOp : Sym_Unary<"arccos", "arccos", Sym_One<"inverse cosine", "Acos">>;
def Sym_ArctanOp : Sym_Unary<"arctan", "arctan", Sym_One<"inverse tangent", "Atan">>;
def Sym_SinhOp : Sym_Unary<"sinh", "sinh", Sym_One<"hyperbolic sine", "Sinh">>;
def Sym_CoshOp : Sym_Unary<"cosh", "cosh", Sym_One<"hyperbolic cosine", "Cosh">>;
def Sym_TanhOp : Sym_Unary<"tanh", "tanh", Sym_One<"hyperbolic tangent", "Tanh">>;
def Sym_ArcsinhOp : Sym_Unary<"arcsinh", "arcsinh", Sym_One<"inverse hyperbolic sine", "Asinh">>;
def Sym_ArccoshOp : Sym_Unary<"arccosh", "arccosh", Sym_One<"inverse hyperbolic cosine", "Acosh">>;
def Sym_ArctanhOp : Sym_Unary<"arctanh", "arctanh", Sym_One<"inverse hyperbolic tangent", "Atanh">>;
def Sym_DegreesOp
    : Sym_Unary<"degrees", "degrees", Sym_Function<"radians as degrees",
        "e.mul(x, e.number(x.getType(), 57.295779513082323))", FloatOnly>>;
def Sym_RadiansOp
    : Sym_Unary<"radians", "radians", Sym_Function<"degrees as radians",
        "e.mul(x, e.number(x.getType(), 0.017453292519943295))", FloatOnly>>;
def Sym_GammaOp : Sym_Unary<"gamma", "gamma", Sym_One<"gamma function", "Gamma">>;
def Sym_GammalnOp
    : Sym_Unary<"gammaln", "gammaln", Sym_One<"logarithm of the gamma function's absolute value",
        "LogGamma">>;
def Sym_DigammaOp
    : Sym_Unary<"digamma", "digamma", Sym_One<"derivative of gammaln", "Digamma">> {
  let fileName = "-";
}
def Sym_ErfOp : Sym_Unary<"erf", "erf", Sym_One<"error function", "Erf">>;
def Sym_ErfinvOp
    : Sym_Unary<"erfinv", "erfinv", Sym_One<"inverse of the error function", "Erfinv">>;
def Sym_ReluOp : Sym_Unary<"relu", "relu", Sym_Function<"the larger of x and 0", "e.relu(x)">>;
def Sym_SigmoidOp : Sym_Unary<"sigmoid", "sigmoid", Sym_One<"1 / (1 + exp(-x))", "Sigmoid">>;
def Sym_SoftsignOp
    : Sym_Unary<"softsign", "softsign", Sym_Function<"x / (1 + abs(x))", "e.softsign(x)", FloatOnly>>;

def Sym_SoftplusOp
    : Sym_Unary<"softplus", "softplus", Sym_One<"log(1 + exp(x))", "SoftRelu">, ["softrelu"]>;
def Sym_LogSigmoidOp
    : Sym_Unary<"log_sigmoid", "log_sigmoid", Sym_Function<"log(1 / (1 + exp(-x)))",
        "e.apply(ScalarOp::Neg, e.apply(ScalarOp::SoftRelu, e.apply(ScalarOp::Neg, x)))", FloatOnly>>;
def Sym_GeluOp
    : Sym_Unary<"gelu", "gelu", Sym_Function<"x / 2 * (1 + erf(x / sqrt(2)))",
        "e.gelu(x)", FloatOnly>>;

/// One operand and attributes of its own; emitScalar is written by hand
/// (ir/sym/rules/Elementwise.cpp).
class Sym_UnaryWithAttributes<string mnemonic, string mxnet, list<Trait> gradient = [Sym_Gradient]>
    : Sym_Elementwise<mnemonic, mxnet, gradient> {
  let results = (outs Sym_Tensor:$output);
}

class Sym_UnaryByHand<string mnemonic, string mxnet, string meaning,
    list<Trait> gradient = [Sym_Gradient]>
    : Sym_UnaryWithAttributes<mnemonic, mxnet, gradient> {
  let summary = meaning;
  let description = [{
    Applied to each element x of `data`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data);
}
def Sym_SiluOp : Sym_UnaryByHand<"silu", "silu", "x / (1 + exp(-x))"> {
  let mxnetAliases = ["swish"];
}
def Sym_MishOp : Sym_UnaryByHand<"mish", "mish", "x * tanh(log(1 + exp(x)))">;
/// Used in the gradient of digamma. Not available to users, because it has no gradient.
def Sym_TrigammaOp : Sym_UnaryByHand<"trigamma", "", "derivative of digamma", []>;

def Sym_ActivationOp : Sym_UnaryWithAttributes<"activation", "Activation"> {
  let summary = "an activation function by its name";
  let description = [{
    relu `max(x, 0)`, sigmoid `1 / (1 + exp(-x))`, tanh, softrelu `log(1 + exp(x))`, softsign `x /
    (1 + abs(x))`, log_sigmoid `log(1 / (1 + exp(-x)))`, mish `x * tanh(log(1 + exp(x)))`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.activation %x {act_type = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Choice<["relu", "sigmoid", "tanh", "softrelu",
                       "softsign", "log_sigmoid", "mish"]>:$act_type);
}

def Sym_HardSigmoidOp : Sym_UnaryWithAttributes<"hard_sigmoid", "hard_sigmoid"> {
  let summary = "alpha * x + beta, clipped to [0, 1]";
  let description = [{
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.hard_sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"0.2">:$alpha, Sym_Float<"0.5">:$beta);
}

def Sym_SmoothL1Op : Sym_UnaryWithAttributes<"smooth_l1", "smooth_l1"> {
  let summary = "quadratic near 0, linear from 1 / scalar^2 on";
  let description = [{
    With s = `scalar`: `0.5 * (s * x)^2` where `abs(x) < 1 / s^2`, else `abs(x) - 0.5 / s^2`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.smooth_l1 %x {scalar = 1.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"1.0">:$scalar);
}

def Sym_ClipOp : Sym_UnaryWithAttributes<"clip", "clip"> {
  let summary = "x clipped to [a_min, a_max]";
  let description = [{
    The gradient passes where a_min <= x <= a_max.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.clip %x {a_max = 1.0, a_min = -1.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, F64Attr:$a_min, F64Attr:$a_max);
}

def Sym_CastOp : Sym_UnaryWithAttributes<"cast", "Cast"> {
  let mxnetAliases = ["cast"];
  let summary = "conversion to another element type";
  let description = [{
    A float becomes an integer by truncation towards 0. Conversion to 32 and 64 bits saturates;
    conversion to fewer bits wraps. As bool, every number but 0 is true. The gradient is cast back.
      * same-shape: `output` has the shape of `data`.
      * result-type: the element type of `output` is `dtype`.

    ```mlir
    %y = sym.cast %x {dtype = "int32"} : (tensor<2x3xf32>) -> tensor<2x3xi32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DType:$dtype);
}

def Sym_DropoutOp : Sym_UnaryWithAttributes<"dropout", "Dropout"> {
  let fileOutputs = 2;
  let difference = "The numbers are Philox of seed, update, op and element, so they do not depend on devices; `cudnn_off` means nothing.";
  let summary = "dropout: elements kept with probability 1 - p";
  let description = [{
    In training, or always with `mode` always: an element is kept and divided by 1 - p with
    probability 1 - p, else it becomes 0. The random numbers follow from the seed, the update, the
    op's position in the graph as written and the element's index. Otherwise the op is the identity,
    which is also its scalar form. The mask is shared along `axes`. `cudnn_off` is ignored.
      * same-shape: `output` has the shape and type of `data`.
      * probability: 0 <= p < 1.
      * axes: each is an axis of `data`.

    ```mlir
    %y = sym.dropout %x {p = 2.0e-01} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"0.5">:$p, Sym_DefaultChoice<"training",
                       ["training", "always"]>:$mode,
                   Sym_DefaultTuple:$axes, Sym_Flag<>:$cudnn_off);
}

//===---- two operands ------------------------------------------------------------------------===//

def Sym_ElemwiseAddOp
    : Sym_Binary<"elemwise_add", "elemwise_add", F_Add, ["_add", "_plus", "_Plus"]>;
def Sym_ElemwiseSubOp
    : Sym_Binary<"elemwise_sub", "elemwise_sub", F_Sub, ["_sub", "_minus", "_Minus"]>;
def Sym_ElemwiseMulOp : Sym_Binary<"elemwise_mul", "elemwise_mul", F_Mul, ["_mul", "_Mul"]>;
def Sym_ElemwiseDivOp : Sym_Binary<"elemwise_div", "elemwise_div", F_Div, ["_div", "_Div"]>;
def Sym_ModOp : Sym_Binary<"mod", "_mod", F_Mod, ["_Mod", "mod"]>;
def Sym_PowerOp : Sym_Binary<"power", "_power", F_Power, ["_Power", "power"]>;
def Sym_MaximumOp : Sym_Binary<"maximum", "_maximum", F_Maximum, ["_Maximum", "maximum"]>;
def Sym_MinimumOp : Sym_Binary<"minimum", "_minimum", F_Minimum, ["_Minimum", "minimum"]>;
def Sym_HypotOp : Sym_Binary<"hypot", "_hypot", F_Hypot, ["_Hypot", "hypot"]>;
def Sym_EqualOp : Sym_Binary<"equal", "_equal", F_Equal, ["_Equal", "equal"]>;
def Sym_NotEqualOp : Sym_Binary<"not_equal", "_not_equal", F_NotEqual, ["_Not_Equal", "not_equal"]>;
def Sym_GreaterOp : Sym_Binary<"greater", "_greater", F_Greater, ["_Greater", "greater"]>;
def Sym_GreaterEqualOp
    : Sym_Binary<"greater_equal", "_greater_equal", F_GreaterEqual, ["_Greater_Equal",
        "greater_equal"]>;
def Sym_LesserOp : Sym_Binary<"lesser", "_lesser", F_Lesser, ["_Lesser", "lesser", "less"]>;
def Sym_LesserEqualOp
    : Sym_Binary<"lesser_equal", "_lesser_equal", F_LesserEqual, ["_Lesser_Equal", "lesser_equal",
        "less_equal"]>;
def Sym_LogicalAndOp
    : Sym_Binary<"logical_and", "_logical_and", F_LogicalAnd, ["_Logical_And", "logical_and"]>;
def Sym_LogicalOrOp
    : Sym_Binary<"logical_or", "_logical_or", F_LogicalOr, ["_Logical_Or", "logical_or"]>;
def Sym_LogicalXorOp
    : Sym_Binary<"logical_xor", "_logical_xor", F_LogicalXor, ["_Logical_Xor", "logical_xor"]>;

//===---- more --------------------------------------------------------------------------------===//

def Sym_AddNOp : Sym_Elementwise<"add_n", "add_n", [Sym_Gradient]> {
  let mxnetAliases = ["ElementWiseSum"];
  let countAttribute = "num_args";
  let summary = "sum of any number of tensors";
  let description = [{
    Added one after the other, in the order given.
      * count: at least one input.
      * same-shape: inputs and `output` have one shape and type.

    ```mlir
    %y = sym.add_n %a, %b, %c
       : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args);
  let results = (outs Sym_Tensor:$output);
}

def Sym_WhereOp : Sym_Elementwise<"where", "where", [Sym_Gradient]> {
  let summary = "x where the condition is not 0, else y";
  let description = [{
      * same-shape: `x`, `y` and `output` have one shape and type.
      * condition-shape: `condition` has that shape, or one element for each index of axis 0. It may
        have any type.

    ```mlir
    %r = sym.where %c, %x, %y
       : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$condition, Sym_Tensor:$x, Sym_Tensor:$y);
  let results = (outs Sym_Tensor:$output);
}

#endif // LSTMC_IR_SYM_ELEMENTWISEOPS
