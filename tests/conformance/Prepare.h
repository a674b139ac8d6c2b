// Compiles what a suite is going to run.

#pragma once

#include "jitk/jitk.hpp"
#include "src/tools/checked/CheckedRun.h"

#include <string>
#include <vector>

namespace jitk::conformance {

/// Compiles the problems for `target` on all cores of the host. Failures show where a problem runs.
inline void prepare(const api::Runtime &runtime, const std::string &target,
                    const std::vector<checked::Problem> &problems) {
  api::Plan plan = api::Plan::create(runtime);
  for (const checked::Problem &problem : problems) {
    plan.add(api::Description::parse(problem.description));
  }
  jitk_prepare_options_t options = {};
  options.target = target.c_str();
  plan.prepare(options);
  try {
    plan.wait();
  } catch (const api::Exception &) {
  }
}

} // namespace jitk::conformance
