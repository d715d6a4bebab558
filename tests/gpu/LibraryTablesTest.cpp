// The tables of cuBLASLt and cuDNN have the functions of their headers, with parameters of the same
// sizes.
#include <cublasLt.h>
#include <cudnn.h>
#include <gtest/gtest.h>

#include "backends/cuda/runtime/CublasLt.h"
#include "backends/cuda/runtime/Cudnn.h"
#include "executor/abi/FastRules.h"
#include "executor/abi/Gate.h"
#include "tests/gpu/SameCall.h"

namespace lstmc::cuda {
namespace {

static_assert(agrees(&CublasLt::version, &cublasLtGetVersion));
static_assert(agrees(&CublasLt::errorText, &cublasLtGetStatusString));
static_assert(agrees(&CublasLt::create, &cublasLtCreate));
static_assert(agrees(&CublasLt::destroy, &cublasLtDestroy));
static_assert(agrees(&CublasLt::createProduct, &cublasLtMatmulDescCreate));
static_assert(agrees(&CublasLt::setProduct, &cublasLtMatmulDescSetAttribute));
static_assert(agrees(&CublasLt::destroyProduct, &cublasLtMatmulDescDestroy));
static_assert(agrees(&CublasLt::createLayout, &cublasLtMatrixLayoutCreate));
static_assert(agrees(&CublasLt::setLayout, &cublasLtMatrixLayoutSetAttribute));
static_assert(agrees(&CublasLt::destroyLayout, &cublasLtMatrixLayoutDestroy));
static_assert(agrees(&CublasLt::createPreference, &cublasLtMatmulPreferenceCreate));
static_assert(agrees(&CublasLt::setPreference, &cublasLtMatmulPreferenceSetAttribute));
static_assert(agrees(&CublasLt::destroyPreference, &cublasLtMatmulPreferenceDestroy));
static_assert(agrees(&CublasLt::choose, &cublasLtMatmulAlgoGetHeuristic));
static_assert(agrees(&CublasLt::check, &cublasLtMatmulAlgoCheck));
static_assert(agrees(&CublasLt::configuration, &cublasLtMatmulAlgoConfigGetAttribute));
static_assert(agrees(&CublasLt::multiply, &cublasLtMatmul));
static_assert(agrees(&Cudnn::version, &cudnnGetVersion));
static_assert(agrees(&Cudnn::errorText, &cudnnGetErrorString));
static_assert(agrees(&Cudnn::create, &cudnnCreate));
static_assert(agrees(&Cudnn::destroy, &cudnnDestroy));
static_assert(agrees(&Cudnn::setStream, &cudnnSetStream));
static_assert(agrees(&Cudnn::createTensor, &cudnnCreateTensorDescriptor));
static_assert(agrees(&Cudnn::setTensor, &cudnnSetTensorNdDescriptor));
static_assert(agrees(&Cudnn::destroyTensor, &cudnnDestroyTensorDescriptor));
static_assert(agrees(&Cudnn::createSequences, &cudnnCreateRNNDataDescriptor));
static_assert(agrees(&Cudnn::setSequences, &cudnnSetRNNDataDescriptor));
static_assert(agrees(&Cudnn::destroySequences, &cudnnDestroyRNNDataDescriptor));
static_assert(agrees(&Cudnn::createLayer, &cudnnCreateRNNDescriptor));
static_assert(agrees(&Cudnn::setLayer, &cudnnSetRNNDescriptor_v8));
static_assert(agrees(&Cudnn::destroyLayer, &cudnnDestroyRNNDescriptor));
static_assert(agrees(&Cudnn::weightBytes, &cudnnGetRNNWeightSpaceSize));
static_assert(agrees(&Cudnn::findWeights, &cudnnGetRNNWeightParams));
static_assert(agrees(&Cudnn::workspaceBytes, &cudnnGetRNNTempSpaceSizes));
static_assert(agrees(&Cudnn::advance, &cudnnRNNForward));
static_assert(sizeof(CublasAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(CublasChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(CublasChoice, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasChoice, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

TEST(LibraryTables, ConstantsAreThoseOfTheHeaders) {
  EXPECT_EQ(kCublasInvalidValue, int(CUBLAS_STATUS_INVALID_VALUE));
  EXPECT_EQ(kCublasNotSupported, int(CUBLAS_STATUS_NOT_SUPPORTED));
  EXPECT_EQ(kCublasFloat, int(CUDA_R_32F));
  EXPECT_EQ(kCublasCompute[int(RoundedTo::F32)], int(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(kCublasCompute[int(RoundedTo::Tf32)], int(CUBLAS_COMPUTE_32F_FAST_TF32));
  EXPECT_EQ(kCublasCompute[int(RoundedTo::Bf16)], int(CUBLAS_COMPUTE_32F_FAST_16BF));
  EXPECT_EQ(kCublasCompute[int(RoundedTo::Fp16)], int(CUBLAS_COMPUTE_32F_FAST_16F));
  EXPECT_EQ(kCublasEpilogue, int(CUBLASLT_MATMUL_DESC_EPILOGUE));
  EXPECT_EQ(kCublasBias, int(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  EXPECT_EQ(kCublasAddBias, int(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(kCublasMatrices, int(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
  EXPECT_EQ(kCublasMatrixStride, int(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
  EXPECT_EQ(kCublasMostWorkspace, int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(kCublasAlignmentA, int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  EXPECT_EQ(kCublasAlignmentA + 3, int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
  EXPECT_EQ(kCublasAlgorithmNumber, int(CUBLASLT_ALGO_CONFIG_ID));
  EXPECT_EQ(kCudnnBadParameter, int(CUDNN_STATUS_BAD_PARAM));
  EXPECT_EQ(kCudnnNotSupported, int(CUDNN_STATUS_NOT_SUPPORTED));
  EXPECT_EQ(kCudnnExecutionFailed, int(CUDNN_STATUS_EXECUTION_FAILED));
  EXPECT_EQ(kCudnnFloat, int(CUDNN_DATA_FLOAT));
  EXPECT_EQ(kCudnnPacked, int(CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED));
  EXPECT_EQ(kCudnnStandard, int(CUDNN_RNN_ALGO_STANDARD));
  EXPECT_EQ(kCudnnPersistent, int(CUDNN_RNN_ALGO_PERSIST_STATIC));
  EXPECT_EQ(kCudnnPersistentSmallH, int(CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H));
  EXPECT_TRUE(isUnsupported(int(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH)));
  EXPECT_FALSE(isUnsupported(int(CUDNN_STATUS_INTERNAL_ERROR)));
  EXPECT_EQ(kCudnnNoBias, int(CUDNN_RNN_NO_BIAS));
  EXPECT_EQ(kCudnnInputBias, int(CUDNN_RNN_SINGLE_INP_BIAS));
  EXPECT_EQ(kCudnnBothBiases, int(CUDNN_RNN_DOUBLE_BIAS));
  EXPECT_EQ(kCudnnRecurrentBias, int(CUDNN_RNN_SINGLE_REC_BIAS));
  EXPECT_EQ(kCudnnOneDirection, int(CUDNN_UNIDIRECTIONAL));
  EXPECT_EQ(kCudnnMultipliesInputs, int(CUDNN_LINEAR_INPUT));
  EXPECT_EQ(kCudnnFma, int(CUDNN_FMA_MATH));
  EXPECT_EQ(kCudnnInference, int(CUDNN_FWD_MODE_INFERENCE));
  EXPECT_EQ(int(RnnMode::Relu), int(CUDNN_RNN_RELU));
  EXPECT_EQ(int(RnnMode::Tanh), int(CUDNN_RNN_TANH));
  EXPECT_EQ(int(RnnMode::Lstm), int(CUDNN_LSTM));
  EXPECT_EQ(int(RnnMode::Gru), int(CUDNN_GRU));
}

/// Descriptions need no GPU, and take the attributes in the sizes that ours have.
TEST(LibraryTables, CublasLtTakesWhatAProductIsDescribedWith) {
  const Result<const CublasLt *> loaded = machineCublasLt(13000);
  if (!loaded.ok())
    GTEST_SKIP() << loaded.error().message;
  const CublasLt &library = **loaded;
  EXPECT_TRUE(versionOf(library).starts_with("13.")) << versionOf(library);
  CublasProduct product = nullptr;
  for (int compute : kCublasCompute) {
    ASSERT_EQ(library.createProduct(&product, compute, kCublasFloat), 0) << compute;
    EXPECT_EQ(library.destroyProduct(product), 0);
  }
  ASSERT_EQ(library.createProduct(&product, kCublasCompute[0], kCublasFloat), 0);
  const int epilogue = kCublasAddBias;
  const void *bias = &epilogue;
  EXPECT_EQ(library.setProduct(product, kCublasEpilogue, &epilogue, sizeof(epilogue)), 0);
  EXPECT_EQ(library.setProduct(product, kCublasBias, &bias, sizeof(bias)), 0);
  CublasLayout layout = nullptr;
  ASSERT_EQ(library.createLayout(&layout, kCublasFloat, 3, 4, 5), 0);
  const int32_t matrices = 2;
  const int64_t stride = 20;
  EXPECT_EQ(library.setLayout(layout, kCublasMatrices, &matrices, sizeof(matrices)), 0);
  EXPECT_EQ(library.setLayout(layout, kCublasMatrixStride, &stride, sizeof(stride)), 0);
  CublasPreference preference = nullptr;
  ASSERT_EQ(library.createPreference(&preference), 0);
  const uint64_t most = 1 << 20;
  const uint32_t alignment = 16;
  EXPECT_EQ(library.setPreference(preference, kCublasMostWorkspace, &most, sizeof(most)), 0);
  EXPECT_EQ(library.setPreference(preference, kCublasAlignmentA, &alignment, sizeof(alignment)), 0);
  EXPECT_EQ(library.destroyPreference(preference), 0);
  EXPECT_EQ(library.destroyLayout(layout), 0);
  EXPECT_EQ(library.destroyProduct(product), 0);
  EXPECT_STRNE(library.errorText(kCublasInvalidValue), library.errorText(kCublasNotSupported));
}

TEST(LibraryTables, CudnnSaysItsVersion) {
  const Result<const Cudnn *> cudnn = machineCudnn();
  if (!cudnn.ok())
    GTEST_SKIP() << cudnn.error().message;
  EXPECT_TRUE(versionOf(**cudnn).starts_with("9.")) << versionOf(**cudnn);
}

/// Descriptions need no GPU. Of f32 the persistent algorithms describe layers of any size that have
/// both biases; what a card refuses is known later.
TEST(LibraryTables, CudnnTakesWhatALayerIsDescribedWith) {
  const Result<const Cudnn *> loaded = machineCudnn();
  if (!loaded.ok())
    GTEST_SKIP() << loaded.error().message;
  const Cudnn &library = **loaded;
  CudnnLayer layer = nullptr;
  ASSERT_EQ(library.createLayer(&layer), 0);
  for (RnnMode mode : {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru})
    for (int biases : {kCudnnNoBias, kCudnnInputBias, kCudnnBothBiases, kCudnnRecurrentBias})
      for (int algorithm : {kCudnnStandard, kCudnnPersistent, kCudnnPersistentSmallH}) {
        const CudnnResult error = library.setLayer(
            layer, algorithm, int(mode), biases, kCudnnOneDirection, kCudnnMultipliesInputs,
            kCudnnFloat, kCudnnFloat, kCudnnFma, 10, 7, 7, 1, nullptr, 0);
        if (algorithm == kCudnnStandard || biases == kCudnnBothBiases)
          EXPECT_EQ(error, 0);
        else
          EXPECT_TRUE(isUnsupported(error)) << error;
      }
  constexpr int kDouble = 1;
  EXPECT_TRUE(isUnsupported(library.setLayer(
      layer, kCudnnPersistentSmallH, int(RnnMode::Lstm), kCudnnBothBiases, kCudnnOneDirection,
      kCudnnMultipliesInputs, kDouble, kDouble, kCudnnFma, 10, 7, 7, 1, nullptr, 0)));
  CudnnSequences sequences = nullptr;
  ASSERT_EQ(library.createSequences(&sequences), 0);
  const int lengths[] = {5, 5, 5};
  EXPECT_EQ(library.setSequences(sequences, kCudnnFloat, kCudnnPacked, 5, 3, 10, lengths, nullptr),
            0);
  CudnnTensor state = nullptr;
  ASSERT_EQ(library.createTensor(&state), 0);
  const int shape[] = {1, 3, 7}, strides[] = {21, 7, 1};
  EXPECT_EQ(library.setTensor(state, kCudnnFloat, 3, shape, strides), 0);
  EXPECT_EQ(library.destroyTensor(state), 0);
  EXPECT_EQ(library.destroySequences(sequences), 0);
  EXPECT_EQ(library.destroyLayer(layer), 0);
  EXPECT_STRNE(library.errorText(kCudnnBadParameter), library.errorText(kCudnnNotSupported));
}

TEST(LibraryTables, ALibraryThatIsMissingOrOtherIsNamed) {
  const LibraryPlaces places = {{"libno_such_library.so", "libm.so.6"}, {}};
  const Result<CublasLt> cublasLt = loadCublasLt(places);
  ASSERT_FALSE(cublasLt.ok());
  EXPECT_EQ(cublasLt.error().message,
            "cuBLASLt was not found; looked for libno_such_library.so, libm.so.6 (has no function "
            "cublasLtGetVersion) " +
                systemPlaces());
  const Result<Cudnn> cudnn = loadCudnn(places);
  ASSERT_FALSE(cudnn.ok());
  EXPECT_EQ(cudnn.error().message.find("cuDNN was not found; looked for libno_such_library.so"),
            0u);
}

} // namespace
} // namespace lstmc::cuda
