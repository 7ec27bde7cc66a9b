/* AES-GCM as the program of document 003 worked it: every work-item makes the tables of AES for itself,
 * keeps them in private memory, and works its messages block by block, GHASH by 16 multiples of the hash
 * key. Nonces have 12 bytes. Its look-ups tell of secrets by their time: for the lab only. */

#define ROUNDS (KEY_WORDS + 6)

typedef struct {
    u64 high[16]; /* multiples of the hash key */
    u64 low[16];
    u32 column[4][256];  /* a byte after SubBytes and MixColumns, for each row */
    u32 reverse[4][256]; /* the same for decryption, which GCM has no use for: that program made it, too */
    u32 power[256];      /* of 3 */
    u32 logarithm[256];
    u32 remainder[16]; /* what four bits that are shifted out of a hash add to it */
    u32 round_key[4 * (ROUNDS + 1)];
    u8 box[256];
    u8 reverse_box[256];
} private_tables;

#define TABLE_BYTES 11072 /* without the round keys */
typedef char tables_have_their_size[sizeof(private_tables) == TABLE_BYTES + 16 * (ROUNDS + 1) ? 1 : -1];

FN u32 doubled(u32 x) { return ((x << 1) ^ (x >> 7) * 0x1bu) & 0xffu; }

FN u32 multiplied(const private_tables *t, u32 x, u32 y) {
    return x ? t->power[(t->logarithm[x] + t->logarithm[y]) % 255] : 0;
}

/* Written so that it is kept though nobody reads it. */
FN void keep_reverse(private_tables *t, u32 row, u32 byte, u32 word) {
    volatile u32 *place = &t->reverse[row][byte];
    *place = word;
}

FN void make_tables(private_tables *t) {
    u32 x = 1;
    ROLLED for (u32 i = 0; i < 256; i++) {
        t->power[i] = x;
        t->logarithm[x] = i;
        x ^= doubled(x);
    }
    ROLLED for (u32 i = 0; i < 256; i++) {
        const u32 inverse = i ? t->power[255 - t->logarithm[i]] : 0;
        const u32 turned = inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4;
        x = (turned ^ (turned >> 8) ^ 0x63u) & 0xffu;
        t->box[i] = (u8)x;
        t->reverse_box[x] = (u8)i;
    }
    ROLLED for (u32 i = 0; i < 256; i++) {
        const u32 s = t->box[i], d = doubled(s), r = t->reverse_box[i];
        const u32 word = d | s << 8 | s << 16 | (d ^ s) << 24;
        const u32 back = multiplied(t, r, 14) | multiplied(t, r, 9) << 8 | multiplied(t, r, 13) << 16 |
                         multiplied(t, r, 11) << 24;
        UNROLLED for (u32 row = 0; row < 4; row++) {
            t->column[row][i] = row ? ROTATE_LEFT(word, 8 * row) : word;
            keep_reverse(t, row, i, row ? ROTATE_LEFT(back, 8 * row) : back);
        }
    }
    ROLLED for (u32 i = 0; i < 16; i++) {
        t->remainder[i] =
            (i & 1) * 0x1c20u ^ (i >> 1 & 1) * 0x3840u ^ (i >> 2 & 1) * 0x7080u ^ (i >> 3) * 0xe100u;
    }
}

FN u32 sub_word(const private_tables *t, u32 x) {
    return t->box[x & 0xff] | (u32)t->box[x >> 8 & 0xff] << 8 | (u32)t->box[x >> 16 & 0xff] << 16 |
           (u32)t->box[x >> 24] << 24;
}

FN void expand_key(private_tables *t, const GLOBAL u32 *key) {
    u32 rcon = 1;
    ROLLED for (u32 i = 0; i < KEY_WORDS; i++) t->round_key[i] = key[i];
    ROLLED for (u32 i = KEY_WORDS; i < 4 * (ROUNDS + 1); i++) {
        u32 x = t->round_key[i - 1];
        if (i % KEY_WORDS == 0) {
            x = ROTATE_LEFT(sub_word(t, x), 24) ^ rcon;
            rcon = doubled(rcon);
        } else if (KEY_WORDS == 8 && i % 8 == 4) {
            x = sub_word(t, x);
        }
        t->round_key[i] = t->round_key[i - KEY_WORDS] ^ x;
    }
}

