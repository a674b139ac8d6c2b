// Opening the folder of a disk store. Who can write there decides what code this process runs, so the folder is checked
// and from then on reached through its descriptor only.

#pragma once

#include "src/store/File.h"
#include "src/support/Status.h"

#include <string>

namespace jitk {

/// Opens the folder, creating it and its parents with mode 0700 where they are missing. Refuses, with InvalidArgument,
/// a symbolic link, a folder that others may write to, and one that belongs neither to the effective user nor to root
/// (an image's own, read-only). Fails with Unavailable if it can be neither opened nor created.
Result<File> openStoreFolder(const std::string &path);

/// Whether the folder lies on another machine, or a server of this one gives it out: where locks may be missing, may
/// outlive their holder, or may take as long as the network.
bool isRemote(const File &folder);

/// Opens the folder for the locks of a store that is remote: one of this machine, which all processes of the user that
/// have opened that store share. Empty if there is none.
File openLocalLockFolder(const File &store);

} // namespace jitk
