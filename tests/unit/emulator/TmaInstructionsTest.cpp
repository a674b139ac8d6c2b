// The bulk-copy engine's instructions, each form and rank against typed-in numbers; tensor maps made on the device.

#include "src/emulator/TensorMap.h"
#include "tests/unit/emulator/InstructionProgram.h"

#include <functional>
#include <map>

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

using Map = jitk::emulator::TensorMap;

// By CUtensorMapDataType.
enum Type : uint32_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz };

std::string rankOf(int rank) { return std::to_string(rank) + "d"; }
std::string loadForm(int rank, bool multicast, bool hint) {
  return "cp.async.bulk.tensor." + rankOf(rank) + ".shared.global" + (multicast ? ".multicast::cluster" : "") +
         (hint ? ".L2::cache_hint" : "");
}
std::string storeForm(int rank) { return "cp.async.bulk.tensor." + rankOf(rank) + ".global.shared"; }
std::string reduceForm(int rank, const std::string &op) {
  return "cp.reduce.async.bulk.tensor." + rankOf(rank) + "." + op;
}

/// A box of 4 x 2 x 2 x 2 x 2 elements, as many dimensions as the rank has, at (2, 1, 1, 1, 1). The element at (i, j,
/// k, l, m) of the tensor is m l k j i in decimal.
struct BoxCase {
  int rank;
  std::vector<uint32_t> rowStarts; ///< in the order of shared memory; a row counts up by one
};

const BoxCase boxCases[] = {
    {1, {2}},
    {2, {12, 22}},
    {3, {112, 122, 212, 222}},
    {4, {1112, 1122, 1212, 1222, 2112, 2122, 2212, 2222}},
    {5,
     {11112, 11122, 11212, 11222, 12112, 12122, 12212, 12222, 21112, 21122, 21212, 21222, 22112, 22122, 22212, 22222}},
};

struct ReduceCase {
  std::string op;
  Type type;
  uint64_t old, value, after;
};

const ReduceCase reduceCases[] = {
    {"add", U32, 0xfffffffe, 5, 3},
    {"add", S32, 0xfffffffe, 5, 3},
    {"add", U64, 0xfffffffffffffffe, 5, 3},
    {"add", F16, 0x3c00, 0x3800, 0x3e00}, // 1 + 0.5
    {"add", BF16, 0x3f80, 0x3f00, 0x3fc0},
    {"add", F32, 0x3f800000, 0x3f000000, 0x3fc00000},
    {"add", F32, 0x00000001, 0x00000002, 0x00000003}, // subnormals
    {"add", F32Ftz, 0x00000001, 0x00000002, 0},
    {"add", F64, 0x3ff0000000000000, 0x3fe0000000000000, 0x3ff8000000000000},
    {"min", U32, 0xffffffff, 3, 3},
    {"min", S32, 0xffffffff, 3, 0xffffffff},
    {"min", U64, 0xffffffffffffffff, 3, 3},
    {"min", S64, 0xffffffffffffffff, 3, 0xffffffffffffffff},
    {"min", F16, 0xbc00, 0x3c00, 0xbc00},  // -1, 1
    {"min", BF16, 0x4000, 0x3f80, 0x3f80}, // 2, 1
    {"max", U32, 0xffffffff, 3, 0xffffffff},
    {"max", S32, 0xffffffff, 3, 3},
    {"max", U64, 0xffffffffffffffff, 3, 0xffffffffffffffff},
    {"max", S64, 0xffffffffffffffff, 3, 3},
    {"max", F16, 0xbc00, 0x3c00, 0x3c00},
    {"max", BF16, 0x4000, 0x3f80, 0x4000},
    {"inc", U32, 5, 5, 0},
    {"inc", U32, 4, 5, 5},
    {"dec", U32, 0, 5, 5},
    {"dec", U32, 4, 5, 3},
    {"and", U32, 0x0ff00ff0, 0x00ffff00, 0x00f00f00},
    {"and", U64, 0x0ff00ff0ff00ff00, 0x00ffff000000ffff, 0x00f00f000000ff00},
    {"or", U32, 0x0ff00000, 0x000ff00f, 0x0ffff00f},
    {"or", U64, 0x0ff0000000000001, 0x000ff00f80000000, 0x0ffff00f80000001},
    {"xor", U32, 0x0ff0aaaa, 0x00ffffff, 0x0f0f5555},
    {"xor", U64, 0x0ff0aaaa00000001, 0x00ffffff80000001, 0x0f0f555580000000},
};

