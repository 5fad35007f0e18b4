/* Everything that a caller can get wrong has a code, names its member, and touches
 * nothing. */
#include "check.h"

static aescomb_error error;
static aescomb_comb *comb;

static aescomb_key *new_key(const char *mode, size_t len) {
    static const uint8_t raw[64] = {1, 2, 3};
    aescomb_key *key;
    GOOD(aescomb_key_new(mode, raw, len, &key, &error));
    return key;
}

/* The last call was refused with this code, for this member of this message. */
static void refused(aescomb_code code, aescomb_code expected, const char *field,
                    size_t message) {
    if (code != expected || error.code != expected || strcmp(error.field, field) != 0 ||
        error.message != message || strlen(error.text) == 0) {
        fprintf(stderr, "expected code %u in %s of message %zu, not %u in %s of %zu: %s\n",
                expected, field, message, code, error.field, error.message, error.text);
        exit(1);
    }
}

enum { N = 4, BAD = 2 };
static uint8_t texts[N][64], nonces[N][16], tags[N][16], data[N][12];
static aescomb_message messages[N];

/* Messages of GCM, in place. */
static void good(void) {
    memset(texts, 7, sizeof texts);
    memset(messages, 0, sizeof messages);
    for (size_t i = 0; i < N; i++) {
        aescomb_message *m = &messages[i];
        m->src = m->dst = texts[i];
        m->src_len = m->dst_len = sizeof texts[i];
        m->nonce = nonces[i];
        m->nonce_len = 12;
        m->data = data[i];
        m->data_len = sizeof data[i];
        m->tag = tags[i];
        m->tag_len = 16;
        m->status = AESCOMB_DONE;
    }
}

static void untouched(void) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < sizeof texts[i]; j++) CHECK(texts[i][j] == 7);
        CHECK(messages[i].status == AESCOMB_PENDING && messages[i].written == 0);
    }
}

/* One member of one message spoilt. */
#define SPOILT(operation, key, spoil, code, field)                                         \
    do {                                                                                   \
        good();                                                                            \
        aescomb_message *m = &messages[BAD];                                               \
        spoil;                                                                             \
        refused(operation(comb, key, messages, N, &error), code, field, BAD);              \
        untouched();                                                                       \
    } while (0)

