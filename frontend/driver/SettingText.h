// Values of settings as text, as flags and packages have them.
#pragma once

#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "executor/package/PackageData.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::driver {

/// 0.002, True, adam, 1,2,3; floats in the shortest form that reads back equal.
std::string settingText(const symbol::AttributeValue &value);
std::vector<package::Setting> settingTexts(const std::vector<symbol::Setting> &settings);

/// A number of a setting; E0001 naming the key.
Result<double> parseNumber(std::string_view key, std::string_view text);

} // namespace lstmc::driver
