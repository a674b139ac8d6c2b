// The time of kernels on a GPU, beside a peer's in the same process.
//
//   bench_kernels problems/matmul.txt --out results
//
// All kernels are compiled first, on all cores. Each problem is checked, then timed: a CUDA graph of up to 20 calls, 30
// replays, the median; jitk (A) and its peers (B, C) take turns as A B C C B A, three times, with a pause before each
// turn, in which the card cools down. A peer that is missing is named, and the rest goes on without it. Writes
// results.json after each problem, of which perf/report/report.py makes a page and pictures. Exit code 1 where a result
// is wrong or a problem cannot be run.

#include "jitk/jitk.hpp"
#include "src/reference/Instance.h"
#include "src/reference/Numeric.h"
#include "src/reference/Parallel.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/checked/Prepare.h"
#include "src/tools/timing/Contender.h"
#include "src/tools/timing/CublasPeer.h"

#include "perf/commit/Commit.h"
#include "perf/kernels/DeepGemmPeer.h"
#include "perf/kernels/Report.h"
#include "perf/peers/SeparateEpilogue.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

using namespace jitk;
using namespace jitk::perf;

namespace {

struct Options {
  std::vector<std::string> problems;
  std::string out, peer = "cublaslt", store, deepGemm;
  int device = 0;
  timing::Protocol protocol;
  double seconds = HUGE_VAL;
  bool programmatic = false;
};

bool isMasked(const Problem &problem) {
  return problem.description.op() == "grouped_fp8_block_matmul" && problem.description.flag("masked");
}

/// What the list gives; groups of equally many rows, of which as many are valid as are expected: the work that is
/// counted.
reference::GivenValues valuesOf(const Problem &problem) {
  if (problem.description.op() != "grouped_fp8_block_matmul") {
    return problem.values;
  }
  int64_t m = problem.size("m"), groups = problem.size("groups");
  if (isMasked(problem)) {
    return {{"valid_rows", std::vector<reference::Number>(size_t(groups), validRowsOfGroup(problem))}};
  }
  std::vector<reference::Number> ofRows;
  for (int64_t row = 0; row < m; ++row) {
    ofRows.push_back(row * groups / m);
  }
  return {{"row_group", std::move(ofRows)}};
}

/// The tensors of a problem on the device. Large inputs repeat a random pattern, whose length shares no factor with a
/// power of two.
class Tensors {
public:
  Tensors(const api::Device &device, const timing::Gpu &gpu, const Problem &problem) {
    constexpr int64_t kLarge = 1 << 24;
    Result<std::vector<TensorShape>> shapes = tensorShapes(problem.description, problem.sizes);
    int64_t elements = 0;
    for (const TensorShape &shape : *shapes) {
      elements += shape.numElements();
    }
    const std::string &op = problem.description.op();
    bool repeats = elements > kLarge && (op == "matmul" || op.ends_with("fp8_block_matmul"));
    reference::GivenValues given = valuesOf(problem);
    std::vector<reference::HostTensor> data;
    if (!repeats) {
      data = *reference::makeTensors(problem.description, problem.sizes, 1, given);
    }
    for (size_t i = 0; i < shapes->size(); ++i) {
      shapes_.push_back((*shapes)[i]);
      size_t bytes = size_t(shapes_[i].span());
      buffers_.emplace_back(device, std::max<size_t>(bytes, 1));
      addresses_.push_back(buffers_.back().address());
      if (!repeats) {
        device.copyToDevice(addresses_[i], reference::spreadRows(data[i]).data(), bytes);
      } else if (auto values = given.find(shapes_[i].name); values != given.end()) {
        std::vector<int32_t> numbers(values->second.begin(), values->second.end());
        device.copyToDevice(addresses_[i], numbers.data(), bytes);
      } else if (shapes_[i].access != Access::Written) {
        std::vector<uint8_t> pattern = patternOf(op, shapes_[i], i);
        device.copyToDevice(addresses_[i], pattern.data(), std::min(pattern.size(), bytes));
        gpu.repeat(addresses_[i], pattern.size(), bytes);
      }
    }
    poison(device);
  }

