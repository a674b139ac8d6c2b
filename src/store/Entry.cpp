#include "src/store/Entry.h"

#include "src/support/Bytes.h"

namespace jitk {

static constexpr uint64_t kMagic = 0x00544e454b54494a; // "JITKENT\0"
static constexpr size_t kHeaderBytes = 40;

static std::vector<uint8_t> serializeBody(const Entry &entry) {
  ByteWriter writer;
  writer.bytes(entry.key.bytes());
  writer.bytes(entry.recipe);
  writer.integer(entry.facts.registers);
  writer.integer(entry.facts.spillBytes);
  writer.integer(entry.facts.sharedBytes);
  for (double time : {entry.facts.buildMs, entry.facts.lowerMs, entry.facts.llvmMs, entry.facts.assembleMs}) {
    writer.real(time);
  }
  writer.string(entry.program);
  writer.bytes(entry.code);
  return writer.take();
}

std::vector<uint8_t> Entry::serialize() const {
  std::vector<uint8_t> body = serializeBody(*this);
  Hash128 checksum = hashBytes(body);
  ByteWriter writer;
  writer.integer(kMagic);
  writer.integer(Entry::kVersion);
  writer.integer(uint32_t{0});
  writer.integer(static_cast<uint64_t>(kHeaderBytes + body.size()));
  writer.integer(checksum.high);
  writer.integer(checksum.low);
  writer.raw(body);
  return writer.take();
}

static Status damaged(std::string what) { return {StatusCode::DataLoss, std::move(what)}; }

static Status checkHeader(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  if (reader.integer<uint64_t>() != kMagic) {
    return damaged("not a store entry");
  }
  if (auto version = reader.integer<uint32_t>(); version != Entry::kVersion) {
    return damaged("entry version must be " + std::to_string(Entry::kVersion) + ": got " + std::to_string(version));
  }
  if (reader.integer<uint32_t>() != 0) {
    return damaged("reserved bytes are not zero");
  }
  if (auto length = reader.integer<uint64_t>(); length != bytes.size()) {
    return damaged("length must be " + std::to_string(length) + " bytes: got " + std::to_string(bytes.size()));
  }
  Hash128 checksum;
  checksum.high = reader.integer<uint64_t>();
  checksum.low = reader.integer<uint64_t>();
  if (reader.failed()) {
    return damaged("header is cut off");
  }
  if (checksum != hashBytes(bytes.subspan(kHeaderBytes))) {
    return damaged("checksum differs");
  }
  return okStatus();
}

Result<Entry> Entry::deserialize(std::span<const uint8_t> bytes) {
  JITK_TRY(checkHeader(bytes));
  ByteReader reader(bytes.subspan(kHeaderBytes));
  KeyParts parts;
  if (!Key::parse(reader.bytes(), parts)) {
    return damaged("key of another version");
  }
  Entry entry{Key(std::move(parts)), {}, {}, {}, {}};
  std::span<const uint8_t> recipe = reader.bytes();
  entry.recipe.assign(recipe.begin(), recipe.end());
  entry.facts.registers = reader.integer<uint32_t>();
  entry.facts.spillBytes = reader.integer<uint32_t>();
  entry.facts.sharedBytes = reader.integer<uint32_t>();
  for (double *time : {&entry.facts.buildMs, &entry.facts.lowerMs, &entry.facts.llvmMs, &entry.facts.assembleMs}) {
    *time = reader.real();
  }
  entry.program = reader.string();
  std::span<const uint8_t> code = reader.bytes();
  entry.code.assign(code.begin(), code.end());
  if (!reader.finished() || (entry.isReference() && entry.program.empty())) {
    return damaged("fields do not fill the entry");
  }
  return entry;
}

Key Entry::programKey(const Key &ofEntry, const std::string &program) {
  KeyParts parts = ofEntry.parts();
  parts.description = "program " + program;
  return Key(std::move(parts));
}

std::shared_ptr<const Entry> Entry::resolve(const Entry &reference, const std::shared_ptr<const Entry> &source) {
  bool fits = source && !source->isReference() && source->program == reference.program &&
              source->programKey() == reference.programKey();
  return fits ? std::make_shared<const Entry>(
                    Entry{reference.key, reference.recipe, reference.facts, source->code, reference.program})
              : nullptr;
}

} // namespace jitk
