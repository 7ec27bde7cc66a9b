/* AES's rounds by look-ups in local memory. A table maps a byte to its column after SubBytes and
 * MixColumns; with TABLES 4 there is one for each row, with 1 the others are rotations of it.
 * With COPIES 32 lane n reads memory bank n alone, so that a look-up's time depends on no address. */
#if TABLES

#define STATE_BLOCKS 1
#define ROUND_KEY_UNITS 1
#define ROUNDS_UNROLLED UNROLLED

/* One block. */
typedef struct {
    u32 w[4];
} state;
typedef state round_key;

#if TABLES == 4
#define ROW_WORDS (2 * COPIES) /* of a byte in two tables side by side; the other two lie behind them */
#else
#define ROW_WORDS COPIES
#endif
#define BEHIND_WORDS (256 * ROW_WORDS)

#if defined(ON_CUDA) && TABLES == 4 && COPIES == 32
/* A row is 256 bytes and the tables begin at a multiple of 64 KiB: one byte permutation of the state
 * and of this lane's place makes the whole address. Needs 64 KiB more of shared memory. */
typedef struct {
    u32 place;
} tables;

FN LOCAL u32 *tables_begin(LOCAL u8 *memory) {
    const u32 base = (u32)__cvta_generic_to_shared(memory);
    return (LOCAL u32 *)(memory + ((0x10000u - (base & 0xffffu)) & 0xffffu));
}

/* Says that it changes memory, so that no look-up moves before the tables are there. */
FN tables tables_of(const LOCAL u32 *begin) {
    const u32 place = (u32)__cvta_generic_to_shared(begin) | (LOCAL_ID() % COPIES * 4);
    tables t;
    asm volatile("mov.u32 %0, %1;" : "=r"(t.place) : "r"(place) : "memory");
    return t;
}

template <int offset> FN u32 shared_word(u32 address) {
    u32 word;
    asm("ld.shared.u32 %0, [%1+%2];" : "=r"(word) : "r"(address), "n"(offset));
    return word;
}
#define LOOK_UP(t, x, byte, offset_words) \
    shared_word<4 * (offset_words)>(__byte_perm(x, (t).place, 0x7604u | ((byte) << 4)))
#else
typedef struct {
    const LOCAL u8 *begin;
    u32 lane;
} tables;

FN LOCAL u32 *tables_begin(LOCAL u8 *memory) { return (LOCAL u32 *)memory; }

FN tables tables_of(const LOCAL u32 *begin) {
    tables t;
    t.begin = (const LOCAL u8 *)begin;
    t.lane = LOCAL_ID() % COPIES * 4;
    return t;
}

FN u32 local_word(tables t, u32 byte, u32 offset_words) {
    return *(const LOCAL u32 *)(t.begin + ((byte * (4 * ROW_WORDS)) | t.lane) + 4 * offset_words);
}
#define LOOK_UP(t, x, byte, offset_words) local_word(t, ((x) >> (8 * (byte))) & 255u, offset_words)
#endif

/* What byte n of x, which lies in row n, gives to its column. */
#define ROW_0(t, x) LOOK_UP(t, x, 0, 0)
#if TABLES == 4
#define ROW_1(t, x) LOOK_UP(t, x, 1, COPIES)
#define ROW_2(t, x) LOOK_UP(t, x, 2, BEHIND_WORDS)
#define ROW_3(t, x) LOOK_UP(t, x, 3, BEHIND_WORDS + COPIES)
#else
#define ROW_1(t, x) ROTATE_LEFT(LOOK_UP(t, x, 1, 0), 8)
#define ROW_2(t, x) ROTATE_LEFT(LOOK_UP(t, x, 2, 0), 16)
#define ROW_3(t, x) ROTATE_LEFT(LOOK_UP(t, x, 3, 0), 24)
#endif

/* Fills the tables from `table`, the one of row 0, with the whole work-group. */
FN tables tables_filled(LOCAL u8 *memory, const GLOBAL u32 *table) {
    LOCAL u32 *begin = tables_begin(memory);
    for (u32 i = LOCAL_ID(); i < 256u * COPIES; i += LOCAL_SIZE()) {
        const u32 word = table[i / COPIES];
        LOCAL u32 *to = begin + i / COPIES * ROW_WORDS + i % COPIES;
        to[0] = word;
#if TABLES == 4
        to[COPIES] = ROTATE_LEFT(word, 8);
        to[BEHIND_WORDS] = ROTATE_LEFT(word, 16);
        to[BEHIND_WORDS + COPIES] = ROTATE_LEFT(word, 24);
#endif
    }
    LOCAL_BARRIER();
    return tables_of(begin);
}
#define TABLES_READY(table) tables_filled(LOCAL_MEMORY, table)

/* The S-box of one byte of each of four words, side by side: it is bytes 1 and 2 of the table's word. */
#if defined(ON_CUDA)
#define SUBSTITUTED(t, a, i, b, j, c, k, d, l)                                      \
    __byte_perm(__byte_perm(LOOK_UP(t, a, i, 0), LOOK_UP(t, b, j, 0), 0x0051u),     \
                __byte_perm(LOOK_UP(t, c, k, 0), LOOK_UP(t, d, l, 0), 0x0051u), 0x5410u)
#else
#define SUBSTITUTED(t, a, i, b, j, c, k, d, l)                                         \
    (((LOOK_UP(t, a, i, 0) >> 8) & 0xffu) | (LOOK_UP(t, b, j, 0) & 0xff00u) |          \
     ((LOOK_UP(t, c, k, 0) << 8) & 0xff0000u) | ((LOOK_UP(t, d, l, 0) << 16) & 0xff000000u))
#endif

FN u32 sub_word(tables t, u32 x) { return SUBSTITUTED(t, x, 0, x, 1, x, 2, x, 3); }

FN round_key round_key_of(const u32 *words) {
    round_key k;
    UNROLLED for (int i = 0; i < 4; i++) k.w[i] = words[i];
    return k;
}

FN round_key round_key_kept(const GLOBAL uint4 *units) {
    const uint4 unit = units[0];
    round_key k;
    k.w[0] = unit.x;
    k.w[1] = unit.y;
    k.w[2] = unit.z;
    k.w[3] = unit.w;
    return k;
}

FN void keep_round_key(GLOBAL uint4 *units, round_key k) { units[0] = UNIT(k.w[0], k.w[1], k.w[2], k.w[3]); }

FN state add_key(state s, round_key k) {
    UNROLLED for (int i = 0; i < 4; i++) s.w[i] ^= k.w[i];
    return s;
}

FN state begin_rounds(state s, round_key k) { return add_key(s, k); }

FN state middle_round(tables t, state s, round_key k) {
    state n;
    UNROLLED for (int i = 0; i < 4; i++)
        n.w[i] = ROW_0(t, s.w[i]) ^ ROW_1(t, s.w[(i + 1) & 3]) ^ ROW_2(t, s.w[(i + 2) & 3]) ^
                 ROW_3(t, s.w[(i + 3) & 3]) ^ k.w[i];
    return n;
}

FN state last_round(tables t, state s, round_key k) {
    state n;
    UNROLLED for (int i = 0; i < 4; i++)
        n.w[i] = SUBSTITUTED(t, s.w[i], 0, s.w[(i + 1) & 3], 1, s.w[(i + 2) & 3], 2, s.w[(i + 3) & 3], 3) ^
                 k.w[i];
    return n;
}

#endif
