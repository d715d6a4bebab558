// Arrays as MXNet's .params.
#pragma once

#include <span>
#include <string>

#include "executor/base/OutputFile.h"
#include "executor/base/Tensor.h"
#include "executor/data/Array.h"

namespace lstmc::importers::mxnet {

/// Writes the arrays (dense) in the format of MXNet since 0.12 (data/MxnetParams.h: V2), on its
/// device cpu(0), under their names as they stand: "arg:fc_weight". Without `named` there are no
/// names in the file.
Status writeParams(const std::string &path, std::span<const data::NamedTensor> arrays,
                   OutputFile::Existing existing, bool named = true);

} // namespace lstmc::importers::mxnet
