// The exec dialect: one program over an arena per device.

#ifndef LSTMC_IR_EXEC_OPS
#define LSTMC_IR_EXEC_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::lstmc::exec";
  let summary = "the contents of a package: buffers, launches, fused programs";
  let description = [{
    A plan holds buffers (regions of a device's arena, dense, typed as memrefs), fused programs, and
    one program per entry and device: a list of launches in the order in which they run. Buffers of
    the plan keep their contents between calls. Buffers of a program live from the first launch that
    touches them to the last. plan-memory gives each an offset.
  }];
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

/// executor/abi/Package.fbs: Kind.
def Exec_Kind : I32EnumAttr<"Kind", "what a buffer holds", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Auxiliary", 1, "auxiliary">,
    I32EnumAttrCase<"Gradient", 2, "gradient">, I32EnumAttrCase<"Optimizer", 3, "optimizer">,
    I32EnumAttrCase<"State", 4, "state">, I32EnumAttrCase<"Input", 5, "input">, I32EnumAttrCase<"Output", 6, "output">,
    I32EnumAttrCase<"Scalar", 7, "scalar">, I32EnumAttrCase<"Activation", 8, "activation">,
    I32EnumAttrCase<"Workspace", 9, "workspace">, I32EnumAttrCase<"Packed", 10, "packed">]> {
  let cppNamespace = "::lstmc::exec";
}

def Exec_PlanOp : Exec_Op<"plan", [SingleBlock, NoTerminator, NoRegionArguments, IsolatedFromAbove]> {
  let summary = "the contents of a package";
  let description = [{
    `arena_bytes` is the size of each device's arena, set by plan-memory.
    ```mlir
    exec.plan ["cpu:0"] { ... }
    ```
  }];
  let arguments = (ins StrArrayAttr:$devices, OptionalAttr<DenseI64ArrayAttr>:$arena_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$devices $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::llvm::StringRef>":$devices)>];
}

def Exec_BufferOp : Exec_Op<"buffer", [
    OptionalTypesMatchWith<"type equals that of the input in `next of`", "memory", "nextOf", "$_self">]> {
  let summary = "a region of a device's arena";
  let description = [{
    ```mlir
    %w = exec.buffer parameter "decoder_weight" on 0 : memref<65x256xf32> {offset = 0 : i64}
    ```
    `next of` an input: a double buffer for the input's next value, which the caller may write while
    a program reads the current one. No launch uses it.
    ```mlir
    %x = exec.buffer input "data" on 0 : memref<32x64xi32>
    %x1 = exec.buffer input "data.next" on 0 next of %x : memref<32x64xi32>
    ```
  }];
  let arguments = (ins Exec_Kind:$kind, StrAttr:$name, I64Attr:$device, OptionalAttr<I64Attr>:$offset,
                       Optional<AnyStaticShapeMemRef>:$nextOf);
  let results = (outs AnyStaticShapeMemRef:$memory);
  let assemblyFormat = "$kind $name `on` $device (`next` `of` $nextOf^)? attr-dict `:` type($memory)";
  let extraClassDeclaration = [{
    /// Bytes of the elements, without padding.
    int64_t bytes();
    /// Whether the buffer keeps its contents between runs of programs.
    bool persistent() { return llvm::isa<PlanOp>((*this)->getParentOp()); }
  }];
  let hasVerifier = 1;
}

def Exec_FusedOp : Exec_Op<"fused", [SingleBlock, IsolatedFromAbove]> {
  let summary = "a fused program";
  let description = [{
    Launches of the kernel `fused` name it by `id`, its position among the fused programs of the
    plan. The arguments are elements of the launch's operands; `exec.results` says which of the
    operands are written.
    ```mlir
    exec.fused 0 {
    ^bb0(%x: f32, %y: f32):
      %0 = exec.scalar "tanh"(%x) : (f32) -> f32
      exec.results %0 to [1] : f32
    }
    ```
  }];
  let arguments = (ins I64Attr:$id);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$id $body attr-dict";
}

def Exec_ScalarOp : Exec_Op<"scalar", [Pure]> {
  let summary = "one scalar operation of executor/abi/ScalarOps.def";
  let arguments = (ins StrAttr:$what, Variadic<AnyType>:$inputs, OptionalAttr<F64Attr>:$immediate);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$what `(` $inputs `)` attr-dict `:` functional-type($inputs, $value)";
  let hasVerifier = 1;
}

def Exec_ResultsOp : Exec_Op<"results", [Terminator, HasParent<"FusedOp">]> {
  let summary = "stores values in operands of the launch";
  let arguments = (ins Variadic<AnyType>:$values, DenseI64ArrayAttr:$into);
  let assemblyFormat = "$values `to` $into attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Exec_ProgramOp : Exec_Op<"program", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "the launches of one entry on one device";
  let description = [{
    Entries are `forward`, `evaluate` and `step`. `prepare:ENTRY` runs before ENTRY whenever weights
    have changed. `init` copies values that were set from outside to all devices that have a copy.
    `initialise` holds one launch per parameter, which computes its initial value.
  }];
  let arguments = (ins StrAttr:$entry, I64Attr:$device);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$entry `on` $device $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$entry, "int64_t":$device)>];
}

