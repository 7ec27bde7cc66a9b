/* Multiplies two matrices, of one TYPE of number, again and again: in exact numbers, so that no order of additions
 * and no fused product gives another sum. A LITERAL that is a double makes each step one of doubles. */
#include <stdint.h>

#ifndef TYPE
#define TYPE float
#define LITERAL 1.5f
#endif

enum { SIDE = 32 };

/* The sum over all products, of the elements of each. */
double products(uint32_t rounds) {
    TYPE a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE], columns[SIDE];
    double sum = 0;
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            a[i][k] = (TYPE)((3 * i + k) % 8);
            b[i][k] = (TYPE)((i + 5 * k) % 8);
        }
    }
    for (uint32_t round = 0; round < rounds; round++) {
        /* No round's product is another's. */
        a[0][0] = (TYPE)(round % 8);
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) c[i][j] = 0;
            for (int k = 0; k < SIDE; k++) {
                for (int j = 0; j < SIDE; j++) c[i][j] += b[k][j] * (a[i][k] * LITERAL);
            }
        }
        for (int j = 0; j < SIDE; j++) columns[j] = 0;
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) columns[j] += c[i][j];
        }
        for (int j = 0; j < SIDE; j++) sum += (double)columns[j];
    }
    return sum;
}
