// A small engine: it loads a model's configuration, plans, prepares, seals, and serves batches of one attention layer.
//
//   engine_example config.json emulator:sm_90a          or cuda:0, where the layer is captured into a CUDA graph too
//
// y = x + attention(x Wq, x Wk, x Wv) Wo, in fp16, for batches of several numbers of tokens. Each is compared with the
// same formula on the host. Exit code 1 if one differs.

#include "jitk/jitk.hpp"

#include "graph.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace api = jitk::api;

namespace {

using Half = _Float16;

struct Config {
  int64_t hidden, heads, kvHeads, headDim;
};

/// An integer member of a flat JSON object. A real engine has a parser.
int64_t member(const std::string &json, const std::string &name) {
  size_t at = json.find("\"" + name + "\"");
  size_t colon = at == std::string::npos ? at : json.find(':', at);
  if (colon == std::string::npos) {
    throw std::runtime_error("configuration must have the member " + name);
  }
  return std::stoll(json.substr(colon + 1));
}

Config loadConfig(const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string json = text.str();
  return {member(json, "hidden_size"), member(json, "num_attention_heads"), member(json, "num_key_value_heads"),
          member(json, "head_dim")};
}

/// A matrix in device memory, with what it was made of on the host.
struct Matrix {
  Matrix(const api::Device &device, int64_t rows, int64_t columns)
      : columns(columns), host(size_t(rows * columns)), memory(device, host.size() * sizeof(Half)) {}

  void draw(const api::Device &device, std::mt19937 &random, double deviation) {
    std::normal_distribution<float> normal(0, float(deviation));
    std::generate(host.begin(), host.end(), [&] { return Half(normal(random)); });
    device.copyToDevice(memory.address(), host.data(), memory.size());
  }
  double at(int64_t row, int64_t column) const { return double(host[size_t(row * columns + column)]); }

  int64_t columns;
  std::vector<Half> host;
  api::Buffer memory;
};

/// One product of the layer: a kernel for each bucket of tokens, and the table that finds it.
class Projection {
public:
  static constexpr int64_t kBuckets[] = {16, 64};

  Projection(int64_t inputs, int64_t outputs, bool residual)
      : text_(" n=" + std::to_string(outputs) + " k=" + std::to_string(inputs) +
              " dtype=fp16 residual=" + (residual ? "true" : "false")) {}

  void addTo(const api::Plan &plan) const {
    for (int64_t bucket : kBuckets) {
      plan.add(describe(bucket));
    }
  }
  /// After the plan is sealed.
  void bind(const api::Plan &plan, const api::Device &device) {
    table_ = api::Dispatch::create(plan, device, describe(kBuckets[0]), {"m"});
  }
  void launch(const std::vector<uint64_t> &tensors, int64_t tokens, void *stream) const {
    table_.kernel({tokens}).launch(tensors, {tokens}, {}, 0, 0, stream);
  }

private:
  api::Description describe(int64_t bucket) const {
    return api::Description::parse("matmul m=*<=" + std::to_string(bucket) + text_);
  }
  std::string text_;
  api::Dispatch table_;
};

/// The layer and its memory for at most so many tokens.
class Layer {
public:
  static constexpr int64_t kMostTokens = 64;

  Layer(const api::Runtime &runtime, const api::Device &device, const Config &config)
      : config_(config), device_(device), toQ_(config.hidden, config.heads * config.headDim, false),
        toKv_(config.hidden, config.kvHeads * config.headDim, false),
        toOutput_(config.heads * config.headDim, config.hidden, true), x(device, kMostTokens, config.hidden),
        wq(device, config.hidden, config.heads * config.headDim),
        wk(device, config.hidden, config.kvHeads * config.headDim), wv(device, config.hidden, wk.columns),
        wo(device, wq.columns, config.hidden), q(device, kMostTokens, wq.columns), k(device, kMostTokens, wk.columns),
        v(device, kMostTokens, wk.columns), o(device, kMostTokens, wq.columns), y(device, kMostTokens, config.hidden),
        lse(device, size_t(kMostTokens * config.heads) * sizeof(float)) {
    prepare(runtime);
    std::mt19937 random(1);
    for (Matrix *weight : {&wq, &wk, &wv, &wo}) {
      weight->draw(device, random, 1 / std::sqrt(double(config.hidden)));
    }
    x.draw(device, random, 1);
  }

  /// Enqueues the layer for the first `tokens` rows of x. Neither waits nor allocates: it may be captured.
  void run(int64_t tokens, void *stream) const {
    auto address = [](const Matrix &matrix) { return matrix.memory.address(); };
    toQ_.launch({address(x), address(wq), address(q)}, tokens, stream);
    toKv_.launch({address(x), address(wk), address(k)}, tokens, stream);
    toKv_.launch({address(x), address(wv), address(v)}, tokens, stream);
    std::vector<int64_t> sizes(attention_.dimensions().size(), tokens);
    attention_.launch({address(q), address(k), address(v), address(o), lse.address()}, sizes, {}, 0, 0, stream);
    toOutput_.launch({address(o), address(wo), address(x), address(y)}, tokens, stream);
  }

