#include "backends/cuda/text/KeptFiles.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "executor/base/CacheFolder.h"
#include "executor/base/Sha256.h"

namespace lstmc::cuda {

namespace {

constexpr size_t kDigest = 64; ///< characters before the bytes in their file: their SHA-256

/// Makes the folder if it is not there. Empty if it cannot be had for this user alone.
std::string privateFolder() {
  const std::string parent = cacheFolder();
  if (parent.empty())
    return "";
  const std::string folder = parent + "/kernels";
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  mkdir(folder.c_str(), 0700);
  struct stat found{};
  const bool ours = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                    found.st_uid == geteuid() && (found.st_mode & 077) == 0;
  return ours ? folder : "";
}

} // namespace

Result<Bytes> keptFile(const std::string &name) {
  const std::string folder = privateFolder();
  if (folder.empty())
    return fail(ErrorCode::E0601, "no cache");
  LSTMC_ASSIGN(Bytes file, readFileBeneath(folder, name));
  const std::span<const uint8_t> all = file;
  if (all.size() < kDigest || asText(all.first(kDigest)) != sha256(all.subspan(kDigest)))
    return fail(ErrorCode::E0603, "{}/{}: its digest is another", folder, name);
  return Bytes(file.begin() + kDigest, file.end());
}

void keepFile(const std::string &name, std::span<const uint8_t> bytes) {
  const std::string folder = privateFolder();
  if (folder.empty())
    return;
  const std::string digest = sha256(bytes);
  const std::string_view texts[] = {digest, asText(bytes)};
  (void)keepInCache(folder, name, texts).ok();
}

} // namespace lstmc::cuda
