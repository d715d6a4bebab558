// Helpers for tests of .lnet: loading a text, and a temporary folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "cmake/SourceFolder.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Render.h"

namespace lstmc::lnet {

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The error message for a text that should load; empty if it loads.
inline std::string refusal(const std::string &text, const LoadOptions &options = {}) {
  Checked<symbol::Network> net = loadText("t.lnet", text, options);
  return net.ok() ? "" : symbol::render(net.diagnostics());
}

/// Statements at file level, with a net added so that the file is complete.
inline std::string withNet(const std::string &statements) {
  return statements + "\ndef net(data: float32[2, 4]):\n    return data + 1\n";
}

/// The sym text of a program that loads, without locations.
inline std::string graphOf(const std::string &text, const LoadOptions &options = {}) {
  Checked<symbol::Network> net = loadText("t.lnet", text, options);
  EXPECT_TRUE(net.ok()) << symbol::render(net.diagnostics()) << text;
  return net.ok() ? net->graph->text() : "";
}

/// A folder that is removed after the test.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "lnet-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string &name, const std::string &text) const {
    std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// The folder of real data; empty if there is none.
inline std::filesystem::path dataFolder() {
  const char *set = std::getenv("LSTMC_DATA");
  std::filesystem::path folder =
      set ? std::filesystem::path(set) : std::filesystem::path(LSTMC_SOURCE_DIR) / "../shared/data";
  return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

} // namespace lstmc::lnet
