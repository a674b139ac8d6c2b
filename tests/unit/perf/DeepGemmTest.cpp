// How DeepGEMM's kernels are found and launched, on a driver that remembers.

#include "perf/peers/DeepGemm.h"

#include "src/tools/timing/Gpu.h"
#include "tests/fakes/FoundFakeCuda.h"
#include "tests/support/TemporaryFolder.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace jitk;
using namespace jitk::timing;

TEST_SUITE_BEGIN("perf/peers");

namespace {

constexpr DeepGemm::Tensors kTensors = {
    .a = 1 << 12, .b = 2 << 12, .scaleOfB = 3 << 12, .c = 4 << 12, .scaleOfA = 5 << 12};

} // namespace

TEST_CASE("the name of a kernel says what it is for") {
  auto dense = DeepGemm::parse("m4096.n7168.k2048.256x128.s3.c2.cubin");
  REQUIRE(dense);
  CHECK(dense->shape == DeepGemm::Shape{.m = 4096, .n = 7168, .k = 2048});
  CHECK(dense->rows == 256);
  CHECK(dense->columns == 128);
  CHECK(dense->stages == 3);
  CHECK(dense->cluster == 2);
  auto masked = DeepGemm::parse("masked32.m192.n4096.k7168.128x192.s4.c1.cubin");
  REQUIRE(masked);
  CHECK(masked->shape == DeepGemm::Shape{DeepGemm::Groups::Masked, 32, 192, 4096, 7168});
  auto contiguous = DeepGemm::parse("contiguous4.m32768.n4096.k7168.128x192.s4.c2.cubin");
  REQUIRE(contiguous);
  CHECK(contiguous->shape == DeepGemm::Shape{DeepGemm::Groups::Contiguous, 4, 32768, 4096, 7168});
  for (const char *other : {"sources.json", "m1.n8.k8.16x16.s1.c1.cu", "grouped4.m1.n8.k8.16x16.s1.c1.cubin",
                            "masked.m1.n8.k8.16x16.s1.c1.cubin", "m1.n8.k8.16x16.s1.cubin"}) {
    CAPTURE(other);
    CHECK(!DeepGemm::parse(other));
  }
}

TEST_CASE("a product is launched on the sizes of its groups") {
  test::FakeCuda &cuda = test::foundFakeCuda();
  test::TemporaryFolder folder;
  for (const char *name :
       {"m64.n512.k256.64x32.s16.c1.cubin", "contiguous4.m64.n512.k256.64x32.s16.c2.cubin",
        "masked4.m64.n512.k256.128x192.s4.c2.cubin", "masked2.m64.n512.k256.128x192.s4.c2.cubin", "sources.json"}) {
    std::ofstream(folder.path(name)) << "code";
  }
  Gpu gpu(0);
  DeepGemm peer(folder.path());
  using Sizes = std::vector<uint64_t>;
  auto launch = [&](const DeepGemm::Shape &shape, const DeepGemm::Tensors &tensors) {
    cuda.tensorMaps.clear();
    cuda.launches.clear();
    std::vector<DeepGemm::Product> found = peer.find(shape, tensors);
    REQUIRE(found.size() == 1);
    found.front().run(gpu.stream());
    REQUIRE(cuda.tensorMaps.size() == 4);
    REQUIRE(cuda.launches.size() == 1);
    return cuda.launches.front();
  };

  test::FakeLaunch dense = launch({.m = 64, .n = 512, .k = 256}, kTensors);
  CHECK(dense.grid[0] == 132);
  CHECK(dense.block[0] == 256);
  CHECK(dense.cluster[0] == 1);
  CHECK(dense.sharedBytes == 64 * 32 * 2 + 256 + 8 + 16 * ((64 + 32) * 128 + 256));
  CHECK(cuda.tensorMaps[0].sizes == Sizes{256, 64});
  CHECK(cuda.tensorMaps[1].sizes == Sizes{256, 512});
  CHECK(cuda.tensorMaps[2].sizes == Sizes{512, 64});
  CHECK(cuda.tensorMaps[3].sizes == Sizes{64, 2});
  CHECK(cuda.tensorMaps[2].box == std::vector<uint32_t>{32, 64});

  CHECK(launch({DeepGemm::Groups::Contiguous, 4, 64, 512, 256}, kTensors).cluster[0] == 2);
  CHECK(cuda.tensorMaps[0].sizes == Sizes{256, 64});
  CHECK(cuda.tensorMaps[1].sizes == Sizes{256, 4 * 512});
  CHECK(cuda.tensorMaps[3].sizes == Sizes{64, 2});

  DeepGemm::Tensors apart = kTensors;
  apart.rowsOfGroup = 130;
  CHECK(launch({DeepGemm::Groups::Masked, 4, 64, 512, 256}, apart).block[0] == 384);
  CHECK(cuda.tensorMaps[0].sizes == Sizes{256, 4 * 130});
  CHECK(cuda.tensorMaps[1].sizes == Sizes{256, 4 * 512});
  CHECK(cuda.tensorMaps[2].sizes == Sizes{512, 4 * 130});
  CHECK(cuda.tensorMaps[3].sizes == Sizes{132, 4 * 2});

  CHECK(peer.find({DeepGemm::Groups::Masked, 8, 64, 512, 256}, apart).empty());
  CHECK(cuda.numModules == 0);
}

TEST_SUITE_END();