static void message_members(void) {
    aescomb_key *gcm = new_key("gcm", 16), *cbc = new_key("cbc", 16);
    aescomb_key *siv = new_key("siv", 32), *julius = new_key("julius", 16);
    aescomb_key *cmac = new_key("cmac", 16);
    SPOILT(aescomb_seal, gcm, m->src = NULL, AESCOMB_POINTER, "src");
    SPOILT(aescomb_seal, gcm, m->dst = NULL, AESCOMB_POINTER, "dst");
    SPOILT(aescomb_seal, gcm, m->nonce = NULL, AESCOMB_POINTER, "nonce");
    SPOILT(aescomb_seal, gcm, m->data = NULL, AESCOMB_POINTER, "data");
    SPOILT(aescomb_seal, gcm, m->tag = NULL, AESCOMB_POINTER, "tag");
    SPOILT(aescomb_seal, gcm, m->nonce_len = 0, AESCOMB_NONCE_LENGTH, "nonce_len");
    CHECK(error.allowed == AESCOMB_ALLOWED_BETWEEN && error.given == 0 && error.low == 1);
    SPOILT(aescomb_seal, gcm, m->tag_len = 17, AESCOMB_TAG_LENGTH, "tag_len");
    CHECK(error.allowed == AESCOMB_ALLOWED_ONE_OF && error.given == 17);
    CHECK(error.list_len == 7 && error.list[0] == 4 && error.list[6] == 16);
    CHECK(strcmp(error.text, "message 2: tag of 17 bytes; allowed: 4, 8, 12, 13, 14, 15 or 16") ==
          0);
    SPOILT(aescomb_seal, gcm, m->dst_len = 63, AESCOMB_OUTPUT_LENGTH, "dst_len");
    CHECK(error.allowed == AESCOMB_ALLOWED_AT_LEAST && error.given == 63 && error.low == 64);
    SPOILT(aescomb_seal, gcm, m->dst = texts[BAD] + 1, AESCOMB_OVERLAP, "dst");
    SPOILT(aescomb_seal, gcm, m->src_len = SIZE_MAX, AESCOMB_TEXT_LENGTH, "src_len");
    SPOILT(aescomb_seal, gcm, m->data_len = SIZE_MAX, AESCOMB_DATA_LENGTH, "data_len");
    SPOILT(aescomb_seal, gcm, m->dst_len = SIZE_MAX, AESCOMB_OUTPUT_LENGTH, "dst_len");
    SPOILT(aescomb_seal, gcm, m->nonce_len = UINT32_MAX, AESCOMB_NONCE_LENGTH, "nonce_len");
    SPOILT(aescomb_seal, gcm, m->tag_len = UINT32_MAX, AESCOMB_TAG_LENGTH, "tag_len");
    SPOILT(aescomb_seal, gcm, m->tag_attached = 1, AESCOMB_OUTPUT_LENGTH, "dst_len");
    SPOILT(aescomb_open, gcm, (m->tag_attached = 1, m->src_len = 15), AESCOMB_TEXT_LENGTH,
           "src_len");
    SPOILT(aescomb_seal, gcm, m->key = cbc, AESCOMB_KEY_MODE, "key");
    good();
    refused(aescomb_seal(comb, NULL, messages, N, &error), AESCOMB_KEY_MISSING, "key", 0);
    untouched();

    const aescomb_slice parts[2] = {{data[0], 5}, {NULL, 7}};
    SPOILT(aescomb_seal, gcm, (m->data = parts, m->component_count = 2),
           AESCOMB_DATA_COUNT, "component_count");
    CHECK(error.given == 2 && error.allowed == AESCOMB_ALLOWED_AT_MOST && error.high == 1);
    SPOILT(aescomb_seal, siv, (m->data = parts, m->component_count = 2), AESCOMB_POINTER,
           "bytes");
    SPOILT(aescomb_seal, siv, (m->data = NULL, m->component_count = 2), AESCOMB_POINTER,
           "data");
    SPOILT(aescomb_seal, siv, (m->data = parts, m->component_count = UINT32_MAX),
           AESCOMB_DATA_COUNT, "component_count");

    good();
    for (size_t i = 0; i < N; i++) messages[i].nonce_len = 16, messages[i].opened_len = 64;
    messages[BAD].opened_len = 40;
    refused(aescomb_open(comb, julius, messages, N, &error), AESCOMB_OPENED_LENGTH,
            "opened_len", BAD);
    untouched();

    good();
    refused(aescomb_encrypt(comb, gcm, messages, N, &error), AESCOMB_OPERATION, "key",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_mac(comb, cbc, messages, N, &error), AESCOMB_OPERATION, "key",
            AESCOMB_NO_MESSAGE);

    for (size_t i = 0; i < N; i++) {
        messages[i].nonce_len = messages[i].data_len = 0;
        messages[i].data = NULL;
    }
    messages[BAD].tag_attached = 1;
    refused(aescomb_mac(comb, cmac, messages, N, &error), AESCOMB_TAG_LENGTH, "tag_attached",
            BAD);
    CHECK(error.allowed == AESCOMB_ALLOWED_NOTHING && error.given == 16);
    messages[BAD].tag_attached = 0;

    for (size_t i = 0; i < N; i++) {
        messages[i].nonce_len = 16;
        messages[i].data = NULL;
        messages[i].data_len = messages[i].tag_len = 0;
    }
    messages[BAD].src_len = 63;
    refused(aescomb_encrypt(comb, cbc, messages, N, &error), AESCOMB_TEXT_LENGTH, "src_len",
            BAD);
    CHECK(error.allowed == AESCOMB_ALLOWED_MULTIPLE_OF && error.low == 16);
    messages[BAD].src_len = 64;
    messages[BAD].data = data[BAD];
    refused(aescomb_encrypt(comb, cbc, messages, N, &error), AESCOMB_DATA_COUNT,
            "component_count", BAD);
    messages[BAD].data = NULL;
    GOOD(aescomb_encrypt(comb, cbc, messages, N, &error));
    CHECK(error.code == AESCOMB_OK && error.text[0] == 0);

    aescomb_key_free(gcm);
    aescomb_key_free(cbc);
    aescomb_key_free(siv);
    aescomb_key_free(julius);
    aescomb_key_free(cmac);
}

