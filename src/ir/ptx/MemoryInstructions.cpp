// Rows that name a place or move data between registers and memory.

#include "src/ir/ptx/InstructionTable.h"

using namespace llvm;

namespace jitk::ir::ptx {

void addSpecialRegisters(Table &table) {
  struct Register {
    const char *form;
    const char *intrinsic;
    Sreg sreg;
  };
  const Register registers[] = {
      {"sreg.tid.x", "tid.x", Sreg::TidX},          {"sreg.tid.y", "tid.y", Sreg::TidY},
      {"sreg.tid.z", "tid.z", Sreg::TidZ},          {"sreg.ntid.x", "ntid.x", Sreg::NtidX},
      {"sreg.ntid.y", "ntid.y", Sreg::NtidY},       {"sreg.ntid.z", "ntid.z", Sreg::NtidZ},
      {"sreg.ctaid.x", "ctaid.x", Sreg::CtaidX},    {"sreg.ctaid.y", "ctaid.y", Sreg::CtaidY},
      {"sreg.ctaid.z", "ctaid.z", Sreg::CtaidZ},    {"sreg.nctaid.x", "nctaid.x", Sreg::NctaidX},
      {"sreg.nctaid.y", "nctaid.y", Sreg::NctaidY}, {"sreg.nctaid.z", "nctaid.z", Sreg::NctaidZ},
      {"sreg.laneid", "laneid", Sreg::LaneId},      {"sreg.warpid", "warpid", Sreg::WarpId},
  };
  for (const Register &entry : registers) {
    table.push_back({.form = entry.form,
                     .results = "r",
                     .intrinsic = std::string("llvm.nvvm.read.ptx.sreg.") + entry.intrinsic,
                     .effects = Effects::Pure,
                     .handler = Handler::Sreg,
                     .params = {param(entry.sreg)}});
  }

  const Register clusterRegisters[] = {
      {"sreg.cluster_ctarank", "cluster.ctarank", Sreg::ClusterCtaRank},
      {"sreg.cluster_nctarank", "cluster.nctarank", Sreg::ClusterNctaRank},
      {"sreg.clusterid.x", "clusterid.x", Sreg::ClusterIdX},
      {"sreg.nclusterid.x", "nclusterid.x", Sreg::NclusterIdX},
  };
  for (const Register &entry : clusterRegisters) {
    table.push_back({.form = entry.form,
                     .results = "r",
                     .intrinsic = std::string("llvm.nvvm.read.ptx.sreg.") + entry.intrinsic,
                     .effects = Effects::Pure,
                     .minCapability = 90,
                     .minPtx = 78,
                     .handler = Handler::Sreg,
                     .params = {param(entry.sreg)}});
  }

  // Clocks are not pure: two reads differ.
  table.push_back({.form = "sreg.clock64",
                   .results = "l",
                   .assembly = "mov.u64 $0, %clock64;",
                   .handler = Handler::Sreg,
                   .params = {param(Sreg::Clock)}});
  table.push_back({.form = "sreg.globaltimer",
                   .results = "l",
                   .assembly = "mov.u64 $0, %globaltimer;",
                   .handler = Handler::Sreg,
                   .params = {param(Sreg::GlobalTimer)}});
  table.push_back({.form = "shared.base", .results = "r", .effects = Effects::Pure, .handler = Handler::SharedBase});
}

namespace {
/// The part of a load or store between `ld`/`st` and the vector width.
struct Access {
  const char *name; ///< "global.L1::evict_last"
  char address;     ///< class of the address
  Handler handler;
  unsigned minCapability = 80;
  unsigned minPtx = 70;
  bool ordered = false; ///< volatile, acquire, release: no load of this kind may move
};

struct Width {
  const char *type;
  char letter;
  unsigned bytes;
};
} // namespace

static constexpr Width widths[] = {{"b8", 'h', 1}, {"b16", 'h', 2}, {"b32", 'r', 4}, {"b64", 'l', 8}};

static std::string vectorSuffix(unsigned registers) { return registers == 1 ? "" : ".v" + utostr(registers); }

static void addLoad(Table &table, const Access &access, const Width &width, unsigned registers, bool fallback) {
  std::string text = std::string("ld.") + access.name + vectorSuffix(registers) + "." + width.type;
  std::string values(registers, width.letter);
  table.push_back({.form = text + (fallback ? ".else" : ""),
                   .results = values,
                   .operands = std::string("b") + access.address + (fallback ? values : ""),
                   .assembly = "@$" + utostr(registers) + " " + text + " " + vectorOf(0, registers) + ", [$" +
                               utostr(registers + 1) + "];",
                   .tiedOperands = fallback ? 2 : -1,
                   .predicated = true,
                   .effects = access.ordered ? Effects::Memory : Effects::ReadMemory,
                   .minCapability = access.minCapability,
                   .minPtx = access.minPtx,
                   .handler = access.handler,
                   .params = {width.bytes, registers}});
}

static void addStore(Table &table, const Access &access, const Width &width, unsigned registers) {
  std::string text = std::string("st.") + access.name + vectorSuffix(registers) + "." + width.type;
  table.push_back({.form = text,
                   .operands = std::string("b") + access.address + std::string(registers, width.letter),
                   .assembly = "@$0 " + text + " [$1], " + vectorOf(2, registers) + ";",
                   .predicated = true,
                   .minCapability = access.minCapability,
                   .minPtx = access.minPtx,
                   .handler = access.handler,
                   .params = {width.bytes, registers}});
}

void addLoadsAndStores(Table &table) {
  const Access loads[] = {
      {"global", 'l', Handler::LoadGlobal},
      {"global.ca", 'l', Handler::LoadGlobal},
      {"global.cg", 'l', Handler::LoadGlobal},
      {"global.cs", 'l', Handler::LoadGlobal},
      {"global.cv", 'l', Handler::LoadGlobal},
      {"global.nc", 'l', Handler::LoadGlobal},
      {"global.L1::evict_first", 'l', Handler::LoadGlobal, 80, 74},
      {"global.L1::evict_last", 'l', Handler::LoadGlobal, 80, 74},
      {"global.L1::no_allocate", 'l', Handler::LoadGlobal, 80, 74},
      {"global.nc.L1::no_allocate", 'l', Handler::LoadGlobal, 80, 74},
      {"volatile.global", 'l', Handler::LoadGlobal, 80, 70, true},
      {"shared", 'r', Handler::LoadShared},
      {"shared::cluster", 'r', Handler::LoadShared, 90, 78},
  };
  const Access stores[] = {
      {"global", 'l', Handler::StoreGlobal},
      {"global.wb", 'l', Handler::StoreGlobal},
      {"global.cg", 'l', Handler::StoreGlobal},
      {"global.cs", 'l', Handler::StoreGlobal},
      {"global.wt", 'l', Handler::StoreGlobal},
      {"global.L1::evict_first", 'l', Handler::StoreGlobal, 80, 74},
      {"global.L1::evict_last", 'l', Handler::StoreGlobal, 80, 74},
      {"global.L1::no_allocate", 'l', Handler::StoreGlobal, 80, 74},
      {"volatile.global", 'l', Handler::StoreGlobal},
      {"shared", 'r', Handler::StoreShared},
      {"shared::cluster", 'r', Handler::StoreShared, 90, 78},
  };
  for (const Width &width : widths) {
    for (unsigned registers : {1u, 2u, 4u}) {
      if (registers * width.bytes > 16) {
        continue;
      }
      for (const Access &access : loads) {
        addLoad(table, access, width, registers, /*fallback=*/false);
        addLoad(table, access, width, registers, /*fallback=*/true);
      }
      for (const Access &access : stores) {
        addStore(table, access, width, registers);
      }
    }
  }

  const Access orderedLoads[] = {
      {"relaxed.gpu.global", 'l', Handler::LoadGlobal, 80, 70, true},
      {"relaxed.sys.global", 'l', Handler::LoadGlobal, 80, 70, true},
      {"acquire.gpu.global", 'l', Handler::LoadGlobal, 80, 70, true},
      {"acquire.sys.global", 'l', Handler::LoadGlobal, 80, 70, true},
  };
  const Access orderedStores[] = {
      {"relaxed.gpu.global", 'l', Handler::StoreGlobal},
      {"relaxed.sys.global", 'l', Handler::StoreGlobal},
      {"release.gpu.global", 'l', Handler::StoreGlobal},
      {"release.sys.global", 'l', Handler::StoreGlobal},
  };
  for (const Width &width : {widths[2], widths[3]}) {
    for (const Access &access : orderedLoads) {
      addLoad(table, access, width, 1, /*fallback=*/false);
    }
    for (const Access &access : orderedStores) {
      addStore(table, access, width, 1);
    }
  }
}

namespace {
struct AtomicKind {
  const char *operation; ///< "add.noftz.f16"
  char letter;
  unsigned bytes;
  AtomicOp op;
  AtomicType type = AtomicType::Integer;
  unsigned minCapability = 80;
  unsigned minPtx = 70;
};
} // namespace

static constexpr AtomicKind atomicKinds[] = {
    {"add.u32", 'r', 4, AtomicOp::Add},
    {"add.u64", 'l', 8, AtomicOp::Add},
    {"add.f32", 'f', 4, AtomicOp::Add, AtomicType::Float},
    {"add.f64", 'd', 8, AtomicOp::Add, AtomicType::Float},
    {"add.noftz.f16", 'h', 2, AtomicOp::Add, AtomicType::Float},
    {"add.noftz.bf16", 'h', 2, AtomicOp::Add, AtomicType::BF16, 90, 78},
    {"add.noftz.f16x2", 'r', 4, AtomicOp::Add, AtomicType::F16x2},
    {"add.noftz.bf16x2", 'r', 4, AtomicOp::Add, AtomicType::BF16x2, 90, 78},
    {"min.s32", 'r', 4, AtomicOp::Min},
    {"min.u32", 'r', 4, AtomicOp::UMin},
    {"min.s64", 'l', 8, AtomicOp::Min},
    {"min.u64", 'l', 8, AtomicOp::UMin},
    {"max.s32", 'r', 4, AtomicOp::Max},
    {"max.u32", 'r', 4, AtomicOp::UMax},
    {"max.s64", 'l', 8, AtomicOp::Max},
    {"max.u64", 'l', 8, AtomicOp::UMax},
    {"and.b32", 'r', 4, AtomicOp::And},
    {"and.b64", 'l', 8, AtomicOp::And},
    {"or.b32", 'r', 4, AtomicOp::Or},
    {"or.b64", 'l', 8, AtomicOp::Or},
    {"xor.b32", 'r', 4, AtomicOp::Xor},
    {"xor.b64", 'l', 8, AtomicOp::Xor},
    {"exch.b32", 'r', 4, AtomicOp::Exch},
    {"exch.b64", 'l', 8, AtomicOp::Exch},
    {"inc.u32", 'r', 4, AtomicOp::Inc},
    {"dec.u32", 'r', 4, AtomicOp::Dec},
};

static void addAtomic(Table &table, const std::string &prefix, char address, Handler handler, const AtomicKind &kind) {
  std::string text = prefix + "." + kind.operation;
  table.push_back({.form = text,
                   .results = std::string(1, kind.letter),
                   .operands = std::string("b") + address + kind.letter,
                   .assembly = "@$1 " + text + " $0, [$2], $3;",
                   .predicated = true,
                   .minCapability = kind.minCapability,
                   .minPtx = kind.minPtx,
                   .handler = handler,
                   .params = {param(kind.op), kind.bytes, param(kind.type)}});
}

static void addCompareAndSwap(Table &table, const std::string &prefix, const Width &width) {
  std::string text = prefix + ".cas." + width.type;
  table.push_back({.form = text,
                   .results = std::string(1, width.letter),
                   .operands = std::string("bl") + width.letter + width.letter,
                   .assembly = "@$1 " + text + " $0, [$2], $3, $4;",
                   .predicated = true,
                   .handler = Handler::CompareAndSwap,
                   .params = {width.bytes}});
}

void addAtomics(Table &table) {
  for (const char *order : {"relaxed", "acquire", "release", "acq_rel"}) {
    for (const char *scope : {"cta", "gpu", "sys"}) {
      std::string prefix = std::string("atom.") + order + "." + scope + ".global";
      for (const AtomicKind &kind : atomicKinds) {
        addAtomic(table, prefix, 'l', Handler::AtomicGlobal, kind);
      }
      addCompareAndSwap(table, prefix, widths[1]);
      addCompareAndSwap(table, prefix, widths[2]);
      addCompareAndSwap(table, prefix, widths[3]);
    }
  }
  for (const AtomicKind &kind : atomicKinds) {
    addAtomic(table, "atom.relaxed.cta.shared", 'r', Handler::AtomicShared, kind);
  }
}

static void addCpAsync(Table &table, const char *cache, unsigned bytes) {
  table.push_back(
      {.form = std::string("cp.async.") + cache + "." + utostr(bytes),
       .operands = "brlr",
       .assembly = std::string("@$0 cp.async.") + cache + ".shared.global [$1], [$2], " + utostr(bytes) + ", $3;",
       .predicated = true,
       .handler = Handler::CpAsync,
       .params = {bytes}});
}

void addAsyncCopies(Table &table) {
  addCpAsync(table, "ca", 4);
  addCpAsync(table, "ca", 8);
  addCpAsync(table, "ca", 16);
  addCpAsync(table, "cg", 16);
  table.push_back(
      {.form = "cp.async.commit_group", .assembly = "cp.async.commit_group;", .handler = Handler::CpAsyncCommit});
  table.push_back({.form = "cp.async.wait_group",
                   .numImmediates = 1,
                   .assembly = "cp.async.wait_group %0%;",
                   .handler = Handler::CpAsyncWait});
  // Without `noinc` the barrier first expects one arrival more.
  table.push_back({.form = "cp.async.mbarrier.arrive",
                   .operands = "r",
                   .assembly = "cp.async.mbarrier.arrive.shared.b64 [$0];",
                   .handler = Handler::CpAsyncArrive,
                   .params = {0}});
  table.push_back({.form = "cp.async.mbarrier.arrive.noinc",
                   .operands = "r",
                   .assembly = "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];",
                   .handler = Handler::CpAsyncArrive,
                   .params = {1}});
  table.push_back({.form = "prefetch.global.L2",
                   .operands = "bl",
                   .assembly = "@$0 prefetch.global.L2 [$1];",
                   .predicated = true,
                   .handler = Handler::Prefetch});
}

} // namespace jitk::ir::ptx
