#include "src/kernels/attention/AttentionSequences.h"

#include "src/kernels/vocabulary/Sequences.h"

using namespace mlir;

namespace jitk::kernels {

void AttentionSequences::declareTensors(KernelSignature &signature, MLIRContext &context) const {
  auto declare = [&](std::initializer_list<const char *> names) {
    for (const char *name : names) {
      signature.tensor(name, elementTypeOf("int32", context), 4);
    }
  };
  if (isPacked_) {
    declare({"cu_seqlens_q", "cu_seqlens_k"});
  }
  if (haveLengths_) {
    declare({"seq_lens_q", "seq_lens_k"});
  }
}

void AttentionSequences::declareDimensions(KernelSignature &signature, const Description &description) const {
  for (const char *name : {"batch", "heads", "kv_heads", "seq_q", "seq_k"}) {
    signature.dimension(name, description.dimension(name));
  }
  if (isPacked_) {
    signature.dimension("total_q", description.dimension("total_q"));
    signature.dimension("total_k", description.dimension("total_k"));
  }
}

SequenceRows AttentionSequences::rows(KernelBuilder &b, Value sequence, llvm::StringRef size, llvm::StringRef total,
                                      llvm::StringRef offsets, llvm::StringRef lengths) const {
  SequenceRows rows = {{}, b.size(size)};
  if (isPacked_) {
    TokenRange range = packedSequence(b, sequence, b.tensorParameter(offsets), b.size(total));
    rows = {range.begin, b.minimum(b.sub(range.end, range.begin), rows.count)};
  }
  if (haveLengths_) {
    rows.count = clampLength(b, b.load(b.advance(b.tensorParameter(lengths), sequence)), rows.count);
  }
  return rows;
}

SequenceRows AttentionSequences::queries(KernelBuilder &b, Value sequence) const {
  return rows(b, sequence, "seq_q", "total_q", "cu_seqlens_q", "seq_lens_q");
}

SequenceRows AttentionSequences::keys(KernelBuilder &b, Value sequence) const {
  return rows(b, sequence, "seq_k", "total_k", "cu_seqlens_k", "seq_lens_k");
}

Value AttentionSequences::logSums(KernelBuilder &b, Value sequence, Value head, const SequenceRows &queries) const {
  Value sums = b.tensorParameter("lse");
  if (isPacked_) {
    return b.advance(sums, b.add(b.mul(b.toI64(head), b.toI64(b.size("total_q"))), b.toI64(queries.first)));
  }
  Value index = b.add(b.mul(b.toI64(sequence), b.toI64(b.size("heads"))), b.toI64(head));
  return b.advance(sums, b.mul(index, b.toI64(b.size("seq_q"))));
}

} // namespace jitk::kernels
