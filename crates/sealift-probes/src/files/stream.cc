// Reads short reads (FASTQ) line by line with std::getline from a std::ifstream, which keeps its usual buffer.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

namespace {

struct Reader {
    std::ifstream file;
    std::string line;
};

// The first or last eight bytes as a number whose first byte is the least.
std::uint64_t word(const char *bytes) {
    std::uint64_t value = 0;
    for (int at = 7; at >= 0; --at) value = value << 8 | static_cast<unsigned char>(bytes[at]);
    return value;
}

}  // namespace

extern "C" void *sealift_open(const char *path) try {
    auto *reader = new Reader{std::ifstream(path, std::ios::binary), {}};
    if (reader->file.is_open()) return reader;
    delete reader;
    return nullptr;
} catch (...) {
    return nullptr;
}

extern "C" int sealift_read(void *handle, std::uint64_t sequences, std::uint64_t *tally) try {
    auto *reader = static_cast<Reader *>(handle);
    for (std::uint64_t line = 0; line < 4 * sequences; ++line) {
        if (!std::getline(reader->file, reader->line)) return reader->file.bad() ? 1 : 0;
        if (line % 4 != 1) continue;
        const std::string &bases = reader->line;
        tally[0] += 1;
        tally[1] += bases.size();
        if (bases.size() >= 8) tally[2] += word(bases.data()) + 3 * word(bases.data() + bases.size() - 8);
    }
    return 0;
} catch (...) {
    return 1;
}

extern "C" int sealift_rewind(void *handle) try {
    auto *reader = static_cast<Reader *>(handle);
    reader->file.clear();
    reader->file.seekg(0);
    return reader->file.good() ? 0 : 1;
} catch (...) {
    return 1;
}

extern "C" void sealift_close(void *handle) { delete static_cast<Reader *>(handle); }
