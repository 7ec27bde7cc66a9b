/* Messages with many work-items each: long_prepare, long_pieces, long_join, long_finish and long_clear,
 * in this order. */

/* From the hash key its powers: 1 to LANES by multiplying, then by squaring that of a piece's blocks
 * and as many squares of it as the number of pieces needs. */
FN void keep_powers(element hash_key, u32 pieces, GLOBAL prepared_message *to) {
    const u32 piece_power = LANES + 4; /* after LANES: 64, 128, 256, 512, PIECE_BLOCKS */
    element x = hash_key;
    u32 end = LANES;
    if (pieces > 1) end = piece_power;
    for (u32 left = pieces - 1; pieces && left; left >>= 1) end++;
    to->powers[0] = kept_of(x);
    ROLLED for (u32 i = 1; i < end; i++) {
        x = seldom_product(x, i < LANES ? hash_key : x);
        if (i < LANES) to->powers[i] = kept_of(x);
        if (i >= piece_power) to->squares[i - piece_power] = kept_of(x);
    }
}

/* Of an aad that has no pieces. */
FN element hashed_aad(const message *m, const GLOBAL uint4 *input, element hash_key) {
    const u32 units = m->aad_bytes > MANY_BYTES ? 0 : units_of(m->aad_bytes);
    element y = element_zero();
    ROLLED for (u32 i = 0; i < units; i++) y = seldom_product(sum(y, element_of(input[m->aad + i])), hash_key);
    return y;
}

FN uint4 encrypted_unit(tables t, uint4 unit, const GLOBAL uint4 *round_keys) {
    state s;
    UNROLLED for (int i = 0; i < 4 * STATE_BLOCKS; i++) s.w[i] = 0;
    s.w[0] = unit.x;
    s.w[1] = unit.y;
    s.w[2] = unit.z;
    s.w[3] = unit.w;
    s = encrypted(t, s, round_keys);
    return UNIT_OF(&s, 0);
}

FN void prepare_message(tables t, const GLOBAL message *from, const GLOBAL uint4 *keys, const GLOBAL uint4 *input,
                        GLOBAL prepared_message *to) {
    message m = message_loaded(from);
    uint4 first = nonce_block(&m, input);
    counter c;
    keep_round_keys(t, to->round_keys, schedule_of(keys + m.key));
    if (m.operation != COUNTER) {
        const element hash_key = element_of(encrypted_unit(t, zero_unit(), to->round_keys));
        if (nonce_is_hashed(&m)) first = hashed_nonce_block(&m, input, hash_key);
        /* Loaded again: no register keeps it meanwhile. */
        m = message_loaded(from);
        to->mask = encrypted_unit(t, first, to->round_keys);
        to->hashed_aad = kept_of(hashed_aad(&m, input, hash_key));
        keep_powers(hash_key, m.pieces, to);
    }
    UNROLLED for (int word = 0; word < 4; word++) to->hash[word] = 0;
    c = counter_of(&m, first);
    to->counter = UNIT(c.word[0], c.word[1], c.word[2], c.low);
}

/* A work-item a message. */
KERNEL long_prepare(const GLOBAL uint4 *RESTRICT keys, const GLOBAL uint4 *RESTRICT input,
                    const GLOBAL message *RESTRICT messages, u32 count, GLOBAL prepared_message *RESTRICT prepared,
                    const GLOBAL u32 *RESTRICT table LOCAL_ARGUMENT) {
    const tables t = TABLES_READY(table);
    ROLLED for (u32 i = GLOBAL_ID(); i < count; i += GLOBAL_SIZE()) {
        prepare_message(t, messages + i, keys, input, prepared + i);
    }
}

/* A tile's blocks lie side by side for the lanes; a lane that has several has each LANES further on. */
#define TILE_BLOCKS (LANES * STATE_BLOCKS)

/* Writes a block of text and gives the ciphertext of it. */
FN uint4 work_block(const message *m, u32 block, uint4 x, uint4 stream, GLOBAL uint4 *output) {
    uint4 y = added(x, stream);
    if (block == m->text_bytes / 16) y = masked(y, unit_mask(m->text_bytes % 16));
    if (m->operation != VERIFY) output[m->out + block] = y;
    return m->operation == SEAL ? y : x;
}

/* A lane hashes every LANES-th block by Horner's rule, with the power LANES of the hash key, and in the
 * end with the power that its last block is from the slot's end. Blocks are counted from there: what a
 * whole number of tiles has too many stands before the first block and is zero, as the gap is. */
