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

} // namespace jitk
