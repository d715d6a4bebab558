// The class of ops that are always carried out by others.

#ifndef LSTMC_IR_SYM_COMPOSEDOP
#define LSTMC_IR_SYM_COMPOSEDOP

include "ir/sym/Shorthand.td"
include "ir/sym/SymBase.td"

/// Rows of the batch are looked for after the op has been written out.
class Sym_Composed<string mnemonic, string mxnet, list<string> aliases = [],
    list<Trait> gradient = [], list<string> shorthand = []>
    : Sym_Op<mnemonic, mxnet,
          !listconcat([DeclareOpInterfaceMethods<Sym_ShorthandRule, shorthand>], gradient)> {
  let mxnetAliases = aliases;
  let results = (outs Sym_Tensor:$output);
  let extraClassDefinition = [{
    ::lstmc::sym::BatchPosition $cppClass::batchOfResult(
        unsigned, ::llvm::ArrayRef<::lstmc::sym::BatchPosition>) {
      return ::lstmc::sym::BatchPosition::none();
    }
  }];
}

#endif // LSTMC_IR_SYM_COMPOSEDOP
