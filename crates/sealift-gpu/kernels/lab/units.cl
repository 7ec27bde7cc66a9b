/* One instruction again and again, in CHAINS chains of each work-item that do not wait for each other: how
 * many of it a multiprocessor works in a clock. Said in NVIDIA's own instructions, which no compiler may
 * put others in the place of. `input` begins with two words that no compiler knows. */
#ifndef ON_CUDA
#error "for CUDA only"
#endif

/* What counts rounds and goes back is a fiftieth of the instructions then. */
#define ROUNDS_AT_ONCE _Pragma("unroll 16")
/* So many work-items begin apart, and those behind them as these: what the host has to compute does not grow
 * with the grid. */
#define DISTINCT 1024

FN u32 begin_of(u32 item, u32 chain) { return (item % DISTINCT + 1) * (2 * chain + 1) * 2654435761u; }

#define UNIT_KERNEL(name, step)                                                            \
    KERNEL name(const u32 *RESTRICT input, u32 *RESTRICT output, u32 rounds) {             \
        const u32 b = input[0], c = input[1];                                              \
        u32 a[CHAINS], result = 0;                                                         \
        UNROLLED for (u32 k = 0; k < CHAINS; k++) a[k] = begin_of(GLOBAL_ID(), k);         \
        ROUNDS_AT_ONCE for (u32 i = 0; i < rounds; i++) {                                  \
            UNROLLED for (u32 k = 0; k < CHAINS; k++) step;                                \
        }                                                                                  \
        UNROLLED for (u32 k = 0; k < CHAINS; k++) result = ROTATE_LEFT(result, 5) ^ a[k];  \
        output[GLOBAL_ID()] = result;                                                      \
    }

/* (a & b) ^ c */
UNIT_KERNEL(lop3, asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(a[k]) : "r"(b), "r"(c)))
/* The three lower bytes in a circle. */
UNIT_KERNEL(prmt, asm volatile("prmt.b32 %0, %0, %1, 0x3102;" : "+r"(a[k]) : "r"(b)))
/* Rotated by 7. */
UNIT_KERNEL(shf, asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(a[k])))
UNIT_KERNEL(imad, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(a[k]) : "r"(b), "r"(c)))

/* Products of two words. The lower one goes on in its chain; without the upper ones no product would be wide, so they are
 * added up without carries, two of them by one instruction of another unit. Nothing is added to a product: in chains
 * ptxas adds apart, with two more instructions for each. */
KERNEL imad_wide(const u32 *RESTRICT input, u32 *RESTRICT output, u32 rounds) {
    const u32 b = input[0];
    u32 a[CHAINS], uppers = 0, result = 0;
    UNROLLED for (u32 k = 0; k < CHAINS; k++) a[k] = begin_of(GLOBAL_ID(), k);
    ROUNDS_AT_ONCE for (u32 i = 0; i < rounds; i++) {
        UNROLLED for (u32 k = 0; k < CHAINS; k++) {
            asm volatile("{ .reg .u64 product; .reg .u32 upper; mul.wide.u32 product, %0, %2; "
                         "mov.b64 {%0, upper}, product; xor.b32 %1, %1, upper; }"
                         : "+r"(a[k]), "+r"(uppers) : "r"(b));
        }
    }
    UNROLLED for (u32 k = 0; k < CHAINS; k++) result = ROTATE_LEFT(result, 5) ^ a[k];
    output[GLOBAL_ID()] = result ^ uppers;
}

#define ENTRIES 256
#define BANKS 32

/* Each lane follows a circle of entries in a bank of its own. */
KERNEL lds(const u32 *RESTRICT input, u32 *RESTRICT output, u32 rounds) {
    __shared__ u32 next[ENTRIES * BANKS];
    const u32 base = (u32)__cvta_generic_to_shared(next), lane = LOCAL_ID() % BANKS, skip = input[0] & ~3u;
    u32 a[CHAINS], result = 0;
    for (u32 i = LOCAL_ID(); i < ENTRIES * BANKS; i += LOCAL_SIZE()) {
        const u32 entry = (i / BANKS * 97 + skip + 13) % ENTRIES;
        next[i] = base + 4 * (entry * BANKS + i % BANKS);
    }
    LOCAL_BARRIER();
    UNROLLED for (u32 k = 0; k < CHAINS; k++) {
        a[k] = base + 4 * (begin_of(GLOBAL_ID(), k) % ENTRIES * BANKS + lane);
    }
    ROUNDS_AT_ONCE for (u32 i = 0; i < rounds; i++) {
        UNROLLED for (u32 k = 0; k < CHAINS; k++) {
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(a[k]) : : "memory");
        }
    }
    UNROLLED for (u32 k = 0; k < CHAINS; k++) {
        result = ROTATE_LEFT(result, 5) ^ ((a[k] - base) / 4 / BANKS);
    }
    output[GLOBAL_ID()] = result;
}
