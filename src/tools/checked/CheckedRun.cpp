#include "src/tools/checked/CheckedRun.h"

#include "src/reference/Numeric.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace jitk::checked {
namespace {

constexpr uint8_t kGuard = 0xFF;

bool isEmulator(const api::Device &device) { return device.target().starts_with("emulator:"); }

/// Bytes before and after each tensor that nothing may write: NaN in every dtype, and a multiple of any alignment. On
/// an emulator there are none, so that a read of what is not the tensor's own is a fault, too.
size_t guardBytesOn(const api::Device &device) { return isEmulator(device) ? 0 : 512; }

/// A tensor in device memory between guard bands.
class GuardedTensor {
public:
  GuardedTensor(const api::Device &device, const reference::HostTensor &tensor)
      : device_(device), shape_(tensor.shape), size_(size_t(tensor.shape.span())), guardBytes_(guardBytesOn(device)),
        buffer_(device, size_ + 2 * guardBytes_) {
    device.fill(buffer_.address(), kGuard, guardBytes_);
    device.copyToDevice(address(), reference::spreadRows(tensor).data(), size_);
    device.fill(address() + size_, kGuard, guardBytes_);
  }

  const std::string &name() const { return shape_.name; }
  uint64_t address() const { return buffer_.address() + guardBytes_; }

  /// Reads the tensor back; reports bytes of the guard bands, and between rows, that changed.
  std::vector<uint8_t> read(std::vector<std::string> &damage) const {
    checkGuard("before", buffer_.address(), damage);
    checkGuard("after", address() + size_, damage);
    std::vector<uint8_t> bytes(size_);
    device_.copyToHost(bytes.data(), address(), size_);
    if (Status status = reference::checkBetweenRows(shape_, bytes); !status.ok()) {
      damage.emplace_back(status.message());
    }
    return reference::gatherRows(shape_, std::move(bytes));
  }

private:
  void checkGuard(const std::string &side, uint64_t band, std::vector<std::string> &damage) const {
    std::vector<uint8_t> bytes(guardBytes_);
    device_.copyToHost(bytes.data(), band, guardBytes_);
    auto changed = std::ranges::find_if(bytes, [](uint8_t byte) { return byte != kGuard; });
    if (changed != bytes.end()) {
      auto at = changed - bytes.begin();
      damage.push_back("the guard band " + side + " " + shape_.name + " was overwritten, byte " +
                       std::to_string(side == "before" ? std::ptrdiff_t(guardBytes_) - at : at));
    }
  }

  api::Device device_;
  TensorShape shape_;
  size_t size_, guardBytes_;
  api::Buffer buffer_;
};

/// A failure of a device whose message tells the names of the tensors that it has by their addresses.
class NamedFailure final : public api::Exception {
public:
  NamedFailure(const api::Exception &failure, const std::vector<GuardedTensor> &tensors)
      : api::Exception(failure), message_(failure.what()) {
    for (const GuardedTensor &tensor : tensors) {
      std::ostringstream address;
      address << "0x" << std::hex << tensor.address();
      if ((toolOutput() + message_).find(address.str()) != std::string::npos) {
        message_ += "; " + tensor.name() + " lies at " + address.str();
      }
    }
  }

  const char *what() const noexcept override { return message_.c_str(); }

private:
  std::string message_;
};

} // namespace

bool Outcome::passed() const {
  return damage.empty() && std::ranges::all_of(figures, [](const auto &figure) { return figure.failed == 0; });
}

/// Throws a failure on the host side of the check: std::invalid_argument where it is the caller's.
template <typename T> static T valueOf(Result<T> result) {
  if (!result.ok()) {
    std::string message = result.status().toString();
    if (result.status().code() == StatusCode::OutOfMemory) {
      throw std::runtime_error(message);
    }
    throw std::invalid_argument(message);
  }
  return *std::move(result);
}

