// Rows that order threads and memory: mbarriers, fences, CTA barriers, clusters.

#include "src/ir/ptx/InstructionTable.h"

using namespace llvm;

namespace jitk::ir::ptx {

void addMbarriers(Table &table) {
  table.push_back({.form = "mbarrier.init",
                   .operands = "brr",
                   .assembly = "@$0 mbarrier.init.shared::cta.b64 [$1], $2;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierInit});
  table.push_back({.form = "mbarrier.inval",
                   .operands = "br",
                   .assembly = "@$0 mbarrier.inval.shared::cta.b64 [$1];",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierInval});
  table.push_back({.form = "mbarrier.arrive",
                   .operands = "brr",
                   .assembly = "@$0 mbarrier.arrive.shared::cta.b64 _, [$1], $2;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierArrive});
  // The address is one that mapa made. With the scope of the cluster ptxas puts a barrier of all the GPU's memory
  // before it, which takes longer than a block of a product; what is released here are reads, which have returned.
  table.push_back({.form = "mbarrier.arrive.cluster",
                   .operands = "brr",
                   .assembly = "@$0 mbarrier.arrive.shared::cluster.b64 _, [$1], $2;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierArrive});
  table.push_back({.form = "mbarrier.arrive.expect_tx",
                   .operands = "brr",
                   .assembly = "@$0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], $2;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierExpectTx,
                   .params = {1}});
  table.push_back({.form = "mbarrier.expect_tx",
                   .operands = "brr",
                   .assembly = "@$0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$1], $2;",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierExpectTx,
                   .params = {0}});
  // The braces keep the labels of one copy apart from those of the next.
  table.push_back({.form = "mbarrier.wait.parity",
                   .operands = "brr",
                   .assembly = "{\n"
                               ".reg .pred complete;\n"
                               "@!$0 bra done;\n"
                               "again:\n"
                               "mbarrier.try_wait.parity.shared::cta.b64 complete, [$1], $2;\n"
                               "@!complete bra again;\n"
                               "done:\n"
                               "}",
                   .predicated = true,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::MbarrierWait});
}

static void addFence(Table &table, const char *scopeName, Scope scope, unsigned minCapability, unsigned minPtx) {
  table.push_back({.form = std::string("fence.acq_rel.") + scopeName,
                   .assembly = std::string("fence.acq_rel.") + scopeName + ";",
                   .minCapability = minCapability,
                   .minPtx = minPtx,
                   .handler = Handler::Fence,
                   .params = {param(scope)}});
}

static void addProxyFence(Table &table, const char *space, int64_t kind) {
  table.push_back({.form = std::string("fence.proxy.async.") + space,
                   .assembly = std::string("fence.proxy.async.") + space + ";",
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::FenceProxyAsync,
                   .params = {kind}});
}

/// The aligned barrier `bar` wants whole warps; `barrier` takes any set of threads.
static void addCtaBarriers(Table &table, const std::string &name) {
  table.push_back(
      {.form = name + ".sync", .numImmediates = 1, .assembly = name + ".sync %0%;", .handler = Handler::BarrierCta});
  table.push_back({.form = name + ".sync.n",
                   .numImmediates = 2,
                   .assembly = name + ".sync %0%, %1%;",
                   .handler = Handler::BarrierCta});
  table.push_back({.form = name + ".sync.r",
                   .operands = "r",
                   .numImmediates = 1,
                   .assembly = name + ".sync $0, %0%;",
                   .handler = Handler::BarrierCta,
                   .params = {1}});
  table.push_back({.form = name + ".arrive.n",
                   .numImmediates = 2,
                   .assembly = name + ".arrive %0%, %1%;",
                   .handler = Handler::BarrierArrive});
}

void addFencesAndBarriers(Table &table) {
  addFence(table, "cta", Scope::Cta, 80, 70);
  addFence(table, "cluster", Scope::Cluster, 90, 78);
  addFence(table, "gpu", Scope::Gpu, 80, 70);
  addFence(table, "sys", Scope::Sys, 80, 70);
  addProxyFence(table, "shared::cta", 0);
  addProxyFence(table, "shared::cluster", 1);
  addProxyFence(table, "global", 2);
  table.push_back({.form = "fence.mbarrier_init",
                   .assembly = "fence.mbarrier_init.release.cluster;",
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::FenceMbarrierInit});
  addCtaBarriers(table, "bar");
  addCtaBarriers(table, "barrier");
  table.push_back({.form = "bar.warp.sync", .assembly = "bar.warp.sync 0xffffffff;", .handler = Handler::WarpSync});
  for (bool increase : {false, true}) {
    std::string direction = increase ? "inc" : "dec";
    table.push_back({.form = "setmaxnreg." + direction,
                     .numImmediates = 1,
                     .assembly = "setmaxnreg." + direction + ".sync.aligned.u32 %0%;",
                     .minCapability = 90,
                     .family = Family::SpecificOnward,
                     .minPtx = 80,
                     .handler = Handler::SetMaxRegister,
                     .params = {increase}});
  }
  table.push_back(
      {.form = "nanosleep", .operands = "r", .assembly = "nanosleep.u32 $0;", .handler = Handler::Nanosleep});
  table.push_back(
      {.form = "trap", .operands = "b", .assembly = "@$0 trap;", .predicated = true, .handler = Handler::Trap});
}

void addCluster(Table &table) {
  for (bool relaxed : {false, true}) {
    std::string suffix = relaxed ? ".relaxed" : "";
    table.push_back({.form = "barrier.cluster.arrive" + suffix,
                     .assembly = "barrier.cluster.arrive" + suffix + ".aligned;",
                     .minCapability = 90,
                     .minPtx = relaxed ? 80u : 78u,
                     .handler = Handler::ClusterArrive,
                     .params = {relaxed}});
  }
  table.push_back({.form = "barrier.cluster.wait",
                   .assembly = "barrier.cluster.wait.aligned;",
                   .minCapability = 90,
                   .minPtx = 78,
                   .handler = Handler::ClusterWait});
  table.push_back({.form = "mapa",
                   .results = "r",
                   .operands = "rr",
                   .assembly = "mapa.shared::cluster.u32 $0, $1, $2;",
                   .effects = Effects::Pure,
                   .minCapability = 90,
                   .minPtx = 78,
                   .handler = Handler::MapShared});
  for (bool wait : {true, false}) {
    std::string name = wait ? "griddepcontrol.wait" : "griddepcontrol.launch_dependents";
    table.push_back({.form = name,
                     .assembly = name + ";",
                     .minCapability = 90,
                     .minPtx = 78,
                     .handler = Handler::GridDependency,
                     .params = {wait}});
  }
}

} // namespace jitk::ir::ptx
