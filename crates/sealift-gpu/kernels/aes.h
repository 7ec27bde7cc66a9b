/* AES (FIPS 197) over several blocks at once, and its key schedule in step with the rounds: round keys
 * that no memory holds cost less than those that memory does. */

#define ROUNDS (KEY_WORDS + 6)

/* The words of the schedule from those of this round's key on. */
typedef struct {
    u32 word[KEY_WORDS];
    u32 rcon; /* of FIPS 197, 5.2 */
    u32 round;
} schedule;

FN schedule schedule_of(const GLOBAL uint4 *record) {
    const uint4 low = unit_loaded(record);
    schedule k;
    k.word[0] = low.x;
    k.word[1] = low.y;
    k.word[2] = low.z;
    k.word[3] = low.w;
#if KEY_WORDS > 4
    const uint4 high = unit_loaded(record + 1);
    k.word[4] = high.x;
    k.word[5] = high.y;
#if KEY_WORDS > 6
    k.word[6] = high.z;
    k.word[7] = high.w;
#endif
#endif
    k.rcon = 1;
    k.round = 0;
    return k;
}

FN u32 next_rcon(u32 rcon) { return (rcon << 1) ^ (rcon >> 7) * 0x11bu; }

/* On by a round: four more words, one of which goes through the S-box (with six words to a key, in two
 * rounds of three). */
FN schedule next_round(tables t, schedule k) {
    u32 *w = k.word;
    u32 n[4];
#if KEY_WORDS == 4
    n[0] = w[0] ^ ROTATE_LEFT(sub_word(t, w[3]), 24) ^ k.rcon;
    n[1] = w[1] ^ n[0];
    n[2] = w[2] ^ n[1];
    k.rcon = next_rcon(k.rcon);
#elif KEY_WORDS == 6
    const u32 first = k.round == 0, third = k.round == 1;
    const u32 from = first ? w[5] : w[5] ^ w[0] ^ w[1];
    const u32 substituted_word = ROTATE_LEFT(sub_word(t, from), 24) ^ k.rcon;
    n[0] = w[0] ^ (first ? substituted_word : w[5]);
    n[1] = w[1] ^ n[0];
    n[2] = w[2] ^ (third ? substituted_word : n[1]);
    k.rcon = first | third ? next_rcon(k.rcon) : k.rcon;
    k.round = k.round == 2 ? 0 : k.round + 1;
#else
    const u32 even = !k.round;
    n[0] = w[0] ^ ROTATE_LEFT(sub_word(t, w[7]), even ? 24 : 0) ^ (even ? k.rcon : 0u);
    n[1] = w[1] ^ n[0];
    n[2] = w[2] ^ n[1];
    k.rcon = even ? next_rcon(k.rcon) : k.rcon;
    k.round ^= 1;
#endif
    n[3] = w[3] ^ n[2];
    UNROLLED for (int i = 0; i < KEY_WORDS - 4; i++) w[i] = w[i + 4];
    UNROLLED for (int i = 0; i < 4; i++) w[KEY_WORDS - 4 + i] = n[i];
    return k;
}

/* What a work-item encrypts at once where it makes its round keys itself. */
#define GROUP_BLOCKS 10
#define GROUP_STATES (GROUP_BLOCKS / STATE_BLOCKS)

/* Encrypts a group in place; unrolled, so that it stays in registers. */
FN void encrypt_group(tables t, state *s, schedule k) {
    round_key key = round_key_of(k.word);
    UNROLLED for (int i = 0; i < GROUP_STATES; i++) s[i] = begin_rounds(s[i], key);
    ROLLED for (int round = 1; round < ROUNDS; round++) {
        k = next_round(t, k);
        key = round_key_of(k.word);
        UNROLLED for (int i = 0; i < GROUP_STATES; i++) s[i] = middle_round(t, s[i], key);
    }
    k = next_round(t, k);
    key = round_key_of(k.word);
    UNROLLED for (int i = 0; i < GROUP_STATES; i++) s[i] = last_round(t, s[i], key);
}

/* Word i of a block among states, and a block of them. */
#define WORD_OF(s, block, i) ((s)[(block) / STATE_BLOCKS].w[(block) % STATE_BLOCKS * 4 + (i)])
#define UNIT_OF(s, block) \
    UNIT(WORD_OF(s, block, 0), WORD_OF(s, block, 1), WORD_OF(s, block, 2), WORD_OF(s, block, 3))

FN void keep_round_keys(tables t, GLOBAL uint4 *round_keys, schedule k) {
    ROLLED for (int round = 0; round <= ROUNDS; round++) {
        keep_round_key(round_keys + round * ROUND_KEY_UNITS, round_key_of(k.word));
        k = next_round(t, k);
    }
}

FN state encrypted(tables t, state s, const GLOBAL uint4 *round_keys) {
    s = begin_rounds(s, round_key_kept(round_keys));
    ROUNDS_UNROLLED for (int round = 1; round < ROUNDS; round++)
        s = middle_round(t, s, round_key_kept(round_keys + round * ROUND_KEY_UNITS));
    return last_round(t, s, round_key_kept(round_keys + ROUNDS * ROUND_KEY_UNITS));
}