/// One field of a tensor map of zeros after the instruction.
struct FieldCase {
  std::string form;
  bool isImmediate;
  uint64_t value;
  uint64_t wanted;
  std::function<uint64_t(const Map &)> field;
};

const FieldCase fieldCases[] = {
    {"global_address", false, 0x123456789abcde00, 0x123456789abcde00, [](const Map &m) { return m.address; }},
    {"rank", true, 2, 3, [](const Map &m) { return m.rank; }}, // counts from zero
    {"box_dim.0", false, 64, 64, [](const Map &m) { return m.box[0]; }},
    {"box_dim.1", false, 65, 65, [](const Map &m) { return m.box[1]; }},
    {"box_dim.2", false, 66, 66, [](const Map &m) { return m.box[2]; }},
    {"box_dim.3", false, 67, 67, [](const Map &m) { return m.box[3]; }},
    {"box_dim.4", false, 256, 256, [](const Map &m) { return m.box[4]; }},
    {"global_dim.0", false, 1000, 1000, [](const Map &m) { return m.sizes[0]; }},
    {"global_dim.1", false, 1001, 1001, [](const Map &m) { return m.sizes[1]; }},
    {"global_dim.2", false, 1002, 1002, [](const Map &m) { return m.sizes[2]; }},
    {"global_dim.3", false, 1003, 1003, [](const Map &m) { return m.sizes[3]; }},
    {"global_dim.4", false, 0xffffffff, 0xffffffff, [](const Map &m) { return m.sizes[4]; }},
    {"global_stride.0", false, 160, 160, [](const Map &m) { return m.strides[0]; }},
    {"global_stride.1", false, 176, 176, [](const Map &m) { return m.strides[1]; }},
    {"global_stride.2", false, 192, 192, [](const Map &m) { return m.strides[2]; }},
    {"global_stride.3", false, 0xfffffffff0, 0xfffffffff0, [](const Map &m) { return m.strides[3]; }},
    {"element_stride.0", false, 2, 2, [](const Map &m) { return m.elementStrides[0]; }},
    {"element_stride.1", false, 3, 3, [](const Map &m) { return m.elementStrides[1]; }},
    {"element_stride.2", false, 4, 4, [](const Map &m) { return m.elementStrides[2]; }},
    {"element_stride.3", false, 5, 5, [](const Map &m) { return m.elementStrides[3]; }},
    {"element_stride.4", false, 8, 8, [](const Map &m) { return m.elementStrides[4]; }},
    // Instructions count f32.ftz before f64 and bf16, the driver after them.
    {"elemtype", true, 0, 0, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 1, 1, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 6, 6, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 7, 7, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 8, 10, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 9, 8, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 10, 9, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 11, 11, [](const Map &m) { return m.elementType; }},
    {"elemtype", true, 12, 12, [](const Map &m) { return m.elementType; }},
    {"interleave_layout", true, 1, 1, [](const Map &m) { return m.interleave; }},
    {"swizzle_mode", true, 3, 3, [](const Map &m) { return m.swizzle; }},
    {"fill_mode", true, 1, 1, [](const Map &m) { return m.fill; }},
};

std::string replaceForm(const std::string &field) { return "tensormap.replace.tile." + field; }

