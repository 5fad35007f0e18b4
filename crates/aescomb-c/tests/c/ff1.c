/* FF1: the samples of NIST, batches in every form, and everything that is refused.
 *
 *     ff1 VECTORS
 *     ff1 VECTORS SEED    only encrypts and decrypts values that the seed makes, and nothing that
 *                         depends on them, so that instructions can be counted
 */
#include "check.h"

static aescomb_error error;

static aescomb_ff1 *new_ff1(uint32_t radix, const char *alphabet, const void *keys, size_t len,
                            size_t count) {
    aescomb_ff1 *ff1;
    GOOD(aescomb_ff1_new(radix, alphabet, keys, len, count, getenv("AESCOMB_TEST_BACKEND"),
                         &ff1, &error));
    return ff1;
}

/* Bytes of hexadecimal digits, - for none. */
static size_t bytes_of(const char *digits, uint8_t *to) {
    size_t len = strcmp(digits, "-") == 0 ? 0 : strlen(digits) / 2;
    for (size_t i = 0; i < len; i++) {
        char byte[3] = {digits[2 * i], digits[2 * i + 1], 0};
        to[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return len;
}

static void samples(const char *vectors) {
    char path[1024], line[1024];
    snprintf(path, sizeof path, "%s/ff1/nist-samples.txt", vectors);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char digits[5][128];
        if (line[0] == '#') continue;
        CHECK(sscanf(line, "%127s %127s %127s %127s %127s", digits[0], digits[1], digits[2],
                     digits[3], digits[4]) == 5);
        uint8_t raw[64], tweak[64];
        size_t key_len = bytes_of(digits[0], raw), tweak_len = bytes_of(digits[1], tweak);
        const char *alphabet = digits[2], *plain = digits[3], *sealed = digits[4];
        aescomb_ff1 *ff1 = new_ff1(0, alphabet, raw, key_len, 1);
        uint32_t starts[2] = {0, (uint32_t)strlen(plain)};
        char *text = take(starts[1]), *made = take(starts[1]);
        copy(text, plain, starts[1]);
        aescomb_ff1_values values = {
            .count = 1,
            .offset_bytes = 4,
            .numeral_bytes = 1,
            .src = text,
            .src_len = starts[1],
            .dst = made,
            .dst_len = starts[1],
            .layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = starts},
            .tweaks = tweak_len > 0 ? tweak : NULL,
            .tweaks_len = tweak_len,
        };
        GOOD(aescomb_ff1_encrypt(ff1, &values, &error));
        CHECK(same(made, sealed, starts[1]) && same(text, plain, starts[1]));
        values.src = values.dst = made;
        GOOD(aescomb_ff1_decrypt(ff1, &values, &error));
        CHECK(same(made, plain, starts[1]));
        free(text);
        free(made);
        aescomb_ff1_free(ff1);
        count++;
    }
    fclose(file);
    CHECK(count == 9);
}

