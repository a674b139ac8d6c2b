#include "src/capi/Guard.h"

#include <nlohmann/json.hpp>

using namespace jitk;
using namespace jitk::capi;
using Json = nlohmann::ordered_json;

/// The disk store of a runtime, or why there is none.
static Result<DiskStore *> diskOf(jitk_runtime_t runtime) {
  JITK_TRY(require(runtime, "runtime"));
  JITK_TRY(checkProcess(runtime));
  if (DiskStore *disk = runtime->runtime->entries().disk()) {
    return disk;
  }
  const Status &problem = runtime->runtime->storeProblem();
  return unavailable("runtime has no disk store: " +
                     (problem.ok() ? std::string("none was asked for") : problem.toString()))
      .atStage("store");
}

static Json itemJson(const DiskStore::Item &item) {
  Json json = {{"key", item.name}, {"bytes", item.bytes}, {"last_use", item.lastUse}};
  if (!item.entry.ok()) {
    json["problem"] = item.entry.status().message();
    return json;
  }
  const Entry &entry = *item.entry;
  json["description"] = entry.key.parts().description;
  json["target"] = entry.key.parts().target;
  json["build_id"] = entry.key.parts().buildId;
  json["assembler"] = entry.key.parts().assembler;
  json["registers"] = entry.facts.registers;
  json["spill_bytes"] = entry.facts.spillBytes;
  json["shared_bytes"] = entry.facts.sharedBytes;
  json["code_bytes"] = entry.code.size();
  json["compile_ms"] = entry.facts.buildMs + entry.facts.lowerMs + entry.facts.llvmMs + entry.facts.assembleMs;
  return json;
}

extern "C" {

jitk_status_t jitk_store_list(jitk_runtime_t runtime, uint32_t verify, jitk_text_t *list, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(list, "list"));
    *list = nullptr;
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    Json json = {{"folder", disk->folder()}, {"entries", Json::array()}};
    for (const DiskStore::Item &item : disk->list(/*quarantine=*/verify != 0)) {
      json["entries"].push_back(itemJson(item));
    }
    *list = new jitk_text_s{json.dump(2)};
    return okStatus();
  });
}

jitk_status_t jitk_store_collect(jitk_runtime_t runtime, uint64_t bytes, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    disk->collect(bytes);
    return okStatus();
  });
}

} // extern "C"
