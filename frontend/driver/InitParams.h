// --init-params: weights to begin a training with.
#pragma once

#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// Which parameters were found in a file, and which were not.
struct FoundParameters {
  size_t found = 0, wanted = 0;
  /// "not there, so initialised: a, b" and the like.
  std::vector<std::string> others;
  std::vector<std::string> initialised; ///< all that were not found
};

/// Gives parameters the tensors of their names and shapes in a file of arrays (data/ArrayFile.h,
/// with those that it has in pieces) or a checkpoint; the others keep their values. `learned` are
/// the data that it is trained on: what is said of a checkpoint that was trained by another
/// vocabulary or scaling. E0610 if there is none, E0701 for a value that is not finite, and the
/// errors of the readers.
Result<FoundParameters> initParams(Session &session, const std::string &path,
                                   const InputOptions &options, const data::Learned &learned);

} // namespace lstmc::driver
