"""The package with the real compiler: numpy arrays in, a product out, on the emulator."""
import json
import os
import sys
import tempfile
import unittest

import jitk
import numpy

if "JITK_TEST_COMPILER" not in os.environ:
    sys.exit("JITK_TEST_COMPILER is not set: run the tests by ctest, as `ctest --test-dir build/dev -R python/`")
COMPILER = os.environ["JITK_TEST_COMPILER"] or None  # empty: the one that the library finds itself
MATMUL = "matmul m=* n=32 k=64 dtype=fp16 out_dtype=fp32"

# y = 3 x by blocks of 64, in CommonIR.
TRIPLE = """
tt.func public @triple(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %pid = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %three = arith.constant dense<3.0> : tensor<64xf32>
  %base = arith.muli %pid, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bases = tt.splat %base : i32 -> tensor<64xi32>
  %i = arith.addi %bases, %range : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %yp = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
  %w = arith.mulf %v, %three : tensor<64xf32>
  tt.store %yp, %w : tensor<64x!tt.ptr<f32>>
  tt.return
}
"""

# Stores its scalars.
SCALARS = """
tt.func public @scalars(%x: !tt.ptr<f64>, %y: !tt.ptr<i64>, %z: !tt.ptr<i64>, %a: f64, %b: i64, %c: i64) {
  tt.store %x, %a : !tt.ptr<f64>
  tt.store %y, %b : !tt.ptr<i64>
  tt.store %z, %c : !tt.ptr<i64>
  tt.return
}
"""


