"""What the package says of libjitk against jitk.h: all functions, the fields of each struct and their sizes."""
import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from jitk import _library

INCLUDE = pathlib.Path(__file__).resolve().parents[3] / "include"
# The package's objects share references themselves.
UNUSED = {"jitk_plan_create", "jitk_error_code", "jitk_error_retain", "jitk_description_retain", "jitk_runtime_retain",
          "jitk_device_retain", "jitk_plan_retain", "jitk_dispatch_retain", "jitk_artifact_retain"}
STRUCTS = {
    "jitk_runtime_options_t": _library.RuntimeOptions, "jitk_late_compilation_t": _library.LateCompilation,
    "jitk_counters_t": _library.Counters, "jitk_device_options_t": _library.DeviceOptions,
    "jitk_kernel_info_t": _library.KernelInfo, "jitk_launch_t": _library.Launch,
    "jitk_dlpack_launch_t": _library.DlpackLaunch, "jitk_plan_options_t": _library.PlanOptions,
    "jitk_progress_t": _library.ProgressRecord, "jitk_prepare_options_t": _library.PrepareOptions,
}


class Header(unittest.TestCase):
    def setUp(self):
        self.text = re.sub(r"/\*.*?\*/", "", (INCLUDE / "jitk/jitk.h").read_text(), flags=re.S)

    def test_every_function_is_declared_with_its_parameters(self):
        wanted = {}
        for name, parameters in re.findall(r"JITK_API [^;(]*?(jitk_\w+)\(([^)]*)\)", self.text):
            wanted[name] = 0 if parameters.strip() == "void" else parameters.count(",") + 1
        self.assertGreater(len(wanted), 80)
        found = {name: len(parameters) + 1 for name, parameters in _library.CHECKED.items()}  # and the error
        found.update({name: len(parameters) for name, (_, parameters) in _library.PLAIN.items()})
        for name in UNUSED:
            self.assertIn(name, wanted)
        self.assertEqual(found, {name: count for name, count in wanted.items() if name not in UNUSED})

    def test_every_struct_is_described(self):
        sized = re.findall(r"typedef struct (jitk_\w+) \{\s*size_t struct_size;", self.text)
        self.assertEqual(set(sized), set(STRUCTS))

    def test_structs_lie_as_in_c(self):
        lines, wanted = [], []
        for name, struct in STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            wanted.append(f"{name} {ctypes.sizeof(struct)}")
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
                wanted.append(f"{name}.{field} {place.offset} {place.size}")
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "layout.c"
            source.write_text("#include <jitk/jitk.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
            program = pathlib.Path(folder) / "layout"
            subprocess.run([os.environ.get("CC", "cc"), "-I", INCLUDE, source, "-o", program], check=True)
            self.assertEqual(subprocess.check_output([program], text=True).splitlines(), wanted)


if __name__ == "__main__":
    unittest.main()
