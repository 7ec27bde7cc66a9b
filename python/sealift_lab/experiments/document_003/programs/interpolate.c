/* For each number on a line of input, prints the sum of that many linear interpolations, in 65,536ths.
 * All are exact in double, so that no order of additions and no fused product gives another sum. */
#include <inttypes.h>
#include <stdio.h>

enum { INTERVALS = 1024 };

static double interpolate(const double *table, double x) {
    int k = (int)x;
    return table[k] + (table[k + 1] - table[k]) * (x - k);
}

static double sum(const double *table, uint32_t count) {
    double total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t position = i * 0x9E3779B9u;
        total += interpolate(table, (position >> 6) / 65536.0);
    }
    return total;
}

int main(void) {
    double table[INTERVALS + 1];
    for (int k = 0; k <= INTERVALS; k++) table[k] = k * (11 * k + 37) % 4096;
    uint32_t count;
    while (scanf("%" SCNu32, &count) == 1) {
        printf("%.0f\n", 65536 * sum(table, count));
        fflush(stdout);
    }
}
