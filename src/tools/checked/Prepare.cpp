#include "src/tools/checked/Prepare.h"

namespace jitk::checked {

void prepare(const api::Runtime &runtime, const std::string &target, const std::vector<std::string> &descriptions) {
  api::Plan plan = api::Plan::create(runtime);
  for (const std::string &description : descriptions) {
    plan.add(api::Description::parse(description));
  }
  jitk_prepare_options_t options = {};
  options.target = target.c_str();
  plan.prepare(options);
  try {
    plan.wait();
  } catch (const api::Exception &) {
  }
}

void prepare(const api::Runtime &runtime, const std::string &target, const std::vector<Problem> &problems) {
  std::vector<std::string> descriptions;
  for (const Problem &problem : problems) {
    descriptions.push_back(problem.description);
  }
  prepare(runtime, target, descriptions);
}

} // namespace jitk::checked
