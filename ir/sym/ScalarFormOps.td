// Functions of a tensor and a number, and of two tensors that broadcast.

#ifndef LSTMC_IR_SYM_SCALARFORMOPS
#define LSTMC_IR_SYM_SCALARFORMOPS

include "ir/sym/ElementwiseFamilies.td"

//===---- a tensor and a number ---------------------------------------------------------------===//

def Sym_PlusScalarOp : Sym_WithScalar<"plus_scalar", "_plus_scalar", F_Add, ["_PlusScalar"]>;
def Sym_MinusScalarOp : Sym_WithScalar<"minus_scalar", "_minus_scalar", F_Sub, ["_MinusScalar"]>;
def Sym_RminusScalarOp
    : Sym_ScalarFirst<"rminus_scalar", "_rminus_scalar", F_Sub, ["_RMinusScalar", "_rminusscalar"]>;
def Sym_MulScalarOp : Sym_WithScalar<"mul_scalar", "_mul_scalar", F_Mul, ["_MulScalar"]>;
def Sym_DivScalarOp : Sym_WithScalar<"div_scalar", "_div_scalar", F_Div, ["_DivScalar"]>;
def Sym_RdivScalarOp
    : Sym_ScalarFirst<"rdiv_scalar", "_rdiv_scalar", F_Div, ["_RDivScalar", "_rdivscalar"]>;
def Sym_ModScalarOp : Sym_WithScalar<"mod_scalar", "_mod_scalar", F_Mod, ["_ModScalar"]>;
def Sym_RmodScalarOp : Sym_ScalarFirst<"rmod_scalar", "_rmod_scalar", F_Mod, ["_RModScalar"]>;
def Sym_PowerScalarOp : Sym_WithScalar<"power_scalar", "_power_scalar", F_Power, ["_PowerScalar"]>;
def Sym_RpowerScalarOp
    : Sym_ScalarFirst<"rpower_scalar", "_rpower_scalar", F_Power, ["_RPowerScalar"]>;
def Sym_MaximumScalarOp
    : Sym_WithScalar<"maximum_scalar", "_maximum_scalar", F_Maximum, ["_MaximumScalar"]>;
def Sym_MinimumScalarOp
    : Sym_WithScalar<"minimum_scalar", "_minimum_scalar", F_Minimum, ["_MinimumScalar"]>;
def Sym_HypotScalarOp : Sym_WithScalar<"hypot_scalar", "_hypot_scalar", F_Hypot, ["_HypotScalar"]>;
def Sym_EqualScalarOp : Sym_WithScalar<"equal_scalar", "_equal_scalar", F_Equal, ["_EqualScalar"]>;
def Sym_NotEqualScalarOp
    : Sym_WithScalar<"not_equal_scalar", "_not_equal_scalar", F_NotEqual, ["_NotEqualScalar"]>;
def Sym_GreaterScalarOp
    : Sym_WithScalar<"greater_scalar", "_greater_scalar", F_Greater, ["_GreaterScalar"]>;
def Sym_GreaterEqualScalarOp
    : Sym_WithScalar<"greater_equal_scalar", "_greater_equal_scalar", F_GreaterEqual,
        ["_GreaterEqualScalar"]>;
def Sym_LesserScalarOp
    : Sym_WithScalar<"lesser_scalar", "_lesser_scalar", F_Lesser, ["_LesserScalar"]>;
def Sym_LesserEqualScalarOp
    : Sym_WithScalar<"lesser_equal_scalar", "_lesser_equal_scalar", F_LesserEqual,
        ["_LesserEqualScalar"]>;
def Sym_LogicalAndScalarOp
    : Sym_WithScalar<"logical_and_scalar", "_logical_and_scalar", F_LogicalAnd,
        ["_LogicalAndScalar"]>;
def Sym_LogicalOrScalarOp
    : Sym_WithScalar<"logical_or_scalar", "_logical_or_scalar", F_LogicalOr, ["_LogicalOrScalar"]>;
def Sym_LogicalXorScalarOp
    : Sym_WithScalar<"logical_xor_scalar", "_logical_xor_scalar", F_LogicalXor,
        ["_LogicalXorScalar"]>;

//===---- broadcasting ------------------------------------------------------------------------===//

def Sym_BroadcastAddOp : Sym_Broadcast<"broadcast_add", "broadcast_add", F_Add, ["broadcast_plus"]>;
def Sym_BroadcastSubOp
    : Sym_Broadcast<"broadcast_sub", "broadcast_sub", F_Sub, ["broadcast_minus"]>;
def Sym_BroadcastMulOp : Sym_Broadcast<"broadcast_mul", "broadcast_mul", F_Mul>;
def Sym_BroadcastDivOp : Sym_Broadcast<"broadcast_div", "broadcast_div", F_Div>;
def Sym_BroadcastModOp : Sym_Broadcast<"broadcast_mod", "broadcast_mod", F_Mod>;
def Sym_BroadcastPowerOp : Sym_Broadcast<"broadcast_power", "broadcast_power", F_Power>;
def Sym_BroadcastMaximumOp : Sym_Broadcast<"broadcast_maximum", "broadcast_maximum", F_Maximum>;
def Sym_BroadcastMinimumOp : Sym_Broadcast<"broadcast_minimum", "broadcast_minimum", F_Minimum>;
def Sym_BroadcastHypotOp : Sym_Broadcast<"broadcast_hypot", "broadcast_hypot", F_Hypot>;
def Sym_BroadcastEqualOp : Sym_Broadcast<"broadcast_equal", "broadcast_equal", F_Equal>;
def Sym_BroadcastNotEqualOp
    : Sym_Broadcast<"broadcast_not_equal", "broadcast_not_equal", F_NotEqual>;
def Sym_BroadcastGreaterOp : Sym_Broadcast<"broadcast_greater", "broadcast_greater", F_Greater>;
def Sym_BroadcastGreaterEqualOp
    : Sym_Broadcast<"broadcast_greater_equal", "broadcast_greater_equal", F_GreaterEqual>;
def Sym_BroadcastLesserOp : Sym_Broadcast<"broadcast_lesser", "broadcast_lesser", F_Lesser>;
def Sym_BroadcastLesserEqualOp
    : Sym_Broadcast<"broadcast_lesser_equal", "broadcast_lesser_equal", F_LesserEqual>;
def Sym_BroadcastLogicalAndOp
    : Sym_Broadcast<"broadcast_logical_and", "broadcast_logical_and", F_LogicalAnd>;
def Sym_BroadcastLogicalOrOp
    : Sym_Broadcast<"broadcast_logical_or", "broadcast_logical_or", F_LogicalOr>;
def Sym_BroadcastLogicalXorOp
    : Sym_Broadcast<"broadcast_logical_xor", "broadcast_logical_xor", F_LogicalXor>;

#endif // LSTMC_IR_SYM_SCALARFORMOPS
