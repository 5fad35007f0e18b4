/* Verifies the CMACs of many records that lie in one buffer, as they come from a log or a
 * column of a table: offsets say where each record is, tags are in a column of their own.
 *
 *     cc verify_cmacs.c $(pkg-config --cflags --libs aescomb) -o verify_cmacs */
#include <aescomb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 1000, TAG = 8 };

static uint8_t records[RECORDS * 80];
static uint64_t offsets[RECORDS + 1];
static uint8_t tags[RECORDS][TAG];
static aescomb_result results[RECORDS];

static int failed(const char *what, const aescomb_error *error) {
    fprintf(stderr, "%s: %s\n", what, error->text);
    return 1;
}

int main(void) {
    for (size_t i = 0; i < RECORDS; i++) {
        char *at = (char *)records + offsets[i];
        int len = snprintf(at, 80, "record %zu: %.*s", i, (int)(i % 50),
                           "..................................................");
        offsets[i + 1] = offsets[i] + (uint64_t)len;
    }

    static const uint8_t bytes[16] = "an example's key";
    aescomb_error error;
    aescomb_key *key;
    if (aescomb_key_new("cmac", bytes, sizeof bytes, &key, &error) != AESCOMB_OK)
        return failed("the key", &error);
    aescomb_comb *comb;
    if (aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK)
        return failed("the scheduler", &error);

    aescomb_packed batch = {0};
    batch.count = RECORDS;
    batch.offset_bytes = sizeof offsets[0];
    batch.src = records;
    batch.src_len = sizeof records;
    batch.src_layout.kind = AESCOMB_LAYOUT_OFFSETS;
    batch.src_layout.starts = offsets;
    batch.tags = tags[0];
    batch.tag_len = batch.tag_stride = TAG;
    batch.results = results;
    if (aescomb_mac_packed(comb, key, &batch, &error) != AESCOMB_OK)
        return failed("computing tags", &error);

    records[offsets[7]] ^= 1; /* a bit rots */
    tags[900][0] ^= 1;
    aescomb_code code = aescomb_verify_packed(comb, key, &batch, &error);
    if (code != AESCOMB_OK && code != AESCOMB_MESSAGES_FAILED)
        return failed("verifying", &error);
    size_t wrong = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        if (results[i].status == AESCOMB_DONE) continue;
        wrong++;
        printf("record %zu does not belong to its tag\n", i);
    }
    printf("%zu of %d records are wrong\n", wrong, RECORDS);

    aescomb_comb_free(comb);
    aescomb_key_free(key);
    return wrong == 2 ? 0 : 1;
}
