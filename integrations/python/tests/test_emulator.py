"""The package with the real compiler: numpy arrays in, a product out, on the emulator."""
import os
import unittest

import jitk
import numpy

MATMUL = "matmul m=* n=32 k=64 dtype=fp16 out_dtype=fp32"


class Emulator(unittest.TestCase):
    def setUp(self):
        runtime = jitk.Runtime(store="", compiler_library=os.environ["JITK_TEST_COMPILER"])
        self.device = runtime.device("emulator:sm_90a")
        self.kernel = runtime.kernel(self.device, MATMUL)
        random = numpy.random.default_rng(1)
        self.a, self.b = self.device.array((16, 64), "f2"), self.device.array((64, 32), "f2")
        self.c = self.device.array((16, 32), "f4")
        self.a[...] = random.standard_normal(self.a.shape)
        self.b[...] = random.standard_normal(self.b.shape)
        self.c[...] = numpy.nan

    def test_the_product_is_right(self):
        self.kernel.launch(self.a, self.b, self.c)
        self.device.synchronize()
        wanted = self.a.astype("f8") @ self.b.astype("f8")
        # 64 products, each rounded once in f32: far below the 1e-3 that a wrong element would show.
        numpy.testing.assert_allclose(self.c, wanted, rtol=0, atol=1e-4)

    def test_what_does_not_fit_is_named(self):
        with self.assertRaisesRegex(jitk.Error, "tensor b"):
            self.kernel.launch(self.a, self.a, self.c)
        with self.assertRaisesRegex(jitk.Error, "tensor c"):
            self.kernel.launch(self.a, self.b, self.b)
        with self.assertRaises(jitk.Error):
            self.kernel.launch(self.a, self.b)


if __name__ == "__main__":
    unittest.main()
