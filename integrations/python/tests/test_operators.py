"""jitk.torch on the emulator, by a torch without CUDA; test_torch.py has it on a GPU."""
import importlib.util
import os
import unittest

MATMUL = "matmul m=*<=64 n=32 k=64 dtype=fp16 out_dtype=fp32"
SCALARS = """
tt.func public @scalars(%x: !tt.ptr<f32>, %y: !tt.ptr<i64>, %a: f32, %b: i64) {
  tt.store %x, %a : !tt.ptr<f32>
  tt.store %y, %b : !tt.ptr<i64>
  tt.return
}
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "skipped: needs the Python package torch, found none")
class Operators(unittest.TestCase):
    def setUp(self):
        import jitk
        import jitk.torch
        import torch

        self.jitk, self.torch = jitk, torch
        self.runtime = jitk.Runtime(store="", compiler_library=os.environ.get("JITK_TEST_COMPILER"))
        self.device = self.runtime.device("emulator:sm_90a")

    def tensor(self, *shape, dtype):
        """A tensor in the emulator's memory."""
        return self.torch.from_numpy(self.device.array(shape, dtype))

    def test_a_product_is_right(self):
        torch = self.torch
        operators = self.jitk.torch.Operators("jitk_test")
        kernel = self.runtime.kernel(self.device, MATMUL)
        self.assertEqual(self.jitk.torch.schema("matmul", kernel),
                         "matmul(Tensor a, Tensor b, Tensor(a!) c, *, Tensor? workspace=None) -> ()")
        operators.define("matmul", kernel)
        a, b, c = self.tensor(19, 64, dtype="f2"), self.tensor(64, 32, dtype="f2"), self.tensor(19, 32, dtype="f4")
        a[...] = torch.randint(-2, 3, a.shape)
        b[...] = torch.randint(-3, 4, b.shape)
        c[...] = float("nan")
        torch.ops.jitk_test.matmul(a, b, c)
        self.device.synchronize()
        # Sums of 64 small whole numbers are exact.
        self.assertTrue(torch.equal(c.double(), a.double() @ b.double()))
        with self.assertRaisesRegex(self.jitk.Error, "tensor b"):
            torch.ops.jitk_test.matmul(a, a, c)
        if int(torch.__version__.split(".")[0]) < 2:
            print("skipped: torch before 2.0 runs no custom operator on meta tensors")
            return
        shapes = [torch.empty(tensor.shape, dtype=tensor.dtype, device="meta") for tensor in (a, b, c)]
        self.assertIsNone(torch.ops.jitk_test.matmul(*shapes))

    def test_scalars_and_kernels_of_ones_own(self):
        operators = self.jitk.torch.Operators("jitk_test_scalars")
        kernel = self.runtime.kernel(self.device, self.jitk.describe(
            "user_kernel", language="commonir", source=SCALARS, entry="scalars", grid="1",
            arguments="x: written fp32[1], y: written int64[1], a: fp32, b: scalar int64"))
        with self.assertRaisesRegex(ValueError, "mutates must name the tensors"):
            operators.define("store", kernel)
        operators.define("store", kernel, mutates=["x", "y"])
        x, y = self.tensor(1, dtype="f4"), self.tensor(1, dtype="i8")
        self.torch.ops.jitk_test_scalars.store(x, y, 0.25, -3)
        self.device.synchronize()
        self.assertEqual((x.item(), y.item()), (0.25, -3))


if __name__ == "__main__":
    unittest.main()
