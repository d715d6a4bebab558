// Who is told what a job finds while it is prepared.
#pragma once

#include <string>

#include "executor/base/Diagnostic.h"

namespace lstmc::driver {

class Notices {
public:
  virtual ~Notices() = default;
  /// A line; `level` 0 is for everybody, 1 and 2 for who wants to know more.
  virtual void say(const std::string &line, int level = 0) const = 0;
  virtual void warn(const Diagnostics &diagnostics) const = 0;
};

} // namespace lstmc::driver
