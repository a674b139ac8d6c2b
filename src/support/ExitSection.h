// ExitSection: what must not run on while the process ends.
//
// `exit`, and so a return from `main`, destroys what libraries hold while other threads run on: the driver's and the
// assemblers' state, objects of the engine that its callbacks use. So a thread that calls any of them does it in a
// section: an exit waits for the sections that threads are in, and none begins after it. The statics of the project's
// own shared libraries need no section, for nothing destroys them (NoStaticDestructors.cpp).

#pragma once

#include "src/support/Status.h"

#include <chrono>

namespace jitk {

/// What an exit waits at most; a section that takes longer is left to itself.
inline constexpr std::chrono::seconds kExitPatience{5};

/// For one thread, on its stack; may be nested. Costs a few atomic operations.
class ExitSection {
public:
  ExitSection();
  ~ExitSection();
  ExitSection(const ExitSection &) = delete;
  ExitSection &operator=(const ExitSection &) = delete;

  /// False if the process ends already: then nothing may be begun. A thread that is in a section gets into another.
  bool entered() const { return entered_; }
  /// OK, or Cancelled if it was not entered.
  Status status() const;

private:
  bool entered_;
};

} // namespace jitk