  const std::vector<uint64_t> &addresses() const { return addresses_; }
  /// Of the tensor of that name; 0 if there is none.
  uint64_t address(std::string_view name) const {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i].name == name) {
        return addresses_[i];
      }
    }
    return 0;
  }

  /// Makes every byte of what is only written wrong.
  void poison(const api::Device &device) const {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i].access == Access::Written) {
        device.fill(addresses_[i], 0xFF, buffers_[i].size());
      }
    }
  }

  /// The same, and makes the last tensor zero if it is added to.
  void clear(const api::Device &device) const {
    poison(device);
    if (shapes_.back().access == Access::Updated) {
      device.fill(addresses_.back(), 0, buffers_.back().size());
    }
  }

  std::vector<float> values(const api::Device &device, size_t index) const {
    std::vector<uint8_t> bytes(size_t(shapes_[index].span()));
    device.copyToHost(bytes.data(), addresses_[index], bytes.size());
    return reference::decode(shapes_[index].dtype, reference::gatherRows(shapes_[index], std::move(bytes)));
  }

private:
  /// Of the tensor's type: a row of the op's first operand, or its scales.
  static std::vector<uint8_t> patternOf(const std::string &op, const TensorShape &shape, size_t seed) {
    constexpr int64_t kElements = 1000003;
    std::string text = "fp8_block_matmul m=1 n=1 k=" + std::to_string(kElements);
    if (op == "matmul") {
      // A residual has any type that C has.
      text = "matmul m=1 n=" + std::to_string(kElements) + " k=1 residual=true out_dtype=" + shape.dtype;
    }
    Result<Description> sample = parseDescription(text);
    std::vector<reference::HostTensor> tensors = *reference::makeTensors(*sample, {}, 1 + seed);
    for (reference::HostTensor &tensor : tensors) {
      if (op == "matmul" ? tensor.shape.name == "residual" : tensor.shape.dtype == shape.dtype) {
        return std::move(tensor.bytes);
      }
    }
    throw std::logic_error("no pattern for tensor " + shape.name);
  }

  std::vector<TensorShape> shapes_;
  std::vector<api::Buffer> buffers_;
  std::vector<uint64_t> addresses_;
};

class KernelBench {
public:
  explicit KernelBench(const Options &options) : options_(options), gpu_(options.device) {
    jitk_runtime_options_t runtime = {};
    runtime.struct_size = sizeof runtime;
    runtime.store_path = options.store.c_str();
    runtime_ = api::Runtime::create(&runtime);
    device_ = api::Device::open(runtime_, "cuda:" + std::to_string(options.device));
    if (options.peer == "cublaslt") {
      try {
        cublas_ = std::make_unique<timing::CublasPeer>(device_, gpu_);
      } catch (const std::exception &missing) {
        missingPeer_ = missing.what();
      }
    }
    if (!options.deepGemm.empty()) {
      deepGemm_ = std::make_unique<DeepGemmPeer>(device_, gpu_, options.deepGemm);
    }
  }

  /// Compiles what the problems need, on all cores. What fails says so when its turn comes.
  void prepare(const std::vector<Problem> &problems) const;
  Measurement measure(const Problem &problem);
  /// Why the peer that was asked for is not there; empty if it is.
  const std::string &missingPeer() const { return missingPeer_; }
  std::string deviceName() const { return device_.name(); }
  std::string driver() const { return gpu_.driverVersion(); }

private:
  struct Peer {
    std::string name;
    std::function<void(void *)> enqueue;
    std::string roundedTo = {};                    ///< before the type of the result; empty: nothing is
    std::function<void(void *)> enqueueIntoC = {}; ///< where `enqueue` leaves its result elsewhere
  };

  void time(const Problem &problem, Measurement &result);
  /// The one that the kernel is built in; empty where there is one way, or one for each range of a size.
  std::string configurationOf(const Problem &problem) const;
  /// Runs the kernel once and compares its last tensor; how. Throws where the result is wrong.
  std::string check(const Problem &problem, const Tensors &tensors, const std::function<void(void *)> &enqueue,
                    const Peer &other) const;
  /// Throws where the kernel and the peer differ by more than `bounds` times what two results of one rounding may.
  void compare(const Problem &problem, const Tensors &tensors, const std::function<void(void *)> &enqueue,
               const Peer &other, double bounds) const;
  std::vector<float> resultOf(const Tensors &tensors, const std::function<void(void *)> &enqueue) const;
  /// What computes the same from the same tensors, to compare with. Without a body where nothing does.
  Peer counterpart(const Problem &problem, const Tensors &tensors);
  /// Of the plain kernel, which takes a product whose K is known at launch only: the one for the same sizes.
  Peer specializedKernel(const Problem &problem, const Tensors &tensors) const;
  /// What is timed beside the kernel: a counterpart, or the same product of 16-bit operands.
  Peer yardstick(const Problem &problem, const Peer &other);
  /// DeepGEMM's kernels for the problem, where it has been given.
  std::vector<Peer> deepGemmKernels(const Problem &problem, const Tensors &tensors);
  /// The same by cuBLASLt's bare product and a kernel for what follows it. Without a body where nothing follows.
  Peer separateKernels(const Problem &problem, const Tensors &tensors);
  static timing::ProductAddresses addressesOf(const Tensors &tensors);

