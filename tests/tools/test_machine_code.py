"""Loops and the units that work their instructions are read from what nvdisasm prints."""

import pytest

import machine_code

NESTED = """
//--------------------- .text.many                --------------------------
\t.section\t.text.many,"ax",@progbits
\t.align\t128
        .global         many
many:
.text.many:
\t//## File "many.cl", line 1
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_3:
\t//## File "many.cl", line 5
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   BSSY B0, `(.L_x_2) ;
        /*0030*/               @P1 BRA `(.L_x_4) ;
.L_x_1:
\t//## File "aes.h", line 7
        /*0040*/                   LOP3.LUT R4, R5, R6, R7, 0x96, !PT ;
        /*0050*/                   LDS R4, [R4+0x80] ;
        /*0060*/                   IMAD.WIDE.U32 R8, R4, R5, R6 ;
        /*0070*/              @!P0 BRA `(.L_x_1) ;
.L_x_2:
\t//## File "many.cl", line 9
        /*0080*/                   IADD3 R9, R9, 0x1, RZ ;
        /*0090*/               @P2 BRA `(.L_x_3) ;
        /*00a0*/                   EXIT ;
.L_x_4:
        /*00b0*/                   BREV R4, R4 ;
        /*00c0*/                   BSYNC B0 ;
.L_x_5:
        /*00d0*/                   BRA `(.L_x_5);
        /*00e0*/                   NOP ;
"""
LOG = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'many' for 'sm_90'
ptxas info    : Function properties for many
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, 572 bytes cmem[0]
ptxas info    : Compiling entry function 'long_join' for 'sm_90'
ptxas info    : Function properties for long_join
    48 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 128 registers, 1024 bytes smem, 572 bytes cmem[0]
"""


def kernel(listing: str) -> machine_code.Kernel:
    [found] = machine_code.kernels(listing)
    return found


def test_a_loop_has_its_instructions_without_those_of_the_loop_inside() -> None:
    _, outer, inner = kernel(NESTED).parts()
    assert (outer.depth, inner.depth) == (0, 1)
    assert [one.opcode for one in inner.code] == ["LOP3.LUT", "LDS", "IMAD.WIDE.U32", "BRA"]
    assert [one.opcode for one in outer.code] == [
        *("LDG.E.128.CONSTANT", "BSSY", "BRA", "IADD3", "BRA"),
        *("BREV", "BSYNC"),
    ]


def test_kernels_are_apart_and_a_loop_stands_where_its_jump_back_does() -> None:
    places = [("", 0), ("many.cl", 9), ("aes.h", 7)]
    assert [part.place for part in kernel(NESTED).parts()] == places
    both = NESTED + NESTED.replace("many", "long_join")
    assert [one.name for one in machine_code.kernels(both)] == ["many", "long_join"]


def test_what_is_never_reached_is_not_outside_of_loops() -> None:
    assert [one.opcode for one in next(kernel(NESTED).parts()).code] == ["LDC", "EXIT"]


def test_instructions_are_counted_by_their_unit_and_memory_by_its_words() -> None:
    _, outer, inner = kernel(NESTED).parts()
    nothing = dict.fromkeys(machine_code.COUNTED, 0)
    assert machine_code.counts(inner.code) == {
        **nothing,
        "issued": 4,
        "alu": 1,
        "shared": 1,
        "wide": 1,
    }
    assert machine_code.counts(outer.code) == {
        **nothing,
        "issued": 7,
        "alu": 1,
        "slow": 1,
        "global": 4,
    }


def test_a_jump_into_the_middle_makes_no_loop_of_what_it_does_not_pass() -> None:
    entered = NESTED.replace("LDC R1, c[0x0][0x28]", "@P3 BRA `(.L_x_2)")
    _, inner = kernel(entered).parts()
    assert inner.place == ("aes.h", 7)


@pytest.mark.parametrize("code", ["BRX R4 -0x10", "JMX R2"])
def test_a_jump_whose_way_is_not_known_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="whose target is not known"):
        [*kernel(NESTED.replace("BREV R4, R4", code)).parts()]


def test_an_instruction_of_no_known_unit_is_refused() -> None:
    found = kernel(NESTED.replace("BREV", "QUUX.FOO"))
    with pytest.raises(ValueError, match=r"QUUX.FOO is of no known unit"):
        machine_code.counts(found.code)


def test_registers_frames_and_spills_are_read_from_the_log() -> None:
    names = ("registers", "frame_bytes", "spilled_bytes", "shared_bytes")
    assert machine_code.resources(LOG) == {
        "many": dict(zip(names, (40, 0, 0, 0), strict=True)),
        "long_join": dict(zip(names, (128, 48, 36, 1024), strict=True)),
    }
    with pytest.raises(ValueError, match="tells no registers"):
        machine_code.resources(LOG.replace("Used 40 registers", "Used"))


def test_a_function_is_counted_apart_from_the_kernel_that_calls_it() -> None:
    label = "$many$_ZN37_INTERNAL_00000000_10_program_cu_many14seldom_productE7elementS0_"
    called = NESTED.replace("BREV R4, R4", f"CALL.REL.NOINC `({label})").replace(
        ".L_x_5:",
        f"{label}:\n   /*00c8*/   POPC R4, R4 ;\n   /*00cc*/   RET.REL.NODEC R2 `(many) ;",
    )
    outside, function, *loops = kernel(called).parts()
    opcodes = [one.opcode for one in function.code]
    assert (function.function, opcodes) == ("seldom_product", ["POPC", "RET.REL.NODEC"])
    assert len(loops) == 2
    assert [one.opcode for one in outside.code] == ["LDC", "EXIT"]
