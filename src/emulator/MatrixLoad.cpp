#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"
#include "src/emulator/Rendezvous.h"

#include <cstring>

namespace jitk::emulator {

namespace {

constexpr uint32_t rowBytes = 16; // eight 16-bit elements
constexpr uint32_t rowsOfMatrix = 8;

using Matrix = std::array<std::array<uint16_t, 8>, rowsOfMatrix>;

/// The register of lane `lane`: two neighbours of a row or, transposed, of a column.
uint32_t fragment(const Matrix &matrix, uint32_t lane, bool transposed) {
  const uint32_t major = lane / 4;
  const uint32_t minor = lane % 4 * 2;
  const uint16_t low = transposed ? matrix[minor][major] : matrix[major][minor];
  const uint16_t high = transposed ? matrix[minor + 1][major] : matrix[major][minor + 1];
  return low | uint32_t(high) << 16;
}

void setFragment(Matrix &matrix, uint32_t lane, bool transposed, uint32_t value) {
  const uint32_t major = lane / 4;
  const uint32_t minor = lane % 4 * 2;
  (transposed ? matrix[minor][major] : matrix[major][minor]) = uint16_t(value);
  (transposed ? matrix[minor + 1][major] : matrix[major][minor + 1]) = uint16_t(value >> 16);
}

void loadMatrices(Warp &warp) {
  const auto matrices = uint32_t(warp.lanes[0].call.parameter(0));
  const bool transposed = warp.lanes[0].call.parameter(1);
  for (uint32_t index = 0; index < matrices; ++index) {
    Matrix matrix;
    for (uint32_t row = 0; row < rowsOfMatrix; ++row) {
      Thread &owner = warp.lanes[index * rowsOfMatrix + row];
      const SharedPlace place = readShared(owner, owner.call.operand32(0), rowBytes, rowBytes);
      if (place) {
        std::memcpy(matrix[row].data(), place.data(), rowBytes);
      } else {
        matrix[row].fill(0xffff);
      }
    }
    for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
      warp.lanes[lane].call.results[index] = fragment(matrix, lane, transposed);
    }
  }
}

void storeMatrices(Warp &warp) {
  const auto matrices = uint32_t(warp.lanes[0].call.parameter(0));
  const bool transposed = warp.lanes[0].call.parameter(1);
  for (uint32_t index = 0; index < matrices; ++index) {
    Matrix matrix;
    for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
      checkPoison(warp.lanes[lane], warp.lanes[lane].call.operands[1 + index]);
      setFragment(matrix, lane, transposed, warp.lanes[lane].call.operand32(1 + index));
    }
    for (uint32_t row = 0; row < rowsOfMatrix; ++row) {
      Thread &owner = warp.lanes[index * rowsOfMatrix + row];
      if (const SharedPlace place = writeShared(owner, owner.call.operand32(0), rowBytes, rowBytes)) {
        std::memcpy(place.data(), matrix[row].data(), rowBytes);
      }
    }
  }
}

/// These instructions need all 32 lanes.
bool requireFullWarp(Thread &thread) {
  if (thread.warp->numLanes == 32) {
    return true;
  }
  thread.report(FindingKind::Unsupported, 0, "needs a full warp");
  thread.cluster().abort();
}

} // namespace

void executeLdmatrix(Thread &thread) {
  if (requireFullWarp(thread)) {
    meetWarp(thread, loadMatrices);
  }
}

void executeStmatrix(Thread &thread) {
  if (requireFullWarp(thread)) {
    meetWarp(thread, storeMatrices);
  }
}

} // namespace jitk::emulator
