#include "backends/cuda/text/ImageCache.h"

#include <map>
#include <mutex>

#include "backends/cuda/text/KeptFiles.h"
#include "executor/base/Sha256.h"

namespace lstmc::cuda {

Result<Bytes> imageOf(const TextCompiler &compiler, const std::string &text, int architecture) {
  static std::mutex mutex;
  static std::map<std::string, Bytes> compiled; ///< by this process
  const std::string key = sha256(asBytes(compiler.identity(architecture) + '\n' + text)),
                    name = key + ".image";
  std::lock_guard lock(mutex);
  if (auto found = compiled.find(key); found != compiled.end())
    return found->second;
  Result<Bytes> image = keptFile(name);
  if (!image.ok()) {
    image = compiler.compile(text, architecture);
    if (!image.ok())
      return image;
    keepFile(name, *image);
  }
  compiled.emplace(key, *image);
  return image;
}

} // namespace lstmc::cuda
