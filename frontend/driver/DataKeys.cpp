#include "frontend/driver/DataKeys.h"

#include <cctype>

#include "frontend/driver/Model.h"

namespace lstmc::driver {

bool isNumber(const std::string &text) {
  return !text.empty() && (std::isdigit(text[0]) || text[0] == '.');
}

Result<data::DataSpec> withFileKeys(const std::string &text,
                                    const std::vector<package::Setting> &file, bool sameKind,
                                    bool keepsShare) {
  LSTMC_ASSIGN(data::DataSpec spec, data::DataSpec::parse(text));
  for (const package::Setting &setting : file) {
    bool source = setting.name == "train" || setting.name == "test" ||
                  (setting.name == "valid" && !(keepsShare && isNumber(setting.value)));
    if (source || !sameKind || text.find("," + setting.name + "=") != std::string::npos)
      continue;
    LSTMC_TRY(spec.set(setting.name, setting.value));
  }
  return spec;
}

static std::string_view kindOf(std::string_view spec) { return spec.substr(0, spec.find(':')); }

bool isKindOfFile(const std::string &text, const std::optional<std::string> &train) {
  return !train || kindOf(*train) == kindOf(text);
}

std::vector<int64_t> bucketsAsked(const DataOptions &options,
                                  const std::vector<package::Setting> &file) {
  const std::optional<std::string> train = findSetting(file, "train");
  const std::optional<std::string> text = options.data ? options.data : train;
  if (!text)
    return {};
  Result<data::DataSpec> spec =
      withFileKeys(*text, file, isKindOfFile(*text, train), /*keepsShare=*/false);
  return spec.ok() ? spec->buckets : std::vector<int64_t>();
}

} // namespace lstmc::driver
