#include "backends/nvidia/driver/CubinNote.h"

#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

namespace jitk::nvidia {

namespace {
constexpr std::string_view kOwner("NVIDIA Corp\0", 12); // with its end, as the note counts it
constexpr uint32_t kCudaInfo = 1000;                    ///< the note's type

/// What that note holds.
struct CudaInfo {
  uint16_t version;
  uint16_t virtualArchitecture;
  uint32_t cudaRelease; ///< 130 for 13.0
};
} // namespace

/// The structure at `offset`, if all of it lies in `bytes`.
template <typename T> static std::optional<T> read(std::span<const uint8_t> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

static int cudaVersionOfNote(std::span<const uint8_t> note) {
  auto header = read<Elf64_Nhdr>(note, 0);
  if (!header || header->n_type != kCudaInfo || header->n_namesz != kOwner.size() ||
      note.size() < sizeof *header + kOwner.size() ||
      std::memcmp(note.data() + sizeof *header, kOwner.data(), kOwner.size()) != 0) {
    return 0;
  }
  auto info = read<CudaInfo>(note, sizeof *header + kOwner.size());
  bool isPlausible = info && info->cudaRelease >= 100 && info->cudaRelease < 1000;
  return isPlausible ? static_cast<int>(info->cudaRelease / 10 * 1000 + info->cudaRelease % 10 * 10) : 0;
}

int cudaVersionOf(std::span<const uint8_t> code) {
  auto header = read<Elf64_Ehdr>(code, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return 0;
  }
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    auto section = read<Elf64_Shdr>(code, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_NOTE || section->sh_offset > code.size() ||
        section->sh_size > code.size() - section->sh_offset) {
      continue;
    }
    if (int version = cudaVersionOfNote(code.subspan(section->sh_offset, section->sh_size))) {
      return version;
    }
  }
  return 0;
}

} // namespace jitk::nvidia
