/* What the host and the kernels tell each other. Little endian; an offset counts units of 16 bytes
 * from the begin of its buffer. The host's twin of this file is src/message.rs. */

#define GROUP_MAX 384   /* work-items of a work-group, at most: on CUDA they share 65536 registers */
#define MANY_BYTES 2048 /* texts and aads up to here go to `many`, longer ones to `long_*` */
#define PIECE_BLOCKS 1024
#define LANES 32 /* work-items that share a piece */

#define SEAL 0
#define OPEN 1
#define VERIFY 2  /* as OPEN, and no text comes out */
#define COUNTER 3 /* the text xor the key stream; the nonce is the first counter block, all 128 bits count */

#define STATUS_OK 1
#define STATUS_WRONG_TAG 2

#if defined(ON_CUDA)
#define ALIGNED __align__(16)
#else
#define ALIGNED __attribute__((aligned(16)))
#endif

typedef struct ALIGNED {
    u32 key;      /* keys: a record of 32 bytes, the raw key and zeros */
    u32 nonce;    /* input: zero padded to whole units, as aad and text */
    u32 aad;      /* input */
    u32 text;     /* input */
    u32 expected; /* input: one unit, the tag that is to be (OPEN, VERIFY), zero padded */
    u32 out;      /* output: the text that comes out; the kernel pads it with zeros */
    u32 result;   /* output: a unit with the whole tag (zeros unless SEAL), a unit with the status */
    u32 operation;
    u32 text_bytes;
    u32 aad_bytes;
    u32 nonce_bytes;
    u32 tag_bytes;
    u32 first_piece; /* of a long message: where its pieces begin, and how many they are, which is one at least */
    u32 pieces;
    u32 spare[2];
} message;

/* A run of blocks of a long message's text, or of an aad longer than MANY_BYTES. What is hashed, the aad's
 * blocks and behind them the text's, is cut into slots of PIECE_BLOCKS from its end on, and a piece is what
 * a slot has of one of them: `gap` blocks of its slot are the text's, and `behind` slots follow. */
typedef struct ALIGNED {
    u32 message;
    u32 part;
    u32 first_block;
    u32 blocks;
    u32 gap;
    u32 behind;
    u32 spare[2];
} piece;

#define TEXT 0
#define AAD 1

/* Scratch for each long message, secret. */
typedef struct {
    uint4 round_keys[30]; /* 15, of 4 words with tables and of 8 without */
    uint4 powers[LANES];  /* of the hash key: 1 to LANES */
    uint4 squares[20];    /* of its power PIECE_BLOCKS: powers 1, 2, 4, ... */
    uint4 mask;           /* what the hash is xored with to give the tag */
    uint4 counter;        /* of the first block of text; the last word as a number */
    uint4 hashed_aad;     /* zero where pieces hash it */
    u32 hash[4];          /* of aad and text, when all pieces are joined */
} prepared_message;

#define PREPARED_BYTES 1376 /* of `prepared`, for each long message */
#define PARTIAL_BYTES 512   /* of `partial`, for each piece */

typedef char message_has_its_size[sizeof(message) == 64 ? 1 : -1];
typedef char piece_has_its_size[sizeof(piece) == 32 ? 1 : -1];
typedef char prepared_has_its_size[sizeof(prepared_message) == PREPARED_BYTES ? 1 : -1];
