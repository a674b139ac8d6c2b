// A small ELF file in the order that tools write: header, contents, section table, program table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <vector>

namespace jitk::test {

/// One section of the given type and one segment, which hold `contents`.
inline std::vector<uint8_t> sampleElf(std::string_view contents = "some machine code", uint32_t type = SHT_PROGBITS) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shoff = (sizeof header + contents.size() + 7) / 8 * 8;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_phoff = header.e_shoff + 2 * sizeof(Elf64_Shdr);

  Elf64_Shdr sections[2] = {}; // the first one is none, always
  sections[1].sh_type = type;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = contents.size();
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_offset = sizeof header;
  segment.p_filesz = contents.size();

  std::vector<uint8_t> bytes(header.e_phoff + sizeof segment);
  auto put = [&](size_t offset, const void *from, size_t count) { std::memcpy(bytes.data() + offset, from, count); };
  put(0, &header, sizeof header);
  put(sizeof header, contents.data(), contents.size());
  put(header.e_shoff, sections, sizeof sections);
  put(header.e_phoff, &segment, sizeof segment);
  return bytes;
}

} // namespace jitk::test
