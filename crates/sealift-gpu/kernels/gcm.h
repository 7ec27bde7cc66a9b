/* What the kernels have in common of GCM (SP 800-38D). */

/* A block of the counter: its last word is `low` plus a number, and the words before are `next` where
 * that overflows. GCM counts in 32 bits: both are the same. */
typedef struct {
    u32 word[3];
    u32 next[3];
    u32 low;
} counter;

FN u32 units_of(u32 bytes) { return bytes / 16 + (bytes % 16 != 0); }

/* A message as it is in memory now. */
FN message message_loaded(const GLOBAL message *from) {
    const GLOBAL uint4 *units = (const GLOBAL uint4 *)from;
    const uint4 where = unit_loaded(units), made = unit_loaded(units + 1);
    const uint4 lengths = unit_loaded(units + 2), pieces = unit_loaded(units + 3);
    message m;
    m.key = where.x;
    m.nonce = where.y;
    m.aad = where.z;
    m.text = where.w;
    m.expected = made.x;
    m.out = made.y;
    m.result = made.z;
    m.operation = made.w;
    m.text_bytes = lengths.x;
    m.aad_bytes = lengths.y;
    m.nonce_bytes = lengths.z;
    m.tag_bytes = lengths.w;
    m.first_piece = pieces.x;
    m.pieces = pieces.y;
    return m;
}

/* From the counter block of the text's first block, whose last word is a number already. */
FN counter counter_from(uint4 first, u32 operation) {
    counter c;
    const u32 wide = operation == COUNTER;
    const u32 middle = BYTES_SWAPPED(first.z) + 1, high = BYTES_SWAPPED(first.y) + (middle == 0);
    const u32 top = BYTES_SWAPPED(first.x) + (middle == 0 && high == 0);
    c.word[0] = first.x;
    c.word[1] = first.y;
    c.word[2] = first.z;
    c.next[0] = wide ? BYTES_SWAPPED(top) : first.x;
    c.next[1] = wide ? BYTES_SWAPPED(high) : first.y;
    c.next[2] = wide ? BYTES_SWAPPED(middle) : first.z;
    c.low = first.w;
    return c;
}

/* From J0, or from COUNTER's first block. */
FN counter counter_of(const message *m, uint4 block) {
    block.w = BYTES_SWAPPED(block.w) + (m->operation != COUNTER);
    return counter_from(block, m->operation);
}

/* Block `number` as words; number -1 is GCM's J0. */
FN void counter_block(const counter *c, u32 number, u32 *words) {
    const u32 last = c->low + number, over = last < number;
    UNROLLED for (int i = 0; i < 3; i++) words[i] = over ? c->next[i] : c->word[i];
    words[3] = BYTES_SWAPPED(last);
}

FN u32 nonce_is_hashed(const message *m) { return m->nonce_bytes != 12 && m->operation != COUNTER; }

/* The first counter block where the nonce isn't hashed. */
FN uint4 nonce_block(const message *m, const GLOBAL uint4 *input) {
    uint4 block = input[m->nonce];
    if (m->operation != COUNTER) block.w = BYTES_SWAPPED(1u);
    return block;
}

FN uint4 hashed_nonce_block(const message *m, const GLOBAL uint4 *input, element hash_key) {
    const u32 units = units_of(m->nonce_bytes);
    element y = element_zero();
    ROLLED for (u32 i = 0; i <= units; i++) {
        const element x = i < units ? element_of(input[m->nonce + i])
                                    : element_kept(UNIT(m->nonce_bytes << 3, 0u, 0u, 0u));
        y = seldom_product(sum(y, x), hash_key);
    }
    return unit_of(y);
}

FN element lengths_of(const message *m) {
    return element_kept(UNIT(m->text_bytes << 3, m->text_bytes >> 29, m->aad_bytes << 3, m->aad_bytes >> 29));
}

/* Ones for those of the first `bytes` bytes of a unit that its word n holds. */
FN u32 byte_mask(u32 bytes, u32 n) {
    const u32 inside = bytes > 4 * n ? bytes - 4 * n : 0;
    return inside >= 4 ? ~0u : (1u << (8 * inside)) - 1;
}

FN uint4 unit_mask(u32 bytes) {
    return UNIT(byte_mask(bytes, 0), byte_mask(bytes, 1), byte_mask(bytes, 2), byte_mask(bytes, 3));
}

FN uint4 masked(uint4 x, uint4 mask) { return UNIT(x.x & mask.x, x.y & mask.y, x.z & mask.z, x.w & mask.w); }

FN uint4 added(uint4 x, uint4 y) { return UNIT(x.x ^ y.x, x.y ^ y.y, x.z ^ y.z, x.w ^ y.w); }

FN void write_status(const message *m, GLOBAL uint4 *output, uint4 tag, u32 status) {
    output[m->result] = tag;
    output[m->result + 1] = UNIT(status, 0u, 0u, 0u);
}

/* Writes a message's result from the hash of all of it: the tag, or whether it is the expected one,
 * without a branch on where it differs. Gives ones if the text may come out, else zeros. */
FN u32 conclude(const message *m, element hash, uint4 mask, const GLOBAL uint4 *input, GLOBAL uint4 *output) {
    uint4 tag = unit_of(hash), expected;
    u32 differs;
    tag = added(tag, mask);
    if (m->operation == SEAL) {
        write_status(m, output, tag, STATUS_OK);
        return ~0u;
    }
    expected = input[m->expected];
    tag = masked(added(tag, expected), unit_mask(m->tag_bytes));
    differs = tag.x | tag.y | tag.z | tag.w;
    write_status(m, output, zero_unit(), differs ? STATUS_WRONG_TAG : STATUS_OK);
    return differs ? 0u : ~0u;
}
