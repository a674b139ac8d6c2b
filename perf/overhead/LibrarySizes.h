// How large the libraries are.

#pragma once

#include <cstdint>
#include <string>

namespace jitk::perf {

/// Path of a library that lies beside the libjitk.so of this process.
std::string besideLibjitk(const std::string &name);

/// Bytes of an ELF file without what strip removes: symbols and debug information, which end the file. Throws
/// std::runtime_error naming the file.
uint64_t strippedBytes(const std::string &path);

} // namespace jitk::perf
