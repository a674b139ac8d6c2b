// jitk doctor: what works on this machine.

#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>

namespace jitk::tool {

void addDoctorVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("doctor", "report the store, the compiler, the assemblers and the driver, as JSON");
  auto options = std::make_shared<RuntimeOptions>();
  options->addTo(*verb);
  verb->callback([=, &action] {
    action = [=] {
      std::printf("%s\n", options->create().report().c_str());
      return int(kOk);
    };
  });
}

} // namespace jitk::tool
