#include "src/reference/Work.h"

#include <algorithm>

namespace jitk::reference {

int64_t validRowsOfGroup(const Description &description, const DynamicSizes &sizes) {
  int64_t m = *sizeOf(description, "m", sizes), expected = *sizeOf(description, "expected_m", sizes);
  return expected ? std::min(expected, m) : m;
}

static constexpr double kBytesPerSecond = 4.8e12;

static double secondsOfProducts(const Work &work) { return work.peakFlops > 0 ? work.flops / work.peakFlops : 0; }

double Work::roof() const {
  constexpr double kMicroseconds = 1e6;
  return kMicroseconds * std::max(secondsOfProducts(*this), bytes / kBytesPerSecond);
}

bool Work::isBoundByMemory() const { return bytes / kBytesPerSecond > secondsOfProducts(*this); }

static constexpr double kPeak16Bit = 989e12, kPeakFp32 = 67e12;

namespace {

/// A problem all of whose sizes are known.
struct Problem {
  const Description &description;
  const DynamicSizes &sizes;
  const GivenValues &values;

  int64_t size(std::string_view attribute) const { return *sizeOf(description, attribute, sizes); }
};

} // namespace

/// Chunks: K K^T, Q K^T, K S, K^T U, Q S, and two products of a chunk's matrix with its values. Token by token: three
/// passes over the state.
static void countDeltaRule(const Problem &problem, Work &work) {
  double batch = problem.description.flag("varlen") ? 1 : double(problem.size("batch"));
  double heads = batch * double(problem.size("tokens")) * double(problem.size("v_heads"));
  double keys = double(problem.size("key_dim")), values = double(problem.size("value_dim"));
  bool isChunked = problem.description.word("mode") == "chunk";
  double chunk = isChunked ? double(problem.size("chunk")) : 0;
  work.flops = heads * 2 * (2 * chunk * keys + 2 * chunk * values + 3 * keys * values);
  work.peakFlops = isChunked ? kPeak16Bit : kPeakFp32;
}

/// Scores and sums of values over the rows of each sequence, of which every head reads all channels as a key, and those
/// of the latent space as a value too.
static void countLatentDecode(const Problem &problem, Work &work) {
  auto lengths = problem.values.find("seq_lens");
  if (lengths == problem.values.end()) {
    return;
  }
  auto channels = double(problem.size("latent_dim")), all = channels + double(problem.size("rope_dim"));
  double rows = 0, cached = double(problem.size("num_pages")) * double(problem.size("page_size"));
  for (Number length : lengths->second) {
    rows += double(std::clamp<Number>(length, 0, problem.size("max_kv")));
  }
  constexpr double kBytesOfElement = 2;
  work.bytes -= (cached - rows) * all * kBytesOfElement;
  work.flops = 2 * rows * double(problem.size("seq_q")) * double(problem.size("heads")) * (all + channels);
  work.peakFlops = kPeak16Bit;
}

/// Scores that queries of a window see; `diagonal` is the key of the first query's.
static double countSeen(int64_t queries, int64_t keys, int64_t left, int64_t right) {
  double seen = 0;
  for (int64_t query = 0, diagonal = keys - queries; query < queries; ++query, ++diagonal) {
    int64_t begin = left < 0 ? 0 : std::max<int64_t>(0, diagonal - left);
    int64_t end = right < 0 ? keys : std::min(keys, diagonal + right + 1);
    seen += double(std::max<int64_t>(0, end - begin));
  }
  return seen;
}

/// Of each sequence; `side` is "q" or "k". Where nothing says, as many as there may be, and equal shares of packed
/// ones.
static std::vector<int64_t> sequenceLengths(const Problem &problem, const std::string &side) {
  auto batch = size_t(problem.size("batch"));
  int64_t most = problem.size("seq_" + side);
  bool isPacked = problem.description.flag("packed");
  auto given = problem.values.find((isPacked ? "cu_seqlens_" : "seq_lens_") + side);
  bool isGiven = given != problem.values.end() && given->second.size() == batch + size_t(isPacked);
  std::vector<int64_t> lengths(batch, most);
  for (size_t i = 0; i < batch; ++i) {
    if (isGiven) {
      const std::vector<Number> &values = given->second;
      lengths[i] = int64_t(isPacked ? values[i + 1] - values[i] : values[i]);
    } else if (isPacked) {
      lengths[i] = problem.size("total_" + side) / int64_t(batch);
    }
    lengths[i] = std::clamp<int64_t>(lengths[i], 0, most);
  }
  return lengths;
}

/// Causal queries see half of the scores, by convention.
static void countAttention(const Problem &problem, Work &work) {
  bool isCausal = problem.description.flag("causal");
  int64_t left = problem.size("window_left"), right = isCausal ? 0 : problem.size("window_right");
  bool isWindow = left >= 0 || (right >= 0 && !isCausal);
  double seen = 0, share = isCausal ? 0.5 : 1;
  std::vector<int64_t> queries = sequenceLengths(problem, "q"), keys = sequenceLengths(problem, "k");
  for (size_t i = 0; i < queries.size(); ++i) {
    seen += isWindow ? countSeen(queries[i], keys[i], left, right) : share * double(queries[i]) * double(keys[i]);
  }
  double channels = double(problem.size("head_dim") + problem.size("value_dim"));
  work.flops = 2 * double(problem.size("heads")) * seen * channels;
  work.peakFlops = kPeak16Bit;
}

/// Of A, its scales and C, the valid rows of each group alone.
static void countValidRows(const Problem &problem, const std::vector<TensorShape> &shapes, Work &work) {
  double valid =
      double(validRowsOfGroup(problem.description, problem.sizes)) / double(std::max<int64_t>(1, problem.size("m")));
  work.flops *= double(problem.size("groups")) * valid;
  for (const TensorShape &shape : shapes) {
    if (shape.name == "a" || shape.name == "a_scale" || shape.name == "c") {
      work.bytes -= (1 - valid) * double(shape.bytes());
    }
  }
}

Result<Work> workOf(const Description &description, const DynamicSizes &sizes, const GivenValues &values) {
  Result<std::vector<TensorShape>> shapes = tensorShapes(description, sizes);
  if (!shapes.ok()) {
    return std::move(shapes).takeStatus();
  }
  const Problem problem = {description, sizes, values};
  Work work;
  for (const TensorShape &shape : *shapes) {
    work.bytes += double(shape.bytes()) * (shape.access == Access::Updated ? 2 : 1);
  }
  const std::string &op = problem.description.op();
  auto product = [&](std::initializer_list<const char *> dimensions) {
    double result = 2;
    for (const char *dimension : dimensions) {
      result *= double(problem.size(dimension));
    }
    return result;
  };
  if (op == "matmul" || op == "fp8_block_matmul") {
    work.flops = product({"m", "n", "k"});
    work.peakFlops = op == "matmul" ? kPeak16Bit : 2 * kPeak16Bit;
  } else if (op == "grouped_fp8_block_matmul") {
    work.flops = product({"m", "n", "k"});
    work.peakFlops = 2 * kPeak16Bit;
    if (problem.description.flag("masked")) {
      countValidRows(problem, *shapes, work);
    }
  } else if (op == "flash_attention") {
    countAttention(problem, work);
  } else if (op == "gated_delta_rule") {
    countDeltaRule(problem, work);
  } else if (op == "mla_decode") {
    countLatentDecode(problem, work);
  }
  return work;
}

} // namespace jitk::reference