/* Numerals with a tweak and a key each, at places with room between them. */
static void numerals(void) {
    enum { N = 300, STRIDE = 40 };
    uint8_t keys[2][32], *tweaks = take(N);
    memset(keys, 1, sizeof keys);
    keys[1][5] = 9;
    aescomb_ff1 *ff1 = new_ff1(1000, NULL, keys, 32, 2);
    aescomb_ff1 *second = new_ff1(1000, NULL, keys[1], 32, 1);
    CHECK(aescomb_ff1_min_len(ff1) == 2 && aescomb_ff1_min_len(NULL) == 0);
    uint64_t lengths[N], tweak_starts[N + 1];
    uint32_t places[N];
    uint16_t *before = take(N * STRIDE * sizeof *before);
    uint16_t *after = take(N * STRIDE * sizeof *after);
    tweak_starts[0] = 0;
    for (size_t i = 0; i < N; i++) {
        lengths[i] = 2 + i % (STRIDE - 2);
        tweaks[i] = (uint8_t)i;
        tweak_starts[i + 1] = i + 1;
        places[i] = i % 2;
        for (size_t j = 0; j < lengths[i]; j++) before[i * STRIDE + j] = (uint16_t)((i + j) % 1000);
    }
    memcpy(after, before, N * STRIDE * sizeof *before);
    aescomb_ff1_values values = {
        .count = N,
        .offset_bytes = 8,
        .numeral_bytes = 2,
        .src = after,
        .src_len = N * STRIDE,
        .dst = after,
        .dst_len = N * STRIDE,
        .layout = {.kind = AESCOMB_LAYOUT_RING, .lengths = lengths, .stride = STRIDE},
        .tweaks = tweaks,
        .tweaks_len = N,
        .tweak_layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = tweak_starts},
        .keys = places,
    };
    GOOD(aescomb_ff1_encrypt(ff1, &values, &error));
    for (size_t i = 0; i < N; i++) {
        const uint16_t *value = after + i * STRIDE;
        CHECK(!same(value, before + i * STRIDE, lengths[i] * sizeof *value));
        for (size_t j = 0; j < STRIDE; j++)
            CHECK(j < lengths[i] ? value[j] < 1000 : value[j] == 0xc5c5);
    }
    /* One of the second key, by itself. */
    uint64_t ends[2] = {0, lengths[7]};
    uint16_t one[STRIDE];
    aescomb_ff1_values alone = {
        .count = 1,
        .offset_bytes = 8,
        .numeral_bytes = 2,
        .src = before + 7 * STRIDE,
        .src_len = lengths[7],
        .dst = one,
        .dst_len = STRIDE,
        .layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = ends},
        .tweaks = &tweaks[7],
        .tweaks_len = 1,
    };
    GOOD(aescomb_ff1_encrypt(second, &alone, &error));
    CHECK(same(one, after + 7 * STRIDE, lengths[7] * sizeof *one));
    GOOD(aescomb_ff1_decrypt(ff1, &values, &error));
    CHECK(same(before, after, N * STRIDE * sizeof *before));
    free(tweaks);
    free(before);
    free(after);
    aescomb_ff1_free(ff1);
    aescomb_ff1_free(second);
}

static void refused(aescomb_code code, aescomb_code expected, const char *field,
                    size_t message) {
    if (code != expected || error.code != expected || strcmp(error.field, field) != 0 ||
        error.message != message || strlen(error.text) == 0) {
        fprintf(stderr, "expected code %u in %s of message %zu, not %u in %s of %zu: %s\n",
                expected, field, message, code, error.field, error.message, error.text);
        exit(1);
    }
}

#define NONE AESCOMB_NO_MESSAGE

static void makers(void) {
    static const uint8_t raw[64];
    const char *digits = "0123456789";
    aescomb_ff1 *ff1 = NULL;
#define MADE(radix, alphabet, bytes, len, count, code, field)                              \
    do {                                                                                   \
        refused(aescomb_ff1_new(radix, alphabet, bytes, len, count, NULL, &ff1, &error),   \
                code, field, NONE);                                                        \
        CHECK(ff1 == NULL);                                                                \
    } while (0)
    MADE(1, NULL, raw, 16, 1, AESCOMB_RADIX, "radix");
    CHECK(error.low == 2 && error.high == 65536 && error.given == 1);
    MADE(65537, NULL, raw, 16, 1, AESCOMB_RADIX, "radix");
    MADE(0, "", raw, 16, 1, AESCOMB_RADIX, "radix");
    MADE(10, digits, raw, 16, 1, AESCOMB_RADIX, "radix");
    MADE(0, "0120", raw, 16, 1, AESCOMB_ALPHABET, "alphabet");
    CHECK(error.position == 3 && error.given == '0');
    CHECK(error.allowed == AESCOMB_ALLOWED_CHARACTERS && error.low == 0 && error.high == 127);
    MADE(0, "01\xff", raw, 16, 1, AESCOMB_ALPHABET, "alphabet");
    CHECK(error.position == 2);
    MADE(0, digits, raw, 15, 1, AESCOMB_KEY_LENGTH, "len");
    MADE(0, digits, raw, 0, 4, AESCOMB_KEY_LENGTH, "len");
    MADE(0, digits, raw, 16, 0, AESCOMB_COUNT, "keys");
    MADE(0, digits, raw, 16, 65537, AESCOMB_COUNT, "keys");
    MADE(0, digits, NULL, 16, 1, AESCOMB_POINTER, "bytes");
    refused(aescomb_ff1_new(0, digits, raw, 16, 1, NULL, NULL, &error), AESCOMB_POINTER, "ff1",
            NONE);
    refused(aescomb_ff1_new(0, digits, raw, 16, 1, "none", &ff1, &error),
            AESCOMB_UNKNOWN_BACKEND, "backend", NONE);
    aescomb_ff1_free(NULL);
}

enum { COUNT = 3, LEN = 20 };
static const char *const good = "12345678901234567890";
static uint32_t starts[COUNT + 1], tweak_starts[COUNT + 1], keys[COUNT];
static char text[LEN], made[LEN];

