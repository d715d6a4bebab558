#include "frontend/cli/DataFlags.h"

#include <cctype>
#include <filesystem>

#include "frontend/cli/Model.h"

namespace lstmc::cli {

namespace fs = std::filesystem;

static bool isNumber(const std::string &text) {
  return !text.empty() && (std::isdigit(text[0]) || text[0] == '.');
}

/// Paths that a model file names are its own: looked for beside it where they are not here.
static void lookBeside(data::DataSpec &spec, const std::string &modelPath) {
  auto beside = [&](std::string &file) {
    std::error_code error;
    fs::path other = fs::path(modelPath).parent_path() / file;
    if (!file.empty() && !fs::exists(file, error) && fs::exists(other, error))
      file = other.string();
  };
  for (auto &[input, file] : spec.files)
    beside(file);
  beside(spec.vocabularyFile);
}

/// `text` with those keys of data(..) that it does not set itself.
static Result<data::DataSpec>
withFileKeys(const std::string &text, const std::vector<package::Setting> &file, bool sameKind) {
  LSTMC_ASSIGN(data::DataSpec spec, data::DataSpec::parse(text));
  for (const package::Setting &setting : file) {
    bool source = setting.name == "train" || setting.name == "test" ||
                  (setting.name == "valid" && !isNumber(setting.value));
    if (source || !sameKind || text.find("," + setting.name + "=") != std::string::npos)
      continue;
    LSTMC_TRY(spec.set(setting.name, setting.value));
  }
  return spec;
}

Result<ModelData> loadData(const Options &options, const std::vector<package::Setting> &file,
                           const std::string &modelPath, const data::Learned *learned) {
  std::optional<std::string> train = findSetting(file, "train");
  std::optional<std::string> text = options.value("data");
  bool fromFile = !text;
  if (fromFile)
    text = train;
  if (!text)
    return fail(ErrorCode::E0001,
                "{} needs data: --data SPEC, or data(.., train=\"SPEC\") in the model file",
                options.command);
  auto kindOf = [](const std::string &spec) { return spec.substr(0, spec.find(':')); };
  LSTMC_ASSIGN(data::DataSpec spec,
               withFileKeys(*text, file, !train || kindOf(*train) == kindOf(*text)));
  std::optional<std::string> valid = options.value("valid");
  if (!valid && fromFile)
    valid = findSetting(file, "valid");
  if (valid && isNumber(*valid)) {
    LSTMC_TRY(spec.set("valid", *valid));
    valid.reset();
  }
  lookBeside(spec, modelPath);
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  ModelData result;
  LSTMC_ASSIGN(result.data, data::DataSet::load(spec, learned, limits));
  data::Learned known = result.data->learned();
  if (valid) {
    LSTMC_ASSIGN(data::DataSpec validSpec, withFileKeys(*valid, {}, false));
    lookBeside(validSpec, modelPath);
    LSTMC_ASSIGN(result.valid, data::DataSet::load(validSpec, &known, limits));
  }
  result.vocabulary = known.vocabulary;
  return result;
}

} // namespace lstmc::cli
