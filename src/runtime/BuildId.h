// The name of this build: a hash of all sources and settings that can change generated code.
//
// Linked into libjitk.so and libjitk-compiler.so alike. The two must agree, since C++ types cross between them; and it
// is part of every key, so that another build never finds this one's kernels.

#pragma once

namespace jitk {

extern const char *const kBuildId;

} // namespace jitk
