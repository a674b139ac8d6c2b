// Rows of the tensor cores: matrix loads and stores, mma.sync, wgmma.

#include "src/ir/ptx/InstructionTable.h"

using namespace llvm;

namespace jitk::ir::ptx {

void addMatrixLoads(Table &table) {
  for (unsigned matrices : {1u, 2u, 4u}) {
    for (bool transposed : {false, true}) {
      std::string suffix = ".x" + utostr(matrices) + (transposed ? ".trans" : "");
      table.push_back({.form = "ldmatrix" + suffix,
                       .results = std::string(matrices, 'r'),
                       .operands = "r",
                       .assembly = "ldmatrix.sync.aligned.m8n8" + suffix + ".shared.b16 {" + placeholders(0, matrices) +
                                   "}, [$" + utostr(matrices) + "];",
                       .effects = Effects::ReadMemory,
                       .handler = Handler::Ldmatrix,
                       .params = {matrices, transposed}});
      table.push_back(
          {.form = "stmatrix" + suffix,
           .operands = "r" + std::string(matrices, 'r'),
           .assembly = "stmatrix.sync.aligned.m8n8" + suffix + ".shared.b16 [$0], {" + placeholders(1, matrices) + "};",
           .minCapability = 90,
           .minPtx = 78,
           .handler = Handler::Stmatrix,
           .params = {matrices, transposed}});
    }
  }
}

namespace {
/// Element types of one product.
struct Product {
  Element c, a, b;
  unsigned k; ///< of one instruction
};
} // namespace

/// "f32.f16" where A and B have one type, "f32.e4m3.e5m2" where they differ.
static std::string productName(const Product &product) {
  std::string name = (elementName(product.c) + "." + elementName(product.a)).str();
  return product.a == product.b ? name : name + "." + elementName(product.b).str();
}

static char accumulatorClass(Element element) { return element == Element::F32 ? 'f' : 'r'; }

static void addMmaRow(Table &table, const Product &product, unsigned minCapability, unsigned minPtx) {
  unsigned registers = product.c == Element::F16 ? 2 : 4;
  std::string c(registers, accumulatorClass(product.c));
  std::string shape = "m16n8k" + utostr(product.k);
  std::string types = ("." + elementName(product.c) + "." + elementName(product.a) + "." + elementName(product.b) +
                       "." + elementName(product.c))
                          .str();
  table.push_back({.form = "mma." + shape + "." + productName(product),
                   .results = c,
                   .operands = "rrrrrr" + c,
                   .assembly = "mma.sync.aligned." + shape + ".row.col" + types + " " + vectorOf(0, registers) + ", " +
                               vectorOf(registers, 4) + ", " + vectorOf(registers + 4, 2) + ", " +
                               vectorOf(registers + 6, registers) + ";",
                   .effects = Effects::Convergent,
                   .minCapability = minCapability,
                   .minPtx = minPtx,
                   .handler = Handler::Mma,
                   .params = {16, 8, product.k, param(product.a), param(product.c), param(product.b)}});
}

void addMma(Table &table) {
  addMmaRow(table, {Element::F32, Element::F16, Element::F16, 16}, 80, 70);
  addMmaRow(table, {Element::F16, Element::F16, Element::F16, 16}, 80, 70);
  addMmaRow(table, {Element::F32, Element::BF16, Element::BF16, 16}, 80, 70);
  addMmaRow(table, {Element::F32, Element::TF32, Element::TF32, 8}, 80, 70);
  for (Element a : {Element::S8, Element::U8}) {
    for (Element b : {Element::S8, Element::U8}) {
      addMmaRow(table, {Element::S32, a, b, 32}, 80, 70);
    }
  }
  for (Element a : {Element::E4M3, Element::E5M2}) {
    for (Element b : {Element::E4M3, Element::E5M2}) {
      addMmaRow(table, {Element::F32, a, b, 32}, 89, 84);
    }
  }
}

/// Immediates of a wgmma after scale-d, as PTX text. 16-bit types have the transposes; A in registers has none of its
/// own, so that its transpose immediate is not printed.
static std::string wgmmaImmediates(unsigned numImmediates, bool registersA) {
  if (numImmediates == 0) {
    return "";
  }
  if (numImmediates == 2) {
    return ", %0%, %1%";
  }
  return registersA ? ", %0%, %1%, %3%" : ", %0%, %1%, %2%, %3%";
}

static void addWgmmaRow(Table &table, const Product &product, unsigned n, bool registersA) {
  unsigned registers = product.c == Element::F16 ? n / 4 : n / 2;
  std::string c(registers, accumulatorClass(product.c));
  unsigned numA = registersA ? 4 : 1;
  unsigned numImmediates = product.k == 16 ? 4 : product.c == Element::S32 ? 0 : 2;
  std::string shape = "m64n" + utostr(n) + "k" + utostr(product.k);
  std::string types =
      ("." + elementName(product.c) + "." + elementName(product.a) + "." + elementName(product.b)).str();
  // Operands follow the results: A, B, scale-d, C. C is tied to D, so that the text names D alone.
  table.push_back({.form = "wgmma." + shape + "." + productName(product) + (registersA ? ".rs" : ".ss"),
                   .results = c,
                   .operands = (registersA ? "rrrr" : "l") + std::string("lb") + c,
                   .numImmediates = numImmediates,
                   .assembly = "wgmma.mma_async.sync.aligned." + shape + types + " {" + placeholders(0, registers) +
                               "}, " + vectorOf(registers, numA) + ", $" + utostr(registers + numA) + ", $" +
                               utostr(registers + numA + 1) + wgmmaImmediates(numImmediates, registersA) + ";",
                   .tiedOperands = static_cast<int>(numA + 2),
                   .minCapability = 90,
                   .family = Family::Exact,
                   .minPtx = 80,
                   .handler = Handler::Wgmma,
                   .params = {n, product.k, param(product.a), param(product.b), param(product.c), registersA}});
}

/// Integer products have fewer widths than the others.
static bool hasIntegerWidth(unsigned n) { return n <= 32 ? n % 8 == 0 : n % 16 == 0; }

static void addWgmmaProduct(Table &table, const Product &product) {
  for (unsigned n = 8; n <= 256; n += 8) {
    if (product.c == Element::S32 && !hasIntegerWidth(n)) {
      continue;
    }
    addWgmmaRow(table, product, n, /*registersA=*/false);
    addWgmmaRow(table, product, n, /*registersA=*/true);
  }
}

/// A fence that hands registers of a left operand through: they are written before it, not between the products.
static void addWgmmaFence(Table &table, const std::string &suffix, std::string registers) {
  int tied = registers.empty() ? -1 : 0;
  table.push_back({.form = "wgmma.fence" + suffix,
                   .results = registers,
                   .operands = std::move(registers),
                   .assembly = "wgmma.fence.sync.aligned;",
                   .tiedOperands = tied,
                   .minCapability = 90,
                   .family = Family::Exact,
                   .minPtx = 80,
                   .handler = Handler::WgmmaFence});
}

/// A wait that hands the accumulators through, so that neither compiler moves a use of them before it.
static void addWgmmaWait(Table &table, const std::string &suffix, std::string registers) {
  int tied = registers.empty() ? -1 : 0;
  table.push_back({.form = "wgmma.wait_group" + suffix,
                   .results = registers,
                   .operands = std::move(registers),
                   .numImmediates = 1,
                   .assembly = "wgmma.wait_group.sync.aligned %0%;",
                   .tiedOperands = tied,
                   .minCapability = 90,
                   .family = Family::Exact,
                   .minPtx = 80,
                   .handler = Handler::WgmmaWait});
}

void addWgmma(Table &table) {
  addWgmmaProduct(table, {Element::F32, Element::F16, Element::F16, 16});
  addWgmmaProduct(table, {Element::F16, Element::F16, Element::F16, 16});
  addWgmmaProduct(table, {Element::F32, Element::BF16, Element::BF16, 16});
  addWgmmaProduct(table, {Element::F32, Element::TF32, Element::TF32, 8});
  for (Element a : {Element::E4M3, Element::E5M2}) {
    for (Element b : {Element::E4M3, Element::E5M2}) {
      addWgmmaProduct(table, {Element::F32, a, b, 32});
    }
  }
  addWgmmaProduct(table, {Element::S32, Element::S8, Element::S8, 32});

  addWgmmaFence(table, "", "");
  for (unsigned count = 4; count <= 128; count += 4) {
    addWgmmaFence(table, ".b32x" + utostr(count), std::string(count, 'r'));
  }
  table.push_back({.form = "wgmma.commit_group",
                   .assembly = "wgmma.commit_group.sync.aligned;",
                   .minCapability = 90,
                   .family = Family::Exact,
                   .minPtx = 80,
                   .handler = Handler::WgmmaCommit});
  addWgmmaWait(table, "", "");
  for (unsigned count = 2; count <= 128; count += 2) {
    addWgmmaWait(table, ".b32x" + utostr(count), std::string(count, 'r'));
  }
  for (unsigned count = 4; count <= 256; count += 4) {
    addWgmmaWait(table, ".f32x" + utostr(count), std::string(count, 'f'));
  }
}

} // namespace jitk::ir::ptx
