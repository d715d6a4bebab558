// Libraries of CUDA as tables of function pointers.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::cuda {

/// The table of the first library of these names (a file, or one that the system finds) that has
/// all functions; `fill` returns the first symbol that is missing. E0503 says what is missing and
/// where it was looked for.
template <typename Table>
Result<Table> loadTable(std::string_view what, std::span<const std::string> files,
                        const char *(*fill)(Table &, void *)) {
  std::string looked;
  for (const std::string &file : files) {
    Table table;
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? fill(table, library) : nullptr;
    if (library && !missing)
      return table;
    looked += fmt::format("{}{}{}", looked.empty() ? "" : ", ", file,
                          missing ? fmt::format(" (has no function {})", missing) : "");
  }
  return fail(ErrorCode::E0503,
              "{} was not found; looked for {}, in the toolkit's folders and in those of Python's "
              "wheels",
              what, looked);
}

} // namespace lstmc::cuda
