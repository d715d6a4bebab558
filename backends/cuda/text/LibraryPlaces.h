// Where libraries of CUDA are on a machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc::cuda {

struct LibraryPlaces {
  std::vector<std::string> files;   ///< what may be given to dlopen
  std::vector<std::string> folders; ///< where files were looked for, besides where the system looks

  void add(LibraryPlaces others);
};

/// For library `name` ("libnvrtc.so.13"): the name itself, which the system looks up; then the
/// files of that name that are there, in the toolkit's folders (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda) and in those of Python wheels ("cu13/lib" and "cuda_nvrtc/lib" of `wheels`,
/// below site-packages/nvidia of VIRTUAL_ENV, CONDA_PREFIX, the environment of the first python3 in
/// PATH, the user and the system).
LibraryPlaces placesOf(std::string_view name, const std::vector<std::string> &wheels);

/// "where the system looks for libraries (LD_LIBRARY_PATH is /opt/lib)"
std::string systemPlaces();

} // namespace lstmc::cuda