  Options options_;
  timing::Gpu gpu_;
  api::Runtime runtime_;
  api::Device device_;
  std::unique_ptr<timing::CublasPeer> cublas_;
  std::string missingPeer_;
  std::unique_ptr<DeepGemmPeer> deepGemm_;
  api::Buffer bareProduct_;
  std::unique_ptr<Tensors> peerTensors_;
};

timing::Product productOf(const Problem &problem) { return timing::productOf(problem.description, problem.sizes); }

} // namespace

timing::ProductAddresses KernelBench::addressesOf(const Tensors &tensors) {
  uint64_t c = tensors.address("c"), residual = tensors.address("residual");
  return {.a = tensors.address("a"),
          .b = tensors.address("b"),
          .c = c,
          .bias = tensors.address("bias"),
          .addend = residual ? residual : c};
}

/// The elements of C that are the result: of each `period` the first `count`. Of masked groups those of valid rows.
struct Defined {
  size_t period = SIZE_MAX, count = SIZE_MAX;
  bool contains(size_t element) const { return element % period < count; }
};

static Defined definedOf(const Problem &problem) {
  if (!isMasked(problem)) {
    return {};
  }
  auto n = size_t(problem.size("n"));
  return {size_t(problem.size("m")) * n, size_t(validRowsOfGroup(problem)) * n};
}

/// How far two results may lie apart. In 16 bits both sum k products of N(0,1) in fp32 and round once: they differ by
/// one unit of the largest sum, about 6 sqrt(k). In fp8 both may be off by what the tensor cores cut off of sums of
/// blocks: 2^-8 of the result's RMS bounds it, as for the reference.
static double boundOf(const Problem &problem, const std::vector<float> &wanted, const std::string &roundedTo) {
  double k = double(problem.size("k")), unit = 2 * reference::unitRoundoff(problem.description.word("out_dtype"));
  unit = std::max(unit, roundedTo.empty() ? 0 : 2 * reference::unitRoundoff(roundedTo));
  if (problem.description.op() == "matmul") {
    return unit * 6 * std::sqrt(k) + 1e-6 * k;
  }
  double squares = 0, largest = 0;
  Defined defined = definedOf(problem);
  size_t count = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (defined.contains(i)) {
      double value = wanted[i];
      squares += value * value;
      largest = std::max(largest, std::fabs(value));
      ++count;
    }
  }
  return unit * largest + 0x1p-8 * std::sqrt(squares / double(std::max<size_t>(1, count)));
}

std::string KernelBench::check(const Problem &problem, const Tensors &tensors,
                               const std::function<void(void *)> &enqueue, const Peer &other) const {
  // What adds to its own output is not run twice.
  bool accumulates = problem.description.op() == "matmul" && problem.description.flag("accumulate");
  if (!other.enqueue || accumulates) {
    checked::Outcome outcome = checked::run(runtime_, device_, {problem.text, problem.sizes, 1, problem.values});
    if (!outcome.passed()) {
      throw std::runtime_error("the result is wrong");
    }
    return outcome.sampled ? "rows against float64" : "against float64";
  }
  compare(problem, tensors, enqueue, other, 1);
  return "every element against " + other.name;
}

std::vector<float> KernelBench::resultOf(const Tensors &tensors, const std::function<void(void *)> &enqueue) const {
  tensors.clear(device_);
  enqueue(gpu_.stream());
  gpu_.synchronize();
  return tensors.values(device_, tensors.addresses().size() - 1);
}