class Exec_BindingOp<string mnemonic> : Exec_Op<mnemonic> {
  let arguments = (ins AnyStaticShapeMemRef:$memory, StrAttr:$name, StrAttr:$role, StrArrayAttr:$dims);
  let assemblyFormat = "$name $role `=` $memory `dims` $dims attr-dict `:` type($memory)";
}
def Exec_InputOp : Exec_BindingOp<"input"> {
  let summary = "a value that the caller sets by name: data, label or scalar";
  let description = [{
    ```mlir
    exec.input "data" "data" = %data dims ["batch", "seq"] : memref<32x64xi32>
    ```
  }];
}
def Exec_OutputOp : Exec_BindingOp<"output"> {
  let summary = "a value that the caller reads by name: output, metric or scores";
}

def Exec_LaunchOp : Exec_Op<"launch"> {
  let summary = "one launch of a library kernel";
  let description = [{
    The operands are those of the kernel's record (executor/abi/Kernels.def); `_` is an absent one.
    Each is a whole buffer or a view of it: offset, extents and strides in elements.
    ```mlir
    exec.launch "copy"(%x[0 : 4, 2 : 1, 4], %y) : memref<2x4xf32>, memref<4x2xf32>
    ```
    Launches of one `stream` run in order; launches of different streams are unordered, except that
    a launch runs after the launches that record the events in `waits`. A launch records `event`,
    unique in its program, when it is done. Defaults: stream 0, no event.
    ```mlir
    exec.launch "fill"(%a) floats [1.0] {event = 0 : i64, stream = 1 : i64} : memref<4xf32>
    exec.launch "copy"(%a, %b) {waits = array<i64: 0>} : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeMemRef>:$buffers, I64Attr:$kernel, DenseI64ArrayAttr:$views,
                   DenseI64ArrayAttr:$ints, DenseF64ArrayAttr:$floats, OptionalAttr<I64Attr>:$stream,
                   OptionalAttr<I64Attr>:$event, OptionalAttr<DenseI64ArrayAttr>:$waits);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::lstmc::KernelId":$kernel, "::mlir::ValueRange":$buffers,
                             "::llvm::ArrayRef<int64_t>":$views, "::llvm::ArrayRef<int64_t>":$ints,
                             "::llvm::ArrayRef<double>":$floats)>];
  let extraClassDeclaration = [{
    ::lstmc::KernelId kernelId() { return ::lstmc::KernelId(getKernel()); }
    /// The operands of the kernel's record, in its order.
    ::llvm::SmallVector<::lstmc::exec::OperandView> operandViews();
    int64_t streamNumber() { return getStream().value_or(0); }
    /// Events that the launch waits for.
    ::llvm::ArrayRef<int64_t> awaited() {
      return getWaitsAttr() ? getWaitsAttr().asArrayRef() : ::llvm::ArrayRef<int64_t>();
    }
  }];
}

def Exec_CommitOp : Exec_Op<"commit"> {
  let summary = "parameters, optimizer and states change only after this point";
  let assemblyFormat = "attr-dict";
}

#endif // LSTMC_IR_EXEC_OPS