FN element work_piece(tables t, const piece *p, const message *m, const GLOBAL uint4 *input, GLOBAL uint4 *output,
                      const GLOBAL prepared_message *prepared) {
    const u32 slot = p->blocks + p->gap;
    const u32 lane = LOCAL_ID() % LANES, tiles = (slot + TILE_BLOCKS - 1) / TILE_BLOCKS;
    const u32 missing = tiles * TILE_BLOCKS - slot;
    const counter c = counter_from(prepared->counter, m->operation);
    element y = element_zero();
    factor h = factor_of(element_kept(prepared->powers[LANES - 1]));
    ROLLED for (u32 tile = 0; tile < tiles; tile++) {
        const u32 begin = tile * TILE_BLOCKS + lane - missing;
        uint4 text[STATE_BLOCKS];
        state s;
        UNROLLED for (u32 u = 0; u < STATE_BLOCKS; u++) {
            const u32 in_piece = begin + u * LANES, block = p->first_block + in_piece;
            text[u] = in_piece < p->blocks ? input[m->text + block] : zero_unit();
            counter_block(&c, block, &s.w[4 * u]);
        }
        if (m->operation != VERIFY) s = encrypted(t, s, prepared->round_keys);
        ROLLED for (u32 u = 0; u < STATE_BLOCKS; u++) {
            const u32 in_piece = begin + u * LANES, block = p->first_block + in_piece;
            uint4 x = zero_unit();
            if (in_piece < p->blocks) x = work_block(m, block, text[0], UNIT_OF(&s, 0), output);
            if (m->operation != COUNTER) {
                if (block == 0) y = element_kept(prepared->hashed_aad);
                if (tile == tiles - 1 && u == STATE_BLOCKS - 1)
                    h = factor_of(element_kept(prepared->powers[LANES - 1 - lane]));
                y = product(sum(y, element_of(x)), &h);
            }
            /* The next block moves to the front: a register has no index. */
            UNROLLED for (int k = 0; k < STATE_BLOCKS - 1; k++) text[k] = text[k + 1];
            UNROLLED for (int k = 0; k < 4 * (STATE_BLOCKS - 1); k++) s.w[k] = s.w[k + 4];
        }
    }
    return y;
}

/* LANES work-items a piece. One of an aad is hashed as is a text that nobody wants to see. */
KERNEL long_pieces(const GLOBAL uint4 *RESTRICT input, GLOBAL uint4 *RESTRICT output,
                   const GLOBAL message *RESTRICT messages, const GLOBAL piece *RESTRICT pieces, u32 piece_count,
                   const GLOBAL prepared_message *RESTRICT prepared, GLOBAL uint4 *RESTRICT partial,
                   const GLOBAL u32 *RESTRICT table LOCAL_ARGUMENT) {
    const tables t = TABLES_READY(table);
    ROLLED for (u32 i = GLOBAL_ID() / LANES; i < piece_count; i += GLOBAL_SIZE() / LANES) {
        const piece p = pieces[i];
        message m = messages[p.message];
        if (p.part == AAD) {
            m.text = m.aad;
            m.operation = VERIFY;
        }
        const element y = work_piece(t, &p, &m, input, output, prepared + p.message);
        partial[i * LANES + LOCAL_ID() % LANES] = kept_of(y);
    }
}

/* A work-item a piece: adds the sum of its lanes, times the power that its slot is from the end, to its
 * message's. */
KERNEL long_join(const GLOBAL message *RESTRICT messages, const GLOBAL piece *RESTRICT pieces, u32 piece_count,
                 GLOBAL prepared_message *RESTRICT prepared, const GLOBAL uint4 *RESTRICT partial) {
    ROLLED for (u32 i = GLOBAL_ID(); i < piece_count; i += GLOBAL_SIZE()) {
        GLOBAL prepared_message *of = prepared + pieces[i].message;
        const GLOBAL uint4 *square = of->squares;
        u32 behind = pieces[i].behind;
        element y = element_zero();
        if (messages[pieces[i].message].operation == COUNTER) continue;
        for (u32 lane = 0; lane < LANES; lane++) y = sum(y, element_kept(partial[i * LANES + lane]));
        ROLLED for (; behind; behind >>= 1, square++) {
            if (behind & 1) y = seldom_product(y, element_kept(*square));
        }
        UNROLLED for (int word = 0; word < 4; word++) XORED_INTO(of->hash + word, y.w[word]);
    }
}

/* A work-item a message: the lengths, and the result. */
KERNEL long_finish(const GLOBAL uint4 *RESTRICT input, GLOBAL uint4 *RESTRICT output,
                   const GLOBAL message *RESTRICT messages, u32 count,
                   const GLOBAL prepared_message *RESTRICT prepared) {
    ROLLED for (u32 i = GLOBAL_ID(); i < count; i += GLOBAL_SIZE()) {
        const message m = messages[i];
        const GLOBAL prepared_message *of = prepared + i;
        element y;
        if (m.operation == COUNTER) {
            write_status(&m, output, zero_unit(), STATUS_OK);
            continue;
        }
        UNROLLED for (int word = 0; word < 4; word++) y.w[word] = of->hash[word];
        y = seldom_product(sum(y, lengths_of(&m)), element_kept(of->powers[0]));
        conclude(&m, y, of->mask, input, output);
    }
}

/* LANES work-items a piece: zeros over the text of an OPEN whose tag is wrong. */
KERNEL long_clear(GLOBAL uint4 *RESTRICT output, const GLOBAL message *RESTRICT messages,
                  const GLOBAL piece *RESTRICT pieces, u32 piece_count) {
    ROLLED for (u32 i = GLOBAL_ID() / LANES; i < piece_count; i += GLOBAL_SIZE() / LANES) {
        const piece p = pieces[i];
        const message m = messages[p.message];
        if (p.part != TEXT || m.operation != OPEN || output[m.result + 1].x != STATUS_WRONG_TAG) continue;
        for (u32 block = LOCAL_ID() % LANES; block < p.blocks; block += LANES)
            output[m.out + p.first_block + block] = zero_unit();
    }
}
