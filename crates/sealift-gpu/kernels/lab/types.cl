/* Products of matrices, of one TYPE of numbers: 0 words of 32 bits, 1 words of 64 bits, 2 floats, 3 doubles,
 * 4 floats with a literal that is a double, by which each product is converted there and back.
 * Integers are unsigned, which takes the same instructions, and whose overflow has a meaning. */
#if TYPE >= 3 && !defined(ON_CUDA)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if TYPE == 0
typedef u32 element;
#define LITERAL 3u
#elif TYPE == 1
typedef u64 element;
#define LITERAL 3u
#elif TYPE == 2
typedef float element;
#define LITERAL 1.3f
#elif TYPE == 3
typedef double element;
#define LITERAL 1.3
#else
typedef float element;
#define LITERAL 1.3
#endif

#define SIDE 3

/* A matrix that each work-item begins anew, multiplied by that of `input` so many times; its sum comes out. */
KERNEL types(const GLOBAL element *RESTRICT input, GLOBAL element *RESTRICT output, u32 rounds) {
    element a[SIDE][SIDE], b[SIDE][SIDE], sum = 0;
    UNROLLED for (u32 i = 0; i < SIDE; i++) {
        UNROLLED for (u32 k = 0; k < SIDE; k++) {
            a[i][k] = (element)(GLOBAL_ID() + SIDE * i + k);
            b[i][k] = input[SIDE * i + k];
        }
    }
    ROLLED for (u32 round = 0; round < rounds; round++) {
        UNROLLED for (u32 i = 0; i < SIDE; i++) {
            element row[SIDE];
            UNROLLED for (u32 k = 0; k < SIDE; k++) {
                row[k] = 0;
                UNROLLED for (u32 j = 0; j < SIDE; j++) row[k] += a[i][j] * b[j][k];
                row[k] = (element)(row[k] * LITERAL);
            }
            UNROLLED for (u32 k = 0; k < SIDE; k++) a[i][k] = row[k];
        }
    }
    UNROLLED for (u32 i = 0; i < SIDE; i++) {
        UNROLLED for (u32 k = 0; k < SIDE; k++) sum += a[i][k];
    }
    output[GLOBAL_ID()] = sum;
}
