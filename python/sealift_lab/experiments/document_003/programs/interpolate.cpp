// As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

static double interpolate(const std::vector<double> &table, double x) {
    auto k = static_cast<std::size_t>(x);
    return table[k] + (table[k + 1] - table[k]) * (x - static_cast<double>(k));
}

static double sum(const std::vector<double> &table, std::uint32_t count) {
    double total = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t position = i * 0x9E3779B9u;
        total += interpolate(table, (position >> 6) / 65536.0);
    }
    return total;
}

int main() {
    std::vector<double> table;
    for (int k = 0; k <= 1024; ++k) table.push_back(k * (11 * k + 37) % 4096);
    for (std::uint32_t count; std::cin >> count;) {
        std::cout << static_cast<std::int64_t>(65536 * sum(table, count)) << std::endl;
    }
}
