/* Products of matrices of bits by a warp: 16 x 256 times 256 x 8, their ones in common counted and added up.
 * Each work-item brings two units of `input`: its four words of the left matrix, and in the second unit its
 * two words of the right one. Its four sums come out. */
#ifndef ON_CUDA
#error "for CUDA only"
#endif

KERNEL bmma(const uint4 *RESTRICT input, uint4 *RESTRICT output, u32 rounds) {
    const uint4 a = input[2 * GLOBAL_ID()], b = input[2 * GLOBAL_ID() + 1];
    u32 sums[CHAINS][4] = {}, all[4] = {};
    _Pragma("unroll 4") for (u32 i = 0; i < rounds; i++) {
        UNROLLED for (u32 k = 0; k < CHAINS; k++) {
            asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+r"(sums[k][0]), "+r"(sums[k][1]), "+r"(sums[k][2]), "+r"(sums[k][3])
                         : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
        }
    }
    UNROLLED for (u32 k = 0; k < CHAINS; k++) {
        UNROLLED for (u32 j = 0; j < 4; j++) all[j] += sums[k][j];
    }
    output[GLOBAL_ID()] = UNIT(all[0], all[1], all[2], all[3]);
}