static aescomb_ff1_values batch(void) {
    static const uint32_t first[COUNT + 1] = {0, 6, 13, 20}, tweaks[COUNT + 1] = {0, 1, 2, 3};
    memcpy(starts, first, sizeof starts);
    memcpy(tweak_starts, tweaks, sizeof tweak_starts);
    memset(keys, 0, sizeof keys);
    memcpy(text, good, LEN);
    memset(made, 7, LEN);
    return (aescomb_ff1_values){
        .count = COUNT,
        .offset_bytes = 4,
        .numeral_bytes = 1,
        .src = text,
        .src_len = LEN,
        .dst = made,
        .dst_len = LEN,
        .layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = starts},
        .tweaks = (const uint8_t *)"abc",
        .tweaks_len = 3,
        .tweak_layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = tweak_starts},
        .keys = keys,
    };
}

static void mistakes(void) {
    static const uint8_t raw[16];
    aescomb_ff1 *ff1 = new_ff1(0, "0123456789", raw, 16, 1);
    aescomb_ff1 *decimal = new_ff1(10, NULL, raw, 16, 1);
    aescomb_ff1_values v = batch();
    GOOD(aescomb_ff1_encrypt(ff1, &v, &error));
    CHECK(!same(made, good, LEN));
#define SPOILT(of, spoil, code, field, message)                                            \
    do {                                                                                   \
        v = batch();                                                                       \
        spoil;                                                                             \
        refused(aescomb_ff1_encrypt(of, &v, &error), code, field, message);                \
        refused(aescomb_ff1_decrypt(of, &v, &error), code, field, message);                \
        for (size_t i = 0; i < LEN; i++) CHECK(made[i] == 7);                              \
    } while (0)
    SPOILT(ff1, text[9] = 'x', AESCOMB_CHARACTER, "src", 1);
    CHECK(error.position == 3 && error.given == 'x' && error.low == '0' && error.high == '9');
    CHECK(strcmp(error.text,
                 "message 1: character 'x' at position 3; allowed: '0' to '9'") == 0);
    SPOILT(ff1, starts[1] = 5, AESCOMB_VALUE_LENGTH, "layout", 0);
    CHECK(error.given == 5 && error.low == 6 && error.high == 65536);
    SPOILT(ff1, starts[3] = 21, AESCOMB_OFFSET, "layout", 2);
    SPOILT(ff1, tweak_starts[2] = 9, AESCOMB_OFFSET, "layout", 1);
    SPOILT(ff1, keys[2] = 1, AESCOMB_KEY_INDEX, "keys", 2);
    SPOILT(decimal, (void)v, AESCOMB_ALPHABET, "alphabet", NONE);
    SPOILT(decimal, v.numeral_bytes = 2; v.src_len /= 2; v.dst_len /= 2; starts[1] = 2;
           starts[2] = 4; starts[3] = 10, AESCOMB_VALUE_LENGTH, "layout", 0);
    SPOILT(ff1, v.numeral_bytes = 3, AESCOMB_NUMERAL_BYTES, "numeral_bytes", NONE);
    SPOILT(ff1, v.offset_bytes = 2, AESCOMB_OFFSET_BYTES, "offset_bytes", NONE);
    SPOILT(ff1, v.layout.kind = 0, AESCOMB_LAYOUT, "layout", NONE);
    SPOILT(ff1, v.tweak_layout.kind = 9, AESCOMB_LAYOUT, "tweak_layout", NONE);
    SPOILT(ff1, v.layout.starts = NULL, AESCOMB_POINTER, "layout.starts", NONE);
    SPOILT(ff1, v.layout.kind = AESCOMB_LAYOUT_RING; v.layout.lengths = NULL, AESCOMB_POINTER,
           "layout.lengths", NONE);
    SPOILT(ff1, v.tweak_layout.starts = NULL, AESCOMB_POINTER, "tweak_layout.starts", NONE);
    SPOILT(ff1, v.tweak_layout.kind = AESCOMB_LAYOUT_RING; v.tweak_layout.lengths = NULL,
           AESCOMB_POINTER, "tweak_layout.lengths", NONE);
    SPOILT(ff1, v.src = NULL, AESCOMB_POINTER, "src", NONE);
    SPOILT(ff1, v.dst = NULL, AESCOMB_POINTER, "dst", NONE);
    SPOILT(ff1, v.tweaks = NULL, AESCOMB_POINTER, "tweaks", NONE);
    SPOILT(ff1, v.tweak_layout.kind = 0; v.tweaks_len = 65537;
           v.tweaks = calloc(1, v.tweaks_len), AESCOMB_TWEAK_LENGTH, "tweaks", NONE);
    free((void *)v.tweaks);
    SPOILT(ff1, v.dst_len = LEN - 1, AESCOMB_OUTPUT_LENGTH, "dst_len", NONE);
    SPOILT(ff1, v.dst = text; v.dst_len = LEN - 1, AESCOMB_OUTPUT_LENGTH, "dst_len", NONE);
    SPOILT(ff1, v.dst = text + 1; v.dst_len = LEN - 1, AESCOMB_OVERLAP, "dst", NONE);
    SPOILT(ff1, v.src_len = SIZE_MAX, AESCOMB_TEXT_LENGTH, "src_len", NONE);
    SPOILT(ff1, v.count = SIZE_MAX, AESCOMB_COUNT, "count", NONE);
    refused(aescomb_ff1_encrypt(NULL, &v, &error), AESCOMB_POINTER, "ff1", NONE);
    refused(aescomb_ff1_encrypt(ff1, NULL, &error), AESCOMB_POINTER, "values", NONE);
    v = batch();
    v.count = 0;
    GOOD(aescomb_ff1_encrypt(ff1, &v, &error));
    v = batch();
    v.numeral_bytes = 2;
    uint16_t odd[LEN + 1];
    v.src = (const char *)odd + 1;
    refused(aescomb_ff1_encrypt(decimal, &v, &error), AESCOMB_POINTER, "src", NONE);
    memset(odd, 0, sizeof odd);
    odd[8] = 10;
    v.src = v.dst = odd;
    refused(aescomb_ff1_encrypt(decimal, &v, &error), AESCOMB_NUMERAL, "src", 1);
    CHECK(error.position == 2 && error.given == 10 && error.high == 9);
    aescomb_ff1_free(ff1);
    aescomb_ff1_free(decimal);
}