static void calls(void) {
    aescomb_key *key = new_key("gcm", 32);
    good();
    refused(aescomb_seal(NULL, key, messages, N, &error), AESCOMB_POINTER, "comb",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_seal(comb, key, NULL, N, &error), AESCOMB_POINTER, "messages",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_seal(comb, key, (aescomb_message *)((char *)messages + 1), 1, &error),
            AESCOMB_POINTER, "messages", AESCOMB_NO_MESSAGE);
    refused(aescomb_seal(comb, key, messages, SIZE_MAX, &error), AESCOMB_COUNT, "count",
            AESCOMB_NO_MESSAGE);
    CHECK(error.given == SIZE_MAX && error.high == 4294967294u);
    GOOD(aescomb_seal(comb, key, messages, 0, &error));
    GOOD(aescomb_seal(comb, NULL, NULL, 0, &error));
    /* Without a place for errors. */
    CHECK(aescomb_seal(NULL, key, messages, N, NULL) == AESCOMB_POINTER);
    CHECK(aescomb_seal(comb, key, messages, N, NULL) == AESCOMB_OK);

    /* A forgery among good messages. */
    tags[BAD][3] ^= 1;
    aescomb_code code = aescomb_open(comb, key, messages, N, &error);
    refused(code, AESCOMB_MESSAGES_FAILED, "status", BAD);
    CHECK(error.given == 1);
    for (size_t i = 0; i < N; i++) {
        CHECK(messages[i].status == (i == BAD ? AESCOMB_BAD_TAG : AESCOMB_DONE));
        CHECK(messages[i].written == (i == BAD ? 0 : sizeof texts[i]));
        for (size_t j = 0; j < sizeof texts[i]; j++) CHECK(texts[i][j] == (i == BAD ? 0 : 7));
    }

    /* Padding that is none. */
    aescomb_key *padded = new_key("cbc-pkcs7", 16);
    uint8_t noise[32] = {9};
    aescomb_message m = {0};
    m.src = m.dst = noise;
    m.src_len = m.dst_len = sizeof noise;
    m.nonce = nonces[0];
    m.nonce_len = 16;
    refused(aescomb_decrypt(comb, padded, &m, 1, &error), AESCOMB_MESSAGES_FAILED, "status", 0);
    CHECK(m.status == AESCOMB_BAD_PADDING && m.written == 0 && noise[0] == 0);
    aescomb_key_free(padded);
    aescomb_key_free(key);
    aescomb_key_free(NULL);
    aescomb_comb_free(NULL);
}

