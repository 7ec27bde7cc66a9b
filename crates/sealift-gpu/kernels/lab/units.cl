/* One instruction again and again, in CHAINS chains of each work-item that do not wait for each other: how
 * many of it a multiprocessor works in a clock. Said in NVIDIA's own instructions, which no compiler may
 * put others in the place of. `input` begins with two words that no compiler knows. */
#ifndef ON_CUDA
#error "for CUDA only"
#endif


#define ROUNDS_AT_ONCE _Pragma("unroll 4")

FN u32 begin_of(u32 item, u32 chain) { return (item + 1) * (2 * chain + 1) * 2654435761u; }

#define UNIT_KERNEL(name, type, step, folded)                                              \
    KERNEL name(const u32 *RESTRICT input, u32 *RESTRICT output, u32 rounds) {             \
        const u32 b = input[0], c = input[1];                                              \
        type a[CHAINS];                                                                    \
        u32 result = 0;                                                                    \
        UNROLLED for (u32 k = 0; k < CHAINS; k++) a[k] = begin_of(GLOBAL_ID(), k);         \
        ROUNDS_AT_ONCE for (u32 i = 0; i < rounds; i++) {                                  \
            UNROLLED for (u32 k = 0; k < CHAINS; k++) step;                                \
        }                                                                                  \
        UNROLLED for (u32 k = 0; k < CHAINS; k++) result = ROTATE_LEFT(result, 5) ^ (folded); \
        output[GLOBAL_ID()] = result;                                                         \
    }

/* (a & b) ^ c */
UNIT_KERNEL(lop3, u32, asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(a[k]) : "r"(b), "r"(c)), a[k])
/* The three lower bytes in a circle. */
UNIT_KERNEL(prmt, u32, asm volatile("prmt.b32 %0, %0, %1, 0x3102;" : "+r"(a[k]) : "r"(b)), a[k])
/* Rotated by 7. */
UNIT_KERNEL(shf, u32, asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(a[k])), a[k])
UNIT_KERNEL(imad, u32, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(a[k]) : "r"(b), "r"(c)), a[k])
/* Sums of two words of products of words; one factor of all chains is turned each round, so that no product
 * is the one before. ptxas adds pairs of products by themselves: up to half of the issue goes there. */
KERNEL imad_wide(const u32 *RESTRICT input, u32 *RESTRICT output, u32 rounds) {
    u64 a[CHAINS];
    u32 factor = begin_of(GLOBAL_ID(), 0) ^ input[0], own[CHAINS], result = 0;
    UNROLLED for (u32 k = 0; k < CHAINS; k++) {
        own[k] = begin_of(GLOBAL_ID(), k) ^ input[1];
        a[k] = k;
    }
    ROUNDS_AT_ONCE for (u32 i = 0; i < rounds; i++) {
        UNROLLED for (u32 k = 0; k < CHAINS; k++) {
            asm volatile("mad.wide.u32 %0, %1, %2, %0;" : "+l"(a[k]) : "r"(factor), "r"(own[k]));
        }
        asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(factor));
    }
    UNROLLED for (u32 k = 0; k < CHAINS; k++) {
        result = ROTATE_LEFT(result, 5) ^ (u32)a[k] ^ (u32)(a[k] >> 32);
    }
    output[GLOBAL_ID()] = result;
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
