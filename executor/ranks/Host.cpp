#include "executor/ranks/Host.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace lstmc::ranks {

std::string processSpace() {
  std::string boot = "?";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  return boot + "/" + std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

std::string hostSpace() {
  std::error_code error;
  return processSpace() + "/" + std::filesystem::read_symlink("/proc/self/ns/net", error).string();
}

std::string hostName() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

} // namespace lstmc::ranks
