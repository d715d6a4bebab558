// The dialect, and the classes that op records are made of.
//
// A record holds every fact about an op. ir/sym/op_table.py reads the same records for the names
// and attributes that users write (frontend/symbol/Symbol.h: OpSignature).

#ifndef LSTMC_IR_SYM_BASE
#define LSTMC_IR_SYM_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/sym/SymInterfaces.td"

def Sym_Dialect : Dialect {
  let name = "sym";
  let cppNamespace = "::lstmc::sym";
  let summary = "the deferred graph: tensors and MXNet's operators";
  let description = [{
    Value semantics, one op per named operator, builtin tensor types. A net is a `func.func` whose
    arguments are its inputs; parameters are `sym.variable`, states `sym.begin_state`. While a graph
    grows, types may be open: `tensor<*xf32>`, `tensor<?x4xf32>`, element type `!sym.open`.
    Attributes that hang on ops without being part of them (names, groups, dims) are listed in
    ir/sym/Attributes.h.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    SourceText &sourceText() { return sourceText_; }

  private:
    SourceText sourceText_;

    // One function per file of records, defined together with its ops.
    void addElementwiseOps();
    void addScalarFormOps();
    void addShapeOps();
    void addIndexOps();
    void addProductOps();
    void addReduceOps();
    void addSequenceOps();
    void addLossOps();
    void addRecurrentOps();
    void addSourceOps();
    void addComposedOps();
    void addConvolutionOps();
    void addSortOps();
    void addRandomOps();
    void addFusedOps();
    void addTrainingOps();
    void addTransferOps();
  }];
}

//===---- types -------------------------------------------------------------------------------===//

def Sym_OpenType : TypeDef<Sym_Dialect, "Open"> {
  let mnemonic = "open";
  let summary = "an element type that inference has yet to find";
}

//===---- places in the source (ir/sym/Location.h) --------------------------------------------===//

def Sym_RangeAttr : AttrDef<Sym_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "the bytes and display cells that a place covers, and its arguments' places";
  let description = [{
    `byte` counts from the start of the file; `length` is in display cells. `what` is the layer that
    was called at this place, if the op comes from a layer: "LSTM(num_hidden=256)". `arguments`
    holds line, column, byte, length and bytes for each operand; zeros for an operand without a
    place.
  }];
  let parameters = (ins "int64_t":$byte, "int64_t":$length, "int64_t":$bytes, "::mlir::StringAttr":$what,
                        OptionalArrayRefParameter<"int64_t">:$arguments);
  let assemblyFormat = "`<` $byte `,` $length `,` $bytes `,` $what (`,` `[` $arguments^ `]`)? `>`";
}

def Sym_FrameAttr : AttrDef<Sym_Dialect, "Frame"> {
  let mnemonic = "frame";
  let summary = "the loop values and calls in force, outermost first";
  let parameters = (ins "::mlir::ArrayAttr":$loops, OptionalArrayRefParameter<"int64_t">:$values, "::mlir::ArrayAttr":$calls);
  let description = [{
    `loops` are the names of loops, `values` where each stands: ["i", "t"], [1, 3]. Values are no attributes, since
    every pass of a loop has others.
  }];
  let assemblyFormat = "`<` $loops `,` `[` (`]`) : ($values^ `]`)? `,` $calls `>`";
}

//===---- tensors -----------------------------------------------------------------------------===//

class Sym_TensorClass<string what>
    : Type<CPred<"::lstmc::sym::isTensor($_self)">, what, "::mlir::TensorType">;

/// An operand or a result of an op.
def Sym_Tensor : Sym_TensorClass<"tensor of floats, integers or bools">;
/// An input for which a call that leaves it out makes a Variable NAME_<input> (weight, bias,
/// gamma).
def Sym_Parameter : Sym_TensorClass<"tensor that is a parameter unless given">;
/// The same for the label of a loss: the call makes an input of the net named NAME_label.
def Sym_Label : Sym_TensorClass<"tensor of labels">;

//===---- attributes --------------------------------------------------------------------------===//

/// One of a few words.
class Sym_Choice<list<string> values>
    : Attr<CPred<"::lstmc::sym::isOneOf($_self, \"" # !interleave(values, "|") # "\")">,
           "one of " # !interleave(values, ", ")> {
  let storageType = [{ ::mlir::StringAttr }];
  let returnType = [{ ::llvm::StringRef }];
  let valueType = NoneType;
  let constBuilderCall = "$_builder.getStringAttr($0)";
  list<string> choices = values;
}

/// An element type by its long name (executor/abi/DType.h); users may write the short one.
def Sym_DType
    : Sym_Choice<["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64",
        "bool"]> {
  let summary = "element type";
}

