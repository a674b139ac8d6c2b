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

/// The number that a text begins with; what follows it must begin with `after`, which is taken off too.
static int64_t takeNumber(std::string &text, std::string_view after) {
  size_t used = 0;
  int64_t number = std::stoll(text, &used);
  if (!std::string_view(text).substr(used).starts_with(after)) {
    throw std::runtime_error("values must be numbers, and first..last/step, with commas between: got '" + text + "'");
  }
  text.erase(0, used + after.size());
  return number;
}

/// "128,256..320/64": 128, 256 and 320.
static std::vector<reference::Number> parseValues(const std::string &text) {
  std::vector<reference::Number> values;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    bool isRange = item.find("..") != std::string::npos;
    int64_t first = takeNumber(item, isRange ? ".." : ""), last = isRange ? takeNumber(item, "/") : first;
    int64_t step = isRange ? takeNumber(item, "") : 1;
    if (!item.empty() || step < 1) {
      throw std::runtime_error("a value must be a number, and a step 1 or more: got '" + text + "'");
    }
    for (int64_t value = first; value <= last; value += step) {
      values.push_back(value);
    }
  }
  return values;
}

static Problem parse(const std::string &text) {
  std::istringstream words(text);
  std::string line, description;
  std::vector<std::pair<std::string, std::string>> given;
  auto append = [](std::string &to, const std::string &word) { to += (to.empty() ? "" : " ") + word; };
  for (std::string word; words >> word;) {
    append(line, word);
    if (size_t colon = word.find(':'); colon != std::string::npos) {
      given.emplace_back(word.substr(0, colon), word.substr(colon + 1));
    } else {
      append(description, word);
    }
  }
  Result<Description> parsed = parseDescription(description);
  if (!parsed.ok()) {
    throw std::runtime_error(parsed.status().toString());
  }
  Problem problem = {description, line, *std::move(parsed), {}, {}};
  const OpSchema &op = **findOp(problem.description.op());
  for (const auto &[name, value] : given) {
    if (std::ranges::find(op.tensors, name, &TensorSchema::name) != op.tensors.end()) {
      problem.values[name] = parseValues(value);
    } else {
      problem.sizes[name] = std::stoll(value);
    }
  }
  return problem;
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

int64_t validRowsOfGroup(const Problem &problem) {
  int64_t m = problem.size("m"), expected = problem.size("expected_m");
  return expected ? std::min(expected, m) : m;
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

/// Scores and sums of values over the rows of each sequence, of which every head reads all channels as a key, and those
/// of the latent space as a value too.
static void countLatentDecode(const Problem &problem, Work &work) {
  auto lengths = problem.values.find("seq_lens");
  if (lengths == problem.values.end()) {
    return;
  }
  auto channels = double(problem.size("latent_dim")), all = channels + double(problem.size("rope_dim"));
  double rows = 0, cached = double(problem.size("num_pages")) * double(problem.size("page_size"));
  for (reference::Number length : lengths->second) {
    rows += double(std::clamp<reference::Number>(length, 0, problem.size("max_kv")));
  }
  constexpr double kBytesOfElement = 2;
  work.bytes -= (cached - rows) * all * kBytesOfElement;
  work.flops = 2 * rows * double(problem.size("seq_q")) * double(problem.size("heads")) * (all + channels);
  work.peakFlops = kPeak16Bit;
}

/// Of A, its scales and C, the valid rows of each group alone.
static void countValidRows(const Problem &problem, const std::vector<TensorShape> &shapes, Work &work) {
  double valid = double(validRowsOfGroup(problem)) / double(std::max<int64_t>(1, problem.size("m")));
  work.flops *= double(problem.size("groups")) * valid;
  for (const TensorShape &shape : shapes) {
    if (shape.name == "a" || shape.name == "a_scale" || shape.name == "c") {
      work.bytes -= (1 - valid) * double(shape.bytes());
    }
  }
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
    work.flops = product({"m", "n", "k"});
    work.peakFlops = 2 * kPeak16Bit;
    if (problem.description.flag("masked")) {
      countValidRows(problem, *shapes, work);
    }
  } else if (op == "flash_attention") {
    double scores = product({"batch", "heads", "seq_q", "seq_k"});
    double share = problem.description.flag("causal") ? 0.5 : 1;
    work.flops = share * scores * double(problem.size("head_dim") + problem.size("value_dim"));
    work.peakFlops = kPeak16Bit;
  } else if (op == "gated_delta_rule") {
    countDeltaRule(problem, work);
  } else if (op == "mla_decode") {
    countLatentDecode(problem, work);
  }
  return work;
}

} // namespace jitk::perf
