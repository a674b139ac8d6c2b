# lit configuration shared by the suites of tests/ir.
import os
import sys

import lit.formats

config.name = config.suite_name
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = config.suite_source
config.test_exec_root = config.suite_output

config.environment["PATH"] = os.pathsep.join([config.jitk_bin, config.llvm_bin, config.environment["PATH"]])
# A variable that one CHECK-LABEL block captures must not leak into the next.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"

config.substitutions.append(("%jitk-opt", os.path.join(config.jitk_bin, "jitk-opt")))
config.substitutions.append(("%python", '"%s"' % sys.executable))
