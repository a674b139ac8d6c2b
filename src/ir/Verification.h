// When modules are verified.

#pragma once

namespace jitk::ir {

/// Whether our pipelines verify after each pass, and before modules become LLVM IR: in builds with assertions. Text
/// that a user gives is verified when it is parsed, in every build.
#ifdef JITK_ASSERTIONS
inline constexpr bool kVerifyEach = true;
#else
inline constexpr bool kVerifyEach = false;
#endif

} // namespace jitk::ir
