// Collects the kernels of a model's layers.

#pragma once

#include "src/ops/plan/Configuration.h"
#include "src/ops/plan/ModelPlan.h"

#include <map>

namespace jitk {

/// How the weight of a projection is stored.
enum class WeightFormat : uint8_t {
  Plain,   ///< in the model's dtype
  BlockFp8 ///< e4m3 with one scale for 128 x 128
};

/// Side of a block of weights that shares a scale.
constexpr int64_t kScaleBlock = 128;

/// What the layers of a model have in common.
struct LayerFacts {
  std::string dtype;      ///< of activations and plain weights: "bf16", "fp16"
  int64_t longestContext; ///< most keys of a sequence
};

/// Adds kernels to a plan, once for each token bucket; equal descriptions share an entry.
class LayerPlanner {
public:
  LayerPlanner(ModelPlan &plan, LayerFacts facts);

  /// Tokens times the transposed weight `outputs x inputs`. `outDtype` is that of the result; empty = the model's.
  void projection(const std::string &use, int64_t outputs, int64_t inputs, WeightFormat format,
                  std::string_view outDtype = {});
  /// The gated two-layer perceptron `prefix`, `width` wide: gate and up in one matmul, then down.
  void perceptron(const std::string &prefix, int64_t width, int64_t hidden, WeightFormat format);
  /// The two layers of gated perceptrons, `count` of them and each `width` wide, on rows that are sorted by them and
  /// begin at multiples of 128 for each; one kernel of a layer serves any number of tokens. Weights in blocks of fp8.
  void experts(const std::string &prefix, int64_t count, int64_t width, int64_t hidden);
  /// One new token of each sequence over a paged latent cache, with a schedule that is made and with one that is
  /// reused.
  void latentDecode(const std::string &use, int64_t heads, int64_t latentDim, int64_t ropeDim);
  /// The same over paged caches of keys and values.
  void pagedDecode(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim);
  /// Causal attention of each sequence's new tokens over all its keys. `scale` is that of the scores; 0 = the op's
  /// default.
  void prefillAttention(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim, int64_t valueDim,
                        double scale = 0);
  /// The gated delta rule on a pool of states: new tokens of packed sequences by chunks, and one token of each of many
  /// sequences. Neither kernel is made for a number of tokens, so that one of each serves all buckets.
  void gatedDeltaRule(const std::string &prefix, int64_t keyHeads, int64_t valueHeads, int64_t keyDim,
                      int64_t valueDim);
  /// What stands around the layers, and between them: embedding, norms, the sums over ranks, the head, sampling.
  void frame(int64_t vocabulary, int64_t hidden);
  /// A need of the model that no op serves yet.
  void missing(const std::string &op, const std::string &use);

  /// The first description that a schema refused; OK if there is none.
  Status takeStatus();

private:
  void decode(const std::string &use, const std::string &op, const std::string &rest);
  void add(const std::string &use, const std::string &text);

  ModelPlan &plan_;
  LayerFacts facts_;
  std::vector<int64_t> buckets_;
  std::map<std::string, size_t> known_; ///< canonical text to index in the plan
  Status status_;
};

// The model families. Each reads the configuration's fields, checks them against each other and against the options,
// and adds what one rank of the model runs.
Status planDeepSeekV3(Configuration &configuration, ModelPlan &plan);
Status planQwen3Next(Configuration &configuration, ModelPlan &plan);

} // namespace jitk
