"""What check_main_loops.py sees of a listing."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_main_loops

# Two tiles' loop around a loop over blocks; a branch that jumps backwards, and closes no loop; the end.
LISTING = """
\t.section\t.text.kernel,"ax",@progbits
.text.kernel:
        /*0000*/                   STL [R1], R2 ;
.L_x_0:
        /*0010*/                   LDL R3, [R1] ;
        /*0020*/              @!P1 BRA `(.L_x_3) ;
.L_x_1:
        /*0030*/                   QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4], RZ, !UPT ;
        /*0040*/                   {inner} ;
        /*0050*/               @P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0060*/               @P2 BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
.L_x_3:
        /*0080*/                   LDL R4, [R1] ;
        /*0090*/                   BRA `(.L_x_2) ;
.L_x_4:
        /*00a0*/                   BRA `(.L_x_4);
"""


class MainLoops(unittest.TestCase):
    def blocks(self, inner):
        (name, lines), = check_main_loops.functions(LISTING.replace("{inner}", inner))
        self.assertEqual(name, "kernel")
        return check_main_loops.Blocks(lines)

    def test_the_inner_loop_alone_counts(self):
        blocks = self.blocks("FADD R1, R2, R3")
        self.assertEqual(len(blocks.loops()), 2)
        body, = blocks.main_loops()
        self.assertEqual(blocks.count(body, check_main_loops.PRODUCT), 1)
        self.assertEqual(blocks.count(body, check_main_loops.LOCAL), 0)

    def test_a_spill_in_it_is_seen(self):
        for spill in ("LDL R3, [R1]", "@P3 STL.64 [R1+0x8], R4"):
            blocks = self.blocks(spill)
            body, = blocks.main_loops()
            self.assertEqual(blocks.count(body, check_main_loops.LOCAL), 1)


if __name__ == "__main__":
    unittest.main()
