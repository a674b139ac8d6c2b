"""What the kernels of sm_90a are to reach beside their peers, and whether a run shows it."""
import dataclasses
import typing

import results

EPILOGUES = ("bias=true", "residual=true", "accumulate=true", "activation=", "out_dtype=fp32")


def words(row):
    return row.problem.split()


def has_epilogue(row):
    return any(word.startswith(EPILOGUES) for word in words(row))


def is_plain(row):
    return any(word.startswith("k=*") for word in words(row))


@dataclasses.dataclass
class Goal:
    op: str
    beside: str
    what: str
    mean: float
    least: float = 0
    rows: typing.Callable = lambda row: True

    def values(self, rows):
        """The ratios that count."""
        chosen = [row for row in rows if row.op == self.op and not row.failure and self.rows(row)]
        if self.beside in PUBLISHED:
            return [value for value in map(PUBLISHED[self.beside], results.published(chosen)) if value]
        return [peer.ratio for row in chosen for peer in row.peers if peer.name == self.beside]


def deepgemm(ratio):
    return lambda each: ratio(each) if "DeepGEMM" in each.peer else None


def flash_attention_3(counts):
    return lambda each: each.ratio if each.peer == "FlashAttention 3" and counts(each) else None


def is_longest(each):
    """The problem of which there is no pair of a card that had rested."""
    return "seq_q=16384" in each.row.problem.split()


DEEPGEMM_RATIO = "DeepGEMM's ratio to cuBLASLt bf16"
FA3_RATIO = "FlashAttention 3's ratio to cuDNN"
# What is made of the figures of another machine.
PUBLISHED = {"DeepGEMM, both rested": deepgemm(lambda each: each.quotient),
             DEEPGEMM_RATIO: deepgemm(lambda each: each.ratio),
             DEEPGEMM_RATIO + ", or its time": deepgemm(lambda each: each.ratio or each.quotient),
             FA3_RATIO + ", both rested": flash_attention_3(lambda each: not each.sustained),
             FA3_RATIO + ", and 16384 queries sustained": flash_attention_3(lambda each: not each.sustained or is_longest(each))}

GOALS = [
    Goal("matmul", "cuBLASLt, best of 8", "products alone", 1.00, 0.93,
         lambda row: not has_epilogue(row) and not is_plain(row)),
    Goal("matmul", "cuBLASLt and a separate kernel", "with an epilogue", 1.05, rows=has_epilogue),
    Goal("matmul", "the kernel of known sizes", "copies that the compiler pipelines", 0.90, 0.90, is_plain),
    Goal("matmul", "Triton", "", 1.03),
    Goal("fp8_block_matmul", "DeepGEMM", "in the same run", 1.00),
    Goal("grouped_fp8_block_matmul", "DeepGEMM", "in the same run", 1.00),
    Goal("fp8_block_matmul", "DeepGEMM, both rested", "", 1.00),
    Goal("fp8_block_matmul", DEEPGEMM_RATIO, "where both are published", 1.00),
    Goal("fp8_block_matmul", DEEPGEMM_RATIO + ", or its time", "M = 1 ... 4096", 1.00),
    Goal("fp8_block_matmul", "Triton", "", 1.50),
    Goal("flash_attention", FA3_RATIO + ", both rested", "", 1.00),
    Goal("flash_attention", FA3_RATIO + ", and 16384 queries sustained", "", 1.00),
    Goal("flash_attention", "Triton", "", 1.40),
    Goal("flash_attention", "cuDNN (torch)", "heads of 64 dimensions", 1.09, rows=lambda row: "head_dim=64" in words(row)),
    Goal("flash_attention", "varlen_attn (torch)", "sequences of lengths of their own", 2.03),
    Goal("paged_attention", "torch.sum of as many bytes", "", 1.00),
]

EXPLANATION = ("In the same run stand DeepGEMM's own kernels; its published figures and FlashAttention 3's are those of another H200. "
               "Their ratios to a yardstick, which both runs "
               "have, tell more than their times; of most of DeepGEMM's shapes its time alone is published, and \"or its time\" "
               "takes the yardsticks of the two cards as equal there. jitk rests before each turn, so that rested pairs are the "
               "like; of 16384 queries there is a pair of a card under load alone, and a row that counts it too. Of FlashAttention 3 "
               "there are figures of heads of 128 and 256 and sequences of one length. Of heads of 64 the least that it has in those "
               "over cuDNN is asked for, 1.09; of other lengths its mean over torch's FlashAttention 2 there, 2.03; of paged decoding "
               "the time in which torch only adds up as many bytes.")


def table(rows):
    lines = ["| op | beside | goal: mean, least | problems | mean | least | |", "|---" * 7 + "|"]
    for goal in GOALS:
        values = goal.values(rows)
        wanted = f"{goal.mean:.2f}" + (f", {goal.least:.2f}" if goal.least else "")
        start = f"| {goal.op}{', ' if goal.what else ''}{goal.what} | {goal.beside} | {wanted} |"
        if not values:
            lines.append(f"{start} 0 | | | not measured |")
            continue
        mean, least = results.geometric_mean(values), min(values)
        held = "held" if mean >= goal.mean and least >= goal.least else "not held"
        lines.append(f"{start} {len(values)} | {mean:.3f} | {least:.3f} | {held} |")
    return "\n".join(lines) + "\n\n" + EXPLANATION + control(rows)


def control(rows):
    """What a published ratio is worth on this machine: what the peer's own kernels have of it."""
    values = [each.again for each in results.published(rows) if each.again]
    if not values:
        return ""
    return (f" Where both of DeepGEMM's figures are published, its own kernels reach {results.geometric_mean(values):.3f} of their "
            f"published ratio in this run ({len(values)} problems): the two cards' yardsticks differ.")
