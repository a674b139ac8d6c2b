"""The Python package of an installed tree: it finds the tree's libraries by itself."""
import jitk

runtime = jitk.Runtime(store="")
print(jitk.describe("matmul", m="*", n=64, k=64))
try:
    kernel = runtime.kernel(runtime.device("emulator:sm_90a"), "matmul m=16 n=16 k=16")
    assert kernel.tensors == ["a", "b", "c"], kernel.tensors
except jitk.Error as error:
    # A tree without the compiler says so.
    assert error.status == "UNAVAILABLE" and "compiler library cannot be opened" in str(error), error
