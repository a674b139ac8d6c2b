#include "src/store/StoreFolder.h"

#include "src/support/Env.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace jitk {

static Status cannot(const char *what, const std::string &path) {
  int error = errno;
  return unavailable(std::string("store folder cannot be ") + what + ": " + path + ": " + describeErrno(error));
}

static Status createWithParents(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    // What matters is whether the last one can be made; a parent that exists or is read-only is no failure yet.
    (void)::mkdir(path.substr(0, end).c_str(), 0700);
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return cannot("created", path);
  }
  return okStatus();
}

static Status checkTrust(const File &folder, const std::string &path) {
  struct stat status;
  if (::fstat(folder.descriptor(), &status) != 0) {
    return cannot("read", path);
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return invalidArgument("store folder must belong to user " + std::to_string(::geteuid()) + ": " + path +
                           " belongs to user " + std::to_string(status.st_uid));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return invalidArgument("store folder must not be writable by others: " + path);
  }
  return okStatus();
}

Result<File> openStoreFolder(const std::string &path) {
  // A slash at the end would make the system follow a link before it.
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') {
    name.pop_back();
  }
  struct stat status;
  if (::lstat(name.c_str(), &status) != 0) {
    JITK_TRY(createWithParents(name));
  } else if (S_ISLNK(status.st_mode)) {
    return invalidArgument("store folder must not be a symbolic link: got " + name);
  }
  // Not trusting the look above: the open refuses a link too.
  File folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) {
    return cannot("opened", name);
  }
  JITK_TRY(checkTrust(folder, name));
  return folder;
}

// --- where the locks lie

// Those that linux/magic.h lacks.
static constexpr uint32_t kCifs = 0xff534d42, kLustre = 0x0bd00bd0, kGpfs = 0x47504653, kBeeGfs = 0x19830326,
                          kPanFs = 0xaad7aaea;

bool isRemote(const File &folder) {
  // FUSE stands for what is mounted over it: most such stores are remote, and the others lose nothing.
  static constexpr uint32_t kRemote[] = {
      NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, SMB2_SUPER_MAGIC, kCifs,      CEPH_SUPER_MAGIC,
      AFS_SUPER_MAGIC, AFS_FS_MAGIC,    CODA_SUPER_MAGIC, V9FS_MAGIC, FUSE_SUPER_MAGIC,
      kLustre,         kGpfs,           kBeeGfs,          kPanFs};
  struct statfs system;
  return ::fstatfs(folder.descriptor(), &system) == 0 &&
         std::ranges::find(kRemote, static_cast<uint32_t>(system.f_type)) != std::end(kRemote);
}

File openLocalLockFolder(const File &store) {
  struct stat status;
  if (::fstat(store.descriptor(), &status) != 0) {
    return {};
  }
  const std::optional<std::string> &given = environment().runtimeFolder;
  const std::string root =
      given && given->front() == '/' ? *given + "/jitk-locks" : "/tmp/jitk-locks-" + std::to_string(::geteuid());
  char name[48];
  std::snprintf(name, sizeof name, "/%llx-%llx", static_cast<unsigned long long>(status.st_dev),
                static_cast<unsigned long long>(status.st_ino));
  if (!openStoreFolder(root).ok()) {
    return {};
  }
  Result<File> folder = openStoreFolder(root + name);
  return folder.ok() && !isRemote(*folder) ? *std::move(folder) : File();
}

} // namespace jitk
