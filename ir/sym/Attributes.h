// Attributes that hang on ops, arguments and modules without being part of any op. All are kept by
// passes that know nothing of them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::sym {

// ---- on arguments of a net's function ----
/// StringAttr: name of the input.
inline constexpr llvm::StringLiteral kNameAttr = "sym.name";
/// StringAttr: "data" or "label".
inline constexpr llvm::StringLiteral kRoleAttr = "sym.role";
/// ArrayAttr of StringAttr, one per axis: the dim that the extent was written as, "" for a number.
inline constexpr llvm::StringLiteral kDimsAttr = "sym.dims";
/// The dim whose extent is the number of rows.
inline constexpr llvm::StringLiteral kBatchDim = "batch";

// ---- on results of a net's function ----
// kNameAttr: "softmax_output"; kDimsAttr.

// ---- on ops ----
// kNameAttr: the node's name ("fc1").
// kDimsAttr: of the extents in its attribute `shape`; of arange from 0 on, of the end of its range.
/// StringAttr: the ctx_group that the node is in.
inline constexpr llvm::StringLiteral kGroupAttr = "sym.group";
/// The recompute group of an op: UnitAttr (`with recompute()`), or StringAttr, a name of
/// --recompute. Behind rematerialise: on what is made again.
inline constexpr llvm::StringLiteral kRecomputeAttr = "sym.recompute";
/// StringAttr: compute type, "bfloat16" (`with dtype(..)`).
inline constexpr llvm::StringLiteral kDTypeAttr = "sym.dtype";
/// StringAttr: the parameter that the op's result is the gradient of.
inline constexpr llvm::StringLiteral kGradientOfAttr = "sym.gradient_of";

/// UnitAttr on loss heads of an entry that trains: their gradient begins there.
inline constexpr llvm::StringLiteral kHeadAttr = "sym.head";
/// IntegerAttr on these: what their gradient is divided by on its way into an update
/// (HeadMeasure::divisor).
inline constexpr llvm::StringLiteral kHeadDivisorAttr = "sym.head_divisor";
/// IntegerAttr on ops of an entry: the ordinal of the op in the net as written; unpacked layers
/// have their stack's.
inline constexpr llvm::StringLiteral kOrdinalAttr = "sym.ordinal";

// ---- on several devices ----
/// IntegerAttr on ops of an entry: which of the devices that share its layers (place-devices).
inline constexpr llvm::StringLiteral kStageAttr = "sym.stage";
/// IntegerAttr: index of the device on which an op runs (sync-parameters), or whose program a
/// function is (insert-transfers).
inline constexpr llvm::StringLiteral kDeviceAttr = "sym.device";
/// DenseI64ArrayAttr on parameters, slots and states: devices that have a copy, the one that
/// decides first. On `sym.gradient`: those whose copies the update is for.
inline constexpr llvm::StringLiteral kDevicesAttr = "sym.devices";

/// UnitAttr on `sym.send` and `sym.receive`: what goes over is only written, after the commit.
inline constexpr llvm::StringLiteral kCommittedAttr = "sym.committed";

// ---- on nets and entries of a part of the batch ----
/// DenseI64ArrayAttr [axis, outer, inner] on an op whose rows are all alike: where the batch is in
/// its result (BatchPosition), which nothing else says.
inline constexpr llvm::StringLiteral kBatchAtAttr = "sym.batch_at";
/// DenseI64ArrayAttr [part, replica]: its number among the parts, in the order of their rows, and
/// the replica that carries it out.
inline constexpr llvm::StringLiteral kPartAttr = "sym.part";
/// DenseI64ArrayAttr [batch, shards, first, count]: rows of the whole batch, the shards that it is
/// cut into, and those that the function's inputs hold.
inline constexpr llvm::StringLiteral kShareAttr = "sym.share";
/// TypeAttr: what an argument is a part of.
inline constexpr llvm::StringLiteral kWholeAttr = "sym.whole";

// ---- on the module ----
/// ArrayAttr of settings [key, value] (fit: also [key, value, initialiser]): defaults for training
/// that the source gives. A value is StringAttr, IntegerAttr, FloatAttr, BoolAttr, UnitAttr (None)
/// or an ArrayAttr of these.
inline constexpr llvm::StringLiteral kFitAttr = "sym.fit";
inline constexpr llvm::StringLiteral kDataAttr = "sym.data";
/// ArrayAttr of [name, value]: values of `setting`s and `dim`s in force. Not part of the graph's
/// hash.
inline constexpr llvm::StringLiteral kSettingsAttr = "sym.settings";

} // namespace lstmc::sym
