// Rows of the bulk-copy engine: tensor copies, plain bulk copies, tensor maps made on the device.

#include "src/ir/ptx/InstructionTable.h"

using namespace llvm;

namespace jitk::ir::ptx {

static void addTmaLoad(Table &table, unsigned rank, bool multicast, bool hint) {
  std::string dimension = utostr(rank) + "d";
  std::string suffix = std::string(multicast ? ".multicast::cluster" : "") + (hint ? ".L2::cache_hint" : "");
  // $0 predicate, $1 destination, $2 map, $3.. coordinates, then mbarrier, mask, policy.
  unsigned mbarrier = 3 + rank;
  std::string extra = multicast ? ", $" + utostr(mbarrier + 1) : "";
  extra += hint ? ", $" + utostr(mbarrier + 1 + multicast) : "";
  table.push_back({.form = "cp.async.bulk.tensor." + dimension + ".shared.global" + suffix,
                   .operands = "brl" + std::string(rank, 'r') + "r" + (multicast ? "h" : "") + (hint ? "l" : ""),
                   .assembly = "@$0 cp.async.bulk.tensor." + dimension +
                               ".shared::cluster.global.mbarrier::complete_tx::bytes" + suffix + " [$1], [$2, {" +
                               placeholders(3, rank) + "}], [$" + utostr(mbarrier) + "]" + extra + ";",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::TmaLoad,
                   .params = {rank, multicast, hint}});
}

static void addTmaStore(Table &table, unsigned rank) {
  std::string dimension = utostr(rank) + "d";
  std::string arguments = " [$1, {" + placeholders(2, rank) + "}], [$" + utostr(2 + rank) + "];";
  std::string operands = "bl" + std::string(rank, 'r') + "r";
  table.push_back({.form = "cp.async.bulk.tensor." + dimension + ".global.shared",
                   .operands = operands,
                   .assembly = "@$0 cp.async.bulk.tensor." + dimension + ".global.shared::cta.bulk_group" + arguments,
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::TmaStore,
                   .params = {rank}});
  const std::pair<const char *, AtomicOp> reductions[] = {
      {"add", AtomicOp::Add}, {"min", AtomicOp::Min}, {"max", AtomicOp::Max}, {"inc", AtomicOp::Inc},
      {"dec", AtomicOp::Dec}, {"and", AtomicOp::And}, {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor}};
  for (auto [name, op] : reductions) {
    table.push_back({.form = "cp.reduce.async.bulk.tensor." + dimension + "." + name,
                     .operands = operands,
                     .assembly = "@$0 cp.reduce.async.bulk.tensor." + dimension + ".global.shared::cta." + name +
                                 ".tile.bulk_group" + arguments,
                     .predicated = true,
                     .minCapability = 90,
                     .minPtx = 80,
                     .handler = Handler::TmaReduce,
                     .params = {rank, param(op)}});
  }
}

void addTma(Table &table) {
  for (unsigned rank = 1; rank <= 5; ++rank) {
    addTmaLoad(table, rank, /*multicast=*/false, /*hint=*/false);
    addTmaLoad(table, rank, /*multicast=*/true, /*hint=*/false);
    addTmaLoad(table, rank, /*multicast=*/false, /*hint=*/true);
    addTmaLoad(table, rank, /*multicast=*/true, /*hint=*/true);
    addTmaStore(table, rank);
  }
  table.push_back({.form = "cp.async.bulk.shared.global",
                   .operands = "brlrr",
                   .assembly = "@$0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2], $3, "
                               "[$4];",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::BulkLoad});
  table.push_back({.form = "cp.async.bulk.global.shared",
                   .operands = "blrr",
                   .assembly = "@$0 cp.async.bulk.global.shared::cta.bulk_group [$1], [$2], $3;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::BulkStore});
  table.push_back({.form = "cp.async.bulk.commit_group",
                   .assembly = "cp.async.bulk.commit_group;",
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::TmaCommit});
  for (bool read : {false, true}) {
    std::string name = std::string("cp.async.bulk.wait_group") + (read ? ".read" : "");
    table.push_back({.form = name,
                     .numImmediates = 1,
                     .assembly = name + " %0%;",
                     .minCapability = 90,
                     .minPtx = 80,
                     .handler = Handler::TmaWait,
                     .params = {read}});
  }
  for (const char *priority : {"evict_first", "evict_last", "evict_normal"}) {
    std::string name = std::string("createpolicy.fractional.L2::") + priority;
    // evict_normal is the absence of a wish for all but a fraction that it does not have.
    std::string text = std::string(priority) == "evict_normal" ? "createpolicy.fractional.L2::evict_unchanged" : name;
    table.push_back({.form = name,
                     .results = "l",
                     .assembly = text + ".b64 $0, 1.0;",
                     .effects = Effects::Pure,
                     .minPtx = 74,
                     .handler = Handler::CachePolicy});
  }
}

namespace {
struct TensormapForm {
  const char *name;
  TensormapField field;
  char letter;           ///< class of the value; 0 = an immediate
  unsigned ordinals = 0; ///< how many dimensions the field has; 0 = the field has none
};
} // namespace

static void addTensormapReplace(Table &table, const TensormapForm &field, int ordinal) {
  std::string name = std::string("tensormap.replace.tile.") + field.name;
  std::string dimension = ordinal < 0 ? "" : ", " + itostr(ordinal);
  std::string value = field.letter ? ", $2" : ", %0%";
  table.push_back({.form = ordinal < 0 ? name : name + "." + itostr(ordinal),
                   .operands = field.letter ? std::string("br") + field.letter : "br",
                   .numImmediates = field.letter ? 0u : 1u,
                   .assembly = "@$0 " + name + ".shared::cta.b1024." + (field.letter == 'l' ? "b64" : "b32") + " [$1]" +
                               dimension + value + ";",
                   .predicated = true,
                   .minCapability = 90,
                   .family = Family::SpecificOnward,
                   .minPtx = 83,
                   .handler = Handler::TensormapReplace,
                   .params = {param(field.field), ordinal < 0 ? 0 : ordinal}});
}

void addTensormaps(Table &table) {
  const TensormapForm fields[] = {
      {"global_address", TensormapField::GlobalAddress, 'l'},
      {"rank", TensormapField::Rank, 0},
      {"box_dim", TensormapField::BoxDim, 'r', 5},
      {"global_dim", TensormapField::GlobalDim, 'r', 5},
      {"global_stride", TensormapField::GlobalStride, 'l', 4},
      {"element_stride", TensormapField::ElementStride, 'r', 5},
      {"elemtype", TensormapField::ElemType, 0},
      {"interleave_layout", TensormapField::InterleaveLayout, 0},
      {"swizzle_mode", TensormapField::SwizzleMode, 0},
      {"fill_mode", TensormapField::FillMode, 0},
  };
  for (const TensormapForm &field : fields) {
    if (field.ordinals == 0) {
      addTensormapReplace(table, field, -1);
    }
    for (unsigned ordinal = 0; ordinal < field.ordinals; ++ordinal) {
      addTensormapReplace(table, field, static_cast<int>(ordinal));
    }
  }
  table.push_back({.form = "tensormap.cp_fenceproxy",
                   .operands = "lr",
                   .assembly = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                               "[$0], [$1], 128;",
                   .minCapability = 90,
                   .minPtx = 83,
                   .handler = Handler::TensormapPublish});
  table.push_back({.form = "fence.proxy.tensormap.acquire",
                   .operands = "l",
                   .assembly = "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;",
                   .minCapability = 90,
                   .minPtx = 83,
                   .handler = Handler::TensormapFence});
  table.push_back({.form = "prefetch.tensormap",
                   .operands = "bl",
                   .assembly = "@$0 prefetch.tensormap [$1];",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::Prefetch});
}

} // namespace jitk::ir::ptx
