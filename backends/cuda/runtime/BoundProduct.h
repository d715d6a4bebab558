// Products that cuBLASLt carries out: the algorithm of each is chosen once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/runtime/CublasLt.h"
#include "backends/cuda/runtime/Launches.h"
#include "backends/cuda/runtime/LibraryCall.h"

namespace lstmc::cuda {

/// A product with its algorithm.
class BoundProduct final : public LibraryCall {
public:
  ~BoundProduct() override;

  void giveTo(DriverStream stream) const override;

private:
  friend class LibraryProducts;
  BoundProduct(const CublasLt &library, CublasHandle handle, const LibraryProduct &product)
      : library_(library), handle_(handle), product_(product) {}
  CublasResult describe();

  const CublasLt &library_;
  CublasHandle handle_;
  LibraryProduct product_;
  CublasProduct description_ = nullptr;
  CublasLayout w_ = nullptr, x_ = nullptr, y_ = nullptr;
  CublasAlgorithm algorithm_;
};

/// Of one device. An algorithm is what the library's own rules choose for a card, a version of the
/// library and a shape; no time is measured. It is kept in the user's cache (text/KeptFiles.h), and
/// asked for again where the library does not take what is kept.
class LibraryProducts {
public:
  /// `card`: what tells kinds of cards apart, as its name. E0503 if the library refuses the device,
  /// whose context is set.
  static Result<std::unique_ptr<LibraryProducts>> create(const CublasLt &library, std::string card);
  ~LibraryProducts();
  LibraryProducts(const LibraryProducts &) = delete;
  LibraryProducts &operator=(const LibraryProducts &) = delete;

  /// E0402 if the library has no algorithm for it.
  Result<std::unique_ptr<BoundProduct>> bind(const LibraryProduct &product);

  /// What was chosen since the last call: a line for each shape.
  std::vector<std::string> takeChoices() { return std::exchange(choices_, {}); }

private:
  LibraryProducts(const CublasLt &library, CublasHandle handle, std::string card)
      : library_(library), handle_(handle), card_(std::move(card)) {}
  std::string keyOf(const LibraryProduct &product) const;
  bool takesKept(const BoundProduct &bound, const std::string &name, CublasChoice &choice) const;
  CublasResult choose(const BoundProduct &bound, CublasChoice &choice) const;

  const CublasLt &library_;
  CublasHandle handle_;
  std::string card_;
  std::map<std::string, CublasAlgorithm> chosen_; ///< by key
  std::vector<std::string> choices_;
};

} // namespace lstmc::cuda
