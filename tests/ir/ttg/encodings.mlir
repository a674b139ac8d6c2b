// Spellings of encodings: optional fields, CTA layouts, order of fields.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

// CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{order = [1, 0], threadsPerWarp = [4, 8], sizePerThread = [1, 8], warpsPerCTA = [4, 1]}>
// CHECK-DAG: #[[B2:.*]] = #ttg.blocked<{{.*}}, order = [1, 0], CGALayout = {{\[\[}}0, 1], [1, 0]]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1], [1, 0]]}>
// CHECK-DAG: #[[M:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = {{\[\[}}0, 1]], instrShape = [16, 64, 16]}>
#m = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16], CGALayout = [[0, 1]], unknown = 1}>
// CHECK-DAG: #[[P:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>
#p = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>
// CHECK-DAG: #[[Q:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 32, CGALayout = {{\[\[}}0, 0, 0]]}>
#q = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 32, CGALayout = [[0, 0, 0]]}>
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = {{\[\[}}0]]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
// CHECK-DAG: #[[PAD:.*]] = #ttg.padded_shared<[16:+1, 64:+4] {offset = {{\[\[}}1, 0], [0, 1], [2, 0], [0, 2]], block = []}>
#pad = #ttg.padded_shared<[16:+1, 64:+4] {offset = [[1, 0], [0, 1], [2, 0], [0, 2]], block = []}>
// CHECK-DAG: #[[SL:.*]] = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2]], block = {{\[\[}}1, 0]]}, alignment = 128>
#sl = #ttg.shared_linear<{offset = [[0, 1], [0, 2]], block = [[1, 0]]}, alignment = 128>
// CHECK-DAG: #[[T:.*]] = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2, CTASplitM = 2, twoCTAs = true>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2, CTASplitM = 2, CTASplitN = 1, twoCTAs = true>

// CHECK: tt.func private @f
tt.func private @f(tensor<8xf16, #ttg.slice<{dim = 0, parent = #b}>>, tensor<8x8xf16, #b2>, tensor<8x8xf32, #m>,
                   !ttg.memdesc<2x8x64xi8, #p, #ttg.shared_memory>, !ttg.memdesc<8x8x8xf32, #q, #ttg.shared_memory>,
                   !ttg.memdesc<1xi64, #s, #ttg.shared_memory, mutable>, !ttg.memdesc<4x4xf16, #pad, #ttg.shared_memory>,
                   !ttg.memdesc<2x4xf16, #sl, #ttg.shared_memory>,
                   !ttg.memdesc<256x64xf16, #t, #ttng.tensor_memory, mutable>)
