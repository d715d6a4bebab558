// The ops of ImportedOps.td.
#pragma once

#include "ir/sym/SymOps.h"

#define GET_OP_CLASSES
#include "ir/sym/ImportedOps.h.inc"
