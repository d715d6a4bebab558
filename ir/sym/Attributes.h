// Attributes that hang on ops, arguments and modules without being part of any op. A pass that does
// not know such an attribute has to keep it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::sym {

// ---- on arguments of a net's function ----
/// StringAttr: name of the input.
inline constexpr llvm::StringLiteral kNameAttr = "sym.name";
/// StringAttr: "data" or "label".
inline constexpr llvm::StringLiteral kRoleAttr = "sym.role";
/// ArrayAttr of StringAttr, one per axis: the dim that the extent was written as; "" for a number.
inline constexpr llvm::StringLiteral kDimsAttr = "sym.dims";
/// The dim whose extent is the number of rows.
inline constexpr llvm::StringLiteral kBatchDim = "batch";

// ---- on results of a net's function ----
// kNameAttr: "softmax_output"; kDimsAttr, as on arguments.

// ---- on ops ----
// kNameAttr: the node's name ("fc1").
// kDimsAttr: for the extents in the op's `shape`; on arange from 0, for the end of its range.
/// StringAttr: the ctx_group that the node is in.
inline constexpr llvm::StringLiteral kGroupAttr = "sym.group";
/// The recompute group of an op: UnitAttr (`with recompute()`) or StringAttr (a name given with
/// --recompute). After the pass rematerialise it marks the ops that are computed again.
inline constexpr llvm::StringLiteral kRecomputeAttr = "sym.recompute";
/// StringAttr: the parameter that the op's result is the gradient of.
inline constexpr llvm::StringLiteral kGradientOfAttr = "sym.gradient_of";

/// StringAttr: what the user called of which this op is a part ("gather_nd"), where one op was
/// written out as others.
inline constexpr llvm::StringLiteral kCalledAttr = "sym.called";

/// UnitAttr on loss heads of an entry that trains: the gradient begins at these ops.
inline constexpr llvm::StringLiteral kHeadAttr = "sym.head";
/// IntegerAttr on the same heads: the number by which an update divides their gradient
/// (HeadMeasure::divisor).
inline constexpr llvm::StringLiteral kHeadDivisorAttr = "sym.head_divisor";
/// IntegerAttr on ops of an entry: the ordinal of the op in the net as written. The layers of an
/// unpacked stack all have the ordinal of the stack. On ops of a net that roll-recurrence has
/// changed, where it is not one more than that of the op before.
inline constexpr llvm::StringLiteral kOrdinalAttr = "sym.ordinal";
/// UnitAttr on a sym.dropout: its mask is of uniform numbers (`numbers` of sym.dropout_mask).
inline constexpr llvm::StringLiteral kNumbersAttr = "sym.numbers";

// ---- on several devices ----
/// IntegerAttr on ops of an entry: which of the devices that share the layers runs the op
/// (place-devices).
inline constexpr llvm::StringLiteral kStageAttr = "sym.stage";
/// IntegerAttr: on an op, the index of the device that runs it (sync-parameters); on a function,
/// the index of the device whose program it is (insert-transfers).
inline constexpr llvm::StringLiteral kDeviceAttr = "sym.device";
/// DenseI64ArrayAttr on parameters, slots and states: the devices that have a copy; the first one
/// decides its value. On `sym.gradient`: the devices whose copies are updated with it.
inline constexpr llvm::StringLiteral kDevicesAttr = "sym.devices";

/// UnitAttr on `sym.send` and `sym.receive`: the value is only written, after the commit.
inline constexpr llvm::StringLiteral kCommittedAttr = "sym.committed";

// ---- on nets and entries that compute a part of the batch ----
/// DenseI64ArrayAttr [axis, outer, inner] on an op without operands that have rows: where the batch
/// is in its result (BatchPosition). All rows of such an op are alike.
inline constexpr llvm::StringLiteral kBatchAtAttr = "sym.batch_at";
/// DenseI64ArrayAttr [part, replica]: the index of this part, in the order of the parts' rows, and
/// the replica that computes it.
inline constexpr llvm::StringLiteral kPartAttr = "sym.part";
/// DenseI64ArrayAttr [batch, shards, first, count]: rows of the whole batch, number of shards, and
/// the range of shards whose rows the function's inputs hold.
inline constexpr llvm::StringLiteral kShareAttr = "sym.share";
/// TypeAttr: the type that an argument has for the whole batch.
inline constexpr llvm::StringLiteral kWholeAttr = "sym.whole";

// ---- on the module ----
/// ArrayAttr of settings [key, value] (fit: also [key, value, initialiser]): training defaults from
/// the source. A value is a StringAttr, IntegerAttr, FloatAttr, BoolAttr, UnitAttr (for None) or an
/// ArrayAttr of these.
inline constexpr llvm::StringLiteral kFitAttr = "sym.fit";
inline constexpr llvm::StringLiteral kDataAttr = "sym.data";
/// ArrayAttr of {name, mode, cells, reason?}: recurrent layers that are written out step by step,
/// and why one stays so (roll-recurrence).
inline constexpr llvm::StringLiteral kRolledAttr = "sym.rolled";
/// DictionaryAttr: facts of the source and of the compiler that the package keeps
/// (passes/PackageFacts.h).
inline constexpr llvm::StringLiteral kPackageAttr = "sym.package";
/// ArrayAttr of [file, line, text]: source lines that locations refer to (passes/PackageFacts.h).
inline constexpr llvm::StringLiteral kLinesAttr = "sym.lines";
/// ArrayAttr of [name, part...]: the parameters that make up a vector which RNN packs
/// (record-packed-vectors).
inline constexpr llvm::StringLiteral kPackedAttr = "sym.packed";
/// DictionaryAttr from an input's name to DenseI64ArrayAttr [low, high] or [low, high, ignored]:
/// the values that the input may hold (record-input-ranges).
inline constexpr llvm::StringLiteral kInputRangesAttr = "sym.input_ranges";
/// ArrayAttr of [name, value]: the values of `setting`s and `dim`s that were used. Not part of the
/// graph's hash.
inline constexpr llvm::StringLiteral kSettingsAttr = "sym.settings";

} // namespace lstmc::sym
