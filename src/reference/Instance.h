// One problem with data: random inputs of a description at given sizes, and what the op must give for them.

#pragma once

#include "src/ops/TensorShape.h"
#include "src/reference/Expected.h"

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace jitk::reference {

/// A tensor in host memory, in the order of the op's tensors.
struct HostTensor {
  TensorShape shape;
  /// Inputs: the data; outputs: what lies there before the launch. Row after row, whatever the stride of rows.
  std::vector<uint8_t> bytes;
};

/// The tensor as a launch wants it, its rows apart: NaN lies between them.
std::vector<uint8_t> spreadRows(const HostTensor &tensor);
/// The rows of such memory, after a launch.
std::vector<uint8_t> gatherRows(const TensorShape &shape, std::vector<uint8_t> memory);
/// Fails with DataLoss if what lies between the rows has changed.
Status checkBetweenRows(const TensorShape &shape, std::span<const uint8_t> memory);

/// Holds every 64-bit integer, signed or not, and every double.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

/// Contents that a user chose, by name: an integer input ("seq_lens" = 128, 256) or a scalar ("scale" = 0.1).
using GivenValues = std::map<std::string, std::vector<Number>, std::less<>>;

/// Fills the tensors of a description: inputs at random, from `seed` alone; outputs with a pattern that is NaN in every
/// dtype. What an op must not read (keys past a sequence's length) is NaN too. Fails with InvalidArgument as
/// `tensorShapes` does, and for given values that fit no integer input or scalar; OutOfMemory as `checkHostMemory`
/// does.
Result<std::vector<HostTensor>> makeTensors(const Description &description, const DynamicSizes &sizes, uint64_t seed,
                                            const GivenValues &given = {});

/// The scalars of a launch, as their types hold them: those given, else the defaults of the op's schema, else 1.
std::vector<Number> makeScalars(const Description &description, const GivenValues &given = {});

/// What the op must give for these inputs: one expectation for each output, in float64, written from the op's formula.
/// Tolerances are derived where they are set. Large problems are sampled by rows, chosen with `seed`. Fails with
/// Unsupported for an op without a reference.
Result<std::vector<Expected>> computeExpected(const Description &description, const DynamicSizes &sizes,
                                              const std::vector<HostTensor> &tensors, uint64_t seed,
                                              const std::vector<double> &scalars = {});

} // namespace jitk::reference