void KernelBench::compare(const Problem &problem, const Tensors &tensors, const std::function<void(void *)> &enqueue,
                          const Peer &other, double bounds) const {
  std::vector<float> ours = resultOf(tensors, enqueue),
                     theirs = resultOf(tensors, other.enqueueIntoC ? other.enqueueIntoC : other.enqueue);
  double bound = bounds * boundOf(problem, theirs, other.roundedTo);
  Defined defined = definedOf(problem);
  std::atomic<size_t> wrong = ours.size();
  reference::forEachBlock(ours.size(), [&](size_t, size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      if (defined.contains(i) && !(std::fabs(double(ours[i]) - theirs[i]) <= bound)) {
        wrong = i;
        return;
      }
    }
  });
  if (size_t i = wrong; i < ours.size()) {
    throw std::runtime_error("the result is wrong: element " + std::to_string(i) + " is " + std::to_string(ours[i]) +
                             ", " + other.name + " has " + std::to_string(theirs[i]));
  }
}

KernelBench::Peer KernelBench::separateKernels(const Problem &problem, const Tensors &tensors) {
  if (!cublas_ || problem.description.op() != "matmul" || timing::hasRowsApart(problem.description) ||
      !timing::SeparateEpilogue::follows(productOf(problem))) {
    return {};
  }
  timing::Product product = productOf(problem), bare = timing::SeparateEpilogue::bare(product);
  timing::ProductAddresses addresses = addressesOf(tensors), ofBare = addresses;
  // What C holds must last until it is added, and the bare product may be narrower.
  if ((product.hasAddend && addresses.addend == addresses.c) || bare.outDtype != product.outDtype) {
    bareProduct_ = api::Buffer(device_, uint64_t(product.m * product.n) * (bare.outDtype == "fp32" ? 4 : 2));
    ofBare.c = bareProduct_.address();
  }
  ofBare.addend = ofBare.c;
  auto epilogue = std::make_shared<timing::SeparateEpilogue>(runtime_, device_, product);
  return {"cuBLASLt and a separate kernel",
          [=, multiply = cublas_->best(bare, ofBare)](void *stream) {
            multiply(stream);
            epilogue->run(ofBare.c, addresses, stream);
          },
          bare.outDtype};
}

/// The description of the same product with all sizes in it; empty where it has them, or is none.
static std::string specializedText(const Problem &problem) {
  const Description &description = problem.description;
  if (description.op() != "matmul" || description.dimension("k").isStatic()) {
    return "";
  }
  std::istringstream words(problem.text);
  std::string text;
  for (std::string word; words >> word;) {
    std::string name = word.substr(0, word.find('='));
    bool isSize = name == "m" || name == "n" || name == "k";
    text += (text.empty() ? "" : " ") + (isSize ? name + "=" + std::to_string(problem.size(name)) : word);
  }
  return text;
}

/// The kernel for a K that is not known is the plain one. Empty where that is the problem's own, or no fp8.
static std::string plainText(const Problem &problem) {
  const Description &description = problem.description;
  const std::string &op = description.op();
  if (!op.ends_with("fp8_block_matmul") || !description.dimension("k").isStatic() ||
      timing::hasRowsApart(description)) {
    return "";
  }
  std::string text = op + " out_dtype=" + description.word("out_dtype") +
                     " a_scale_layout=" + description.word("a_scale_layout") + " m=* n=* k=*";
  text += problem.size("k") % 16 == 0 ? "%16" : "";
  if (op == "grouped_fp8_block_matmul") {
    text += isMasked(problem) ? " groups=* masked=true" : " groups=*";
  }
  for (const char *tensor : {"a", "b", "c"}) {
    if (std::optional<int64_t> stride = description.rowStride(tensor)) {
      text += std::string(" ") + tensor + "_stride=" + std::to_string(*stride);
    }
  }
  return text;
}

void KernelBench::prepare(const std::vector<Problem> &problems) const {
  std::vector<std::string> descriptions;
  for (const Problem &problem : problems) {
    for (const std::string &text : {problem.text, plainText(problem), specializedText(problem)}) {
      if (!text.empty()) {
        descriptions.push_back(text);
      }
    }
  }
  checked::prepare(runtime_, device_.target(), descriptions);
}

KernelBench::Peer KernelBench::counterpart(const Problem &problem, const Tensors &tensors) {
  if (cublas_ && timing::hasCublasPeer(problem.description)) {
    return {"cuBLASLt, best of 8", cublas_->best(productOf(problem), addressesOf(tensors))};
  }
  std::string text = plainText(problem);
  if (text.empty()) {
    return {};
  }
  auto plain = std::make_shared<api::Kernel>(api::Kernel::obtain(runtime_, device_, api::Description::parse(text)));
  std::vector<int64_t> sizes;
  for (const std::string &name : plain->dimensions()) {
    sizes.push_back(problem.size(name));
  }
  return {"the plain kernel", [plain, sizes, addresses = tensors.addresses()](void *stream) {
            plain->launch(addresses, sizes, {}, 0, 0, stream);
          }};
}

