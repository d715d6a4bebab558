// A file of the language, once read.
#pragma once

#include <memory>
#include <string>

#include "frontend/lnet/evaluation/Value.h"
#include "frontend/lnet/text/Source.h"
#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// A file that is being or has been run.
struct Module {
  std::unique_ptr<SourceFile> file;
  std::unique_ptr<Tree> tree;
  Value globals;         ///< the frame of its names
  std::string key;       ///< the real path: two imports of one real path are one file
  std::string folder;    ///< as in messages; imports are looked for here
  bool main = false;     ///< named on the command line
  bool internal = false; ///< layers.lnet: messages name the user's call instead
  bool running = false, done = false;
  bool broken = false; ///< its text has errors: whatever is imported from it is unknown
  bool failed = false; ///< running it gave errors: a name that it lacks is unknown
  Owner owner;
};

} // namespace lstmc::lnet