static void names(void) {
    aescomb_key *key = (aescomb_key *)&error;
    refused(aescomb_key_new("rot13", data[0], 16, &key, &error), AESCOMB_UNKNOWN_MODE, "mode",
            AESCOMB_NO_MESSAGE);
    CHECK(key == NULL);
    CHECK(strstr(error.text, "silver") != NULL);
    refused(aescomb_key_new("\xff\xfe", data[0], 16, &key, &error), AESCOMB_UNKNOWN_MODE,
            "mode", AESCOMB_NO_MESSAGE);
    refused(aescomb_key_new(NULL, data[0], 16, &key, &error), AESCOMB_POINTER, "mode",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_key_new("cbc", NULL, 16, &key, &error), AESCOMB_POINTER, "bytes",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_key_new("cbc", data[0], 16, NULL, &error), AESCOMB_POINTER, "key",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_key_new("cbc", data[0], 11, &key, &error), AESCOMB_KEY_LENGTH, "len",
            AESCOMB_NO_MESSAGE);
    CHECK(error.given == 11 && error.list_len == 3 && error.list[2] == 32);

    aescomb_comb *other;
    refused(aescomb_comb_new("sse1", &other, &error), AESCOMB_UNKNOWN_BACKEND, "backend",
            AESCOMB_NO_MESSAGE);
    CHECK(other == NULL);
    refused(aescomb_comb_new(NULL, NULL, &error), AESCOMB_POINTER, "comb",
            AESCOMB_NO_MESSAGE);
    for (size_t i = 0; aescomb_backend_name(i) != NULL; i++) {
        aescomb_code code = aescomb_comb_new(aescomb_backend_name(i), &other, &error);
        CHECK(code == AESCOMB_OK || code == AESCOMB_BACKEND);
        if (code == AESCOMB_OK) {
            refused(aescomb_comb_set_lanes(other, 0, &error), AESCOMB_LANES, "lanes",
                    AESCOMB_NO_MESSAGE);
            refused(aescomb_comb_set_lanes(other, 33, &error), AESCOMB_LANES, "lanes",
                    AESCOMB_NO_MESSAGE);
            GOOD(aescomb_comb_set_lanes(other, 1, &error));
        }
        aescomb_comb_free(other);
    }
    refused(aescomb_comb_set_lanes(NULL, 1, &error), AESCOMB_POINTER, "comb",
            AESCOMB_NO_MESSAGE);

    aescomb_info info;
    size_t len;
    for (size_t i = 0; i < aescomb_mode_count(); i++) {
        GOOD(aescomb_mode_info(aescomb_mode_name(i), &info, &error));
        CHECK(strcmp(info.name, aescomb_mode_name(i)) == 0);
        CHECK(info.key_len_count > 0 && strlen(info.title) > 0 && strlen(info.source) > 0);
        CHECK(info.nonce_len_min <= info.nonce_len_usual);
        CHECK(info.nonce_len_usual <= info.nonce_len_max);
        CHECK((info.tag_lens == NULL) == (info.kind == AESCOMB_CIPHER));
    }
    CHECK(aescomb_mode_name(aescomb_mode_count()) == NULL);
    refused(aescomb_mode_info("", &info, &error), AESCOMB_UNKNOWN_MODE, "mode",
            AESCOMB_NO_MESSAGE);
    refused(aescomb_mode_info("cbc", NULL, &error), AESCOMB_POINTER, "info",
            AESCOMB_NO_MESSAGE);
    GOOD(aescomb_mode_encrypted_len("cbc-pkcs7", 16, &len, &error));
    CHECK(len == 32);
    refused(aescomb_mode_encrypted_len("cbc-pkcs7", SIZE_MAX, &len, &error),
            AESCOMB_TEXT_LENGTH, "len", AESCOMB_NO_MESSAGE);
    CHECK(strcmp(aescomb_code_text(AESCOMB_OK), "all is well") == 0);
    CHECK(strcmp(aescomb_code_text(1000), "unknown code") == 0);
    CHECK(strlen(aescomb_version()) >= 5);
}