KernelBench::Peer KernelBench::specializedKernel(const Problem &problem, const Tensors &tensors) const {
  std::string text = specializedText(problem);
  if (text.empty()) {
    return {};
  }
  auto kernel = std::make_shared<api::Kernel>(api::Kernel::obtain(runtime_, device_, api::Description::parse(text)));
  auto workspace = std::make_shared<api::Buffer>(device_, std::max<uint64_t>(kernel->workspaceBytes({}), 1));
  return {"the kernel of known sizes", [=, addresses = tensors.addresses()](void *stream) {
            kernel->launch(addresses, {}, {}, workspace->address(), workspace->size(), stream);
          }};
}

KernelBench::Peer KernelBench::yardstick(const Problem &problem, const Peer &other) {
  if (problem.description.op() == "matmul") {
    return other;
  }
  std::optional<timing::Yardstick> found = timing::bf16Yardstick(problem.description, problem.sizes);
  if (!found || !cublas_) {
    return {};
  }
  Problem tensors = {found->tensors, found->tensors, *parseDescription(found->tensors), {}, {}};
  peerTensors_ = std::make_unique<Tensors>(device_, gpu_, tensors);
  return {found->name, cublas_->best(found->product, addressesOf(*peerTensors_))};
}

std::vector<KernelBench::Peer> KernelBench::deepGemmKernels(const Problem &problem, const Tensors &tensors) {
  std::vector<Peer> peers;
  if (deepGemm_) {
    auto address = [&](std::string_view name) { return tensors.address(name); };
    for (DeepGemmPeer::Kernel &kernel : deepGemm_->find(problem, address)) {
      peers.push_back({"DeepGEMM", std::move(kernel.run), {}, std::move(kernel.runIntoC)});
    }
  }
  return peers;
}

std::string KernelBench::configurationOf(const Problem &problem) const {
  const Description &description = problem.description;
  auto named = description.attributes().find("configuration");
  if (named == description.attributes().end() || !problem.sizes.empty()) {
    return "";
  }
  if (std::string name = description.word("configuration"); !name.empty()) {
    return name;
  }
  auto all = nlohmann::json::parse(runtime_.configurations(api::Description::parse(problem.text), device_.target()));
  return all.empty() ? "" : all.front()["name"];
}

void KernelBench::time(const Problem &problem, Measurement &result) {
  api::Kernel kernel = api::Kernel::obtain(runtime_, device_, api::Description::parse(problem.text));
  jitk_kernel_info_t info = kernel.info();
  result.registers = info.registers;
  result.spillBytes = info.spill_bytes;
  result.sharedBytes = info.shared_bytes;
  result.threads = info.threads;
  result.compileMilliseconds = info.build_ms + info.lower_ms + info.llvm_ms;
  result.assembleMilliseconds = info.assemble_ms;
  result.configuration = configurationOf(problem);

  Tensors tensors(device_, gpu_, problem);
  std::vector<int64_t> sizes;
  for (const std::string &name : kernel.dimensions()) {
    sizes.push_back(problem.size(name));
  }
  api::Buffer workspace(device_, std::max<uint64_t>(kernel.workspaceBytes(sizes), 1));
  std::vector<api::Scalar> scalars =
      checked::toScalars(kernel, reference::makeScalars(problem.description, problem.values));
  auto enqueue = [&](void *stream) {
    kernel.launch(tensors.addresses(), sizes, scalars, workspace.address(), workspace.size(), stream,
                  options_.programmatic ? JITK_LAUNCH_PROGRAMMATIC : 0);
  };
  Peer other = counterpart(problem, tensors);
  result.check = check(problem, tensors, enqueue, other);
  Peer separate = separateKernels(problem, tensors), specialized = specializedKernel(problem, tensors);
  std::vector<Peer> peers = deepGemmKernels(problem, tensors); // with what their calls use
  peers.insert(peers.end(), {separate, specialized});
  std::erase_if(peers, [](const Peer &peer) { return !peer.enqueue; });
  for (const Peer &peer : peers) {
    compare(problem, tensors, enqueue, peer, /*bounds=*/2);
  }
  if (Peer peer = yardstick(problem, other); peer.enqueue) {
    peers.insert(peers.begin(), std::move(peer));
  }
  std::vector<timing::Contender> contenders;
  contenders.emplace_back(gpu_, options_.protocol, enqueue);
  for (const Peer &peer : peers) {
    contenders.emplace_back(gpu_, options_.protocol, peer.enqueue);
  }
  timing::takeTurns(contenders);
  result.times = contenders.front().times();
  // Of peers with one name the fastest counts.
  for (size_t i = 0; i < peers.size(); ++i) {
    const Times &times = contenders[i + 1].times();
    auto known = std::ranges::find(result.peers, peers[i].name, &PeerTimes::name);
    if (known == result.peers.end()) {
      result.peers.push_back({peers[i].name, times});
    } else if (median(times) < median(known->times)) {
      known->times = times;
    }
  }
}

