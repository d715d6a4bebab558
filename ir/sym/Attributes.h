// Discardable attributes of ops, arguments and modules. A pass must preserve those that it does not
// know.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::sym {

// ---- on arguments of a net's function ----
/// StringAttr: name of the input.
inline constexpr llvm::StringLiteral kNameAttr = "sym.name";
/// StringAttr: "data" or "label".
inline constexpr llvm::StringLiteral kRoleAttr = "sym.role";
/// ArrayAttr of StringAttr, one per axis: the named dim that the source wrote as the extent; "" for
/// a number.
inline constexpr llvm::StringLiteral kDimsAttr = "sym.dims";
/// The dim whose extent is the number of rows.
inline constexpr llvm::StringLiteral kBatchDim = "batch";

// ---- on results of a net's function ----
// kNameAttr: "softmax_output"; kDimsAttr, as on arguments.

// ---- on ops ----
// kNameAttr: the node's name ("fc1").
// kDimsAttr: of the extents in the op's `shape`; on an arange from 0, of the end of its range.
/// StringAttr: the ctx_group that the node is in.
inline constexpr llvm::StringLiteral kGroupAttr = "sym.group";
/// The recompute group of an op: LocationAttr, the place of its scope (`with recompute()`),
/// UnitAttr where no place is known, or StringAttr (a name given with --recompute). All scopes are
/// one group. After the pass rematerialise it marks the ops that are computed again.
inline constexpr llvm::StringLiteral kRecomputeAttr = "sym.recompute";
/// StringAttr: the parameter whose gradient the op computes.
inline constexpr llvm::StringLiteral kGradientOfAttr = "sym.gradient_of";

/// StringAttr: the user's op that this op was expanded from ("gather_nd").
inline constexpr llvm::StringLiteral kCalledAttr = "sym.called";

/// UnitAttr on loss heads of an entry that trains: the gradient begins at these ops.
inline constexpr llvm::StringLiteral kHeadAttr = "sym.head";
/// IntegerAttr on the same heads: the number by which an update divides their gradient
/// (HeadMeasure::divisor).
inline constexpr llvm::StringLiteral kHeadDivisorAttr = "sym.head_divisor";
/// IntegerAttr: ordinal of the op in the net as written; all layers of an unpacked stack have the
/// ordinal of the stack. Set on all ops of an entry. In a net changed by roll-recurrence, set only
/// on ops whose ordinal is not the predecessor's plus one.
inline constexpr llvm::StringLiteral kOrdinalAttr = "sym.ordinal";
/// UnitAttr on a sym.dropout: the mask holds uniform random numbers (`numbers` of
/// sym.dropout_mask).
inline constexpr llvm::StringLiteral kNumbersAttr = "sym.numbers";

// ---- on several devices ----
/// IntegerAttr on ops of an entry: pipeline stage, an index into the devices that share the layers
/// (place-devices).
inline constexpr llvm::StringLiteral kStageAttr = "sym.stage";
/// IntegerAttr: on an op, the index of the device that runs it (sync-parameters); on a function,
/// the index of the device that runs its program (insert-transfers).
inline constexpr llvm::StringLiteral kDeviceAttr = "sym.device";
/// DenseI64ArrayAttr on parameters, slots and states: the devices with a copy, the owner of the
/// value first. On `sym.gradient`: the devices whose copies are updated with it.
inline constexpr llvm::StringLiteral kDevicesAttr = "sym.devices";

/// UnitAttr on `sym.send` and `sym.receive`: the value is only written, after the commit.
inline constexpr llvm::StringLiteral kCommittedAttr = "sym.committed";

// ---- on nets and entries that compute a part of the batch ----
/// DenseI64ArrayAttr [axis, outer, inner] on an op without row operands: the batch position of its
/// result (BatchPosition). All rows of the result are equal.
inline constexpr llvm::StringLiteral kBatchAtAttr = "sym.batch_at";
/// DenseI64ArrayAttr [part, replica]: the index of this part, in the order of the parts' rows, and
/// the replica that computes it.
inline constexpr llvm::StringLiteral kPartAttr = "sym.part";
/// DenseI64ArrayAttr [batch, shards, first, count]: rows of the whole batch, number of shards, and
/// the range of shards whose rows the function's inputs hold.
inline constexpr llvm::StringLiteral kShareAttr = "sym.share";
/// TypeAttr: the type of the argument for the whole batch.
inline constexpr llvm::StringLiteral kWholeAttr = "sym.whole";

// ---- on the module ----
/// ArrayAttr of settings [key, value] (fit: also [key, value, initialiser]): training defaults from
/// the source. A value is a StringAttr, IntegerAttr, FloatAttr, BoolAttr, UnitAttr (for None) or an
/// ArrayAttr of these.
inline constexpr llvm::StringLiteral kFitAttr = "sym.fit";
inline constexpr llvm::StringLiteral kDataAttr = "sym.data";
/// ArrayAttr of {name, mode, cells, reason?}: the unrolled recurrent layers of the source; `reason`
/// is set if roll-recurrence left the layer unrolled.
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