/* Round keys are read anew for each block: which of them NVRTC would keep differs from run to run. */
FN uint4 encrypted(const private_tables *t, uint4 unit) {
    const volatile u32 *key = t->round_key;
    u32 s[4], n[4];
    s[0] = unit.x ^ key[0];
    s[1] = unit.y ^ key[1];
    s[2] = unit.z ^ key[2];
    s[3] = unit.w ^ key[3];
    ROLLED for (u32 round = 1; round < ROUNDS; round++) {
        UNROLLED for (u32 i = 0; i < 4; i++) {
            n[i] = t->column[0][s[i] & 0xff] ^ t->column[1][s[(i + 1) % 4] >> 8 & 0xff] ^
                   t->column[2][s[(i + 2) % 4] >> 16 & 0xff] ^ t->column[3][s[(i + 3) % 4] >> 24] ^
                   key[4 * round + i];
        }
        UNROLLED for (u32 i = 0; i < 4; i++) s[i] = n[i];
    }
    UNROLLED for (u32 i = 0; i < 4; i++) {
        n[i] = (t->box[s[i] & 0xff] | (u32)t->box[s[(i + 1) % 4] >> 8 & 0xff] << 8 |
                (u32)t->box[s[(i + 2) % 4] >> 16 & 0xff] << 16 | (u32)t->box[s[(i + 3) % 4] >> 24] << 24) ^
               key[4 * ROUNDS + i];
    }
    return UNIT(n[0], n[1], n[2], n[3]);
}

/* A block as a number, the first byte highest. */
typedef struct {
    u64 high;
    u64 low;
} number;

FN number number_of(uint4 unit) {
    number n;
    n.high = (u64)BYTES_SWAPPED(unit.x) << 32 | BYTES_SWAPPED(unit.y);
    n.low = (u64)BYTES_SWAPPED(unit.z) << 32 | BYTES_SWAPPED(unit.w);
    return n;
}

FN uint4 unit_of(number n) {
    return UNIT(BYTES_SWAPPED((u32)(n.high >> 32)), BYTES_SWAPPED((u32)n.high), BYTES_SWAPPED((u32)(n.low >> 32)),
                BYTES_SWAPPED((u32)n.low));
}

FN void make_multiples(private_tables *t, uint4 hash_key) {
    number h = number_of(hash_key);
    t->high[0] = 0;
    t->low[0] = 0;
    ROLLED for (u32 i = 8; i > 0; i /= 2) {
        const u64 over = h.low & 1;
        t->high[i] = h.high;
        t->low[i] = h.low;
        h.low = h.high << 63 | h.low >> 1;
        h.high = h.high >> 1 ^ over * ((u64)0xe1 << 56);
    }
    ROLLED for (u32 i = 2; i < 16; i *= 2) {
        ROLLED for (u32 j = 1; j < i; j++) {
            t->high[i + j] = t->high[i] ^ t->high[j];
            t->low[i + j] = t->low[i] ^ t->low[j];
        }
    }
}

/* The hash with one block more. */
FN number hashed(const private_tables *t, number hash, uint4 unit) {
    const number x = number_of(unit);
    const u64 high = hash.high ^ x.high;
    u64 rest = hash.low ^ x.low;
    hash.high = 0;
    hash.low = 0;
    ROLLED for (u32 i = 0; i < 32; i++) {
        const u32 over = (u32)hash.low & 15, nibble = (u32)rest & 15;
        hash.low = (hash.high << 60 | hash.low >> 4) ^ t->low[nibble];
        hash.high = hash.high >> 4 ^ (u64)t->remainder[over] << 48 ^ t->high[nibble];
        rest = i == 15 ? high : rest >> 4;
    }
    return hash;
}

FN uint4 added(uint4 x, uint4 y) { return UNIT(x.x ^ y.x, x.y ^ y.y, x.z ^ y.z, x.w ^ y.w); }

/* Ones for those of the first `bytes` bytes of a unit that its word n holds. */
FN u32 byte_mask(u32 bytes, u32 n) {
    const u32 inside = bytes > 4 * n ? bytes - 4 * n : 0;
    return inside >= 4 ? ~0u : (1u << (8 * inside)) - 1;
}

FN uint4 first_bytes(uint4 x, u32 bytes) {
    return UNIT(x.x & byte_mask(bytes, 0), x.y & byte_mask(bytes, 1), x.z & byte_mask(bytes, 2),
                x.w & byte_mask(bytes, 3));
}

/* GCM counts in the last word, COUNTER in all of them. */
FN uint4 next_counter(uint4 c, u32 operation) {
    c.w = BYTES_SWAPPED(BYTES_SWAPPED(c.w) + 1);
    if (operation == COUNTER && c.w == 0) {
        c.z = BYTES_SWAPPED(BYTES_SWAPPED(c.z) + 1);
        if (c.z == 0) c.y = BYTES_SWAPPED(BYTES_SWAPPED(c.y) + 1);
        if (c.z == 0 && c.y == 0) c.x = BYTES_SWAPPED(BYTES_SWAPPED(c.x) + 1);
    }
    return c;
}

