// Every record of the dialect, in the order in which documents and tables list them.

include "ir/sym/SourceOps.td"
include "ir/sym/ElementwiseOps.td"
include "ir/sym/ScalarFormOps.td"
include "ir/sym/ShapeOps.td"
include "ir/sym/IndexOps.td"
include "ir/sym/ProductOps.td"
include "ir/sym/ReduceOps.td"
include "ir/sym/SequenceOps.td"
include "ir/sym/RecurrentOps.td"
include "ir/sym/LossOps.td"
include "ir/sym/FusedOps.td"
include "ir/sym/TrainingOps.td"
