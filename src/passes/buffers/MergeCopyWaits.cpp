#include "src/passes/buffers/MergeCopyWaits.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

namespace {

/// A copy that nothing separates from its commit and its wait.
struct WaitedCopy {
  ttg::AsyncCommitGroupOp commit;
  ttg::AsyncWaitOp wait;
  ttg::LocalAllocOp allocation;
};

} // namespace

/// The allocation behind a view; null if the buffer comes from elsewhere.
static ttg::LocalAllocOp allocationOf(Value buffer) {
  while (Operation *definition = buffer.getDefiningOp()) {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(definition)) {
      return alloc;
    }
    if (!isa<ttg::MemDescIndexOp, ttg::MemDescSubsliceOp>(definition)) {
      break;
    }
    buffer = definition->getOperand(0);
  }
  return {};
}

static std::optional<WaitedCopy> matchWaited(ttg::AsyncCopyGlobalToLocalOp copy) {
  auto commit = dyn_cast_or_null<ttg::AsyncCommitGroupOp>(copy->getNextNode());
  if (!commit || commit.getInputTokens().size() != 1 || commit.getInputTokens().front() != copy.getToken()) {
    return std::nullopt;
  }
  auto wait = dyn_cast_or_null<ttg::AsyncWaitOp>(commit->getNextNode());
  if (!wait || !wait->use_empty() || wait.getAsyncToken().size() != 1 ||
      wait.getAsyncToken().front() != commit.getAsyncToken() || !commit->hasOneUse()) {
    return std::nullopt;
  }
  ttg::LocalAllocOp allocation = allocationOf(copy.getResult());
  return allocation ? std::optional(WaitedCopy{commit, wait, allocation}) : std::nullopt;
}

/// The first operation after `op` that has a region or an effect.
static Operation *nextEffect(Operation *op) {
  do {
    op = op->getNextNode();
  } while (op && op->getNumRegions() == 0 && isMemoryEffectFree(op));
  return op;
}

void mergeCopyWaits(ArrayRef<ttg::AsyncCopyGlobalToLocalOp> copies) {
  DenseSet<Operation *> candidates, merged;
  candidates.insert(copies.begin(), copies.end());
  for (ttg::AsyncCopyGlobalToLocalOp first : copies) {
    std::optional<WaitedCopy> current = merged.contains(first) ? std::nullopt : matchWaited(first);
    DenseSet<Operation *> filled;
    while (current && filled.insert(current->allocation).second) {
      auto next = dyn_cast_or_null<ttg::AsyncCopyGlobalToLocalOp>(nextEffect(current->wait));
      std::optional<WaitedCopy> later = next && candidates.contains(next) ? matchWaited(next) : std::nullopt;
      if (!later || filled.contains(later->allocation)) {
        break;
      }
      SmallVector<Value> tokens(current->commit.getInputTokens());
      llvm::append_range(tokens, later->commit.getInputTokens());
      later->commit.getInputTokensMutable().assign(tokens);
      current->wait.erase();
      current->commit.erase();
      merged.insert(next);
      current = later;
    }
  }
}

} // namespace jitk::passes
