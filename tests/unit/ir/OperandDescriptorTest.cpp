#include "src/ir/layout/OperandDescriptor.h"

#include "src/ir/layout/SharedLayouts.h"
#include "src/ir/layout/TmaBoxes.h"

#include <doctest/doctest.h>

using namespace jitk::ir;

namespace {

using Shape = llvm::SmallVector<int64_t>;

LinearLayout nvmma(Shape shape, unsigned width, unsigned bits, bool isTransposed = false) {
  return nvmmaSharedLayout(shape, {width, isTransposed, bits, false}, clusterLayout(2, {}));
}

/// Where the hardware looks for element (outer, k) of a tile, after the PTX manual's canonical layouts: bytes from the
/// start of the tile, before the swizzle.
int64_t insideTile(const OperandDescriptor &d, int64_t outer, int64_t k, unsigned bytes) {
  int64_t along = d.isKMajor ? k : outer, across = d.isKMajor ? outer : k;
  int64_t rowBytes = d.swizzleBytes ? d.swizzleBytes : 16;
  int64_t alongStep = d.leadingBytes, acrossStep = d.strideBytes;
  if (!d.isKMajor && d.swizzleBytes == 0) {
    std::swap(alongStep, acrossStep);
  }
  int64_t byte = along * bytes;
  return byte % rowBytes + byte / rowBytes * alongStep + across % 8 * rowBytes + across / 8 * acrossStep;
}

/// The swizzle acts on whole addresses: bits 4 to 6, or fewer, change with the bits from 7 on.
int64_t swizzleAddress(int64_t address, unsigned swizzleBytes) {
  return swizzleBytes ? address ^ (address / 128 % 8 % (swizzleBytes / 16) * 16) : address;
}

/// Every tile of the buffer, read through its descriptor, is the tile.
void checkTiles(const LinearLayout &layout, unsigned bits, unsigned kDim, int outerSize) {
  CAPTURE(layout.toString());
  OperandBuffer buffer(layout, bits, kDim);
  int kSize = 256 / bits;
  auto descriptor = buffer.describe(outerSize, kSize);
  REQUIRE(descriptor.has_value());
  int numOuter = layout.getOutDims()[1 - kDim].size, numK = layout.getOutDims()[kDim].size;
  bool isEqual = true;
  for (int outerStart = 0; outerStart < numOuter; outerStart += outerSize) {
    for (int kStart = 0; kStart < numK; kStart += kSize) {
      int64_t start = buffer.byteOffset(outerStart, kStart);
      for (int outer = 0; outer < outerSize; ++outer) {
        for (int k = 0; k < kSize; ++k) {
          int64_t address =
              swizzleAddress(start + insideTile(*descriptor, outer, k, bits / 8), descriptor->swizzleBytes);
          isEqual &= address == buffer.byteOffset(outerStart + outer, kStart + k);
        }
      }
    }
  }
  CHECK(isEqual);
}

} // namespace

