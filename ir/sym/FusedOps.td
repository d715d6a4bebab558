// Element-wise work as a list of scalar operations (executor/abi/ScalarOps.def).

#ifndef LSTMC_IR_SYM_FUSEDOPS
#define LSTMC_IR_SYM_FUSEDOPS

include "ir/sym/SymBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Sym_FusedPart<string mnemonic, list<Trait> traits = []>
    : Op<Sym_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// f32, f64, i32, i64 or bool: the types to which a tile is widened.
def Sym_ScalarType : AnyTypeOf<[F32, F64, I32, I64, I1], "scalar of f32, f64, i32, i64 or i1">;

def Sym_ApplyScalarOp : Sym_FusedPart<"scalar"> {
  let summary = "a scalar operation of a fused program";
  let description = [{
    `function` is a ScalarOp, stored by number and printed by name; executor/abi/ScalarOps.def
    defines its meaning. `immediate` belongs to constant and uniform. The operands' types follow the
    colon where they differ from the result's.
      * operands: as many as the function takes.
      * types: by the function's record: equal to the result's (Same), equal to one another with an
        i1 result (Bool), any (From).
      * immediate: required for constant and uniform, not allowed for others.

    ```mlir
    %2 = sym.scalar mul %0, %1 : f32
    %3 = sym.scalar less %0, %1 : (f32, f32) -> i1
    %4 = sym.scalar constant {immediate = 1.0} : f32
    ```
  }];
  let arguments = (ins I8Attr:$function, Variadic<Sym_ScalarType>:$operands,
                       OptionalAttr<F64Attr>:$immediate);
  let results = (outs Sym_ScalarType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::lstmc::ScalarOp scalarOp() { return ::lstmc::ScalarOp(uint8_t(getFunction())); }
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::lstmc::ScalarOp":$op, "::mlir::ValueRange":$operands,
                   CArg<"std::optional<double>", "std::nullopt">:$immediate)>,
  ];
}

def Sym_FusedOp : Sym_FusedPart<"fused", [SingleBlock, IsolatedFromAbove]> {
  let summary = "element-wise work on tensors, as a body of scalar operations";
  let description = [{
    The body runs for every element of the result shape. Its arguments are the operands' elements,
    widened (f16, bf16 to f32; i8, ui8 to i32); what it yields is narrowed to the results' element
    types. An operand's extents of 1 (or missing leading axes) stretch.
      * shape: all results have one shape, to which each operand broadcasts.
      * arguments: one block argument per operand, of its widened element type.
      * yield: one value per result, of its widened element type.
      * body: `sym.scalar` ops only.
      * window: as in `sym.dropout_mask`: the elements whose random numbers the body draws.

    ```mlir
    %y = sym.fused %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%0: f32, %1: f32):
      %2 = sym.scalar add %0, %1 : f32
      sym.yield %2 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$operands, OptionalAttr<DenseI64ArrayAttr>:$window);
  let results = (outs Variadic<Sym_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operands attr-dict `:` functional-type($operands, $results) $body";
  let hasVerifier = 1;
}

def Sym_YieldOp : Sym_FusedPart<"yield", [Terminator, ReturnLike, HasParent<"FusedOp">]> {
  let summary = "the results of a fused program";
  let arguments = (ins Variadic<Sym_ScalarType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // LSTMC_IR_SYM_FUSEDOPS