/* Halves of 32 and 64 bits and of several words, in text and numerals. */
static void work(unsigned seed) {
    static const struct {
        const char *alphabet;
        uint32_t radix, len;
    } shapes[] = {
        {"0123456789", 10, 16},  {"0123456789", 10, 19},
        {"0123456789", 10, 31},  {"0123456789", 10, 60},
        {"abcxyz", 6, 9},        {"qwertzuiopasdfghjklyxcvbnm", 26, 13},
        {NULL, 1000, 4},         {NULL, 65536, 3},
        {NULL, 65535, 7},        {NULL, 65536, 9},
        {NULL, 2, 200},
    };
    enum { N = 20, MOST = 200 };
    static uint16_t numerals[N * MOST];
    static char texts[N * MOST];
    static const uint8_t raw[16];
    uint32_t lengths[N], x = seed;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        uint32_t radix = shapes[k].radix, len = shapes[k].len;
        const char *alphabet = shapes[k].alphabet;
        aescomb_ff1 *ff1 = new_ff1(alphabet ? 0 : radix, alphabet, raw, 16, 1);
        for (size_t i = 0; i < N; i++) lengths[i] = len;
        for (size_t i = 0; i < N * len; i++) {
            /* All zeros, all of the highest, or what looks random. */
            x = x * 1664525 + (seed > 1) * 1013904223;
            uint32_t numeral = ((x >> 8) % radix) * (seed > 1) + (radix - 1) * (seed == 1);
            numerals[i] = (uint16_t)numeral;
            texts[i] = alphabet ? alphabet[numeral] : 0;
        }
        aescomb_ff1_values values = {
            .count = N,
            .offset_bytes = 4,
            .numeral_bytes = alphabet ? 1 : 2,
            .src = alphabet ? (void *)texts : (void *)numerals,
            .src_len = N * len,
            .dst = alphabet ? (void *)texts : (void *)numerals,
            .dst_len = N * len,
            .layout = {.kind = AESCOMB_LAYOUT_RING, .lengths = lengths, .stride = len},
        };
        GOOD(aescomb_ff1_encrypt(ff1, &values, &error));
        GOOD(aescomb_ff1_decrypt(ff1, &values, &error));
        aescomb_ff1_free(ff1);
    }
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    if (argc > 2) {
        /* Of one character, so that reading it takes the same time. */
        work((unsigned)(argv[2][0] - '0'));
        return 0;
    }
    samples(argv[1]);
    numerals();
    makers();
    mistakes();
    puts("FF1: as it should be");
    return 0;
}
