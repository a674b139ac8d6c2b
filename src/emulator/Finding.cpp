#include "src/emulator/Finding.h"

#include "llvm/Support/FormatVariadic.h"

namespace jitk::emulator {

std::string_view findingKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialised:
    return "uninitialised read";
  case FindingKind::Pending:
    return "pending bytes";
  case FindingKind::Poison:
    return "poison register";
  case FindingKind::Race:
    return "race";
  case FindingKind::GridRace:
    return "grid race";
  case FindingKind::InFlightOverwrite:
    return "in-flight overwrite";
  case FindingKind::MissingProxyFence:
    return "missing proxy fence";
  case FindingKind::Barrier:
    return "barrier mismatch";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::Descriptor:
    return "matrix descriptor";
  case FindingKind::TensorMap:
    return "tensor map";
  case FindingKind::Mbarrier:
    return "mbarrier misuse";
  case FindingKind::Registers:
    return "registers";
  case FindingKind::AsyncAtExit:
    return "asynchronous work at exit";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::Limit:
    return "limit";
  case FindingKind::Unsupported:
    return "unsupported";
  }
  return "unknown";
}

std::string Finding::toString() const {
  std::string text = std::string(findingKindName(kind));
  if (!form.empty()) {
    text += " in " + form;
  }
  if (!location.empty()) {
    text += " at " + location;
  }
  text += llvm::formatv(" by cta ({0}, {1}, {2}) warp {3} lane {4}", cta[0], cta[1], cta[2], warp, lane);
  if (address) {
    text += llvm::formatv(" on address {0:x}", address);
  }
  return detail.empty() ? text : text + ": " + detail;
}

} // namespace jitk::emulator