TEST_SUITE("ir/OperandDescriptor") {
  TEST_CASE("known descriptors") {
    // 128-byte swizzle, K-major, f16: 1024 bytes to the next eight rows.
    OperandBuffer a(nvmma({128, 64}, 128, 16), 16, 1);
    auto descriptor = a.describe(64, 16);
    REQUIRE(descriptor.has_value());
    CHECK(descriptor->isKMajor);
    CHECK(descriptor->encodeForWgmma() == 0x4000004000000000);
    CHECK(descriptor->encodeForTcgen05() == 0x4000404000000000);
    // The next 16 along K are 32 bytes on, the next 64 rows 8 KiB.
    CHECK(a.byteOffset(0, 16) == 32);
    CHECK(a.byteOffset(0, 48) == 96);
    CHECK(a.byteOffset(64, 0) == 8192);
  }

  TEST_CASE("each swizzle has its own number") {
    auto wgmma = [](unsigned width) { return OperandDescriptor{true, width, 0, 0}.encodeForWgmma() >> 62; };
    auto tcgen05 = [](unsigned width) { return OperandDescriptor{true, width, 0, 0}.encodeForTcgen05() >> 61; };
    CHECK(wgmma(0) == 0);
    CHECK(wgmma(128) == 1);
    CHECK(wgmma(64) == 2);
    CHECK(wgmma(32) == 3);
    CHECK(tcgen05(0) == 0);
    CHECK(tcgen05(128) == 2);
    CHECK(tcgen05(64) == 4);
    CHECK(tcgen05(32) == 6);
    CHECK(tmaSwizzleMode(0) == 0);
    CHECK(tmaSwizzleMode(32) == 1);
    CHECK(tmaSwizzleMode(64) == 2);
    CHECK(tmaSwizzleMode(128) == 3);
  }

  TEST_CASE("tiles read through their descriptors are the tiles") {
    for (unsigned width : {32u, 64u, 128u}) {
      for (unsigned bits : {8u, 16u, 32u}) {
        CAPTURE(width);
        CAPTURE(bits);
        // K-major: A and B have K last, or a transposed buffer has it first.
        checkTiles(nvmma({128, 128}, width, bits), bits, 1, 64);
        checkTiles(nvmma({128, 128}, width, bits, true), bits, 0, 128);
        checkTiles(nvmma({64, 128}, width, bits), bits, 1, 8);
      }
      // Outer-major.
      checkTiles(nvmma({128, 128}, width, 16), 16, 0, 64);
      checkTiles(nvmma({64, 128}, width, 16), 16, 0, 128);
      checkTiles(nvmma({128, 64}, width, 16, true), 16, 1, 128);
      checkTiles(nvmma({64, 16}, width, 16, true), 16, 1, 16);
    }
  }

  TEST_CASE("a buffer without swizzle is readable where its rows are 16 bytes") {
    // Core matrices: 8 rows of 16 bytes, the halves of K next to each other, then the next rows.
    auto core = LinearLayout::identity1D(8, "offset", "dim1") * LinearLayout::identity1D(8, "offset", "dim0") *
                LinearLayout::identity1D(2, "offset", "dim1") * LinearLayout::identity1D(8, "offset", "dim0");
    core = core.transposeOuts({"dim0", "dim1"});
    auto descriptor = OperandBuffer(core, 16, 1).describe(64, 16);
    REQUIRE(descriptor.has_value());
    CHECK(descriptor->isKMajor);
    CHECK(descriptor->swizzleBytes == 0);
    CHECK(descriptor->leadingBytes == 128);
    CHECK(descriptor->strideBytes == 256);
    checkTiles(core, 16, 1, 64);
    checkTiles(core, 16, 0, 16);
    // Plain rows of 128 bytes are not.
    CHECK_FALSE(OperandBuffer(nvmma({64, 64}, 0, 16), 16, 1).describe(64, 16).has_value());
  }

  TEST_CASE("a swizzle that the hardware does not have has no descriptor") {
    unsigned order[] = {1, 0};
    LinearLayout same = swizzledSharedLayout({64, 64}, {8, 1, 8, order}, clusterLayout(2, {}));
    LinearLayout other = swizzledSharedLayout({64, 64}, {8, 2, 4, order}, clusterLayout(2, {}));
    CHECK(OperandBuffer(same, 16, 1).describe(64, 16)->encodeForWgmma() == 0x4000004000000000);
    CHECK_FALSE(OperandBuffer(other, 16, 1).describe(64, 16).has_value());
    CHECK_FALSE(OperandBuffer(same, 16, 1).describe(128, 16).has_value());
  }
}

TEST_SUITE("ir/TmaBoxes") {
  TEST_CASE("a copy is one message a panel") {
    TmaBoxes boxes = planTmaBoxes({128, 256}, {128, false, 16, false});
    CHECK(boxes.box == Shape{128, 64});
    CHECK(boxes.boxBytes == 16384);
    CHECK(boxes.swizzleMode == 3);
    REQUIRE(boxes.messages.size() == 4);
    for (int i = 0; i < 4; ++i) {
      CHECK(boxes.messages[i].start == llvm::SmallVector<int32_t>{0, 64 * i});
      CHECK(boxes.messages[i].byteOffset == 16384 * i);
    }
  }

  TEST_CASE("boxes cover the tile and the buffer exactly once") {
    for (const Shape &shape : {Shape{128, 64}, Shape{512, 128}, Shape{2, 64, 128}, Shape{64, 512}}) {
      for (unsigned width : {0u, 32u, 128u}) {
        for (bool isTransposed : {false, true}) {
          TmaBoxes boxes = planTmaBoxes(shape, {width, isTransposed, 16, false});
          int64_t elements = 1;
          for (int64_t size : shape) {
            elements *= size;
          }
          if (isTransposed && shape.front() * 2 < width) {
            continue; // narrower than a panel
          }
          CAPTURE(width);
          CHECK(int64_t(boxes.messages.size()) * boxes.boxBytes == elements * 2);
          for (size_t i = 0; i < boxes.messages.size(); ++i) {
            CHECK(boxes.messages[i].byteOffset == int64_t(i) * boxes.boxBytes);
          }
        }
      }
    }
  }
}
