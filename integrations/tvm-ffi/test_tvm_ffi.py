"""The adapter as a user builds it: module.cpp against apache-tvm-ffi's headers, loaded by tvm_ffi, on the emulator.

    JITK_LIBRARY=build/dev/lib/libjitk.so.0 CXX=c++ python3 integrations/tvm-ffi/test_tvm_ffi.py
"""
import ctypes
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DEVICE = "emulator:sm_90a"
MATMUL = "matmul m=*<=64 n=32 k=64 dtype=fp16 out_dtype=fp32"
# Stores its scalars.
SCALARS = """
tt.func public @scalars(%x: !tt.ptr<f32>, %y: !tt.ptr<i64>, %a: f32, %b: i64) {
  tt.store %x, %a : !tt.ptr<f32>
  tt.store %y, %b : !tt.ptr<i64>
  tt.return
}
"""


def build(folder):
    """Compiles the module; its path."""
    library = pathlib.Path(os.environ["JITK_LIBRARY"]).resolve()
    config = lambda option: subprocess.check_output([sys.executable, "-m", "tvm_ffi.config", option], text=True).split()
    flags = [flag.replace("-I", "-isystem", 1) for flag in config("--cxxflags")]
    libraries = config("--libdir")[0]
    module = folder / "libjitk_tvm_ffi.so"
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", *flags,
                    f"-I{HERE}", f"-I{HERE.parent.parent / 'include'}", HERE / "module.cpp", "-o", module, library,
                    f"-L{libraries}", "-ltvm_ffi", f"-Wl,-rpath,{libraries}:{library.parent}"], check=True)
    return module


@unittest.skipUnless(importlib.util.find_spec("tvm_ffi"), "skipped: needs the Python package apache-tvm-ffi, found none")
class TvmFfi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import tvm_ffi

        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ffi = tvm_ffi
        cls.module = tvm_ffi.load_module(str(build(pathlib.Path(cls.folder.name))))

    def empty(self, *shape, dtype):
        """A tensor of the device, and its elements, which Python may read and write."""
        tensor = self.module.empty(DEVICE, self.ffi.Shape(shape), self.ffi.dtype(dtype))
        size = 1
        for extent in shape:
            size *= extent
        import numpy

        element = numpy.dtype(dtype)
        memory = (ctypes.c_uint8 * (size * element.itemsize)).from_address(tensor.data_ptr())
        return tensor, numpy.frombuffer(memory, dtype=element).reshape(shape)

    def test_a_product_is_right(self):
        [matmul] = self.module.plan(DEVICE, [MATMUL])
        (a, left), (b, right), (c, product) = (self.empty(19, 64, dtype="float16"), self.empty(64, 32, dtype="float16"),
                                               self.empty(19, 32, dtype="float32"))
        left[...] = [[(i * 7 + j) % 5 - 2 for j in range(64)] for i in range(19)]
        right[...] = [[(i + j * 3) % 7 - 3 for j in range(32)] for i in range(64)]
        product[...] = float("nan")
        matmul(a, b, c)
        self.module.synchronize(DEVICE)
        # Sums of 64 small whole numbers are exact.
        self.assertEqual((product - left.astype("f8") @ right.astype("f8")).tolist(), [[0] * 32] * 19)
        with self.assertRaisesRegex(ValueError, "INVALID_ARGUMENT: .*tensor b"):
            matmul(a, a, c)
        with self.assertRaisesRegex(TypeError, "kernel must be given 3 tensors, 0 scalars .*: got 2 arguments"):
            matmul(a, b)
        with self.assertRaisesRegex(TypeError, "argument 1 must be a tensor: got int"):
            matmul(a, 1, c)

    def test_scalars_have_the_kernel_s_types(self):
        source = SCALARS.replace("\n", "\\n")
        [store] = self.module.plan(DEVICE, [
            f'user_kernel language=commonir entry=scalars grid=1 source="{source}" '
            'arguments="x: written fp32[1], y: written int64[1], a: fp32, b: scalar int64"'])
        (x, number), (y, integer) = self.empty(1, dtype="float32"), self.empty(1, dtype="int64")
        store(x, y, 0.25, -3)
        self.module.synchronize(DEVICE)
        self.assertEqual((number[0], integer[0]), (0.25, -3))
        store(x, y, 2, 1 << 40)  # an integer stands for a float
        self.module.synchronize(DEVICE)
        self.assertEqual((number[0], integer[0]), (2, 1 << 40))
        with self.assertRaisesRegex(TypeError, "argument 3 must be an integer: got float"):
            store(x, y, 1.0, 2.5)

    def test_what_cannot_be_planned_is_raised(self):
        with self.assertRaisesRegex(ValueError, "INVALID_ARGUMENT: op must be one of"):
            self.module.plan(DEVICE, ["nonsense"])
        with self.assertRaisesRegex(ValueError, "device must be"):
            self.module.plan("toaster", [MATMUL])


if __name__ == "__main__":
    unittest.main()
