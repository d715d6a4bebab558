#include "backends/cuda/text/ImageCache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "executor/base/CacheFolder.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Sha256.h"

namespace lstmc::cuda {

namespace {

constexpr size_t kDigest = 64; ///< characters before an image in its file: its SHA-256

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

Result<Bytes> kept(const std::string &folder, const std::string &name) {
  LSTMC_ASSIGN(Bytes file, readFileBeneath(folder, name));
  const std::span<const uint8_t> all = file;
  if (all.size() < kDigest || asText(all.first(kDigest)) != sha256(all.subspan(kDigest)))
    return fail(ErrorCode::E0603, "{}/{}: its digest is another", folder, name);
  return Bytes(file.begin() + kDigest, file.end());
}

/// A cache that cannot be written to is no error.
void keep(const std::string &folder, const std::string &name, const Bytes &image) {
  Result<OutputFile> file = OutputFile::create(folder + "/" + name, OutputFile::Existing::Replace);
  if (file.ok() && file->write(sha256(image)).ok() && file->write(image).ok())
    (void)file->commit().ok();
}

} // namespace

Result<Bytes> imageOf(const TextCompiler &compiler, const std::string &text, int architecture) {
  static std::mutex mutex;
  static std::map<std::string, Bytes> compiled; ///< by this process
  const std::string key = sha256(asBytes(compiler.identity(architecture) + '\n' + text)),
                    name = key + ".image";
  std::lock_guard lock(mutex);
  if (auto found = compiled.find(key); found != compiled.end())
    return found->second;
  const std::string folder = privateFolder();
  Result<Bytes> image = folder.empty() ? fail(ErrorCode::E0601, "no cache") : kept(folder, name);
  if (!image.ok()) {
    image = compiler.compile(text, architecture);
    if (!image.ok())
      return image;
    if (!folder.empty())
      keep(folder, name, *image);
  }
  compiled.emplace(key, *image);
  return image;
}

} // namespace lstmc::cuda
