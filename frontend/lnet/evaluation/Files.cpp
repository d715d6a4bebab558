#include "frontend/lnet/evaluation/Files.h"

#include <algorithm>
#include <filesystem>

#include "executor/base/InputFile.h"
#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/lnet/text/Parser.h"

namespace lstmc::lnet {

namespace fs = std::filesystem;

std::optional<std::string> Files::read(const std::string &path, std::optional<SourceRange> place) {
  auto fail = [&](ErrorCode code, std::string message,
                  std::string help) -> std::optional<std::string> {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.help = std::move(help);
    if (place)
      diagnostic.place = *place;
    else
      diagnostic.place.file = path;
    run_.problems().add(std::move(diagnostic));
    return std::nullopt;
  };
  std::error_code failure;
  uintmax_t size = fs::file_size(path, failure);
  if (!failure && size > run_.limits().source)
    return fail(
        ErrorCode::E0316,
        fmt::format("\"{}\" has {} bytes, the limit is {}", path, size, run_.limits().source),
        "--limit source=N changes the limit");
  Result<Bytes> bytes = readFile(path);
  if (!bytes.ok())
    return fail(bytes.error().code, bytes.error().message, {});
  return std::string(asText(*bytes));
}

Module &Files::add(const std::string &shown, const std::string &key, std::string text) {
  Module &module = *modules_.emplace_back(std::make_unique<Module>());
  module.file = std::make_unique<SourceFile>(shown, std::move(text));
  module.key = key;
  module.folder = fs::path(shown).parent_path().string();
  module.owner.text = "the file " + shown;
  uint64_t before = run_.problems().errors();
  module.tree = parse(*module.file, run_.limits(), run_.problems());
  module.broken = run_.problems().errors() > before;
  resolve(*module.tree);
  module.globals = run_.newFrame(Value(), *module.tree->scope);
  return module;
}

Module *Files::known(const std::string &key) const {
  for (auto &module : modules_)
    if (module->key == key && !module->internal)
      return module.get();
  return nullptr;
}

std::optional<Files::Found> Files::find(const ImportStmt *stmt) {
  std::string relative(stmt->module);
  std::replace(relative.begin(), relative.end(), '.', '/');
  relative += ".lnet";
  std::vector<std::string> folders{run_.at.module->folder};
  folders.insert(folders.end(), includeDirs_.begin(), includeDirs_.end());
  for (const std::string &folder : folders) {
    std::string candidate = (fs::path(folder) / relative).string();
    std::error_code failure;
    if (!fs::exists(candidate, failure) || failure)
      continue;
    fs::path root = fs::canonical(folder.empty() ? "." : folder, failure);
    fs::path real = fs::canonical(candidate, failure);
    std::string prefix = root.string() == "/" ? "/" : root.string() + "/";
    if (!failure && real.string().starts_with(prefix))
      return Found{candidate, real.string()};
    run_.error(ErrorCode::E0307, stmt->moduleSpan, "\"{}\" is outside the folders of imports",
               relative);
    return std::nullopt;
  }
  std::string_view help = moduleHelp(stmt->module);
  run_.report(run_.makeError(ErrorCode::E0601, stmt->moduleSpan,
                             fmt::format("cannot find \"{}\" beside {} or in a folder of -I",
                                         relative, run_.at.module->file->path()),
                             help.empty() ? "" : fmt::format("delete this line: {}", help)));
  return std::nullopt;
}

void Files::fillLine(SourceRange &range) const {
  if (!range.text.empty() || range.line == 0)
    return;
  for (auto &module : modules_)
    if (module->file->path() == range.file && range.line <= module->file->lineCount())
      range.text = std::string(module->file->lineText(range.line));
}

std::vector<std::string> Files::paths() const {
  std::vector<std::string> paths;
  for (auto &module : modules_)
    if (!module->internal)
      paths.push_back(module->file->path());
  return paths;
}

} // namespace lstmc::lnet