Names tableNames() {
  for (const BoxCase &box : boxCases) {
    for (const bool multicast : {false, true}) {
      namedForms().insert({loadForm(box.rank, multicast, false), loadForm(box.rank, multicast, true)});
    }
    namedForms().insert({storeForm(box.rank), reduceForm(box.rank, "add")});
  }
  for (const ReduceCase &entry : reduceCases) {
    namedForms().insert(reduceForm(1, entry.op));
  }
  for (const FieldCase &entry : fieldCases) {
    namedForms().insert(replaceForm(entry.form));
  }
  return {};
}
const Names names = tableNames();
const Names otherNames = {"cp.async.bulk.shared.global",   "cp.async.bulk.global.shared",
                          "cp.async.bulk.commit_group",    "cp.async.bulk.wait_group",
                          "cp.async.bulk.wait_group.read", "tensormap.cp_fenceproxy",
                          "fence.proxy.tensormap.acquire", "prefetch.tensormap"};

constexpr uint64_t bar = smem + 4096;

/// The tensor of the box cases, 8 x 3 x 3 x 3 x 3 words as far as the rank goes, with its map in global memory.
struct Tensor {
  int rank;
  uint64_t address = 0, map = 0;
  size_t count = 8;

  Tensor(Machine &machine, int rankOfTensor) : rank(rankOfTensor) {
    const std::array<uint64_t, 5> sizes = {8, 3, 3, 3, 3};
    const std::array<uint64_t, 4> strides = {32, 96, 288, 864};
    const std::array<uint32_t, 5> box = {4, 2, 2, 2, 2};
    for (int i = 1; i < rank; ++i) {
      count *= 3;
    }
    std::vector<uint32_t> values(count);
    for (size_t i = 0; i < count; ++i) {
      values[i] = numberAt(i);
    }
    address = machine.upload(values);
    std::vector<uint8_t> bytes(tensorMapBytes);
    const size_t dimensions = size_t(rank);
    const Status status =
        machine.device.encodeTensorMap(bytes.data(), U32, address, std::span(sizes).first(dimensions),
                                       std::span(strides).first(dimensions - 1), std::span(box).first(dimensions), 0);
    REQUIRE_MESSAGE(status.ok(), status.toString());
    map = machine.upload(bytes);
  }

  /// The number of element `index` in memory.
  static uint32_t numberAt(size_t index) {
    uint32_t number = uint32_t(index % 8);
    index /= 8;
    for (uint32_t digit = 10; index; digit *= 10, index /= 3) {
      number += uint32_t(index % 3) * digit;
    }
    return number;
  }

  /// Operands of a copy after the predicate: of a load, or of a store or reduction.
  std::vector<Lanes> load(const Lanes &predicate) const {
    std::vector<Lanes> operands = {predicate, smem, map, 2};
    operands.insert(operands.end(), size_t(rank - 1), Lanes(1));
    operands.emplace_back(bar);
    return operands;
  }
  std::vector<Lanes> store(const Lanes &predicate) const {
    std::vector<Lanes> operands = {predicate, map, 2};
    operands.insert(operands.end(), size_t(rank - 1), Lanes(1));
    operands.emplace_back(smem);
    return operands;
  }
};

/// The box's numbers in the order of shared memory.
std::vector<uint32_t> boxNumbers(const BoxCase &box) {
  std::vector<uint32_t> numbers;
  for (uint32_t start : box.rowStarts) {
    numbers.insert(numbers.end(), {start, start + 1, start + 2, start + 3});
  }
  return numbers;
}

void waitForStores(Program &program, bool read) {
  program.add("cp.async.bulk.commit_group");
  program.add(read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group", {}, {0});
}

/// Shared words, two 32-bit numbers each.
std::vector<uint64_t> packed(const std::vector<uint32_t> &numbers) {
  std::vector<uint64_t> words;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    words.push_back(numbers[i] | uint64_t(numbers[i + 1]) << 32);
  }
  return words;
}

} // namespace

