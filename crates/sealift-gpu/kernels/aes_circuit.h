/* AES's rounds without a table: two blocks at a time, bit i of their 32 bytes in word i, and the S-box
 * as the circuit of Boyar and Peralta, "A new combinational logic minimization technique with
 * applications to cryptology" (SEA 2010; Cryptology ePrint 2009/191), whose names are kept.
 * Bit 8 * row + 2 * column + block of word i is bit i of that byte. */
#if !TABLES

#define STATE_BLOCKS 2
#define ROUND_KEY_UNITS 2
#define ROUNDS_UNROLLED ROLLED

/* Two blocks, one behind the other, or their bits. */
typedef struct {
    u32 w[8];
} state;
typedef state round_key;

typedef u32 tables;
#define TABLES_READY(table) 0u

FN state substituted(state s) {
    const u32 x0 = s.w[7], x1 = s.w[6], x2 = s.w[5], x3 = s.w[4], x4 = s.w[3], x5 = s.w[2], x6 = s.w[1], x7 = s.w[0];
    /* Into the tower field. */
    const u32 y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2;
    const u32 y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8;
    const u32 t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9;
    const u32 y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
    /* The inverse, by that of half the size. */
    const u32 t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7, t6 = t5 ^ t2, t7 = y13 & y16;
    const u32 t8 = y5 & y1, t9 = t8 ^ t7, t10 = y2 & y7, t11 = t10 ^ t7, t12 = y9 & y11, t13 = y14 & y17;
    const u32 t14 = t13 ^ t12, t15 = y8 & y10, t16 = t15 ^ t12, t17 = t4 ^ t14, t18 = t6 ^ t16;
    const u32 t19 = t9 ^ t14, t20 = t11 ^ t16, t21 = t17 ^ y20, t22 = t18 ^ y19, t23 = t19 ^ y21, t24 = t20 ^ y18;
    const u32 t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t28 = t25 & t27, t29 = t28 ^ t22;
    const u32 t30 = t23 ^ t24, t31 = t22 ^ t26, t32 = t31 & t30, t33 = t32 ^ t24, t34 = t23 ^ t33;
    const u32 t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36, t39 = t29 & t38, t40 = t25 ^ t39;
    const u32 t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
    const u32 z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    const u32 z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    const u32 z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
    /* Back, with the affine map. */
    const u32 t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5;
    const u32 t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
    const u32 t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58;
    const u32 t64 = z4 ^ t59, t65 = t61 ^ t62, t66 = z1 ^ t63, t67 = t64 ^ t65;
    const u32 s3 = t53 ^ t66;
    s.w[7] = t59 ^ t63;
    s.w[6] = ~(t64 ^ s3);
    s.w[5] = ~(t55 ^ t67);
    s.w[4] = s3;
    s.w[3] = t51 ^ t66;
    s.w[2] = t47 ^ t65;
    s.w[1] = ~(t56 ^ t62);
    s.w[0] = ~(t48 ^ t60);
    return s;
}

FN void exchange(u32 *a, u32 *b, u32 mask, u32 shift) {
    const u32 differ = ((*a >> shift) ^ *b) & mask;
    *b ^= differ;
    *a ^= differ << shift;
}

/* Turns 8 by 8 bits about their diagonal in each byte of eight words; doing it again undoes it. */
FN state transposed(state s) {
    UNROLLED for (int i = 0; i < 8; i += 2) exchange(&s.w[i], &s.w[i + 1], 0x55555555u, 1);
    UNROLLED for (int i = 0; i < 8; i++) if (!(i & 2)) exchange(&s.w[i], &s.w[i + 2], 0x33333333u, 2);
    UNROLLED for (int i = 0; i < 4; i++) exchange(&s.w[i], &s.w[i + 4], 0x0f0f0f0fu, 4);
    return s;
}

FN state bits_of(state blocks) {
    state s;
    UNROLLED for (int i = 0; i < 8; i++) s.w[i] = blocks.w[4 * (i & 1) + i / 2];
    return transposed(s);
}

FN state blocks_of(state bits) {
    const state s = transposed(bits);
    state blocks;
    UNROLLED for (int i = 0; i < 8; i++) blocks.w[4 * (i & 1) + i / 2] = s.w[i];
    return blocks;
}

FN u32 sub_word(tables t, u32 x) {
    state s;
    u32 word = 0;
    (void)t;
    UNROLLED for (int i = 0; i < 8; i++) s.w[i] = x >> i;
    s = substituted(s);
    UNROLLED for (int i = 0; i < 8; i++) word |= (s.w[i] & 0x01010101u) << i;
    return word;
}

FN round_key round_key_of(const u32 *words) {
    state both;
    UNROLLED for (int i = 0; i < 8; i++) both.w[i] = words[i & 3];
    return bits_of(both);
}

FN round_key round_key_kept(const GLOBAL uint4 *units) {
    round_key k;
    UNROLLED for (int i = 0; i < 2; i++) {
        const uint4 unit = units[i];
        k.w[4 * i] = unit.x;
        k.w[4 * i + 1] = unit.y;
        k.w[4 * i + 2] = unit.z;
        k.w[4 * i + 3] = unit.w;
    }
    return k;
}

FN void keep_round_key(GLOBAL uint4 *units, round_key k) {
    UNROLLED for (int i = 0; i < 2; i++)
        units[i] = UNIT(k.w[4 * i], k.w[4 * i + 1], k.w[4 * i + 2], k.w[4 * i + 3]);
}

FN state add_key(state s, round_key k) {
    UNROLLED for (int i = 0; i < 8; i++) s.w[i] ^= k.w[i];
    return s;
}

FN state begin_rounds(state blocks, round_key k) { return add_key(bits_of(blocks), k); }

/* Row n, which is byte n of each word, turns by n columns, which are two bits each. */
FN state rows_shifted(state s) {
    UNROLLED for (int i = 0; i < 8; i++) {
        const u32 differ = (s.w[i] ^ (s.w[i] >> 4)) & 0x0f0f0000u;
        const u32 x = s.w[i] ^ differ ^ (differ << 4);
        s.w[i] = choose(choose(x, x >> 2, 0x3f003f00u), x << 6, 0xc000c000u);
    }
    return s;
}

/* A column's row n becomes 2 (a[n] + a[n+1]) + a[n+1] + a[n+2] + a[n+3]. */
FN state columns_mixed(state s) {
    state next, pair, mixed;
    UNROLLED for (int i = 0; i < 8; i++) {
        next.w[i] = ROTATE_LEFT(s.w[i], 24);
        pair.w[i] = s.w[i] ^ next.w[i];
    }
    UNROLLED for (int i = 0; i < 8; i++) {
        u32 doubled = pair.w[(i + 7) & 7];
        if (i == 1 || i == 3 || i == 4) doubled ^= pair.w[7];
        mixed.w[i] = doubled ^ next.w[i] ^ ROTATE_LEFT(pair.w[i], 16);
    }
    return mixed;
}

FN state middle_round(tables t, state s, round_key k) {
    (void)t;
    return add_key(columns_mixed(rows_shifted(substituted(s))), k);
}

FN state last_round(tables t, state s, round_key k) {
    (void)t;
    return blocks_of(add_key(rows_shifted(substituted(s)), k));
}

#endif
