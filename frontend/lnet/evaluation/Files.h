// The files of a run: found, read, parsed, each once.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Files {
public:
  Files(Run &run, const std::vector<std::string> &includeDirs)
      : run_(run), includeDirs_(includeDirs) {}

  /// A file's text: E0601 if it cannot be read, E0316 if it is too large. `place`: of the import.
  std::optional<std::string> read(const std::string &path, std::optional<SourceRange> place);
  /// Parses a text and resolves its names. `shown`: its path in messages; `key`: its real path.
  Module &add(const std::string &shown, const std::string &key, std::string text);
  /// The file with that real path, if it was added before; else null.
  Module *known(const std::string &key) const;

  struct Found {
    std::string shown, key;
  };
  /// The file that an import means, beside the importing one or in a folder of -I: E0601 if there
  /// is none, E0307 if it is outside of those folders.
  std::optional<Found> find(const ImportStmt *stmt);

  /// Fills in the text of a line that was too long for SourceFile::range.
  void fillLine(SourceRange &range) const;
  /// Those of the user, the main one first.
  std::vector<std::string> paths() const;

private:
  Run &run_;
  const std::vector<std::string> &includeDirs_;
  std::vector<std::unique_ptr<Module>> modules_;
};

} // namespace lstmc::lnet
