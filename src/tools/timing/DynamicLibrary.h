// A library that is opened at run time, whose functions are found by their names.

#pragma once

#include <initializer_list>
#include <string>

namespace jitk::timing {

/// Stays open for the life of the process.
class DynamicLibrary {
public:
  /// Opens the first of `names` that is there. Throws std::runtime_error if none is; `what` is the library's name in
  /// errors.
  DynamicLibrary(std::string what, std::initializer_list<const char *> names);

  /// Sets `function`, a pointer, to the function of that name. Throws std::runtime_error if there is none.
  template <typename T> void load(T &function, const char *name) const { function = reinterpret_cast<T>(find(name)); }

private:
  void *find(const char *name) const;

  std::string what_;
  void *handle_ = nullptr;
};

/// The CUDA driver.
DynamicLibrary openDriver();

} // namespace jitk::timing