class Emulator(unittest.TestCase):
    def setUp(self):
        self.runtime = runtime = jitk.Runtime(store="", compiler_library=COMPILER)
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

    def test_queries_keys_and_values_are_views_of_one_projection(self):
        heads, key_heads, dim, tokens = 4, 2, 64, 70
        text = f"flash_attention heads={heads} kv_heads={key_heads} seq_q={tokens} head_dim={dim} dtype=fp16 causal=true"
        widths = [heads * dim, key_heads * dim, key_heads * dim]
        projection, results = (self.device.array((1, tokens, size), "f2") for size in (sum(widths), heads * dim + 64))
        projection[...] = numpy.random.default_rng(2).standard_normal(projection.shape)
        results[...] = 7
        bounds = numpy.cumsum([0, *widths])
        q, k, v = (projection[..., begin:end].reshape(1, tokens, -1, dim)
                   for begin, end in zip(bounds, bounds[1:]))
        o = results[..., 32:32 + heads * dim].reshape(1, tokens, heads, dim)
        self.assertTrue(all(numpy.shares_memory(projection, view) for view in (q, k, v)))
        lse = self.device.array((1, heads, tokens), "f4")
        stride, out = sum(widths), heads * dim + 64
        strides = f" q_stride={stride} k_stride={stride} v_stride={stride} o_stride={out}"
        self.runtime.kernel(self.device, text + strides).launch(q, k, v, o, lse)
        own = [self.device.array(each.shape, "f2") for each in (q, k, v, o)]
        for to, view in zip(own, (q, k, v)):
            to[...] = view
        contiguous = self.runtime.kernel(self.device, text)
        contiguous.launch(*own, lse)
        self.device.synchronize()
        numpy.testing.assert_array_equal(o, own[3])
        self.assertTrue((results[..., :32] == 7).all() and (results[..., -32:] == 7).all())
        with self.assertRaisesRegex(jitk.Error, "stride 1 of tensor q must be 256: got 512"):
            contiguous.launch(q, k, v, own[3], lse)

    def test_caches_of_keys_and_values_are_halves_of_each_page(self):
        batch, heads, key_heads, dim, page, pages, longest, splits = 3, 4, 2, 64, 16, 20, 90, 4
        text = (f"paged_attention batch={batch} heads={heads} kv_heads={key_heads} max_kv={longest} num_pages={pages} "
                f"page_size={page} splits={splits} head_dim={dim} dtype=fp16")
        random = numpy.random.default_rng(3)
        cache, q = (self.device.array(shape, "f2")
                    for shape in ((pages, 2, page, key_heads, dim), (batch, 1, heads, dim)))
        for each in (cache, q):
            each[...] = random.standard_normal(each.shape)
        table, lengths = self.device.array((batch, 32), "i4"), self.device.array((batch,), "i4")
        table[...] = -1  # an engine's table is as wide as its longest request may be
        used = -(-longest // page)
        table[:, :used] = random.permutation(pages)[:batch * used].reshape(batch, used)
        lengths[...] = [longest, 17, 0]
        own = [self.device.array((pages, page, key_heads, dim), "f2") for _ in range(2)]
        for half, to in enumerate(own):
            to[...] = cache[:, half]
        own_table = self.device.array((batch, used), "i4")
        own_table[...] = table[:, :used]
        strides = "".join(f" {name}_page_stride={2 * page * key_heads * dim}" for name in ("k_cache", "v_cache"))

        def attend(description, *inputs):
            schedule, offsets = self.device.array((splits, 8), "i4"), self.device.array((batch + 1,), "i4")
            o, lse = self.device.array(q.shape, "f2"), self.device.array((batch, heads, 1), "f4")
            kernel = self.runtime.kernel(self.device, description)
            workspace = self.device.array((max(kernel.workspace_bytes(), 1),), "u1")
            kernel.launch(q, *inputs, lengths, schedule, offsets, o, lse, scalars=[dim ** -0.5],
                          workspace=workspace.ctypes.data, workspace_bytes=workspace.nbytes)
            self.device.synchronize()
            return o

        results = attend(text + strides + " block_table_stride=32", cache[:, 0], cache[:, 1], table[:, :used])
        numpy.testing.assert_array_equal(results, attend(text, *own, own_table))
        self.assertTrue(numpy.abs(results[:2]).max() > 0 and (results[2] == 0).all())
        with self.assertRaisesRegex(jitk.Error, "stride 0 of tensor k_cache must be 2048: got 4096"):
            attend(text, cache[:, 0], cache[:, 1], own_table)
        with self.assertRaisesRegex(jitk.Error, "stride 0 of tensor block_table must be 6: got 32"):
            attend(text, *own, table[:, :used])

    def test_a_configuration_of_ones_choice(self):
        problem = "matmul m=16 n=32 k=4096 dtype=fp16 out_dtype=fp32"
        names = [each["name"] for each in json.loads(self.runtime.configurations(problem, "emulator:sm_90a"))]
        split = next(name for name in names if name.endswith(".k2"))
        kernel = self.runtime.kernel(self.device, f"{problem} configuration={split}")
        self.assertEqual(kernel.info()["num_steps"], 2)
        self.assertGreaterEqual(kernel.workspace_bytes(), 2 * 16 * 32 * 4)
        with self.assertRaisesRegex(jitk.Error, "got '1x1'"):
            self.runtime.kernel(self.device, f"{problem} configuration=1x1")

    def test_a_stored_configuration_is_followed_by_runtimes_that_are_told_to(self):
        with tempfile.TemporaryDirectory() as store:
            options = {"store": store, "compiler_library": COMPILER}
            problem = "matmul m=16 n=32 k=64 dtype=fp16"
            runtime = jitk.Runtime(**options)
            runtime.store_configuration(runtime.device("emulator:sm_90a"), problem, "64x64")
            for tuned in (False, True):
                runtime = jitk.Runtime(**options, tuned=tuned)
                built = runtime.kernel(runtime.device("emulator:sm_90a"), problem).info()["description"]
                self.assertEqual("configuration=64x64" in built, tuned)
            with self.assertRaisesRegex(jitk.Error, "got '1x1'"):
                runtime.store_configuration(runtime.device("emulator:sm_90a"), problem, "1x1")

    def test_what_does_not_fit_is_named(self):
        with self.assertRaisesRegex(jitk.Error, "tensor b"):
            self.kernel.launch(self.a, self.a, self.c)
        with self.assertRaisesRegex(jitk.Error, "tensor c"):
            self.kernel.launch(self.a, self.b, self.b)
        with self.assertRaises(jitk.Error):
            self.kernel.launch(self.a, self.b)

    def test_a_kernel_of_ones_own(self):
        text = jitk.describe("user_kernel", language="commonir", source=TRIPLE, entry="triple", grid="ceil(n/64)",
                             arguments="x: read fp32[n], y: written fp32[n]", n="*%64")
        plan = self.runtime.plan([text])
        plan.prepare(self.device)
        plan.seal()
        x, y = self.device.array(128, "f4"), self.device.array(128, "f4")
        x[...] = numpy.arange(128)
        plan.kernel(self.device, text).launch(x, y)
        self.device.synchronize()
        numpy.testing.assert_array_equal(y, 3 * x)
        with self.assertRaisesRegex(jitk.Error, "dimension n must be a multiple of 64: got 100"):
            plan.kernel(self.device, text).launch(x[:100], y[:100])

    def test_scalars_of_other_types_than_float(self):
        kernel = self.runtime.kernel(self.device, jitk.describe(
            "user_kernel", language="commonir", source=SCALARS, entry="scalars", grid="1",
            arguments="x: written fp64[1], y: written int64[1], z: written int64[1], "
                      "a: fp64, b: scalar int64, c: scalar uint64"))
        self.assertEqual(kernel.scalar_types, ["fp64", "int64", "uint64"])
        x, y, z = self.device.array(1, "f8"), self.device.array(1, "i8"), self.device.array(1, "i8")
        kernel.launch(x, y, z, scalars=[0.1, numpy.int64(-3), 2**64 - 1])
        self.device.synchronize()
        self.assertEqual((x[0], y[0], z[0]), (0.1, -3, -1))
        with self.assertRaises(TypeError):
            kernel.launch(x, y, z, scalars=[0.1, 2.5, 0])
        with self.assertRaisesRegex(jitk.Error, "scalar c must be in the range of uint64: got -1"):
            kernel.launch(x, y, z, scalars=[0.1, 1, -1])
        with self.assertRaisesRegex(ValueError, "scalar must be an integer that a double holds: got 9007199254740993"):
            kernel.launch(x, y, z, scalars=[2**53 + 1, 1, 1])
        with self.assertRaisesRegex(ValueError, "that a double holds"):
            kernel.launch(x, y, z, scalars=[numpy.int64(2**62 + 1), 1, 1])
        kernel.launch(x, y, z, scalars=[2**60, 1, 1])
        self.device.synchronize()
        self.assertEqual(x[0], 2.0**60)
        with self.assertRaisesRegex(jitk.Error, "number of scalars must be 3: got 4"):
            kernel.launch(x, y, z, scalars=[0.1, 1, 1, 1])


if __name__ == "__main__":
    unittest.main()
