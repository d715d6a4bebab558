// Reading a file that another file names.
#pragma once

#include <string>
#include <vector>

#include "executor/base/InputFile.h"

namespace lstmc {

/// Reads the file PATH that a file in `folders[0]` names, as readFile() does. It has to lie beneath
/// that folder or another of `folders`, which a user allowed: no part of the way from there may be
/// a link, and it is a regular file with one name. A relative path is looked for in each folder, in
/// order; `..` and an absolute path may lead from one of them into another. E0604 for a path that
/// leads out of all of them.
Result<Bytes> readNestedFile(const std::vector<std::string> &folders, const std::string &path);

} // namespace lstmc