TEST_SUITE("emulator/TmaInstructions") {
  TEST_CASE("loads of every rank, to one cta or a mask of them, with a cache policy or without") {
    for (const BoxCase &box : boxCases) {
      for (int variant = 0; variant < 4; ++variant) {
        const bool multicast = variant & 1, hint = variant & 2;
        CAPTURE(loadForm(box.rank, multicast, hint));
        DeviceOptions options;
        options.mode = variant % 3 ? AsyncMode::Deferred : AsyncMode::Immediate;
        Machine machine(options);
        const Tensor tensor(machine, box.rank);
        const std::vector<uint32_t> numbers = boxNumbers(box);
        Program program(32);
        std::vector<uint64_t> predicate(32);
        predicate[0] = 1;
        program.add("mbarrier.init", {predicate, bar, 1});
        program.add("fence.mbarrier_init");
        program.barrier();
        program.add("prefetch.tensormap", {predicate, tensor.map});
        program.add("mbarrier.arrive.expect_tx", {predicate, bar, numbers.size() * 4});
        std::vector<Lanes> operands = tensor.load(predicate);
        if (multicast) {
          operands.emplace_back(1);
        }
        if (hint) {
          operands.emplace_back(0x12f0000000000000);
        }
        program.add(loadForm(box.rank, multicast, hint), operands);
        program.add("mbarrier.wait.parity", {1, bar, 0});
        std::vector<uint64_t> inside(32);
        std::fill_n(inside.begin(), numbers.size() / 2, 1);
        const size_t read = program.add("ld.shared.b64", {inside, Lanes::counting(smem, 8, 32)});
        const Outcome outcome = program.run(machine);
        CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
        std::vector<uint64_t> words = outcome.all(read);
        words.resize(numbers.size() / 2);
        CHECK(words == packed(numbers));
      }
    }
  }

  TEST_CASE("stores and additions of every rank touch the box and nothing else") {
    for (const BoxCase &box : boxCases) {
      for (const bool adds : {false, true}) {
        CAPTURE(box.rank);
        Machine machine(allModes()[adds ? 1 : 4]);
        const Tensor tensor(machine, box.rank);
        const std::vector<uint32_t> numbers = boxNumbers(box);
        std::vector<uint32_t> sources;
        for (size_t i = 0; i < numbers.size(); ++i) {
          sources.push_back(uint32_t(500000 + i));
        }
        Program program(1);
        program.fillShared(smem, packed(sources));
        program.add("fence.proxy.async.shared::cta");
        program.add(adds ? reduceForm(box.rank, "add") : storeForm(box.rank), tensor.store(1));
        waitForStores(program, /*read=*/adds);
        const Outcome outcome = program.run(machine);
        CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
        std::map<uint32_t, uint32_t> wanted;
        for (size_t i = 0; i < tensor.count; ++i) {
          wanted[Tensor::numberAt(i)] = Tensor::numberAt(i);
        }
        for (size_t i = 0; i < numbers.size(); ++i) {
          wanted[numbers[i]] = sources[i] + (adds ? numbers[i] : 0);
        }
        const std::vector<uint32_t> after = machine.download<uint32_t>(tensor.address, tensor.count);
        size_t wrong = 0;
        for (size_t i = 0; i < tensor.count; ++i) {
          wrong += after[i] != wanted[Tensor::numberAt(i)];
        }
        CHECK(wrong == 0);
      }
    }
  }

  /// Reduces 16 bytes of equal elements in shared memory into as many in global memory.
  static LaunchReport reduce(Machine & machine, const std::string &op, Type type, uint64_t old, uint64_t value,
                             std::vector<uint64_t> &after) {
    Map shape;
    shape.elementType = type;
    const uint32_t bytes = shape.elementBytes();
    const auto repeated = [&](uint64_t element) {
      std::vector<uint64_t> words(2);
      for (uint32_t i = 0; i < 16 / bytes; ++i) {
        std::memcpy(reinterpret_cast<uint8_t *>(words.data()) + i * bytes, &element, bytes);
      }
      return words;
    };
    const uint64_t global = machine.upload(repeated(old));
    const std::array<uint64_t, 1> sizes = {16 / bytes};
    const std::array<uint32_t, 1> box = {16 / bytes};
    std::vector<uint8_t> map(tensorMapBytes);
    REQUIRE(machine.device.encodeTensorMap(map.data(), type, global, sizes, {}, box, 0).ok());
    Program program(1);
    program.fillShared(smem, repeated(value));
    program.add("fence.proxy.async.shared::cta");
    program.add(reduceForm(1, op), {1, machine.upload(map), 0, smem});
    waitForStores(program, /*read=*/true);
    LaunchReport report = program.run(machine).report;
    after = machine.download<uint64_t>(global, 2);
    for (uint64_t word : after) {
      for (uint32_t i = 0; i < 8 / bytes; ++i) {
        uint64_t element = 0, first = 0;
        std::memcpy(&element, reinterpret_cast<const uint8_t *>(&word) + i * bytes, bytes);
        std::memcpy(&first, after.data(), bytes);
        CHECK(element == first);
      }
    }
    after[0] &= bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
    return report;
  }

  TEST_CASE("reductions of every operation and type") {
    Machine machine;
    for (const ReduceCase &entry : reduceCases) {
      CAPTURE(entry.op);
      CAPTURE(int(entry.type));
      std::vector<uint64_t> after;
      const LaunchReport report = reduce(machine, entry.op, entry.type, entry.old, entry.value, after);
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(after[0] == entry.after);
    }
  }

  TEST_CASE("reductions that the engine does not have are found") {
    Machine machine;
    for (const auto &[op, type] : std::initializer_list<std::pair<std::string, Type>>{{"add", U8},
                                                                                      {"add", U16},
                                                                                      {"min", F32},
                                                                                      {"max", F64},
                                                                                      {"inc", S32},
                                                                                      {"dec", U64},
                                                                                      {"and", F16},
                                                                                      {"xor", F32}}) {
      CAPTURE(op);
      std::vector<uint64_t> after;
      CHECK(foundOnly(reduce(machine, op, type, 1, 2, after), FindingKind::TensorMap));
      CHECK((after[0] & 0xff) == 1);
    }
  }

  TEST_CASE("many ctas add halves to one place") {
    DeviceOptions options;
    options.workers = 4;
    Machine machine(options);
    const uint64_t global = machine.upload(std::vector<uint16_t>(8, 0));
    const std::array<uint64_t, 1> sizes = {8};
    const std::array<uint32_t, 1> box = {8};
    std::vector<uint8_t> map(tensorMapBytes);
    REQUIRE(machine.device.encodeTensorMap(map.data(), F16, global, sizes, {}, box, 0).ok());
    Program program(1);
    program.fillShared(smem, {0x3c003c003c003c00, 0x3c003c003c003c00});
    program.add("fence.proxy.async.shared::cta");
    program.add(reduceForm(1, "add"), {1, machine.upload(map), 0, smem});
    waitForStores(program, /*read=*/true);
    LaunchParameters parameters;
    parameters.grid = {256, 1, 1};
    CHECK(program.run(machine, parameters).report.clean());
    CHECK(machine.download<uint16_t>(global, 8) == std::vector<uint16_t>(8, 0x5c00)); // 256
  }

  TEST_CASE("flat copies, and groups that may stay in flight") {
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<uint64_t>{1, 2, 3, 4}), out = machine.allocate(64);
      Program program(1);
      program.add("mbarrier.init", {1, bar, 1});
      program.add("fence.mbarrier_init");
      program.add("mbarrier.arrive.expect_tx", {1, bar, 32});
      program.add("cp.async.bulk.shared.global", {1, smem, in, 32, bar});
      program.add("cp.async.bulk.shared.global", {0, smem, in, 32, bar});
      program.add("mbarrier.wait.parity", {1, bar, 0});
      program.add("cp.async.bulk.global.shared", {1, out, smem + 16, 16});
      program.add("cp.async.bulk.commit_group");
      program.add("cp.async.bulk.global.shared", {1, out + 16, smem, 16});
      program.add("cp.async.bulk.commit_group");
      program.add("cp.async.bulk.wait_group", {}, {1});
      const size_t first = program.add("ld.global.v2.b64", {1, out});
      program.add("cp.async.bulk.wait_group", {}, {0});
      const size_t second = program.add("ld.global.v2.b64", {1, out + 16});
      const Outcome outcome = program.run(machine);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      CHECK(outcome.at(first, 0, 0) == 3);
      CHECK(outcome.at(first, 1, 0) == 4);
      CHECK(outcome.at(second, 0, 0) == 1);
      CHECK(outcome.at(second, 1, 0) == 2);
    }
  }

  TEST_CASE("addresses and sizes of flat copies are multiples of 16") {
    Machine machine;
    const uint64_t out = machine.allocate(64);
    const auto store = [&](uint64_t global, uint64_t shared, uint64_t bytes) {
      Program program(1);
      program.fillShared(smem, {1, 2, 3, 4, 5, 6, 7, 8});
      program.add("fence.proxy.async.shared::cta");
      program.add("cp.async.bulk.global.shared", {1, global, shared, bytes});
      waitForStores(program, /*read=*/true);
      return program.run(machine).report;
    };
    CHECK(store(out + 16, smem + 16, 32).clean());
    CHECK(foundOnly(store(out + 8, smem, 16), FindingKind::Misaligned));
    CHECK(foundOnly(store(out, smem + 8, 16), FindingKind::Misaligned));
    CHECK(foundOnly(store(out, smem, 24), FindingKind::Misaligned));
  }

  TEST_CASE("each field of a tensor map is replaced by its instruction") {
    Machine machine;
    for (const FieldCase &entry : fieldCases) {
      CAPTURE(entry.form);
      Program program(32);
      program.fillShared(smem, std::vector<uint64_t>(16, 0));
      std::vector<uint64_t> predicate(32);
      predicate[0] = 1;
      std::vector<Lanes> operands = {predicate, smem};
      if (!entry.isImmediate) {
        operands.emplace_back(entry.value);
      }
      program.add(replaceForm(entry.form), operands,
                  entry.isImmediate ? std::vector<int64_t>{int64_t(entry.value)} : std::vector<int64_t>());
      const uint64_t published = machine.allocate(128);
      program.add("tensormap.cp_fenceproxy", {published, smem});
      program.add("fence.proxy.tensormap.acquire", {published});
      const Outcome outcome = program.run(machine);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      const std::vector<uint8_t> bytes = machine.download<uint8_t>(published, 128);
      const std::optional<Map> map = Map::decode(bytes.data());
      REQUIRE(map);
      CHECK(entry.field(*map) == entry.wanted);
    }
  }

  TEST_CASE("a map made on the device is one to load with") {
    Machine machine;
    const uint64_t in = machine.upload(std::vector<uint32_t>{5, 6, 7, 8, 9, 10, 11, 12});
    const uint64_t published = machine.allocate(128);
    Program program(32);
    program.fillShared(smem, std::vector<uint64_t>(16, 0));
    std::vector<uint64_t> first(32);
    first[0] = 1;
    program.add("mbarrier.init", {first, bar, 1});
    program.add("fence.mbarrier_init");
    program.add(replaceForm("global_address"), {first, smem, in});
    program.add(replaceForm("rank"), {first, smem}, {0});
    program.add(replaceForm("elemtype"), {first, smem}, {2});
    program.add(replaceForm("global_dim.0"), {first, smem, 8});
    program.add(replaceForm("box_dim.0"), {first, smem, 4});
    program.add(replaceForm("element_stride.0"), {first, smem, 1});
    program.add("tensormap.cp_fenceproxy", {published, smem});
    program.add("fence.proxy.tensormap.acquire", {published});
    program.barrier();
    program.add("mbarrier.arrive.expect_tx", {first, bar, 16});
    program.add(loadForm(1, false, false), {first, smem + 1024, published, 3, bar});
    program.add("mbarrier.wait.parity", {1, bar, 0});
    const size_t read = program.add("ld.shared.v4.b32", {1, smem + 1024});
    const Outcome outcome = program.run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    for (size_t i = 0; i < 4; ++i) {
      CHECK(outcome.at(read, i, 17) == 8 + i);
    }
  }

  TEST_CASE("a map made on the device is acquired, after its publication and before its use") {
    // Warp 0 publishes, warp 1 loads.
    const auto run = [](const DeviceOptions &options, bool meets, std::optional<unsigned> acquirer) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<uint32_t>{5, 6, 7, 8, 9, 10, 11, 12});
      const uint64_t published = machine.allocate(128);
      // Whole of itself, so that a load finds a map even if nobody has published it yet.
      const std::array<uint64_t, 1> sizes = {8};
      const std::array<uint32_t, 1> box = {4};
      std::array<uint8_t, tensorMapBytes> map = {};
      REQUIRE(machine.device.encodeTensorMap(map.data(), U32, in, sizes, {}, box, 0).ok());
      REQUIRE(machine.device.copyToDevice(published, map.data(), map.size()).ok());
      std::vector<uint64_t> words(16);
      std::memcpy(words.data(), map.data(), map.size());
      const auto inWarp = [](const std::string &warp, const std::string &body) {
        return "%in" + warp + " = llvm.icmp \"eq\" %warp, %c" + warp + " : i32\nllvm.cond_br %in" + warp + ", ^warp" +
               warp + ", ^after" + warp + "\n^warp" + warp + ":\n" + body + "llvm.br ^after" + warp + "\n^after" +
               warp + ":\n";
      };
      const std::string acquire = "ptx.inst \"fence.proxy.tensormap.acquire\"(%map) : (i64) -> ()\n";
      const std::string barrier = "ptx.inst \"bar.sync\"() {imms = array<i64: 0>} : () -> ()\n";
      const std::string text =
          kernel("%map: i64, %image: !llvm.ptr<1>",
                 R"(
      %warp = llvm.lshr %tid, %c5 : i32
      %bar = llvm.add %smem, %c512 : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      %loads = llvm.icmp "eq" %tid, %c32 : i32
      %fills = llvm.icmp "ult" %tid, %c32 : i32
      ptx.inst "mbarrier.init"(%first, %bar, %c1) : (i1, i32, i32) -> ()
      ptx.inst "fence.mbarrier_init"() : () -> ()
)" + globalOf("source", "image", 4) +
                     sharedOf("own", 4) + R"(
      %word = ptx.inst "ld.global.b32"(%fills, %source) : (i1, !llvm.ptr<1>) -> i32
      ptx.inst "st.shared.b32"(%fills, %own, %word) : (i1, i32, i32) -> ()
      )" + barrier +
                     inWarp("0", "ptx.inst \"tensormap.cp_fenceproxy\"(%map, %smem) : (i64, i32) -> ()\n" +
                                     (acquirer == 0 ? acquire : "")) +
                     (meets ? barrier : "") + inWarp("1", acquirer == 1 ? acquire : "") + R"(
      ptx.inst "mbarrier.arrive.expect_tx"(%loads, %bar, %c16) : (i1, i32, i32) -> ()
      %target = llvm.add %smem, %c128 : i32
      %map_pointer = llvm.inttoptr %map : i64 to !llvm.ptr
      ptx.inst "cp.async.bulk.tensor.1d.shared.global"(%loads, %target, %map_pointer, %c0, %bar) : (i1, i32, !llvm.ptr, i32, i32) -> ()
      ptx.inst "mbarrier.wait.parity"(%true, %bar, %c0) : (i1, i32, i32) -> ()
)");
      LaunchParameters parameters;
      parameters.sharedBytes = 1024;
      return machine.run(text, 64, {published, machine.upload(words)}, parameters);
    };
    for (const DeviceOptions &options : allModes()) {
      for (unsigned acquirer : {0, 1}) {
        const LaunchReport report = run(options, /*meets=*/true, acquirer);
        CHECK_MESSAGE(report.clean(), report.toString());
      }
      const LaunchReport report = run(options, /*meets=*/true, std::nullopt);
      CHECK_MESSAGE(foundOnly(report, FindingKind::TensorMap), report.toString());
    }
    for (unsigned acquirer : {0, 1}) {
      const LaunchReport unordered = run({}, /*meets=*/false, acquirer);
      CHECK_MESSAGE(foundOnly(unordered, FindingKind::TensorMap), unordered.toString());
    }
  }
}
