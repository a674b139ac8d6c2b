#include "src/capi/Guard.h"
#include "src/capi/RecipeText.h"
#include "src/ops/DescriptionJson.h"
#include "src/ops/JsonText.h"
#include "src/ops/OpSchema.h"

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
    json["quarantined"] = item.isQuarantined;
    return json;
  }
  const Entry &entry = *item.entry;
  json["description"] = entry.key.parts().description;
  json["target"] = entry.key.parts().target;
  json["build_id"] = entry.key.parts().buildId;
  json["assembler"] = entry.key.parts().assembler;
  if (!entry.key.parts().options.empty()) {
    json["options"] = entry.key.parts().options;
  }
  json["registers"] = entry.facts.registers;
  json["spill_bytes"] = entry.facts.spillBytes;
  json["shared_bytes"] = entry.facts.sharedBytes;
  json["code_bytes"] = entry.code.size();
  json["compile_ms"] = entry.facts.buildMs + entry.facts.lowerMs + entry.facts.llvmMs + entry.facts.assembleMs;
  return json;
}

/// The attributes of a description by name, with its op; the line itself where it is of another version.
static Json attributesOf(const std::string &line) {
  Result<Description> description = parseDescription(line);
  if (!description.ok()) {
    return Json{{"description", line}};
  }
  Json json = {{"op", description->op()}};
  json.update(attributesToJson(*description));
  return json;
}

/// What differs between the key of a stored entry and a wanted one, by part; of descriptions each attribute is one.
static Json differences(const KeyParts &stored, const KeyParts &wanted) {
  Json json = Json::object();
  auto compare = [&](const std::string &part, const Json &there, const Json &here) {
    if (there != here) {
      json[part] = Json{{"stored", there}, {"wanted", here}};
    }
  };
  Json there = attributesOf(stored.description), here = attributesOf(wanted.description);
  for (const auto &[name, value] : here.items()) {
    compare(name, there.value(name, Json()), value);
  }
  for (const auto &[name, value] : there.items()) {
    compare(name, value, here.value(name, Json()));
  }
  compare("target", stored.target, wanted.target);
  compare("build_id", stored.buildId, wanted.buildId);
  compare("options", stored.options, wanted.options);
  compare("assembler", stored.assembler, wanted.assembler);
  return json;
}

/// The entry whose key differs from `key` in the fewest parts, and in which; null if there is no other.
static Json nearest(const std::vector<DiskStore::Item> &items, const Key &key) {
  Json best;
  for (const DiskStore::Item &item : items) {
    if (!item.entry.ok() || item.entry->key == key) {
      continue;
    }
    Json differs = differences(item.entry->key.parts(), key.parts());
    if (best.is_null() || differs.size() < best["differs"].size()) {
      best = Json{{"key", item.name},
                  {"description", item.entry->key.parts().description},
                  {"target", item.entry->key.parts().target},
                  {"differs", std::move(differs)}};
    }
  }
  return best;
}

/// The one entry whose name begins with `prefix`.
static Result<const DiskStore::Item *> findByName(const std::vector<DiskStore::Item> &items,
                                                  const std::string &prefix) {
  const DiskStore::Item *found = nullptr;
  for (const DiskStore::Item &item : items) {
    if (!item.name.starts_with(prefix)) {
      continue;
    }
    if (found) {
      return invalidArgument("key must be of one entry: " + found->name + " and " + item.name + " begin with '" +
                             prefix + "'")
          .atStage("store");
    }
    found = &item;
  }
  if (!found) {
    return invalidArgument("key must be of an entry of the store: got '" + prefix + "'").atStage("store");
  }
  JITK_TRY(found->entry.ok() ? okStatus() : found->entry.status().clone(), "in the entry " + found->name);
  return found;
}

/// The kernel of an entry, as a compilation gives it.
static Status readEntry(const Entry &entry, jitk_artifact_s &artifact) {
  const KeyParts &parts = entry.key.parts();
  if (entry.recipe.empty()) {
    return invalidArgument("entry must be of a kernel: got '" + parts.options + "' for " + parts.description);
  }
  JITK_ASSIGN(Description description, parseDescription(parts.description));
  JITK_ASSIGN(artifact.kernel.recipe, Recipe::deserialize(entry.recipe));
  artifact.problem = std::make_shared<const Problem>(std::move(description));
  artifact.target = parts.target;
  artifact.key = entry.key.name();
  artifact.recipe = recipeText(artifact.kernel.recipe);
  artifact.code.assign(entry.code.begin(), entry.code.end());
  artifact.tier = Tier::Disk;
  const EntryFacts &facts = entry.facts;
  artifact.kernel.statistics.registers = facts.registers;
  artifact.kernel.statistics.spillBytes = facts.spillBytes;
  artifact.kernel.statistics.sharedBytes = facts.sharedBytes;
  artifact.kernel.times = {
      .build = facts.buildMs, .lower = facts.lowerMs, .llvm = facts.llvmMs, .assemble = facts.assembleMs};
  return okStatus();
}

