#include "src/support/Status.h"

namespace jitk {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "OK";
  case StatusCode::InvalidArgument:
    return "INVALID_ARGUMENT";
  case StatusCode::Unsupported:
    return "UNSUPPORTED";
  case StatusCode::Unavailable:
    return "UNAVAILABLE";
  case StatusCode::OutOfMemory:
    return "OUT_OF_MEMORY";
  case StatusCode::DeviceLost:
    return "DEVICE_LOST";
  case StatusCode::NotPrepared:
    return "NOT_PREPARED";
  case StatusCode::Cancelled:
    return "CANCELLED";
  case StatusCode::DeadlineExceeded:
    return "DEADLINE_EXCEEDED";
  case StatusCode::DataLoss:
    return "DATA_LOSS";
  case StatusCode::Forked:
    return "FORKED";
  case StatusCode::Internal:
    return "INTERNAL";
  }
  return "INTERNAL";
}

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::Ok) {
    failure_ = std::make_unique<Failure>(Failure{code, std::move(message), {}, {}, {}});
  }
}

std::string_view Status::message() const { return failure_ ? std::string_view(failure_->message) : std::string_view(); }

std::string_view Status::stage() const { return failure_ ? std::string_view(failure_->stage) : std::string_view(); }

std::string_view Status::toolOutput() const {
  return failure_ ? std::string_view(failure_->toolOutput) : std::string_view();
}

std::string Status::toString() const {
  if (!failure_) {
    return "ok";
  }
  std::string text = failure_->message;
  for (const std::string &note : failure_->notes) {
    text += "; " + note;
  }
  return text;
}

Status &&Status::withNote(std::string note) && {
  if (failure_) {
    failure_->notes.push_back(std::move(note));
  }
  return std::move(*this);
}

Status &&Status::atStage(std::string stage) && {
  if (failure_ && failure_->stage.empty()) {
    failure_->stage = std::move(stage);
  }
  return std::move(*this);
}

Status &&Status::withToolOutput(std::string output) && {
  if (failure_) {
    failure_->toolOutput = std::move(output);
  }
  return std::move(*this);
}

Status Status::clone() const {
  Status copy;
  if (failure_) {
    copy.failure_ = std::make_unique<Failure>(*failure_);
  }
  return copy;
}

Status invalidArgument(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }
Status unsupported(std::string message) { return {StatusCode::Unsupported, std::move(message)}; }
Status unavailable(std::string message) { return {StatusCode::Unavailable, std::move(message)}; }
Status internalError(std::string message) { return {StatusCode::Internal, std::move(message)}; }

} // namespace jitk
