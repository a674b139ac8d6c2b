"""The package on a GPU with torch tensors. Not in the default tier: run on a machine that has both.

    JITK_LIBRARY=lib/libjitk.so.0 PYTHONPATH=integrations/python python3 integrations/python/tests/test_torch.py
"""
import unittest

import jitk
import jitk.torch
import torch

MATMUL = "matmul m=*<=512 n=256 k=512 dtype=bf16"
AXPY = """extern "C" __global__ void axpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runtime = jitk.Runtime(store="")
        cls.device = cls.runtime.device("cuda:0")
        cls.axpy = jitk.describe("user_kernel", language="cuda", source=AXPY, entry="axpy", block=256, grid="ceil(n/256)",
                                 n="*", arguments="x: read fp32[n], y: updated fp32[n], a: fp32, n: int32")
        cls.plan = cls.runtime.plan([MATMUL, cls.axpy])
        cls.plan.prepare(cls.device)
        cls.plan.seal()

    def test_a_product_on_torch_s_stream(self):
        kernel = self.plan.kernel(self.device, MATMUL)
        torch.manual_seed(1)
        a = torch.randn(100, 512, dtype=torch.bfloat16, device="cuda")
        b = torch.randn(512, 256, dtype=torch.bfloat16, device="cuda")
        c = torch.empty(100, 256, dtype=torch.bfloat16, device="cuda")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        kernel.launch(a, b, c, stream=stream.cuda_stream)
        stream.synchronize()
        # One rounding of a sum of 512 products of N(0, 1), up to about 100: half a unit in the last place is 0.25.
        torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=2**-8, atol=2**-6)

    def test_a_kernel_of_ones_own(self):
        x = torch.arange(1000, dtype=torch.float32, device="cuda")
        y = torch.ones(1000, dtype=torch.float32, device="cuda")
        self.plan.kernel(self.device, self.axpy).launch(x, y, scalars=[2.0])
        torch.testing.assert_close(y, 2 * torch.arange(1000, dtype=torch.float32, device="cuda") + 1, rtol=0, atol=0)

    def test_a_captured_graph_replays(self):
        kernel = self.plan.kernel(self.device, self.axpy)
        x = torch.ones(256, dtype=torch.float32, device="cuda")
        y = torch.zeros(256, dtype=torch.float32, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kernel.launch(x, y, scalars=[1.0], stream=torch.cuda.current_stream().cuda_stream)
        for _ in range(5):
            graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(y.tolist(), [5.0] * 256)

    def test_an_operator_of_torch(self):
        operators = jitk.torch.Operators("jitk_test")
        operators.define("matmul", self.plan.kernel(self.device, MATMUL))
        operators.define("axpy", self.plan.kernel(self.device, self.axpy), mutates=["y"])
        torch.manual_seed(1)
        a = torch.randn(100, 512, dtype=torch.bfloat16, device="cuda")
        b = torch.randn(512, 256, dtype=torch.bfloat16, device="cuda")
        c, compiled = (torch.empty(100, 256, dtype=torch.bfloat16, device="cuda") for _ in range(2))
        torch.ops.jitk_test.matmul(a, b, c)
        torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=2**-8, atol=2**-6)
        torch.compile(lambda: torch.ops.jitk_test.matmul(a, b, compiled), fullgraph=True, backend="aot_eager")()
        self.assertTrue(torch.equal(c, compiled))
        x, y = torch.ones(1000, device="cuda"), torch.ones(1000, device="cuda")
        torch.ops.jitk_test.axpy(x, y, 2.0)
        self.assertEqual(y.tolist(), [3.0] * 1000)

    def test_scalars_of_other_types_than_float(self):
        source = """extern "C" __global__ void store(double *x, long long *y, double a, long long b, unsigned short c) {
  *x = a; y[0] = b; y[1] = c;
}
"""
        kernel = self.runtime.kernel(self.device, jitk.describe(
            "user_kernel", language="cuda", source=source, entry="store", block=1, grid=1,
            arguments="x: written fp64[1], y: written int64[2], a: fp64, b: scalar int64, c: bf16"))
        x = torch.zeros(1, dtype=torch.float64, device="cuda")
        y = torch.zeros(2, dtype=torch.int64, device="cuda")
        kernel.launch(x, y, scalars=[0.1, -3, 1.0])
        self.assertEqual((x.item(), y.tolist()), (0.1, [-3, 0x3F80]))

    def test_what_does_not_fit_is_named(self):
        kernel = self.plan.kernel(self.device, self.axpy)
        x = torch.zeros(10, dtype=torch.float32, device="cuda")
        with self.assertRaisesRegex(jitk.Error, "tensor y"):
            kernel.launch(x, x.half(), scalars=[1.0])
        with self.assertRaisesRegex(jitk.Error, "tensor x must be on CUDA device 0"):
            kernel.launch(torch.zeros(10), x, scalars=[1.0])
        with self.assertRaisesRegex(jitk.Error, "stride 0 of tensor x"):
            kernel.launch(torch.zeros(20, dtype=torch.float32, device="cuda")[::2], x, scalars=[1.0])


if __name__ == "__main__":
    unittest.main()