/* Where results go: to the output, or into a checksum. */
typedef struct {
    GLOBAL uint4 *output;
    u32 is_stored;
    u32 checksum[4];
} sink;

FN void put(sink *to, u32 at, uint4 unit) {
    if (to->is_stored) {
        to->output[at] = unit;
        return;
    }
    to->checksum[0] = ROTATE_LEFT(to->checksum[0], 1) + unit.x;
    to->checksum[1] = ROTATE_LEFT(to->checksum[1], 1) + unit.y;
    to->checksum[2] = ROTATE_LEFT(to->checksum[2], 1) + unit.z;
    to->checksum[3] = ROTATE_LEFT(to->checksum[3], 1) + unit.w;
}

FN void put_result(sink *to, const message *m, uint4 tag, u32 status) {
    put(to, m->result, tag);
    put(to, m->result + 1, UNIT(status, 0u, 0u, 0u));
}

FN void work_message(private_tables *t, const message *m, const GLOBAL uint4 *keys, const GLOBAL uint4 *input,
                     sink *to) {
    const u32 units = m->text_bytes / 16 + (m->text_bytes % 16 != 0), is_hashed = m->operation != COUNTER;
    const u32 aad_units = m->aad_bytes / 16 + (m->aad_bytes % 16 != 0);
    const uint4 zero = UNIT(0u, 0u, 0u, 0u);
    uint4 counter = input[m->nonce], mask = zero;
    number hash = {0, 0};
    expand_key(t, (const GLOBAL u32 *)(keys + m->key));
    if (is_hashed) {
        counter.w = BYTES_SWAPPED(1u);
        make_multiples(t, encrypted(t, zero));
        mask = encrypted(t, counter);
        counter = next_counter(counter, m->operation);
        ROLLED for (u32 i = 0; i < aad_units; i++) hash = hashed(t, hash, input[m->aad + i]);
    }
    ROLLED for (u32 i = 0; i < units; i++) {
        const uint4 x = input[m->text + i];
        const uint4 y = first_bytes(added(x, encrypted(t, counter)), m->text_bytes - 16 * i);
        if (is_hashed) hash = hashed(t, hash, m->operation == SEAL ? y : x);
        if (m->operation != VERIFY) put(to, m->out + i, y);
        counter = next_counter(counter, m->operation);
    }
    if (!is_hashed) {
        put_result(to, m, zero, STATUS_OK);
        return;
    }
    hash.high ^= (u64)m->aad_bytes << 3;
    hash.low ^= (u64)m->text_bytes << 3;
    mask = added(mask, unit_of(hash = hashed(t, hash, zero)));
    if (m->operation == SEAL) {
        put_result(to, m, mask, STATUS_OK);
        return;
    }
    mask = first_bytes(added(mask, input[m->expected]), m->tag_bytes);
    const u32 is_wrong = (mask.x | mask.y | mask.z | mask.w) != 0;
    ROLLED for (u32 i = 0; is_wrong && m->operation == OPEN && i < units; i++) put(to, m->out + i, zero);
    put_result(to, m, zero, is_wrong ? STATUS_WRONG_TAG : STATUS_OK);
}

/* Each message once. */
KERNEL partitioned(const GLOBAL uint4 *RESTRICT keys, const GLOBAL uint4 *RESTRICT input,
                   GLOBAL uint4 *RESTRICT output, const GLOBAL message *RESTRICT messages, u32 count) {
    private_tables t;
    sink to = {output, 1, {0, 0, 0, 0}};
    make_tables(&t);
    ROLLED for (u32 i = GLOBAL_ID(); i < count; i += GLOBAL_SIZE()) {
        const message m = messages[i];
        work_message(&t, &m, keys, input, &to);
    }
}

/* All messages by each work-item; of what it makes only a checksum is left. */
KERNEL replicated(const GLOBAL uint4 *RESTRICT keys, const GLOBAL uint4 *RESTRICT input,
                  GLOBAL uint4 *RESTRICT output, const GLOBAL message *RESTRICT messages, u32 count) {
    private_tables t;
    sink to = {output, 0, {0, 0, 0, 0}};
    make_tables(&t);
    ROLLED for (u32 i = 0; i < count; i++) {
        const message m = messages[i];
        work_message(&t, &m, keys, input, &to);
    }
    output[GLOBAL_ID()] = UNIT(to.checksum[0], to.checksum[1], to.checksum[2], to.checksum[3]);
}