/// A tuple of integers; a bare integer is a tuple of one.
def Sym_Tuple : ConfinedAttr<DenseI64ArrayAttr, []> {
  let summary = "tuple of integers";
}

/// A tuple of integers and None (`unit`), as `slice` takes.
def Sym_Entries : Attr<CPred<"::lstmc::sym::isEntries($_self)">, "tuple of integers and None"> {
  let storageType = [{ ::mlir::ArrayAttr }];
  let returnType = [{ ::mlir::ArrayAttr }];
  let valueType = NoneType;
  let convertFromStorage = "$_self";
}

class Sym_Integer<int value> : DefaultValuedAttr<I64Attr, "" # value>;
class Sym_Float<string value> : DefaultValuedAttr<F64Attr, value>;
class Sym_Flag<string value = "false"> : DefaultValuedAttr<BoolAttr, value>;
class Sym_DefaultChoice<string value, list<string> values>
    : DefaultValuedAttr<Sym_Choice<values>, "\"" # value # "\"">;
def Sym_DefaultTuple : DefaultValuedAttr<Sym_Tuple, "{}">;
def Sym_Float32 : DefaultValuedAttr<Sym_DType, "\"float32\"">;

//===---- ops ---------------------------------------------------------------------------------===//

/// No gradient flows through the op: steps, comparisons, indices.
def Sym_NoGradient : NativeOpTrait<"NoGradient"> {
  let cppNamespace = "::lstmc::sym";
}

/// Callers give operands of lower rank leading axes of extent 1.
def Sym_AlignsRanks : NativeOpTrait<"AlignsRanks"> {
  let cppNamespace = "::lstmc::sym";
}

/// The verifier: the op's types satisfy its own shape rule.
def Sym_ShapesHold : NativeOpTrait<"ShapesHold"> {
  let cppNamespace = "::lstmc::sym";
}

/// An operator that users know. `traits` are added to the interfaces that every op has.
class Sym_Op<string mnemonic, string mxnet, list<Trait> traits = []>
    : Op<Sym_Dialect, mnemonic, !listconcat([
          Pure, Sym_ShapesHold,
          DeclareOpInterfaceMethods<Sym_ShapeRule>, DeclareOpInterfaceMethods<Sym_BatchRule>],
          traits)> {
  /// MXNet's canonical name, and other accepted names (from MXNet and NumPy).
  string mxnetName = mxnet;
  list<string> mxnetAliases = [];
  /// "axis=dim": another word for an attribute.
  list<string> attributeAliases = [];
  /// "bias: no_bias=false": the input exists, and is required, if the attribute has this value. A ?
  /// after the input's name makes it optional even then.
  list<string> inputConditions = [];
  /// The attribute that repeats the number of inputs (MXNet's "num_args"); it is read and not kept.
  string countAttribute = "";
  /// Names of the outputs, if MXNet names them.
  list<string> outputNames = [];
  /// How many of the results users see; -1: all. An attribute output_mean_var that is true shows all.
  int visibleOutputs = -1;
  /// In MXNet's files (FileRecord.h): another name of the op, "-" where MXNet 1.9.1 has none; the
  /// outputs of a node, hidden ones included (0: those that users see); attributes that MXNet
  /// requires and that have a default here; "mean=loc", another name of an attribute.
  string fileName = "";
  int fileOutputs = 0;
  list<string> fileRequires = [];
  list<string> fileAttributes = [];
  /// "make_loss=loss": an alias that is an op of its own in MXNet, and the name of its output.
  list<string> fileAliasOutputs = [];
  /// Where the op differs from MXNet's, in the words of users; empty: nowhere that is known.
  string difference = "";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Shorthands for the lists of traits.
def Sym_Gradient : DeclareOpInterfaceMethods<Sym_GradientRule>;
def Sym_Kernel : DeclareOpInterfaceMethods<Sym_KernelRule>;
def Sym_Scalar : DeclareOpInterfaceMethods<Sym_ScalarRule>;
def Sym_Loss : DeclareOpInterfaceMethods<Sym_LossHead>;
def Sym_Extents : DeclareOpInterfaceMethods<Sym_ExtentsRule>;
def Sym_ResultCount : DeclareOpInterfaceMethods<Sym_ResultCountRule>;
/// Cost: moved bytes only, or also flops.
def Sym_Cost : DeclareOpInterfaceMethods<Sym_CostRule>;
def Sym_Flops : DeclareOpInterfaceMethods<Sym_CostRule, ["flops"]>;

#endif // LSTMC_IR_SYM_BASE