static Json explain(EntrySource &entries, DiskStore &disk, const Key &key) {
  std::vector<DiskStore::Item> items = disk.list(/*quarantine=*/false);
  Json json = {{"key", key.name()}, {"found", nullptr}, {"similar", Json::array()}, {"nearest", nearest(items, key)}};
  for (const DiskStore::Item &item : items) {
    if (!item.entry.ok()) {
      continue;
    }
    const KeyParts &parts = item.entry->key.parts();
    if (item.entry->key == key) {
      json["found"] = "store";
    } else if (parts.description == key.parts().description) {
      json["similar"].push_back(Json{{"key", item.name}, {"differs", differences(parts, key.parts())}});
    }
  }
  // Looked into before the store, so this is what counts.
  for (const std::unique_ptr<Bundle> &bundle : entries.bundles()) {
    if (bundle->find(key)) {
      json["found"] = "bundle";
    }
  }
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
    *list = new jitk_text_s{jsonText(json)};
    return okStatus();
  });
}

jitk_status_t jitk_store_explain(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                 jitk_text_t *explanation, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(explanation, "explanation"));
    *explanation = nullptr;
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    JITK_ASSIGN(Target parsed, targetOf(description, target));
    EntrySource &entries = runtime->runtime->entries();
    JITK_ASSIGN(Key key, entries.keyOf(*description->problem, parsed));
    *explanation = new jitk_text_s{jsonText(explain(entries, *disk, key))};
    return okStatus();
  });
}

jitk_status_t jitk_store_explain_key(jitk_runtime_t runtime, const char *key, jitk_text_t *explanation,
                                     jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(explanation, "explanation"));
    *explanation = nullptr;
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    JITK_TRY(require(key, "key"));
    std::vector<DiskStore::Item> items = disk->list(/*quarantine=*/false);
    JITK_ASSIGN(const DiskStore::Item *item, findByName(items, key));
    Json json = itemJson(*item);
    json["options"] = item->entry->key.parts().options;
    json["nearest"] = nearest(items, item->entry->key);
    *explanation = new jitk_text_s{jsonText(json)};
    return okStatus();
  });
}

jitk_status_t jitk_store_read(jitk_runtime_t runtime, const char *key, jitk_artifact_t *artifact, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(artifact, "artifact"));
    *artifact = nullptr;
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    JITK_TRY(require(key, "key"));
    std::vector<DiskStore::Item> items = disk->list(/*quarantine=*/false);
    JITK_ASSIGN(const DiskStore::Item *item, findByName(items, key));
    auto handle = std::make_unique<jitk_artifact_s>();
    if (Status status = readEntry(*item->entry, *handle); !status.ok()) {
      return std::move(status).atStage("store").withNote("in the entry " + item->name);
    }
    *artifact = handle.release();
    return okStatus();
  });
}

jitk_status_t jitk_store_export(jitk_runtime_t runtime, const char *path, size_t *count, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    JITK_TRY(requireText(path, "path"));
    std::vector<Entry> entries;
    for (DiskStore::Item &item : disk->list(/*quarantine=*/false)) {
      if (item.entry.ok()) {
        entries.push_back(*std::move(item.entry));
      }
    }
    JITK_TRY(Bundle::write(path, entries));
    if (count) {
      *count = entries.size();
    }
    return okStatus();
  });
}

jitk_status_t jitk_store_import(jitk_runtime_t runtime, const char *path, size_t *count, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    JITK_TRY(requireText(path, "path"));
    JITK_ASSIGN(std::unique_ptr<Bundle> bundle, Bundle::open(path));
    size_t numImported = 0;
    for (size_t i = 0; i < bundle->size(); ++i) {
      if (Result<Entry> entry = bundle->read(i); entry.ok()) {
        JITK_TRY(disk->publish(*entry), "after " + std::to_string(numImported) + " kernels of " + path);
        ++numImported;
      }
    }
    if (count) {
      *count = numImported;
    }
    return okStatus();
  });
}

jitk_status_t jitk_store_collect(jitk_runtime_t runtime, uint64_t bytes, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_ASSIGN(DiskStore * disk, diskOf(runtime));
    return disk->collect(bytes);
  });
}

} // extern "C"
