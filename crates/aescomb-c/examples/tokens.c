/* A column of card numbers, one after the other in one buffer with offsets, becomes a column
 * of other numbers of the same lengths, and back: format-preserving encryption, FF1. */
#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(aescomb_code code, const aescomb_error *error) {
    if (code != AESCOMB_OK) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

int main(void) {
    static const uint8_t key[16] = "an example's key";
    static const uint32_t offsets[] = {0, 16, 31, 47};
    char cards[] = "4111111111111111"
                   "378282246310005"
                   "5555555555554444";
    char tokens[sizeof cards] = "";
    aescomb_error error;
    aescomb_ff1 *ff1;
    check(aescomb_ff1_new(0, "0123456789", key, sizeof key, 1, NULL, &ff1, &error), &error);

    aescomb_ff1_values values = {
        .count = 3,
        .offset_bytes = sizeof offsets[0],
        .numeral_bytes = 1,
        .src = cards,
        .src_len = sizeof cards - 1,
        .dst = tokens,
        .dst_len = sizeof tokens - 1,
        .layout = {.kind = AESCOMB_LAYOUT_OFFSETS, .starts = offsets},
        .tweaks = (const uint8_t *)"cards",
        .tweaks_len = 5,
    };
    check(aescomb_ff1_encrypt(ff1, &values, &error), &error);
    for (size_t i = 0; i < values.count; i++) {
        int len = (int)(offsets[i + 1] - offsets[i]);
        printf("%.*s -> %.*s\n", len, cards + offsets[i], len, tokens + offsets[i]);
    }

    values.src = values.dst = tokens;
    check(aescomb_ff1_decrypt(ff1, &values, &error), &error);
    if (memcmp(tokens, cards, sizeof cards) != 0) return 1;

    /* What is no value is refused, and nothing is written. */
    tokens[20] = '-';
    if (aescomb_ff1_encrypt(ff1, &values, &error) != AESCOMB_CHARACTER) return 1;
    printf("%s\n", error.text);
    aescomb_ff1_free(ff1);
    return 0;
}