static void packed(void) {
    aescomb_key *key = new_key("gcm", 16);
    uint8_t text[64] = {0}, column[48] = {0}, tag_column[48];
    uint32_t offsets[4] = {0, 10, 30, 64};
    aescomb_result results[3];
    aescomb_packed good_batch = {0};
    good_batch.count = 3;
    good_batch.offset_bytes = 4;
    good_batch.src = good_batch.dst = text;
    good_batch.src_len = good_batch.dst_len = sizeof text;
    good_batch.src_layout.kind = AESCOMB_LAYOUT_OFFSETS;
    good_batch.src_layout.starts = offsets;
    good_batch.nonces = column;
    good_batch.nonce_len = 12;
    good_batch.nonce_stride = 16;
    good_batch.tags = tag_column;
    good_batch.tag_len = good_batch.tag_stride = 16;
    good_batch.results = results;
#define SPOILT_PACKED(spoil, code, field, message)                                         \
    do {                                                                                   \
        aescomb_packed batch = good_batch;                                                 \
        aescomb_packed *b = &batch;                                                        \
        spoil;                                                                             \
        refused(aescomb_seal_packed(comb, key, &batch, &error), code, field, message);     \
        for (size_t i = 0; i < sizeof text; i++) CHECK(text[i] == 0);                      \
        for (size_t i = 0; i < 3; i++) CHECK(results[i].status == AESCOMB_PENDING);        \
    } while (0)
    SPOILT_PACKED(b->offset_bytes = 2, AESCOMB_OFFSET_BYTES, "offset_bytes",
                  AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src = NULL, AESCOMB_POINTER, "src", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->dst = NULL, AESCOMB_POINTER, "dst", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->nonces = NULL, AESCOMB_POINTER, "nonces", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->tags = NULL, AESCOMB_POINTER, "tags", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_layout.starts = NULL, AESCOMB_POINTER, "src_layout.starts",
                  AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_layout.starts = (char *)offsets + 1, AESCOMB_POINTER, "src_layout.starts",
                  AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_layout.kind = AESCOMB_LAYOUT_RING, AESCOMB_POINTER,
                  "src_layout.lengths", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->dst_layout.kind = AESCOMB_LAYOUT_OFFSETS, AESCOMB_POINTER,
                  "dst_layout.starts", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->dst_layout.kind = AESCOMB_LAYOUT_RING, AESCOMB_POINTER,
                  "dst_layout.lengths", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->data_layout.kind = AESCOMB_LAYOUT_OFFSETS, AESCOMB_POINTER,
                  "data_layout.starts", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->data_layout.kind = AESCOMB_LAYOUT_RING, AESCOMB_POINTER,
                  "data_layout.lengths", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_layout.kind = AESCOMB_LAYOUT_NONE, AESCOMB_LAYOUT, "src_layout",
                  AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_layout.kind = 9, AESCOMB_LAYOUT, "src_layout", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->data_layout.kind = 9, AESCOMB_LAYOUT, "data_layout", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->nonce_stride = 4, AESCOMB_NONCE_LENGTH, "nonce_len", AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->nonce_stride = SIZE_MAX, AESCOMB_NONCE_LENGTH, "nonce_stride",
                  AESCOMB_NO_MESSAGE);
    SPOILT_PACKED(b->src_len = 63, AESCOMB_OFFSET, "layout", 2);
    SPOILT_PACKED(b->tag_len = 3, AESCOMB_TAG_LENGTH, "tag_len", 0);
    offsets[1] = 40;
    SPOILT_PACKED((void)b, AESCOMB_OFFSET, "layout", 1);
    offsets[1] = 10;
    refused(aescomb_seal_packed(comb, NULL, &good_batch, &error), AESCOMB_KEY_MISSING, "key", 0);
    const aescomb_key *own[3] = {key, key, NULL};
    good_batch.keys = own;
    refused(aescomb_seal_packed(comb, NULL, &good_batch, &error), AESCOMB_KEY_MISSING, "key", 2);
    GOOD(aescomb_seal_packed(comb, key, &good_batch, &error));
    refused(aescomb_open_packed(comb, key, NULL, &error), AESCOMB_POINTER, "batch",
            AESCOMB_NO_MESSAGE);
    good_batch.results = NULL;
    refused(aescomb_open_packed(comb, key, &good_batch, &error), AESCOMB_COUNT, "count",
            AESCOMB_NO_MESSAGE);
    good_batch.results = results;
    tag_column[16] ^= 1;
    refused(aescomb_open_packed(comb, key, &good_batch, &error), AESCOMB_MESSAGES_FAILED,
            "status", 1);
    CHECK(results[0].status == AESCOMB_DONE && results[0].written == 10);
    CHECK(results[1].status == AESCOMB_BAD_TAG && results[1].written == 0);
    aescomb_key_free(key);
}

int main(void) {
    comb = new_comb();
    message_members();
    calls();
    names();
    packed();
    aescomb_comb_free(comb);
    puts("errors: as they should be");
    return 0;
}
