// Values that go from one device's program to another's. Made by insert-transfers.

#ifndef LSTMC_IR_SYM_TRANSFEROPS
#define LSTMC_IR_SYM_TRANSFEROPS

include "ir/sym/SymBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sym_TransferOp<string mnemonic>
    : Op<Sym_Dialect, mnemonic, [MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<Sym_KernelRule>]>;

def Sym_SendOp : Sym_TransferOp<"send"> {
  let summary = "gives a value to another device";
  let description = [{
    `peer` is the index of the device whose program has the `sym.receive` of the same `message`. Messages of an entry are
    numbered; of every program the sends ascend, and the receives, and a receive comes after all sends of smaller numbers.
    ```mlir
    sym.send %dw {peer = 0 : i64, message = 3 : i64} : tensor<65x256xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$value, I64Attr:$peer, I64Attr:$message);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Sym_ReceiveOp : Sym_TransferOp<"receive"> {
  let summary = "takes a value from another device";
  let description = [{
    ```mlir
    %dw = sym.receive {peer = 1 : i64, message = 3 : i64} : tensor<65x256xf32>
    ```
  }];
  let arguments = (ins I64Attr:$peer, I64Attr:$message);
  let results = (outs Sym_Tensor:$value);
  let assemblyFormat = "attr-dict `:` type($value)";
}

#endif // LSTMC_IR_SYM_TRANSFEROPS
