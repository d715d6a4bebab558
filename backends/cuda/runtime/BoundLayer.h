// Recurrent layers that cuDNN carries out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Launches.h"
#include "backends/cuda/runtime/LibraryCall.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc::cuda {

/// One layer in one direction, forward.
class BoundLayer final : public LibraryCall {
public:
  ~BoundLayer() override;

  void giveTo(DriverStream stream) const override;

private:
  friend class LibraryLayers;
  BoundLayer(const Cudnn &library, CudnnHandle handle) : library_(library), handle_(handle) {}
  CudnnResult describe(const RnnForwardLaunch &launch);

  const Cudnn &library_;
  CudnnHandle handle_;
  CudnnLayer layer_ = nullptr;
  CudnnSequences xShape_ = nullptr, yShape_ = nullptr;
  CudnnTensor stateShape_ = nullptr;
  CudnnTensor matrixShape_ = nullptr, biasShape_ = nullptr; ///< which nobody reads
  const void *x_ = nullptr, *h0_ = nullptr, *c0_ = nullptr;
  void *y_ = nullptr, *hN_ = nullptr, *cN_ = nullptr;
  std::byte *weights_ = nullptr, *workspace_ = nullptr;
  size_t weightBytes_ = 0, workspaceBytes_ = 0;
};

/// What carries a layer out: kernels that bring weights and inputs into the library's order, the
/// library, and kernels that bring outputs into ours.
struct LayerSteps {
  std::vector<GpuLaunch> before, after;
  std::unique_ptr<BoundLayer> call;
  const void *workspace; ///< of the call alone
};

/// Of one device. The algorithm is always the standard one, which takes every shape: the library
/// has no rules of its own that would choose one, and no time is measured.
class LibraryLayers {
public:
  /// E0503 if the library refuses the device, whose context is set.
  static Result<std::unique_ptr<LibraryLayers>> create(const Cudnn &library);
  ~LibraryLayers();
  LibraryLayers(const LibraryLayers &) = delete;
  LibraryLayers &operator=(const LibraryLayers &) = delete;

  /// Of a launch of f32. Nothing where our own kernels have to carry it out.
  std::optional<LayerSteps> bind(const RnnForwardLaunch &launch);

  /// Who carries layers out, since the last call: a line for each shape.
  std::vector<std::string> takeChoices() { return std::exchange(choices_, {}); }

private:
  LibraryLayers(const Cudnn &library, CudnnHandle handle) : library_(library), handle_(handle) {}
  std::string bindSteps(const RnnForwardLaunch &launch, LayerSteps &steps) const;
  std::string copyWeights(const RnnForwardLaunch &launch, LayerSteps &steps) const;

  const Cudnn &library_;
  CudnnHandle handle_;
  std::vector<std::string> told_, choices_;
};

} // namespace lstmc::cuda