std::vector<api::Scalar> toScalars(const api::Kernel &kernel, const std::vector<reference::Number> &numbers) {
  std::vector<std::string> names = kernel.scalars(), types = kernel.scalarTypes();
  std::vector<api::Scalar> scalars;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (isFloat(parseScalarType(types.at(i)).value())) {
      scalars.emplace_back(static_cast<double>(numbers[i]));
    } else if (std::trunc(numbers[i]) != numbers[i] || numbers[i] < -0x1p63L || numbers[i] >= 0x1p64L) {
      throw std::invalid_argument("scalar " + names[i] + " must be a whole number of 64 bits: got " +
                                  std::to_string(numbers[i]));
    } else if (numbers[i] < 0) {
      scalars.emplace_back(static_cast<int64_t>(numbers[i]));
    } else {
      scalars.emplace_back(static_cast<uint64_t>(numbers[i]));
    }
  }
  return scalars;
}

/// Whether an emulator found nothing but places that several clusters of a grid write.
static bool saysGridRacesAlone(const api::Exception &failure) {
  std::istringstream lines(failure.toolOutput());
  size_t races = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool isRace = line.starts_with("grid race in ");
    if (!isRace && !line.starts_with("and ")) { // "and 7 more"
      return false;
    }
    races += isRace;
  }
  return races > 0;
}

static std::vector<reference::HostTensor> tensorsOf(const Problem &problem, const Description &description,
                                                    uint64_t seed) {
  std::vector<reference::HostTensor> tensors =
      valueOf(reference::makeTensors(description, problem.sizes, seed, problem.values));
  if (problem.edit) {
    problem.edit(tensors);
  }
  return tensors;
}

/// The sizes that a launch takes, in the kernel's order.
static std::vector<int64_t> dimensionsOf(const Problem &problem, const api::Kernel &kernel) {
  std::vector<int64_t> dimensions;
  for (const std::string &name : kernel.dimensions()) {
    auto size = problem.sizes.find(name);
    if (size == problem.sizes.end()) {
      throw std::invalid_argument("dimension " + name + " needs a size");
    }
    dimensions.push_back(size->second);
  }
  return dimensions;
}

Outcome run(const api::Runtime &runtime, const api::Device &device, const Problem &problem, bool check) {
  return run(device, api::Kernel::obtain(runtime, device, api::Description::parse(problem.description)), problem,
             check);
}

Outcome run(const api::Device &device, api::Kernel kernel, const Problem &problem, bool check) {
  Description description = valueOf(parseDescription(problem.description));
  std::vector<reference::HostTensor> tensors = tensorsOf(problem, description, problem.seed);
  std::vector<reference::Number> scalars = reference::makeScalars(description, problem.values);

  Outcome outcome;
  outcome.kernel = std::move(kernel);
  outcome.info = outcome.kernel.info();
  std::vector<int64_t> dimensions = dimensionsOf(problem, outcome.kernel);
  std::vector<GuardedTensor> guarded;
  std::vector<uint64_t> addresses;
  for (const reference::HostTensor &tensor : tensors) {
    guarded.emplace_back(device, tensor);
    addresses.push_back(guarded.back().address());
  }
  uint64_t workspaceBytes = outcome.kernel.workspaceBytes(dimensions);
  api::Buffer workspace(device, workspaceBytes);
  device.fill(workspace.address(), kGuard, workspace.size());
  outcome.kernel.launch(addresses, dimensions, toScalars(outcome.kernel, scalars), workspace.address(),
                        workspace.size());
  try {
    device.synchronize();
  } catch (const api::Exception &failure) {
    if (!problem.mayRace || !saysGridRacesAlone(failure)) {
      throw NamedFailure(failure, guarded);
    }
  }

  std::vector<reference::Expected> expected;
  if (check) {
    expected = valueOf(reference::computeExpected(description, problem.sizes, tensors, problem.seed,
                                                  {scalars.begin(), scalars.end()}));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<uint8_t> after = guarded[i].read(outcome.damage);
    const TensorShape &shape = tensors[i].shape;
    if (shape.access == Access::Read && after != tensors[i].bytes) {
      outcome.damage.push_back("the input " + shape.name + " was overwritten");
    }
    for (const reference::Expected &candidate : expected) {
      if (candidate.tensor == shape.name) {
        outcome.figures.push_back(compare(candidate, reference::decode(shape.dtype, after),
                                          reference::decode(shape.dtype, tensors[i].bytes)));
        outcome.sampled |= candidate.isSample();
      }
    }
    outcome.tensors.push_back(std::move(after));
  }
  return outcome;
}

