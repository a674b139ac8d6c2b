// A folder of a test's own, removed with all that is in it.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace jitk::test {

class TemporaryFolder {
public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  /// In memory where the machine has such a place: for tests that make thousands of files.
  static TemporaryFolder inMemory() {
    return TemporaryFolder(std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                               : std::filesystem::temp_directory_path());
  }
  explicit TemporaryFolder(const std::filesystem::path &parent) {
    std::string name = (parent / "jitk-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string &path() const { return path_; }
  std::string path(const std::string &name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

} // namespace jitk::test
