// Ops without inputs.

#ifndef LSTMC_IR_SYM_SOURCEOPS
#define LSTMC_IR_SYM_SOURCEOPS

include "ir/sym/SymBase.td"

def Sym_VariableOp : Sym_Op<"variable", ""> {
  let summary = "a parameter of the net";
  let description = [{
    One op per name. `role` is parameter or auxiliary (updated in training by a rule of its own,
    like MXNet's moving averages). `init` is `["name", {arguments} ]`, the initialiser; without it,
    the one that the parameter's name determines, else fit's. `dims` names the extents that were
    written as dims; "" for others.
      * name: not empty.
      * type: not float16 or bfloat16 (E0215).

    ```mlir
    %w = sym.variable {init = ["constant", {value = 1.0} ], lr_mult = 2.0, name = "fc1_weight"} : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Sym_DefaultChoice<"parameter", ["parameter",
                       "auxiliary"]>:$role, OptionalAttr<ArrayAttr>:$init,
                   OptionalAttr<F64Attr>:$lr_mult, OptionalAttr<F64Attr>:$wd_mult,
                   OptionalAttr<StrArrayAttr>:$dims);
  let results = (outs Sym_Tensor:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

def Sym_BeginStateOp : Sym_Op<"begin_state", ""> {
  let summary = "a state before the first step";
  let description = [{
    Zero, unless `carry` of fit keeps the value of the previous call.
      * name: not empty.

    ```mlir
    %h = sym.begin_state {name = "lstm0_begin_state_0"} : tensor<1x?x256xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Sym_Tensor:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

class Sym_Source<string mnemonic, string mxnet, list<string> aliases, list<Trait> traits = []>
    : Sym_Op<mnemonic, mxnet, !listconcat([Sym_Kernel, Sym_Cost, Sym_NoGradient], traits)> {
  let mxnetAliases = aliases;
  let results = (outs Sym_Tensor:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}
class Sym_Constant<string mnemonic, string mxnet, list<string> aliases,
    string what> : Sym_Source<mnemonic, mxnet, aliases, [Sym_Extents]> {
  let summary = "a tensor of " # what;
  let description = [{
    0 in `shape` is an extent to infer; `ctx` is ignored.
      * shape: `output` has the extents of `shape` and the type `dtype`.

    ```mlir
    %z = sym.}] # mnemonic # [{ {shape = array<i64: 32, 128>} : tensor<32x128xf32>
    ```
  }];
  let arguments = (ins Sym_DefaultTuple:$shape, DefaultValuedStrAttr<StrAttr, "">:$ctx,
                       Sym_Float32:$dtype);
}
def Sym_ZerosOp : Sym_Constant<"zeros", "_zeros", ["zeros"], "zeros">;
def Sym_OnesOp : Sym_Constant<"ones", "_ones", ["ones"], "ones">;

def Sym_FullOp : Sym_Source<"full", "_full", ["full"], [Sym_Extents]> {
  let summary = "a tensor of one value";
  let description = [{
    0 in `shape` is an extent to infer; `ctx` is ignored.
      * shape: `output` has the extents of `shape` and the type `dtype`.

    ```mlir
    %z = sym.full {shape = array<i64: 32, 128>, value = 2.0} : tensor<32x128xf32>
    ```
  }];
  let arguments = (ins Sym_Tuple:$shape, F64Attr:$value, DefaultValuedStrAttr<StrAttr, "">:$ctx,
                       Sym_Float32:$dtype);
}

def Sym_ArangeOp : Sym_Source<"arange", "_arange", ["arange"]> {
  let summary = "numbers from start to stop";
  let description = [{
    start, start + step, ... before stop, each `repeat` times. With one number, from 0 to that
    number. The count follows from start, stop and step as written; an integer `dtype` then drops
    the fractions of start and step before it adds, as in MXNet. `infer_range` and `ctx` are
    ignored.
      * step: not 0.
      * range: at least one number.
      * shape: `output` is `[numbers * repeat]`, of type `dtype`.

    ```mlir
    %i = sym.arange {start = 0.0, stop = 5.0} : tensor<5xf32>
    ```
  }];
  let arguments = (ins F64Attr:$start, OptionalAttr<F64Attr>:$stop, Sym_Float<"1.0">:$step,
                       Sym_Integer<1>:$repeat,
                   Sym_Flag<>:$infer_range, DefaultValuedStrAttr<StrAttr, "">:$ctx,
                   Sym_Float32:$dtype);
}

#endif // LSTMC_IR_SYM_SOURCEOPS
