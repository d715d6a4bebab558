// Recurrent layers that cuDNN carries out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Launches.h"
#include "backends/cuda/runtime/LibraryCall.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc::cuda {

class LibraryLayers;

/// One layer in one direction, forward, by one algorithm.
class BoundLayer final : public LibraryCall {
public:
  ~BoundLayer() override;

  void giveTo(DriverStream stream) const override;
  void takeOver(const std::string &why) override;

private:
  friend class LibraryLayers;
  BoundLayer(LibraryLayers &layers, const Cudnn &library, CudnnHandle handle, int algorithm)
      : layers_(layers), library_(library), handle_(handle), algorithm_(algorithm) {}
  CudnnResult describe(const RnnForwardLaunch &launch);

  LibraryLayers &layers_;
  const Cudnn &library_;
  CudnnHandle handle_;
  int algorithm_;
  std::string key_, shape_; ///< what the algorithm is chosen for; what of it is told
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

/// Of one device. The library has no rules of its own that choose an algorithm, so it is asked for
/// those of layerAlgorithms(), and the first one that it takes is chosen, for a card, a version of
/// the library and a shape. That is kept in the user's cache (text/KeptFiles.h), and the library is
/// asked again where it does not take what is kept.
class LibraryLayers {
public:
  /// `card`: what tells kinds of cards apart, as its name. E0503 if the library refuses the device,
  /// whose context is set.
  static Result<std::unique_ptr<LibraryLayers>> create(const Cudnn &library, std::string card,
                                                       int multiprocessors);
  ~LibraryLayers();
  LibraryLayers(const LibraryLayers &) = delete;
  LibraryLayers &operator=(const LibraryLayers &) = delete;

  /// Of a launch of f32: as the chosen algorithm carries it out, then as those do that are asked
  /// for after it, each for where the library refuses at their first run all before. None where our
  /// own kernels have to carry it out. The calls use this whenever they are given.
  std::vector<LayerSteps> bind(const RnnForwardLaunch &launch);

  /// Who carries layers out, as far as that is new since the last call: a line for each shape.
  std::vector<std::string> takeChoices() { return std::exchange(choices_, {}); }

private:
  friend class BoundLayer;

  /// What the library says to algorithms.
  struct Answers {
    std::vector<LayerSteps> taken;
    std::string refused; ///< those before the first that is taken, with reasons, as they are told
    std::string last;    ///< why the last one is refused, if none is taken
  };

  LibraryLayers(const Cudnn &library, CudnnHandle handle, std::string card, int multiprocessors)
      : library_(library), handle_(handle), card_(std::move(card)),
        multiprocessors_(multiprocessors) {}
  CudnnResult handleOf(DriverStream stream, CudnnHandle &handle);
  std::string keyOf(const RnnForwardLaunch &launch) const;
  std::optional<int> kept(const std::string &key) const;
  void choose(const std::string &key, int algorithm);
  Answers ask(const RnnForwardLaunch &launch, std::span<const int> algorithms);
  std::string bindSteps(const RnnForwardLaunch &launch, LayerSteps &steps) const;
  std::string copyWeights(const RnnForwardLaunch &launch, LayerSteps &steps) const;
  void tell(const std::string &shape, const std::string &by);
  void takeOver(const BoundLayer &call, const std::string &why);

  const Cudnn &library_;
  CudnnHandle handle_; ///< of descriptions, and of the first stream
  std::map<DriverStream, CudnnHandle> handles_;
  std::string card_;
  int multiprocessors_;
  std::map<std::string, int> chosen_; ///< by key
  std::vector<std::string> told_, choices_;
};

} // namespace lstmc::cuda
