#include "src/runtime/Target.h"

#include <algorithm>
#include <charconv>

namespace jitk {

static constexpr std::string_view kEmulatorPrefix = "emulator:";

static constexpr std::string_view kArchitectures[] = {"sm_80",   "sm_86",   "sm_87",  "sm_89",   "sm_90a", "sm_100",
                                                      "sm_100a", "sm_103a", "sm_120", "sm_120a", "sm_121a"};

std::span<const std::string_view> Target::architectures() { return kArchitectures; }

static Status malformed(std::string_view text) {
  return invalidArgument("target must be sm_NN or emulator:sm_NN, with an 'a' at the end from sm_90 on: got '" +
                         std::string(text) + "'");
}

static Status needsSuffix(const Target &target) {
  return unsupported("target must be " + target.toString() + "a: " + target.architecture() +
                     " has no wgmma, of which its kernels are made: got '" + target.toString() + "'");
}

static Status notSupported(std::string_view prefix, std::string_view text) {
  std::string known;
  for (std::string_view architecture : kArchitectures) {
    known += (known.empty() ? "" : ", ") + std::string(prefix) + std::string(architecture);
  }
  return unsupported("target must be one of " + known + ": got '" + std::string(text) + "'");
}

Result<Target> Target::parse(std::string_view text) {
  Target target;
  std::string_view rest = text;
  if (rest.starts_with(kEmulatorPrefix)) {
    target.kind = Kind::Emulator;
    rest.remove_prefix(kEmulatorPrefix.size());
  }
  if (!rest.starts_with("sm_")) {
    return malformed(text);
  }
  rest.remove_prefix(3);
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), target.capability);
  std::string_view suffix = rest.substr(static_cast<size_t>(end - rest.data()));
  bool plausible = error == std::errc() && rest.front() != '0' && target.capability >= 10 && target.capability < 1000;
  target.archSpecific = suffix == "a";
  if (!plausible || (!suffix.empty() && (suffix != "a" || target.capability < 90))) {
    return malformed(text);
  }
  if (target.capability == 90 && !target.archSpecific) {
    return needsSuffix(target);
  }
  if (std::ranges::find(kArchitectures, target.architecture()) == std::end(kArchitectures)) {
    return notSupported(target.kind == Kind::Emulator ? kEmulatorPrefix : "", text);
  }
  return target;
}

std::string Target::architecture() const { return "sm_" + std::to_string(capability) + (archSpecific ? "a" : ""); }

std::string Target::toString() const {
  return (kind == Kind::Emulator ? std::string(kEmulatorPrefix) : std::string()) + architecture();
}

} // namespace jitk
