#include "frontend/driver/Data.h"

#include <filesystem>

#include "executor/base/Quote.h"
#include "frontend/driver/DataKeys.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/RankFiles.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::driver {

namespace fs = std::filesystem;

/// The folder of the file that names data, and those of --allow-data.
static std::vector<std::string> foldersOf(const DataNamer &namer, const InputOptions &options) {
  std::error_code error;
  std::vector<std::string> folders = {fs::is_directory(namer.path, error)
                                          ? namer.path
                                          : fs::path(namer.path).parent_path().string()};
  folders.insert(folders.end(), options.allowData.begin(), options.allowData.end());
  return folders;
}

/// A checkpoint says where its data were when somebody typed their path: they may be anywhere, if
/// they are the same.
static Status checkDigest(const data::DataSpec &spec, const DataNamer &namer) {
  if (spec.files.empty())
    return {};
  LSTMC_ASSIGN(std::string found, data::filesDigest(spec));
  if (found != namer.digest)
    return failAt({namer.path}, ErrorCode::E0610,
                  "data {}: found sha256 {}, want {}, those that it was trained on; --data names "
                  "others",
                  inQuotes(spec.source), found, namer.digest);
  return {};
}

std::vector<package::Setting> tableKeys(const std::string &source, const DataOptions &options) {
  constexpr std::string_view kKind = "csv:";
  std::vector<package::Setting> keys;
  if (!source.starts_with(kKind) || (options.data && !options.data->starts_with(kKind)))
    return keys;
  for (const std::string &part : splitCommas(source)) {
    size_t equals = part.find('=');
    std::string key = part.substr(0, equals);
    for (std::string_view known :
         {"inputs", "target", "window", "horizon", "sequence", "na", "fill"})
      if (equals != part.npos && key == known)
        keys.push_back({key, part.substr(equals + 1)});
  }
  return keys;
}

/// Where weights have come without what their data taught them.
static std::string whyOfTheirOwn(const data::Learned &made, const data::DataSpec &spec) {
  const bool isText = made.vocabulary && spec.vocabularyFile.empty();
  if (!isText && made.scaling.empty())
    return "";
  return fmt::format("warning: {} by these data themselves, as the weights say nothing of those of "
                     "their training: a checkpoint does{}",
                     isText ? "symbols are numbered" : "columns are scaled",
                     isText ? ", and so does vocab=FILE" : "");
}

Result<ModelData> loadData(const CompileRequest &options, const DataUse &use,
                           const std::vector<package::Setting> &file, const DataNamer &namer,
                           const data::Learned *learned) {
  std::optional<std::string> train = findSetting(file, "train");
  std::optional<std::string> text = options.data;
  bool fromFile = !text;
  if (fromFile)
    text = train;
  if (!text)
    return fail(ErrorCode::E0001,
                "{} needs data: --data SPEC, or data(.., train=\"SPEC\") in the model file",
                use.job);
  // Of data that are typed to be measured every row counts.
  const bool othersValidate = use.trains && options.valid && !isNumber(*options.valid);
  const bool keepsShare = (fromFile || use.trains) && !othersValidate;
  std::vector<package::Setting> keys = file;
  if (learned && learned->unit) // which was typed, if it is another than the file's
    std::erase_if(keys, [](const package::Setting &key) { return key.name == "unit"; });
  LSTMC_ASSIGN(data::DataSpec spec,
               withFileKeys(*text, keys, isKindOfFile(*text, train), keepsShare));
  std::optional<std::string> valid = options.valid;
  bool validFromFile = !valid && fromFile;
  if (validFromFile)
    valid = findSetting(file, "valid");
  if (valid && isNumber(*valid)) {
    LSTMC_TRY(spec.set("valid", *valid));
    valid.reset();
  }
  if (othersValidate && spec.valid > 0)
    return fail(ErrorCode::E0001,
                "data {}: valid= keeps a share of them to validate on, and --valid {} names "
                "others: give one of them",
                inQuotes(*text), *options.valid);
  spec.unlabelled = use.unlabelled;
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  if (learned && learned->vocabulary)
    spec.vocabularyFile.clear(); // it is not read
  if (fromFile && namer.digest.empty())
    spec.folders = foldersOf(namer, options);
  else if (fromFile && (jobRank() == 0 || *options.dataOn == FilesOn::All))
    LSTMC_TRY(checkDigest(spec, namer));
  ModelData result;
  LSTMC_ASSIGN(result.data, loadForRanks(options, spec, learned, limits, result.received));
  data::Learned known = result.data->learned();
  if (valid && use.trains) {
    LSTMC_ASSIGN(data::DataSpec validSpec, withFileKeys(*valid, {}, false, false));
    if (validFromFile)
      validSpec.folders = foldersOf(namer, options);
    LSTMC_ASSIGN(result.valid, loadForRanks(options, validSpec, &known, limits, result.received));
  }
  result.vocabulary = known.vocabulary;
  if (!use.trains && !learned)
    result.remark = whyOfTheirOwn(known, spec);
  return result;
}

} // namespace lstmc::driver
