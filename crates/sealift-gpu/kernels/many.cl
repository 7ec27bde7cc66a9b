/* Messages with a work-item each. */

/* In a message's first group the last two blocks are the zero block and J0; the others are the counter
 * blocks of its text. */
#define FIRST_TEXT_BLOCKS (GROUP_BLOCKS - 2)

FN void fill_group(state *s, const counter *c, u32 first) {
    UNROLLED for (int u = 0; u < GROUP_BLOCKS; u++) {
        u32 words[4];
        counter_block(c, u == GROUP_BLOCKS - 1 && !first ? 0u - 1u : first + u, words);
        UNROLLED for (int i = 0; i < 4; i++) WORD_OF(s, u, i) = words[i];
    }
    UNROLLED for (int i = 0; i < 4; i++) {
        if (!first) WORD_OF(s, GROUP_BLOCKS - 2, i) = 0;
    }
}

#define TEXTS_AT_ONCE (GROUP_BLOCKS / 2) /* loaded together before the first is used */

/* Adds a group of the key stream to the text from block `first` to before block `end`; writes zeros
 * where `keep` is zero. */
FN void write_group(const message *m, const state *s, u32 first, u32 end, u32 keep, const GLOBAL uint4 *input,
                    GLOBAL uint4 *output) {
    const u32 rest = m->text_bytes - 16 * first, units = units_of(rest);
    const u32 count = units < end - first ? units : end - first;
    const uint4 keeps = UNIT(keep, keep, keep, keep), tail = unit_mask(rest % 16);
    const GLOBAL uint4 *from = input + m->text + first;
    GLOBAL uint4 *to = output + m->out + first;
    UNROLLED for (u32 u = 0; u < GROUP_BLOCKS; u += TEXTS_AT_ONCE) {
        uint4 x[TEXTS_AT_ONCE];
        UNROLLED for (u32 k = 0; k < TEXTS_AT_ONCE; k++) x[k] = u + k < count ? from[u + k] : zero_unit();
        UNROLLED for (u32 k = 0; k < TEXTS_AT_ONCE; k++) {
            x[k] = masked(added(x[k], UNIT_OF(s, u + k)), keeps);
            if (u + k == rest / 16) x[k] = masked(x[k], tail);
            if (u + k < count) to[u + k] = x[k];
        }
    }
}

/* What is hashed: aad, ciphertext, and behind their units the lengths. */
FN element hashed_unit(const message *m, u32 i, const GLOBAL uint4 *input, const GLOBAL uint4 *ciphertext) {
    const u32 aad_units = units_of(m->aad_bytes), units = aad_units + units_of(m->text_bytes);
    const GLOBAL uint4 *from = i < aad_units ? input + m->aad + i : ciphertext + (i - aad_units);
    return i < units ? element_of(unit_loaded(from)) : lengths_of(m);
}

/* In one loop, so that its long body is there once; the next unit is on its way meanwhile. */
FN element hashed_message(const message *m, element hash_key, const GLOBAL uint4 *input,
                          const GLOBAL uint4 *ciphertext) {
    const factor h = factor_of(hash_key);
    const u32 units = units_of(m->aad_bytes) + units_of(m->text_bytes);
    element x = hashed_unit(m, 0, input, ciphertext), y = element_zero();
    ROLLED for (u32 i = 0; i <= units; i++) {
        y = sum(y, x);
        x = hashed_unit(m, i + 1, input, ciphertext);
        y = product(y, &h);
    }
    return y;
}

FN void work_message(tables t, const GLOBAL message *from, const GLOBAL uint4 *keys, const GLOBAL uint4 *input,
                     GLOBAL uint4 *output) {
    message m = message_loaded(from);
    uint4 start = nonce_block(&m, input);
    element hash_key = element_zero();
    u32 nonce_waits = nonce_is_hashed(&m), first = 0, keep = ~0u;
    state s[GROUP_STATES];
    ROLLED for (;;) {
        const u32 end = first + (first ? GROUP_BLOCKS : FIRST_TEXT_BLOCKS);
        const counter c = counter_of(&m, start);
        fill_group(s, &c, first);
        /* Loaded for each group: no register keeps it meanwhile. */
        encrypt_group(t, s, schedule_of(keys + m.key));
        if (!first) {
            hash_key = element_of(UNIT_OF(s, GROUP_BLOCKS - 2));
            /* The mask waits for the tag where that is going to be. */
            output[m.result] = UNIT_OF(s, GROUP_BLOCKS - 1);
            if (nonce_waits) {
                start = hashed_nonce_block(&m, input, hash_key);
                nonce_waits = 0;
                continue;
            }
        }
        if (m.operation == SEAL || m.operation == COUNTER) write_group(&m, s, first, end, keep, input, output);
        if (m.operation == SEAL ? end >= units_of(m.text_bytes) : !first && m.operation != COUNTER) {
            const GLOBAL uint4 *ciphertext = m.operation == SEAL ? output + m.out : input + m.text;
            const element hash = hashed_message(&m, hash_key, input, ciphertext);
            /* Loaded again, and forgotten: fewer registers wait while the hash is computed. */
            m = message_loaded(from);
            keep = conclude(&m, hash, unit_loaded(output + m.result), input, output);
            hash_key = element_zero();
        }
        if (m.operation == OPEN) write_group(&m, s, first, end, keep, input, output);
        if (end >= units_of(m.text_bytes) || m.operation == VERIFY) break;
        first = end;
    }
    if (m.operation == COUNTER) write_status(&m, output, zero_unit(), STATUS_OK);
}

KERNEL many(const GLOBAL uint4 *RESTRICT keys, const GLOBAL uint4 *RESTRICT input, GLOBAL uint4 *RESTRICT output,
            const GLOBAL message *RESTRICT messages, u32 count, const GLOBAL u32 *RESTRICT table LOCAL_ARGUMENT) {
    const tables t = TABLES_READY(table);
    ROLLED for (u32 i = GLOBAL_ID(); i < count; i += GLOBAL_SIZE()) {
        work_message(t, messages + i, keys, input, output);
    }
}
