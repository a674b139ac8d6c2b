#include "src/compiler/DiagnosticCollector.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace jitk::compiler {

static std::string render(const Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) {
    stream << location.getFilename().getValue() << ':' << location.getLine() << ':' << location.getColumn() << ": ";
  }
  stream << diagnostic;
  return text;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler_(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          messages_.push_back(render(diagnostic));
          for (const Diagnostic &note : diagnostic.getNotes()) {
            messages_.push_back(render(note));
          }
        }
        return success();
      }) {}

Status DiagnosticCollector::takeStatus(StatusCode code, std::string_view stage, std::string_view what) {
  if (messages_.empty()) {
    return Status(StatusCode::Internal, std::string(what) + " failed without a diagnostic").atStage(std::string(stage));
  }
  Status status(code, std::move(messages_.front()));
  for (size_t i = 1; i < messages_.size(); ++i) {
    status = std::move(status).withNote(std::move(messages_[i]));
  }
  messages_.clear();
  return std::move(status).withNote("while " + std::string(what)).atStage(std::string(stage));
}

} // namespace jitk::compiler