namespace {

/// The tensors of one seed on a device, and what the first launch on them left.
struct TensorSet {
  TensorSet(const api::Device &device, std::vector<reference::HostTensor> tensors) : data(std::move(tensors)) {
    for (reference::HostTensor &tensor : data) {
      tensor.bytes = reference::spreadRows(tensor);
      buffers.emplace_back(device, std::max<size_t>(tensor.bytes.size(), 1));
      addresses.push_back(buffers.back().address());
      device.copyToDevice(addresses.back(), tensor.bytes.data(), tensor.bytes.size());
    }
  }

  /// Poisons or restores what a launch writes.
  void reset(const api::Device &device) const {
    for (size_t i = 0; i < data.size(); ++i) {
      if (data[i].shape.access == Access::Written && !data[i].bytes.empty()) {
        device.fill(addresses[i], kGuard, data[i].bytes.size());
      } else if (data[i].shape.access == Access::Updated) {
        device.copyToDevice(addresses[i], data[i].bytes.data(), data[i].bytes.size());
      }
    }
  }

  /// Of the tensors that a launch may write; of the others nothing.
  std::vector<std::vector<uint8_t>> results(const api::Device &device) const {
    std::vector<std::vector<uint8_t>> all(data.size());
    for (size_t i = 0; i < data.size(); ++i) {
      if (data[i].shape.access != Access::Read) {
        all[i].resize(data[i].bytes.size());
        device.copyToHost(all[i].data(), addresses[i], all[i].size());
      }
    }
    return all;
  }

  std::vector<reference::HostTensor> data; ///< their bytes as they lie in memory
  std::vector<api::Buffer> buffers;
  std::vector<uint64_t> addresses;
  std::vector<std::vector<uint8_t>> first;
};

} // namespace

std::string differenceBetweenLaunches(const api::Runtime &runtime, const api::Device &device, const Problem &problem,
                                      int launches) {
  constexpr int kSets = 4;
  api::Description handle = api::Description::parse(problem.description);
  Description description = valueOf(parseDescription(problem.description));
  api::Kernel kernel = api::Kernel::obtain(runtime, device, handle);
  std::vector<int64_t> dimensions = dimensionsOf(problem, kernel);
  std::vector<api::Scalar> scalars = toScalars(kernel, reference::makeScalars(description, problem.values));
  api::Buffer workspace(device, std::max<uint64_t>(kernel.workspaceBytes(dimensions), 256));
  std::vector<TensorSet> sets;
  for (int set = 0; set < kSets; ++set) {
    sets.emplace_back(device, tensorsOf(problem, description, problem.seed + uint64_t(set)));
  }
  for (int launch = 0; launch < launches; ++launch) {
    TensorSet &set = sets[size_t(launch % kSets)];
    set.reset(device);
    device.fill(workspace.address(), uint8_t(launch), workspace.size());
    kernel.launch(set.addresses, dimensions, scalars, workspace.address(), workspace.size());
    device.synchronize();
    std::vector<std::vector<uint8_t>> results = set.results(device);
    if (launch < kSets) {
      set.first = std::move(results);
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      auto [found, wanted] = std::ranges::mismatch(results[i], set.first[i]);
      if (found != results[i].end()) {
        return "launch " + std::to_string(launch) + " left another " + set.data[i].shape.name + " than launch " +
               std::to_string(launch % kSets) + ", from byte " + std::to_string(found - results[i].begin()) + " on";
      }
    }
  }
  return "";
}

} // namespace jitk::checked
