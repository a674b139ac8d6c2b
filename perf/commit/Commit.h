// The commit that a benchmark program was built of.

#pragma once

namespace jitk::perf {

/// "2c19dc3fd2d9", with "+changes" behind it if files differed from the commit; "unknown" where there was no git.
extern const char *const kCommit;

} // namespace jitk::perf