  /// The largest difference from the formula on the host.
  double check(int64_t tokens);

private:
  void prepare(const api::Runtime &runtime) {
    api::Plan plan = api::Plan::create(runtime);
    for (const Projection *projection : {&toQ_, &toKv_, &toOutput_}) {
      projection->addTo(plan);
    }
    api::Description attention =
        api::Description::create("flash_attention", {{"heads", std::to_string(config_.heads)},
                                                     {"kv_heads", std::to_string(config_.kvHeads)},
                                                     {"seq_q", "*<=64"},
                                                     {"seq_k", "*<=64"},
                                                     {"head_dim", std::to_string(config_.headDim)},
                                                     {"causal", "true"},
                                                     {"dtype", "fp16"}});
    plan.add(attention);
    jitk_prepare_options_t options = {};
    options.device = device_.get();
    plan.prepare(options); // returns at once: here an engine loads its weights
    plan.wait();
    plan.seal(); // nothing compiles and nothing loads from here on
    for (Projection *projection : {&toQ_, &toKv_, &toOutput_}) {
      projection->bind(plan, device_);
    }
    attention_ = plan.kernel(device_, attention);
    std::printf("%zu kernels are ready\n", plan.size());
  }
  void attend(const std::vector<double> &hostQ, const std::vector<double> &hostK, const std::vector<double> &hostV,
              int64_t row, std::vector<double> &out) const;
  std::vector<double> product(const Matrix &weight, int64_t tokens) const;

  Config config_;
  api::Device device_;
  Projection toQ_, toKv_, toOutput_;
  api::Kernel attention_;

public:
  Matrix x, wq, wk, wv, wo, q, k, v, o, y;
  api::Buffer lse;
};

std::vector<double> Layer::product(const Matrix &weight, int64_t tokens) const {
  std::vector<double> out(size_t(tokens * weight.columns), 0);
  for (int64_t row = 0; row < tokens; ++row) {
    for (int64_t i = 0; i < config_.hidden; ++i) {
      for (int64_t column = 0; column < weight.columns; ++column) {
        out[size_t(row * weight.columns + column)] += x.at(row, i) * weight.at(i, column);
      }
    }
  }
  return out;
}

void Layer::attend(const std::vector<double> &hostQ, const std::vector<double> &hostK, const std::vector<double> &hostV,
                   int64_t row, std::vector<double> &out) const {
  int64_t d = config_.headDim, group = config_.heads / config_.kvHeads;
  for (int64_t head = 0; head < config_.heads; ++head) {
    const double *ofQ = &hostQ[size_t(row * wq.columns + head * d)];
    std::vector<double> weights;
    double total = 0;
    for (int64_t key = 0; key <= row; ++key) {
      const double *ofK = &hostK[size_t(key * wk.columns + head / group * d)];
      double score = 0;
      for (int64_t i = 0; i < d; ++i) {
        score += ofQ[i] * ofK[i];
      }
      weights.push_back(std::exp(score / std::sqrt(double(d))));
      total += weights.back();
    }
    for (int64_t key = 0; key <= row; ++key) {
      for (int64_t i = 0; i < d; ++i) {
        out[size_t(head * d + i)] +=
            weights[size_t(key)] / total * hostV[size_t(key * wk.columns + head / group * d + i)];
      }
    }
  }
}

double Layer::check(int64_t tokens) {
  device_.copyToHost(y.host.data(), y.memory.address(), y.memory.size());
  std::vector<double> hostQ = product(wq, tokens), hostK = product(wk, tokens), hostV = product(wv, tokens);
  double worst = 0;
  for (int64_t row = 0; row < tokens; ++row) {
    std::vector<double> attended(size_t(wq.columns), 0);
    attend(hostQ, hostK, hostV, row, attended);
    for (int64_t column = 0; column < config_.hidden; ++column) {
      double wanted = x.at(row, column);
      for (int64_t i = 0; i < wq.columns; ++i) {
        wanted += attended[size_t(i)] * wo.at(i, column);
      }
      double difference = std::fabs(y.at(row, column) - wanted);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return worst;
}

/// Four roundings to fp16, 2^-11 each, of values of up to about 4.
constexpr double kTolerance = 4 * 4 * 0x1p-11;

bool isGood(const char *how, int64_t tokens, double worst) {
  std::printf("%2lld tokens, %s: largest difference %.2g (allowed %.2g)\n", static_cast<long long>(tokens), how, worst,
              kTolerance);
  return worst <= kTolerance;
}

int serve(const Config &config, const std::string &deviceName) {
  api::Runtime runtime = api::Runtime::create();
  api::Device device = api::Device::open(runtime, deviceName);
  Layer layer(runtime, device, config);
  bool good = true;
  for (int64_t tokens : {1, 13, 16, 50}) {
    device.fill(layer.y.memory.address(), 0xFF, layer.y.memory.size());
    layer.run(tokens, nullptr);
    device.synchronize();
    good = isGood("launched", tokens, layer.check(tokens)) && good;
  }
  if (deviceName.rfind("cuda:", 0) == 0) {
    constexpr int64_t kTokens = 16;
    example::Graph graph([&](void *stream) { layer.run(kTokens, stream); });
    device.fill(layer.y.memory.address(), 0xFF, layer.y.memory.size());
    graph.launch();
    good = isGood("from a graph", kTokens, layer.check(kTokens)) && good;
  }
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s config.json device\n", argv[0]);
    return 2;
  }
  try {
    return serve(loadConfig(argv[1]), argv[2]);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
