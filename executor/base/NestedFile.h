// Files that another file names.
#pragma once

#include <string>
#include <vector>

#include "executor/base/InputFile.h"

namespace lstmc {

/// Opens the file PATH, named by a file in `folders[0]`. It has to be a regular file with one name,
/// below that folder or one of the other `folders`, which a user has allowed; no component on the
/// way from there may be a link. A relative path is looked up in each folder, in order. `..` and an
/// absolute path may lead from one of these folders into another. E0604 for a path that leads out
/// of all of them.
Result<InputFile> openNestedFile(const std::vector<std::string> &folders, const std::string &path);
/// All of such a file.
Result<Bytes> readNestedFile(const std::vector<std::string> &folders, const std::string &path);

} // namespace lstmc
