#include "src/capi/Guard.h"
#include "src/runtime/BuildId.h"

namespace jitk::capi {

static jitk_status_t codeOf(const Status &status) { return static_cast<jitk_status_t>(status.code()); }

jitk_status_t report(Status status, const std::string &key, jitk_error_t *error) noexcept {
  jitk_status_t code = codeOf(status);
  if (!error) {
    return code;
  }
  try {
    auto details = std::make_unique<jitk_error_s>();
    details->code = code;
    details->message = status.toString();
    if (details->message.empty()) {
      details->message = code == JITK_STATUS_OUT_OF_MEMORY ? "out of host memory" : "unknown exception";
    }
    details->stage = status.stage();
    details->toolOutput = status.toolOutput();
    details->key = key;
    *error = details.release();
  } catch (...) {
    *error = nullptr; // No memory even for saying so; the code is all there is.
  }
  return code;
}

} // namespace jitk::capi

using namespace jitk;
using namespace jitk::capi;

static_assert(JITK_STATUS_INTERNAL == static_cast<int>(StatusCode::Internal));
static_assert(JITK_STATUS_DATA_LOSS == static_cast<int>(StatusCode::DataLoss));
static_assert(JITK_STATUS_NOT_PREPARED == static_cast<int>(StatusCode::NotPrepared));

#define JITK_STRINGIFY_INNER(value) #value
#define JITK_STRINGIFY(value) JITK_STRINGIFY_INNER(value)

extern "C" {

const char *jitk_status_name(jitk_status_t status) {
  if (status < JITK_STATUS_OK || status > JITK_STATUS_INTERNAL) {
    return "UNKNOWN";
  }
  return statusCodeName(static_cast<StatusCode>(status)).data();
}

void jitk_error_retain(jitk_error_t error) { retain(error); }
void jitk_error_release(jitk_error_t error) { release(error); }
jitk_status_t jitk_error_code(jitk_error_t error) { return error ? error->code : JITK_STATUS_OK; }
const char *jitk_error_message(jitk_error_t error) { return error ? error->message.c_str() : ""; }
const char *jitk_error_stage(jitk_error_t error) { return error ? error->stage.c_str() : ""; }
const char *jitk_error_tool_output(jitk_error_t error) { return error ? error->toolOutput.c_str() : ""; }
const char *jitk_error_key(jitk_error_t error) { return error ? error->key.c_str() : ""; }

const char *jitk_version(void) {
  return JITK_STRINGIFY(JITK_VERSION_MAJOR) "." JITK_STRINGIFY(JITK_VERSION_MINOR) "." JITK_STRINGIFY(
      JITK_VERSION_PATCH);
}
const char *jitk_build_id(void) { return kBuildId; }

void jitk_text_release(jitk_text_t text) { delete text; }
const char *jitk_text_data(jitk_text_t text) { return text ? text->text.c_str() : ""; }
size_t jitk_text_size(jitk_text_t text) { return text ? text->text.size() : 0; }

} // extern "C"
