#include "src/runtime/ElfImage.h"

#include <cstring>
#include <elf.h>
#include <string>

namespace jitk {

static Status broken(std::span<const uint8_t> bytes, const std::string &how) {
  return internalError("compiled code must be a whole ELF file: got " + std::to_string(bytes.size()) + " bytes " + how);
}

/// Whether `count` pieces of `size` bytes lie within the file from `offset` on.
static bool holds(std::span<const uint8_t> bytes, uint64_t offset, uint64_t count, uint64_t size) {
  return offset <= bytes.size() && (size == 0 || count <= (bytes.size() - offset) / size);
}

template <typename T> static T at(std::span<const uint8_t> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

static Status checkSections(std::span<const uint8_t> bytes, const Elf64_Ehdr &header, uint64_t &contents) {
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)) {
    return broken(bytes, "with sections of another form");
  }
  if (!holds(bytes, header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr))) {
    return broken(bytes, "that end before the section table does");
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    auto section = at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) {
      continue;
    }
    if (!holds(bytes, section.sh_offset, section.sh_size, 1)) {
      return broken(bytes, "that end before section " + std::to_string(i) + " does");
    }
    contents += section.sh_size;
  }
  return okStatus();
}

static Status checkSegments(std::span<const uint8_t> bytes, const Elf64_Ehdr &header) {
  if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return broken(bytes, "with segments of another form");
  }
  if (!holds(bytes, header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr))) {
    return broken(bytes, "that end before the program table does");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    auto segment = at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!holds(bytes, segment.p_offset, segment.p_filesz, 1)) {
      return broken(bytes, "that end before segment " + std::to_string(i) + " does");
    }
  }
  return okStatus();
}

Status checkElfImage(std::span<const uint8_t> bytes) {
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return broken(bytes, "that are none");
  }
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return broken(bytes, "that end before the header does");
  }
  auto header = at<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return broken(bytes, "of another class or byte order");
  }
  uint64_t contents = 0;
  JITK_TRY(checkSections(bytes, header, contents));
  JITK_TRY(checkSegments(bytes, header));
  return contents > 0 ? okStatus() : broken(bytes, "with nothing in them");
}

} // namespace jitk
