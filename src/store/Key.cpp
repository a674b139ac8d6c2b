#include "src/store/Key.h"

#include "src/support/Bytes.h"

namespace jitk {

// Changes with the byte form of a key or of what is cached under it.
static constexpr uint32_t kKeyVersion = 1;

Key::Key(KeyParts parts) : parts_(std::move(parts)) {
  ByteWriter writer;
  writer.integer(kKeyVersion);
  writer.string(parts_.description);
  writer.string(parts_.target);
  writer.string(parts_.buildId);
  writer.string(parts_.options);
  Hash128 problem = hashBytes(writer.written());
  writer.string(parts_.assembler);
  bytes_ = writer.take();
  hash_ = hashBytes(bytes_);
  name_ = problem.toHex() + "-" + hashBytes(parts_.assembler).toHex().substr(0, 8);
}

bool Key::parse(std::span<const uint8_t> bytes, KeyParts &parts) {
  ByteReader reader(bytes);
  bool known = reader.integer<uint32_t>() == kKeyVersion;
  parts.description = reader.string();
  parts.target = reader.string();
  parts.buildId = reader.string();
  parts.options = reader.string();
  parts.assembler = reader.string();
  return known && reader.finished();
}

} // namespace jitk
