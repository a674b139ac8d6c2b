#include "src/runtime/isolation/Messages.h"

#include "src/support/Bytes.h"

#include <cerrno>
#include <sys/socket.h>

namespace jitk {

// Far above any kernel with all its dumps.
static constexpr uint64_t kMaximalMessageBytes = uint64_t{1} << 30;

enum class ValueKind : uint8_t { Dimension, Integer, Flag, Word };

static constexpr size_t kLeastAttributeBytes = 6;

// --- requests

static void write(ByteWriter &writer, const AttributeValue &value) {
  if (const auto *dimension = std::get_if<Dimension>(&value)) {
    writer.integer(static_cast<uint8_t>(ValueKind::Dimension));
    writer.integer(dimension->value);
    writer.integer(dimension->divisor);
    writer.integer(dimension->bound);
  } else if (const auto *integer = std::get_if<int64_t>(&value)) {
    writer.integer(static_cast<uint8_t>(ValueKind::Integer));
    writer.integer(*integer);
  } else if (const auto *flag = std::get_if<bool>(&value)) {
    writer.integer(static_cast<uint8_t>(ValueKind::Flag));
    writer.integer(static_cast<uint8_t>(*flag));
  } else {
    writer.integer(static_cast<uint8_t>(ValueKind::Word));
    writer.string(std::get<std::string>(value));
  }
}

static AttributeValue readValue(ByteReader &reader) {
  switch (static_cast<ValueKind>(reader.integer<uint8_t>())) {
  case ValueKind::Dimension: {
    Dimension dimension;
    dimension.value = reader.integer<int64_t>();
    dimension.divisor = reader.integer<int64_t>();
    dimension.bound = reader.integer<int64_t>();
    return dimension;
  }
  case ValueKind::Integer:
    return reader.integer<int64_t>();
  case ValueKind::Flag:
    return reader.integer<uint8_t>() != 0;
  case ValueKind::Word:
    return reader.string();
  }
  reader.fail();
  return false;
}

std::vector<uint8_t> writeRequest(const CompilerRequest &request) {
  ByteWriter writer;
  writer.integer(static_cast<uint8_t>(request.kind));
  writer.string(request.target.toString());
  writer.string(request.options.assembler);
  writer.integer(static_cast<uint8_t>(request.options.dump));
  writer.integer(static_cast<uint8_t>(request.options.cudaSource));
  writer.integer(static_cast<uint8_t>(request.description.has_value()));
  if (request.description) {
    writer.string(request.description->op());
    writer.integer(static_cast<uint32_t>(request.description->attributes().size()));
    for (const auto &[name, value] : request.description->attributes()) {
      writer.string(name);
      write(writer, value);
    }
  }
  return writer.take();
}

static Status malformed(const char *what) {
  return internalError(std::string(what) + " of a compiler process cannot be read").atStage("compile");
}

Result<CompilerRequest> readRequest(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  CompilerRequest request;
  request.kind = static_cast<CompilerRequest::Kind>(reader.integer<uint8_t>());
  JITK_ASSIGN(request.target, Target::parse(reader.string()));
  request.options.assembler = reader.string();
  request.options.dump = reader.integer<uint8_t>() != 0;
  request.options.cudaSource = reader.integer<uint8_t>() != 0;
  if (reader.integer<uint8_t>() != 0) {
    std::string op = reader.string();
    std::map<std::string, AttributeValue, std::less<>> attributes;
    for (uint32_t count = reader.count(kLeastAttributeBytes); count > 0; --count) {
      std::string name = reader.string();
      attributes.insert_or_assign(std::move(name), readValue(reader));
    }
    request.description.emplace(std::move(op), std::move(attributes));
  }
  bool needsDescription = request.kind != CompilerRequest::Kind::Identity;
  if (!reader.finished() || request.kind > CompilerRequest::Kind::Digest ||
      request.description.has_value() != needsDescription) {
    return malformed("request");
  }
  return request;
}

// --- replies

static void write(ByteWriter &writer, const Status &status) {
  writer.integer(static_cast<int32_t>(status.code()));
  writer.string(status.toString());
  writer.string(status.stage());
  writer.string(status.toolOutput());
}

/// Reads the failure; OK if there is none.
static Status readStatus(ByteReader &reader) {
  auto code = reader.integer<int32_t>();
  if (code == 0) {
    return okStatus();
  }
  std::string message = reader.string();
  std::string stage = reader.string();
  std::string output = reader.string();
  if (!reader.finished() || code < 0 || code > static_cast<int32_t>(StatusCode::Internal)) {
    return malformed("answer");
  }
  return Status(static_cast<StatusCode>(code), std::move(message))
      .atStage(std::move(stage))
      .withToolOutput(std::move(output));
}

std::vector<uint8_t> writeReply(const Result<std::string> &text) {
  ByteWriter writer;
  if (!text.ok()) {
    write(writer, text.status());
    return writer.take();
  }
  writer.integer(int32_t{0});
  writer.string(*text);
  return writer.take();
}

Result<std::string> readText(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  JITK_TRY(readStatus(reader));
  std::string text = reader.string();
  return reader.finished() ? Result<std::string>(std::move(text)) : malformed("answer");
}

std::vector<uint8_t> writeReply(const Result<CompiledKernel> &kernel) {
  ByteWriter writer;
  if (!kernel.ok()) {
    write(writer, kernel.status());
    return writer.take();
  }
  writer.integer(int32_t{0});
  writer.bytes(kernel->code);
  writer.string(kernel->ptx);
  writer.bytes(kernel->recipe.serialize());
  writer.integer(kernel->statistics.registers);
  writer.integer(kernel->statistics.spillBytes);
  writer.integer(kernel->statistics.sharedBytes);
  for (double time : {kernel->times.build, kernel->times.lower, kernel->times.llvm, kernel->times.assemble}) {
    writer.real(time);
  }
  for (const std::string *text :
       {&kernel->dump.commonIr, &kernel->dump.ttgir, &kernel->dump.llvmIr, &kernel->dump.ptx, &kernel->note}) {
    writer.string(*text);
  }
  return writer.take();
}

Result<CompiledKernel> readKernel(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  JITK_TRY(readStatus(reader));
  CompiledKernel kernel;
  std::span<const uint8_t> code = reader.bytes();
  kernel.code.assign(code.begin(), code.end());
  kernel.ptx = reader.string();
  std::span<const uint8_t> recipe = reader.bytes();
  kernel.statistics.registers = reader.integer<uint32_t>();
  kernel.statistics.spillBytes = reader.integer<uint32_t>();
  kernel.statistics.sharedBytes = reader.integer<uint32_t>();
  for (double *time : {&kernel.times.build, &kernel.times.lower, &kernel.times.llvm, &kernel.times.assemble}) {
    *time = reader.real();
  }
  for (std::string *text :
       {&kernel.dump.commonIr, &kernel.dump.ttgir, &kernel.dump.llvmIr, &kernel.dump.ptx, &kernel.note}) {
    *text = reader.string();
  }
  if (!reader.finished()) {
    return malformed("answer");
  }
  JITK_ASSIGN(kernel.recipe, Recipe::deserialize(recipe));
  return kernel;
}

std::vector<uint8_t> writeReply(const Result<std::vector<Configuration>> &configurations) {
  ByteWriter writer;
  if (!configurations.ok()) {
    write(writer, configurations.status());
    return writer.take();
  }
  writer.integer(int32_t{0});
  writer.integer(static_cast<uint32_t>(configurations->size()));
  for (const Configuration &configuration : *configurations) {
    writer.string(configuration.name);
    writer.real(configuration.clocks);
  }
  return writer.take();
}

Result<std::vector<Configuration>> readConfigurations(std::span<const uint8_t> bytes) {
  constexpr size_t kLeastBytes = sizeof(uint32_t) + sizeof(double);
  ByteReader reader(bytes);
  JITK_TRY(readStatus(reader));
  std::vector<Configuration> configurations(reader.count(kLeastBytes));
  for (Configuration &configuration : configurations) {
    configuration.name = reader.string();
    configuration.clocks = reader.real();
  }
  return reader.finished() ? Result<std::vector<Configuration>>(std::move(configurations)) : malformed("answer");
}

// --- transport

static bool sendAll(int socket, const void *bytes, size_t size) {
  const auto *next = static_cast<const uint8_t *>(bytes);
  while (size > 0) {
    ssize_t sent = ::send(socket, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    next += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

static bool receiveAll(int socket, void *bytes, size_t size) {
  auto *next = static_cast<uint8_t *>(bytes);
  while (size > 0) {
    ssize_t received = ::recv(socket, next, size, 0);
    if (received < 0 && errno == EINTR) {
      continue;
    }
    if (received <= 0) {
      return false;
    }
    next += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

bool sendMessage(int socket, std::span<const uint8_t> message) {
  uint64_t size = message.size();
  return sendAll(socket, &size, sizeof size) && sendAll(socket, message.data(), message.size());
}

bool receiveMessage(int socket, std::vector<uint8_t> &message) {
  uint64_t size = 0;
  if (!receiveAll(socket, &size, sizeof size) || size > kMaximalMessageBytes) {
    return false;
  }
  message.resize(size);
  return receiveAll(socket, message.data(), message.size());
}

} // namespace jitk
