// Libraries of CUDA as tables of function pointers.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "backends/cuda/text/LibraryPlaces.h"
#include "executor/base/Status.h"

namespace lstmc::cuda {

/// E0503. `looked`: each file that is none, and why.
inline Error notFound(std::string_view what, const std::string &looked,
                      const LibraryPlaces &places) {
  std::string folders;
  for (const std::string &folder : places.folders)
    folders += (folders.empty() ? ", and in " : ", ") + folder;
  return fail(ErrorCode::E0503, "{} was not found; looked for {} {}{}", what, looked,
              systemPlaces(), folders);
}

/// The table of the first library of these files that has all functions; `fill` returns the first
/// symbol that is missing. E0503 says what is missing and where it was looked for.
template <typename Table>
Result<Table> loadTable(std::string_view what, const LibraryPlaces &places,
                        const char *(*fill)(Table &, void *)) {
  std::string looked;
  for (const std::string &file : places.files) {
    Table table;
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? fill(table, library) : nullptr;
    if (library && !missing)
      return table;
    looked += fmt::format("{}{}{}", looked.empty() ? "" : ", ", file,
                          missing ? fmt::format(" (has no function {})", missing) : "");
  }
  return notFound(what, looked, places);
}

} // namespace lstmc::cuda
