#include "src/capi/Guard.h"
#include "src/ops/OpSchema.h"

using namespace jitk;
using namespace jitk::capi;

/// Gives a description to the caller.
static Status give(Result<Description> described, jitk_description_t *description) {
  if (!described.ok()) {
    return std::move(described).takeStatus().atStage("schema");
  }
  auto handle = std::make_unique<jitk_description_s>();
  handle->problem = std::make_shared<const Problem>(*std::move(described));
  *description = handle.release();
  return okStatus();
}

static Result<std::vector<OpSchema::Given>> collect(const char *const *names, const char *const *values, size_t count) {
  std::vector<OpSchema::Given> given;
  for (size_t i = 0; i < count; ++i) {
    JITK_TRY(require(names, "names"));
    JITK_TRY(require(values, "values"));
    JITK_TRY(require(names[i], "a name"));
    JITK_TRY(require(values[i], "a value"));
    given.emplace_back(names[i], values[i]);
  }
  return given;
}

extern "C" {

size_t jitk_op_count(void) { return allOps().size(); }

const char *jitk_op_name(size_t index) { return index < allOps().size() ? allOps()[index].name.data() : nullptr; }

jitk_status_t jitk_op_info(const char *op, jitk_text_t *info, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(info, "info"));
    *info = nullptr;
    JITK_TRY(require(op, "op"));
    JITK_ASSIGN(const OpSchema *schema, findOp(op));
    *info = new jitk_text_s{schema->toJson()};
    return okStatus();
  });
}

jitk_status_t jitk_description_create(const char *op, const char *const *names, const char *const *values, size_t count,
                                      jitk_description_t *description, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(description, "description"));
    *description = nullptr;
    JITK_TRY(require(op, "op"));
    JITK_ASSIGN(std::vector<OpSchema::Given> given, collect(names, values, count));
    return give(describe(op, given), description);
  });
}

jitk_status_t jitk_description_parse(const char *text, jitk_description_t *description, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(description, "description"));
    *description = nullptr;
    JITK_TRY(require(text, "text"));
    return give(parseDescription(text), description);
  });
}

void jitk_description_retain(jitk_description_t description) { retain(description); }
void jitk_description_release(jitk_description_t description) { release(description); }

const char *jitk_description_text(jitk_description_t description) {
  return description ? description->problem->text.c_str() : "";
}

const char *jitk_description_label(jitk_description_t description) {
  return description ? description->problem->label.c_str() : "";
}

const char *jitk_description_op(jitk_description_t description) {
  return description ? description->problem->description.op().c_str() : "";
}

} // extern "C"
