/* Chains of products and sums, each of which waits for the one before: one chain, or twelve that wait for nothing
 * of each other. They are of one TYPE of number, or of VECTORs of it, as wide as the processor's. FACTOR may be of
 * a wider type: then each step converts there and back. A chain goes to and fro between two whole numbers. */
#include <stdint.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#ifdef VECTOR
enum { LANES = VECTOR_BYTES / sizeof(WIDE) };
typedef TYPE number __attribute__((vector_size(LANES * sizeof(TYPE))));
typedef WIDE factor __attribute__((vector_size(LANES * sizeof(WIDE))));
#define FILL(type, of, value) ((type){} + (of)(value))
#define CONVERT(value, type) __builtin_convertvector(value, type)
static double total(number x) {
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += (double)x[lane];
    return sum;
}
#else
enum { LANES = 1 };
typedef TYPE number;
typedef WIDE factor;
#define FILL(type, of, value) ((of)(value))
#define CONVERT(value, type) ((type)(value))
static double total(number x) { return (double)x; }
#endif

#if CHAINS == 1
#define EACH(DO) DO(1)
#else
#define EACH(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12)
#endif
#define BEGIN(n) number x##n = FILL(number, TYPE, n);
#define STEP(n) x##n = CONVERT(CONVERT(x##n, factor) * by + plus, number);
#define ADD(n) sum += total(x##n);

/* Read when the program runs, so that no compiler makes one step of two. */
static volatile WIDE minus_one = -1, sixty_four = 64;

uint32_t lanes(void) { return LANES; }

/* The sum of the values of all chains after `rounds` steps. */
double chains(uint32_t rounds) {
    const factor by = FILL(factor, WIDE, minus_one), plus = FILL(factor, WIDE, sixty_four);
    double sum = 0;
    EACH(BEGIN)
    for (uint32_t round = 0; round < rounds; round++) { EACH(STEP) }
    EACH(ADD)
    return sum;
}