Measurement KernelBench::measure(const Problem &problem) {
  Measurement result;
  result.problem = problem.line;
  try {
    result.work = workOf(problem);
    time(problem, result);
  } catch (const std::exception &failure) {
    result.failure = failure.what();
  }
  return result;
}

/// After each problem, so that a run that is stopped leaves a whole file of what was done.
static void write(const Report &report, const std::string &out) {
  if (!out.empty()) {
    std::ofstream(out + ".json.part") << report.json();
    std::filesystem::rename(out + ".json.part", out + ".json");
  }
}

static int run(const Options &options, const std::string &command) {
  std::vector<Problem> problems;
  for (const std::string &file : options.problems) {
    std::ranges::move(readProblems(file), std::back_inserter(problems));
  }
  KernelBench bench(options);
  Report report;
  report.commit = kCommit;
  report.build = jitk_build_id();
  report.device = bench.deviceName();
  report.driver = bench.driver();
  report.command = command;
  report.protocol = options.protocol.text() + "; warm L2, clocks as they are. Roof: 989 TFLOP/s in 16 bits, 4.8 TB/s.";
  if (!bench.missingPeer().empty()) {
    report.missing.push_back(options.peer + ": " + bench.missingPeer());
    std::printf("without the peer %s\n", report.missing.back().c_str());
  }
  auto begin = std::chrono::steady_clock::now();
  bench.prepare(problems);
  bool failed = false;
  for (const Problem &problem : problems) {
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (elapsed.count() > options.seconds) {
      std::printf("%-70s not timed: no time was left\n", problem.line.c_str());
      continue;
    }
    report.measurements.push_back(bench.measure(problem));
    const Measurement &m = report.measurements.back();
    failed = failed || !m.failure.empty();
    std::printf("%-70s %9.2f us", m.problem.c_str(), median(m.times));
    for (const PeerTimes &peer : m.peers) {
      std::printf("  %s %9.2f us  ratio %.3f", peer.name.c_str(), median(peer.times), ratioOf(m, peer));
    }
    std::printf("  %s\n", m.failure.c_str());
    std::fflush(stdout);
    write(report, options.out);
  }
  write(report, options.out);
  for (const auto &[name, ratio] : report.meanRatios()) {
    std::printf("geometric mean of the ratios to %s %.3f\n", name.c_str(), ratio);
  }
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  CLI::App app("times kernels on a GPU, beside a peer");
  Options options;
  app.add_option("problems", options.problems, "files with one problem a line")->required();
  app.add_option("--out", options.out, "write FILE.json");
  app.add_option("--peer", options.peer, "cublaslt (for matmul and fp8_block_matmul) or none")
      ->check(CLI::IsMember({"cublaslt", "none"}));
  app.add_option("--deepgemm", options.deepGemm, "folder of DeepGEMM's kernels, made by perf/peers/deepgemm.py")
      ->check(CLI::ExistingDirectory);
  app.add_option("--device", options.device, "number of the GPU");
  app.add_option("--store", options.store, "folder of the kernel store (default: none)");
  app.add_flag("--programmatic", options.programmatic, "jitk's launches may overlap (programmatic dependent launch)");
  app.add_option("--seconds", options.seconds, "begin with no problem after so many");
  app.add_option("--calls", options.protocol.calls, "most calls in a graph")->check(CLI::PositiveNumber);
  app.add_option("--replays", options.protocol.replays, "replays of each")->check(CLI::PositiveNumber);
  app.add_option("--pause", options.protocol.restMilliseconds, "milliseconds of rest before a turn")
      ->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  std::string command = "bench_kernels";
  for (int i = 1; i < argc; ++i) {
    command += std::string(" ") + argv[i];
  }
  try {
    return run(options, command);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_kernels: %s\n", failure.what());
    return 2;
  }
}
