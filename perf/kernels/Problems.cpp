#include "perf/kernels/Problems.h"

#include "src/ops/OpSchema.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace jitk::perf {

int64_t Problem::size(std::string_view attribute) const {
  Result<int64_t> size = sizeOf(description, attribute, sizes);
  if (!size.ok()) {
    throw std::runtime_error(size.status().toString());
  }
  return *size;
}

static Problem parse(const std::string &line) {
  std::istringstream words(line);
  std::string word, text;
  DynamicSizes sizes;
  while (words >> word) {
    size_t colon = word.find(':');
    if (colon == std::string::npos) {
      text += (text.empty() ? "" : " ") + word;
    } else {
      sizes[word.substr(0, colon)] = std::stoll(word.substr(colon + 1));
    }
  }
  Result<Description> description = parseDescription(text);
  if (!description.ok()) {
    throw std::runtime_error(description.status().toString());
  }
  return {text, *description, sizes};
}

std::vector<Problem> readProblems(const std::string &file) {
  std::ifstream stream(file);
  if (!stream) {
    throw std::runtime_error("cannot read " + file);
  }
  std::vector<Problem> problems;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    try {
      problems.push_back(parse(line));
    } catch (const std::exception &failure) {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": " + failure.what());
    }
  }
  return problems;
}

double Work::roof() const {
  constexpr double kBytesPerSecond = 4.8e12, kMicroseconds = 1e6;
  return kMicroseconds * std::max(peakFlops > 0 ? flops / peakFlops : 0.0, bytes / kBytesPerSecond);
}

static constexpr double kPeak16Bit = 989e12, kPeakFp32 = 67e12;

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

Work workOf(const Problem &problem) {
  Work work;
  Result<std::vector<TensorShape>> shapes = tensorShapes(problem.description, problem.sizes);
  if (!shapes.ok()) {
    throw std::runtime_error(shapes.status().toString());
  }
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
    work.flops = product({"m", "n", "k"}) * double(problem.description.flag("masked") ? problem.size("groups") : 1);
    work.peakFlops = 2 * kPeak16Bit;
  } else if (op == "flash_attention") {
    double scores = product({"batch", "heads", "seq_q", "seq_k"});
    double share = problem.description.flag("causal") ? 0.5 : 1;
    work.flops = share * scores * double(problem.size("head_dim") + problem.size("value_dim"));
    work.peakFlops = kPeak16Bit;
  } else if (op == "gated_delta_rule") {
    countDeltaRule(problem, work);
  }
  return work;
}

} // namespace jitk::perf
