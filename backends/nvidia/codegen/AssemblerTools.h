// The three assemblers and what they share. Private to the assemblers.

#pragma once

#include "backends/nvidia/codegen/Assembler.h"

#include <memory>
#include <string>
#include <vector>

namespace jitk::nvidia {

// Each takes the first one at `path`, or at the usual places, that knows PTX of that version.
Result<std::shared_ptr<const Assembler>> openNvJitLink(const std::string &path, unsigned ptxVersion);
Result<std::shared_ptr<const Assembler>> openPtxas(const std::string &path, unsigned ptxVersion);
Result<std::shared_ptr<const Assembler>> openDriverLinker(const std::string &path, unsigned ptxVersion);

/// OK if the assembler knows PTX of that version; else Unavailable, saying what to do.
Status checkPtxVersion(const Assembler &assembler, const std::string &place, unsigned ptxVersion);

/// Reads registers, spills and static shared memory from `cubin.log`, in the format of `ptxas --verbose`. Fails with
/// Internal where the log says that warpgroup products were serialized (C7510): such a kernel is right, and several
/// times too slow.
Status readLog(Cubin &cubin);

/// Takes out places that stand in the list already, as $PATH and $CUDA_HOME make them.
void removeRepeated(std::vector<std::string> &places);

/// A library opened by dlopen; closed with the object.
class SharedLibrary {
public:
  SharedLibrary() = default;
  explicit SharedLibrary(const std::string &path);
  SharedLibrary(SharedLibrary &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  SharedLibrary &operator=(SharedLibrary &&) = delete;
  ~SharedLibrary();

  explicit operator bool() const { return handle_ != nullptr; }
  /// Sets `function` to the symbol; false if the library lacks it.
  template <typename Function> bool resolve(Function *&function, const char *name) const {
    function = reinterpret_cast<Function *>(find(name));
    return function != nullptr;
  }

private:
  void *find(const char *name) const;
  void *handle_ = nullptr;
};

} // namespace jitk::nvidia
