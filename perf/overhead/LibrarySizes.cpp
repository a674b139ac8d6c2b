#include "perf/overhead/LibrarySizes.h"

#include "jitk/jitk.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace jitk::perf {

std::string besideLibjitk(const std::string &name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&jitk_version), &info) == 0) {
    return name;
  }
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + name;
}

uint64_t strippedBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw std::runtime_error("not an ELF file: " + path);
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char *>(segments.data()),
            static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
  uint64_t end = 0;
  for (const Elf64_Phdr &segment : segments) {
    end = std::max<uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  if (!file || end == 0) {
    throw std::runtime_error("damaged ELF file: " + path);
  }
  return end;
}

} // namespace jitk::perf
