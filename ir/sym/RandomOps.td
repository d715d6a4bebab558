// Ops that draw random numbers in every run, from seed and update like Dropout (rules/Random.cpp).

#ifndef LSTMC_IR_SYM_RANDOMOPS
#define LSTMC_IR_SYM_RANDOMOPS

include "ir/sym/ComposedOp.td"

class Sym_RandomNumbers<string mnemonic, string mxnet, list<string> aliases, string what,
    string example> : Sym_Composed<mnemonic, mxnet, aliases, [Sym_NoGradient]> {
  let summary = what;
  let description = [{
    Drawn in every update by docs/numerics.md rule 10: the same numbers on any number of devices. An
    extent of 0 in `shape` is inferred; `ctx` is ignored.
      * shape: `output` has the extents of `shape` and the type `dtype`, a float.

    ```mlir
    %y = sym.}] # example # [{ : () -> tensor<8x5xf32>
    ```
  }];
}
def Sym_RandomUniformOp
    : Sym_RandomNumbers<"random_uniform", "random_uniform", ["_random_uniform", "uniform"],
          "random numbers, uniform in [low, high)",
          "random_uniform {high = 2.0, shape = array<i64: 8, 5>}"> {
  let arguments = (ins Sym_Float<"0.0">:$low, Sym_Float<"1.0">:$high, Sym_DefaultTuple:$shape,
                       DefaultValuedStrAttr<StrAttr, "">:$ctx, Sym_Float32:$dtype);
}
def Sym_RandomNormalOp
    : Sym_RandomNumbers<"random_normal", "random_normal", ["_random_normal", "normal"],
          "random numbers of a normal distribution",
          "random_normal {scale = 2.0, shape = array<i64: 8, 5>}"> {
  let fileAttributes = ["mean=loc"];
  let attributeAliases = ["loc=mean"]; // not an attribute `loc`: its getter would hide Operation::getLoc
  let arguments = (ins Sym_Float<"0.0">:$mean, Sym_Float<"1.0">:$scale, Sym_DefaultTuple:$shape,
                       DefaultValuedStrAttr<StrAttr, "">:$ctx, Sym_Float32:$dtype);
}

def Sym_SampleMultinomialOp
    : Sym_Composed<"sample_multinomial", "sample_multinomial", ["_sample_multinomial"],
          [Sym_NoGradient]> {
  let summary = "a class drawn by the probabilities in each row";
  let description = [{
    The last axis of `data` holds the probabilities of the classes; they need not sum to 1. `shape`
    is the shape of the draws for each row. Drawn as the argmax of `log(p)` plus Gumbel noise, from
    seed and update like Dropout. `get_prob`, which has a second output, is refused.
      * shape: `output` has the extents of `data` without the last axis, then those of `shape`, and the type
        `dtype`; without any, `[1]`.

    ```mlir
    %y = sym.sample_multinomial %p : (tensor<8x5xf32>) -> tensor<8xi32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$shape, Sym_Flag<>:$get_prob,
                       DefaultValuedAttr<Sym_DType, "\"int32\"">:$dtype);
}

#endif // LSTMC_IR_SYM_RANDOMOPS
