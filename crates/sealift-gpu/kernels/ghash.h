/* GHASH's field of 2^128 elements (SP 800-38D, 6.3), by integer multiplication with holes: a word is
 * split into four that hold every fourth bit, so that sums of up to 15 products of bits stay within
 * their four bits, and the lowest of these is the sum without carry. No table, no branch. */

/* An element as a number of 128 bits: w[3] is the first four bytes of the block, big endian. */
typedef struct {
    u32 w[4];
} element;

FN element element_of(uint4 unit) {
    element e;
    e.w[3] = BYTES_SWAPPED(unit.x);
    e.w[2] = BYTES_SWAPPED(unit.y);
    e.w[1] = BYTES_SWAPPED(unit.z);
    e.w[0] = BYTES_SWAPPED(unit.w);
    return e;
}

FN uint4 unit_of(element e) {
    return UNIT(BYTES_SWAPPED(e.w[3]), BYTES_SWAPPED(e.w[2]), BYTES_SWAPPED(e.w[1]), BYTES_SWAPPED(e.w[0]));
}

FN uint4 zero_unit(void) { return UNIT(0u, 0u, 0u, 0u); }

/* As scratch holds elements: words in order, no bytes swapped. */
FN element element_kept(uint4 kept) {
    element e;
    e.w[0] = kept.x;
    e.w[1] = kept.y;
    e.w[2] = kept.z;
    e.w[3] = kept.w;
    return e;
}

FN uint4 kept_of(element e) { return UNIT(e.w[0], e.w[1], e.w[2], e.w[3]); }

FN element element_zero(void) { return element_kept(zero_unit()); }

FN element sum(element a, element b) {
    UNROLLED for (int i = 0; i < 4; i++) a.w[i] ^= b.w[i];
    return a;
}

/* A word, every fourth bit of it in each. */
typedef struct {
    u32 bits[4];
} split_word;

/* An element to multiply by: the words of Karatsuba's method, split. */
typedef struct {
    split_word part[9];
} factor;

FN split_word split(u32 word) {
    split_word s;
    UNROLLED for (int i = 0; i < 4; i++) s.bits[i] = word & (0x11111111u << i);
    return s;
}

/* The nine words whose products make that of two elements: of the lower half, of the upper half and of
 * their sum, each its lower word, its upper word and the sum of these. */
FN void karatsuba_words(const u32 *w, u32 *part) {
    part[0] = w[0];
    part[1] = w[1];
    part[3] = w[2];
    part[4] = w[3];
    part[6] = w[0] ^ w[2];
    part[7] = w[1] ^ w[3];
    UNROLLED for (int i = 0; i < 9; i += 3) part[i + 2] = part[i] ^ part[i + 1];
}

FN factor factor_of(element e) {
    factor f;
    u32 part[9];
    karatsuba_words(e.w, part);
    UNROLLED for (int i = 0; i < 9; i++) {
        f.part[i] = split(part[i]);
        UNROLLED for (int k = 0; k < 4; k++) HELD(f.part[i].bits[k]);
    }
    return f;
}

/* Those of four words' bits that count: of a every first of four, of b every second, and so on. */
FN u32 every_fourth(u32 a, u32 b, u32 c, u32 d) {
    return choose(choose(a, b, 0x22222222u), choose(c, d, 0x88888888u), 0xccccccccu);
}

/* The product of two words without carries. Two products may be added before the holes are closed
 * where their places differ by four: no four bits then sum up to more than 15. */
FN u64 carryless(split_word x, split_word y) {
    const u32 *p = x.bits, *q = y.bits;
    const u64 a0 = times_and(p[1], q[3], times(p[0], q[0])), a1 = times(p[2], q[2]), a2 = times(p[3], q[1]);
    const u64 b0 = times_and(p[2], q[3], times(p[0], q[1])), b1 = times_and(p[3], q[2], times(p[1], q[0]));
    const u64 c0 = times_and(p[3], q[3], times(p[0], q[2])), c1 = times(p[1], q[1]), c2 = times(p[2], q[0]);
    const u64 d0 = times(p[0], q[3]), d1 = times(p[1], q[2]), d2 = times(p[2], q[1]), d3 = times(p[3], q[0]);
    const u64 a = a0 ^ a1 ^ a2, b = b0 ^ b1, c = c0 ^ c1 ^ c2, d = d0 ^ d1 ^ d2 ^ d3;
    const u32 low = every_fourth((u32)a, (u32)b, (u32)c, (u32)d);
    const u32 high = every_fourth((u32)(a >> 32), (u32)(b >> 32), (u32)(c >> 32), (u32)(d >> 32));
    return ((u64)high << 32) | low;
}

/* The product of two halves of an element, four words. */
FN void half_product(const u32 *x, const split_word *y, u32 *product) {
    const u64 low = carryless(split(x[0]), y[0]), high = carryless(split(x[1]), y[1]);
    const u64 middle = carryless(split(x[2]), y[2]) ^ low ^ high;
    product[0] = (u32)low;
    product[1] = (u32)(low >> 32) ^ (u32)middle;
    product[2] = (u32)high ^ (u32)(middle >> 32);
    product[3] = (u32)(high >> 32);
}

/* Eight words, reduced by x^128 + x^7 + x^2 + x + 1, all mirrored as SP 800-38D numbers its bits. */
FN element reduced(u32 *z) {
    UNROLLED for (int i = 7; i > 0; i--) z[i] = (z[i] << 1) | (z[i - 1] >> 31);
    z[0] <<= 1;
    UNROLLED for (int i = 0; i < 4; i++) {
        const u32 low = z[i];
        z[i + 4] ^= low ^ (low >> 1) ^ (low >> 2) ^ (low >> 7);
        z[i + 3] ^= (low << 31) ^ (low << 30) ^ (low << 25);
    }
    return element_kept(UNIT(z[4], z[5], z[6], z[7]));
}

FN element product(element x, const factor *y) {
    u32 part[9], low[4], high[4], both[4], z[8];
    karatsuba_words(x.w, part);
    half_product(part, y->part, low);
    half_product(part + 3, y->part + 3, high);
    half_product(part + 6, y->part + 6, both);
    UNROLLED for (int i = 0; i < 4; i++) {
        z[i] = low[i];
        z[4 + i] = high[i];
    }
    UNROLLED for (int i = 0; i < 4; i++) z[2 + i] ^= both[i] ^ low[i] ^ high[i];
    return reduced(z);
}

/* `product` where few are needed. */
SELDOM_FN element seldom_product(element x, element y) {
    const factor f = factor_of(y);
    return product(x, &f);
}
