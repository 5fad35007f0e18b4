/* Known answers through the C interface: the vectors that the library itself is tested
 * with, each alone, in place and from one buffer to another, among messages under other
 * keys, with the tag beside and appended, and packed.
 *
 * usage: vectors FOLDER [STRIDE]: the folder "vectors" of the repository; only every
 * STRIDE-th vector is computed with. */
#include "check.h"

#include <ctype.h>
#include <dirent.h>

/* A folder's mode is its name; how many vectors it has is asserted. */
static const struct {
    const char *folder, *mode;
    size_t count;
} folders[] = {
    {"nist/ECB", "ecb", 2138},
    {"nist/CBC", "cbc", 2138},
    {"nist/CFB128", "cfb128", 2138},
    {"nist/OFB", "ofb", 2138},
    {"nist/CTR", "ctr", 9},
    {"nist/XTS", "xts", 1400},
    {"nist/CMAC", "cmac", 12},
    {"nist/CCM", "ccm", 2160},
    {"nist/GCM", "gcm", 9450},
    {"nist/OCB", "ocb", 71},
    {"nist/SIV", "siv", 4},
    {"nist/GCM-SIV", "gcm-siv", 92},
    {"supercop/OCB", "ocb", 240},
    {"derived/ecb-pkcs7", "ecb-pkcs7", 36},
    {"derived/cbc-pkcs7", "cbc-pkcs7", 36},
    {"derived/ctr32", "ctr32", 72},
    {"derived/gmac", "gmac", 945},
    {"derived/pmac", "pmac", 36},
    {"research/cloc", "cloc", 80},
    {"research/silc", "silc", 80},
    {"research/jambu", "jambu", 81},
    {"research/otr", "otr", 160},
    {"research/copa", "copa", 81},
    {"research/poet", "poet", 81},
    {"research/julius", "julius", 81},
    {"research/mcoe-g", "mcoe-g", 79},
    {"research/cobra", "cobra", 79},
    {"research/cpfb", "cpfb", 158},
    {"research/silver", "silver", 79},
    {"research/pmac-ctr", "pmac-ctr", 79},
};

/* Names and values of a record; they point into the file. */
struct fields {
    size_t count;
    struct {
        const char *name, *value;
    } list[32];
};

struct bytes {
    uint8_t *at;
    size_t len;
};

struct vector {
    struct bytes key, nonce, plain, sealed, tag;
    struct bytes data[3];
    size_t components;
    int forged;
};

static const char *mode;
static aescomb_info info;
static aescomb_comb *comb;
static aescomb_error error;
static size_t seen, stride = 1;

static const char *find(const struct fields *fields, const char *const *names) {
    for (; *names != NULL; names++)
        for (size_t i = fields->count; i-- > 0;)
            if (strcmp(fields->list[i].name, *names) == 0) return fields->list[i].value;
    return NULL;
}

#define FIND(fields, ...) find(fields, (const char *const[]){__VA_ARGS__, NULL})

static struct bytes from_hex(const char *digits) {
    struct bytes bytes = {NULL, 0};
    if (digits == NULL) return bytes;
    bytes.len = strlen(digits) / 2;
    bytes.at = take(bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte;
        CHECK(sscanf(digits + 2 * i, "%2x", &byte) == 1);
        bytes.at[i] = (uint8_t)byte;
    }
    return bytes;
}

/* The same cut to a length that stands apart, where there is one. */
static struct bytes cut(const char *digits, const char *len) {
    struct bytes bytes = from_hex(digits);
    if (len != NULL && strtoul(len, NULL, 10) < bytes.len) bytes.len = strtoul(len, NULL, 10);
    return bytes;
}

/* Takes the last, or the first, `len` bytes off. */
static struct bytes split(struct bytes *from, size_t len, int first) {
    CHECK(from->len >= len);
    struct bytes off = {take(len), len};
    copy(off.at, first ? from->at : from->at + from->len - len, len);
    if (first) memmove(from->at, from->at + len, from->len - len);
    from->len -= len;
    return off;
}

static size_t encrypted_len(size_t len) {
    size_t result;
    GOOD(aescomb_mode_encrypted_len(mode, len, &result, &error));
    return result;
}

typedef aescomb_code operation(aescomb_comb *, const aescomb_key *, aescomb_message *, size_t,
                               aescomb_error *);
typedef aescomb_code packed_operation(aescomb_comb *, const aescomb_key *,
                                      const aescomb_packed *, aescomb_error *);

static operation *const operations[3][2] = {
    {aescomb_encrypt, aescomb_decrypt},
    {aescomb_mac, aescomb_verify},
    {aescomb_seal, aescomb_open},
};
static packed_operation *const packed_operations[3][2] = {
    {aescomb_encrypt_packed, aescomb_decrypt_packed},
    {aescomb_mac_packed, aescomb_verify_packed},
    {aescomb_seal_packed, aescomb_open_packed},
};

/* A message with buffers of its own. */
struct place {
    aescomb_message message;
    aescomb_slice components[3];
    uint8_t *src, *dst, *tag;
};

static void prepare(struct place *p, const struct vector *v, int back, int in_place,
                    int appended) {
    memset(p, 0, sizeof *p);
    appended = appended && info.kind == AESCOMB_AEAD;
    aescomb_message *m = &p->message;
    const struct bytes *input = back && info.kind != AESCOMB_MAC ? &v->sealed : &v->plain;
    size_t tag = appended ? v->tag.len : 0;
    size_t room = encrypted_len(v->plain.len);
    if (back && v->sealed.len > room) room = v->sealed.len;
    room += tag;
    m->src_len = input->len + (back ? tag : 0);
    p->src = take(in_place && room > m->src_len ? room : m->src_len);
    copy(p->src, input->at, input->len);
    if (back && tag > 0) copy(p->src + input->len, v->tag.at, tag);
    m->src = p->src;
    if (info.kind != AESCOMB_MAC) {
        p->dst = in_place ? NULL : take(room);
        m->dst = in_place ? p->src : p->dst;
        m->dst_len = room;
    }
    m->nonce = v->nonce.at;
    m->nonce_len = (uint32_t)v->nonce.len;
    m->tag_len = (uint32_t)v->tag.len;
    m->tag_appended = appended ? 1 : 0;
    if (!appended) {
        p->tag = take(v->tag.len);
        if (back) copy(p->tag, v->tag.at, v->tag.len);
        m->tag = v->tag.len > 0 ? p->tag : NULL;
    }
    for (size_t i = 0; i < v->components; i++) {
        p->components[i].bytes = v->data[i].at;
        p->components[i].len = v->data[i].len;
    }
    if (v->components > 1) {
        m->data = p->components;
        m->component_count = (uint32_t)v->components;
    } else if (v->components == 1) {
        m->data = v->data[0].at;
        m->data_len = v->data[0].len;
    }
    m->opened_len = v->plain.len;
}

static void check(const struct place *p, const struct vector *v, int back) {
    const aescomb_message *m = &p->message;
    int checks_tag = back && info.kind != AESCOMB_CIPHER;
    if (checks_tag && v->forged) {
        CHECK(m->status == AESCOMB_BAD_TAG && m->written == 0);
        for (size_t i = 0; i < v->sealed.len; i++) CHECK(m->dst[i] == 0);
        return;
    }
    CHECK(m->status == AESCOMB_DONE);
    if (info.kind == AESCOMB_MAC) {
        CHECK(m->written == 0);
        CHECK(same(m->tag, v->tag.at, v->tag.len));
        return;
    }
    const struct bytes *output = back ? &v->plain : &v->sealed;
    size_t tag = m->tag_appended && !back ? v->tag.len : 0;
    CHECK(m->written == output->len + tag);
    CHECK(same(m->dst, output->at, output->len));
    if (tag > 0) CHECK(same(m->dst + output->len, v->tag.at, tag));
    if (!back && tag == 0 && v->tag.len > 0) CHECK(same(m->tag, v->tag.at, v->tag.len));
}

static void release(struct place *p) {
    free(p->src);
    free(p->dst);
    free(p->tag);
}

/* The vector as messages of a ring, in one buffer. */
static void packed(const struct vector *v, const aescomb_key *key, int back, int own_keys) {
    enum { N = 5 };
    const struct bytes *input = back && info.kind != AESCOMB_MAC ? &v->sealed : &v->plain;
    size_t room = encrypted_len(v->plain.len);
    if (room < input->len) room = input->len;
    uint8_t *text = take(N * room), *nonces = take(N * v->nonce.len);
    uint8_t *tags = take(N * v->tag.len), *data = take(N * v->data[0].len);
    uint32_t lengths[N], opened[N], offsets[N + 1];
    const aescomb_key *keys[N];
    aescomb_result results[N];
    for (size_t i = 0; i < N; i++) {
        copy(text + i * room, input->at, input->len);
        copy(nonces + i * v->nonce.len, v->nonce.at, v->nonce.len);
        copy(data + i * v->data[0].len, v->data[0].at, v->data[0].len);
        if (back) copy(tags + i * v->tag.len, v->tag.at, v->tag.len);
        lengths[i] = (uint32_t)input->len;
        opened[i] = (uint32_t)v->plain.len;
        keys[i] = i % 2 == 0 ? key : NULL;
    }
    for (size_t i = 0; i <= N; i++) offsets[i] = (uint32_t)(i * v->data[0].len);
    aescomb_packed batch = {0};
    batch.count = N;
    batch.offset_bytes = 4;
    batch.src = text;
    batch.src_len = N * room;
    if (info.kind != AESCOMB_MAC) {
        batch.dst = text;
        batch.dst_len = N * room;
    }
    batch.src_layout.kind = AESCOMB_LAYOUT_RING;
    batch.src_layout.lengths = lengths;
    batch.src_layout.stride = room;
    batch.nonces = nonces;
    batch.nonce_len = batch.nonce_stride = v->nonce.len;
    batch.tags = tags;
    batch.tag_len = batch.tag_stride = v->tag.len;
    if (v->components == 1) {
        batch.data = data;
        batch.data_len = N * v->data[0].len;
        batch.data_layout.kind = AESCOMB_LAYOUT_OFFSETS;
        batch.data_layout.starts = offsets;
    }
    batch.opened_lens = opened;
    batch.keys = own_keys ? keys : NULL;
    batch.results = results;
    aescomb_code code = packed_operations[info.kind][back](comb, key, &batch, &error);
    int forged = back && info.kind != AESCOMB_CIPHER && v->forged;
    CHECK(code == (forged ? AESCOMB_MESSAGES_FAILED : AESCOMB_OK));
    const struct bytes *output = back ? &v->plain : &v->sealed;
    for (size_t i = 0; i < N; i++) {
        CHECK(results[i].status == (forged ? AESCOMB_BAD_TAG : AESCOMB_DONE));
        if (forged) continue;
        if (info.kind != AESCOMB_MAC) {
            CHECK(results[i].written == output->len);
            CHECK(same(text + i * room, output->at, output->len));
        }
        CHECK(same(tags + i * v->tag.len, v->tag.at, v->tag.len));
    }
    free(text);
    free(nonces);
    free(tags);
    free(data);
}

/* Other messages that keep the vector company, under other keys. */
enum { OTHERS = 20 };
static struct vector others[OTHERS];
static aescomb_key *other_keys[OTHERS];

static void make_others(void) {
    for (size_t i = 0; i < OTHERS; i++) {
        struct vector *v = &others[i];
        uint8_t raw[64];
        for (size_t j = 0; j < sizeof raw; j++) raw[j] = (uint8_t)(i * 64 + j * 7);
        size_t len = info.key_lens[i % info.key_len_count];
        GOOD(aescomb_key_new(mode, raw, len, &other_keys[i], &error));
        v->plain.len = i * 16 + (info.lengths == AESCOMB_WHOLE_BLOCKS ? 0 : 16 + i % 5);
        v->plain.at = take(v->plain.len);
        v->nonce.len = info.nonce_len_usual;
        v->nonce.at = take(v->nonce.len);
        v->tag.len = info.tag_len_count > 0 ? info.tag_lens[info.tag_len_count - 1] : 0;
        v->tag.at = take(v->tag.len);
    }
}

static void free_others(void) {
    for (size_t i = 0; i < OTHERS; i++) {
        aescomb_key_free(other_keys[i]);
        free(others[i].plain.at);
        free(others[i].nonce.at);
        free(others[i].tag.at);
    }
}

static void run(const struct vector *v) {
    aescomb_key *key;
    GOOD(aescomb_key_new(mode, v->key.at, v->key.len, &key, &error));
    for (int back = 0; back < 2; back++) {
        if (v->forged && !back) continue;
        aescomb_code expected = v->forged ? AESCOMB_MESSAGES_FAILED : AESCOMB_OK;
        operation *call = operations[info.kind][back];
        for (int form = 0; form < 4; form++) {
            /* Alone, with the key for all or as its own. */
            struct place one;
            prepare(&one, v, back, form % 2, form / 2);
            one.message.key = form % 2 ? key : NULL;
            CHECK(call(comb, form % 2 && form / 2 ? NULL : key, &one.message, 1, &error) ==
                  expected);
            check(&one, v, back);
            release(&one);
        }
        if (v->components <= 1) {
            packed(v, key, back, 0);
            packed(v, key, back, 1);
        }
        if (!back) {
            /* Among others. */
            struct place places[OTHERS + 1];
            aescomb_message messages[OTHERS + 1];
            size_t at = seen % (OTHERS + 1);
            for (size_t i = 0; i <= OTHERS; i++) {
                const struct vector *of = i == at ? v : &others[i - (i > at)];
                prepare(&places[i], of, 0, i % 2, i % 3 == 0);
                messages[i] = places[i].message;
                messages[i].key = i == at ? NULL : other_keys[i - (i > at)];
            }
            GOOD(call(comb, key, messages, OTHERS + 1, &error));
            places[at].message = messages[at];
            check(&places[at], v, 0);
            for (size_t i = 0; i <= OTHERS; i++) {
                CHECK(messages[i].status == AESCOMB_DONE);
                release(&places[i]);
            }
        }
    }
    aescomb_key_free(key);
}

static void record(const struct fields *fields) {
    const char *bits = FIND(fields, "dataunitlen");
    if (bits != NULL && strtoul(bits, NULL, 10) % 8 != 0) return;
    if (seen++ % stride != 0) return;
    struct vector v = {0};
    v.key = from_hex(FIND(fields, "key"));
    v.nonce = from_hex(FIND(fields, "iv", "nonce", "i"));
    const char *const data[3] = {FIND(fields, "adata", "aad", "ad"), FIND(fields, "aad2"),
                                 FIND(fields, "aad3")};
    for (size_t i = 0; i < 3 && data[i] != NULL; i++)
        v.data[v.components++] = cut(data[i], i == 0 ? FIND(fields, "alen") : NULL);
    v.forged = FIND(fields, "fail") != NULL;
    v.plain = cut(FIND(fields, "plaintext", "message", "msg", "payload", "pt"),
                  FIND(fields, "plen"));
    v.sealed = from_hex(FIND(fields, "ciphertext", "output", "ct", "out"));
    v.tag = from_hex(FIND(fields, "tag"));
    const char *len = FIND(fields, "tlen");
    size_t tag = info.tag_len_count > 0 ? info.tag_lens[info.tag_len_count - 1] : 0;
    if (len != NULL) tag = strtoul(len, NULL, 10);
    if (v.tag.at == NULL && info.kind == AESCOMB_MAC) v.tag = split(&v.sealed, v.sealed.len, 0);
    if (v.tag.at == NULL && info.kind == AESCOMB_AEAD)
        v.tag = split(&v.sealed, tag, strcmp(mode, "julius") == 0);
    if (v.forged) v.plain.len = v.sealed.len;
    run(&v);
    struct bytes *const all[] = {&v.key,  &v.nonce,   &v.plain,   &v.sealed,
                                 &v.tag,  &v.data[0], &v.data[1], &v.data[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
    return text;
}

static void add(struct fields *fields, char *name, const char *value) {
    for (char *c = name; *c != 0; c++) *c = (char)tolower((unsigned char)*c);
    for (size_t i = 0; i < fields->count; i++) {
        if (strcmp(fields->list[i].name, name) == 0) {
            fields->list[i].value = value;
            return;
        }
    }
    CHECK(fields->count < sizeof fields->list / sizeof *fields->list);
    fields->list[fields->count].name = name;
    fields->list[fields->count++].value = value;
}

/* NAME = value lines, a record from COUNT to COUNT; what stands before the first COUNT of
 * a section, and headings in brackets, are true of all that follows. */
static void responses(char *text) {
    struct fields section = {0}, fields = {0};
    int in_heading = 1, has_record = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        line = trim(line);
        if (*line == 0 || *line == '#') continue;
        int heading = *line == '[';
        if (heading) {
            line[strlen(line) - 1] = 0;
            line++;
        }
        char *equals = strchr(line, '=');
        char *name = line, *value = line + strlen(line);
        if (equals != NULL) {
            *equals = 0;
            name = trim(line);
            value = trim(equals + 1);
        }
        if (strcmp(name, "COUNT") == 0 || strcmp(name, "Count") == 0) {
            if (has_record) record(&fields);
            fields = section;
            has_record = 1;
            in_heading = 0;
        } else {
            if (heading && !in_heading) {
                if (has_record) record(&fields);
                has_record = 0;
            }
            in_heading |= heading;
            if (heading && equals == NULL) continue;
            add(in_heading ? &section : &fields, name, value);
        }
    }
    if (has_record) record(&fields);
}

/* JSON with a record on each line, all of strings but for the first member. */
static void json(char *text) {
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        line = trim(line);
        if (strncmp(line, "{\"id\":", 6) != 0) continue;
        struct fields fields = {0};
        char *strings[2];
        size_t n = 0;
        for (char *at = strchr(line + 6, '"'); at != NULL; at = strchr(at, '"')) {
            char *end = strchr(at + 1, '"');
            CHECK(end != NULL);
            *end = 0;
            strings[n++ % 2] = at + 1;
            if (n % 2 == 0) add(&fields, strings[0], strings[1]);
            at = end + 1;
        }
        record(&fields);
    }
}

static void file(const char *path) {
    FILE *in = fopen(path, "rb");
    CHECK(in != NULL);
    CHECK(fseek(in, 0, SEEK_END) == 0);
    long len = ftell(in);
    CHECK(len > 0);
    rewind(in);
    char *text = take((size_t)len + 1);
    CHECK(fread(text, 1, (size_t)len, in) == (size_t)len);
    fclose(in);
    text[len] = 0;
    if (*text == '{')
        json(text);
    else
        responses(text);
    free(text);
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    if (argc > 2) stride = strtoul(argv[2], NULL, 10);
    comb = new_comb();
    size_t total = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        mode = folders[i].mode;
        GOOD(aescomb_mode_info(mode, &info, &error));
        make_others();
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", argv[1], folders[i].folder);
        DIR *directory = opendir(path);
        CHECK(directory != NULL);
        seen = 0;
        for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s/%s", argv[1], folders[i].folder, entry->d_name);
            file(path);
        }
        closedir(directory);
        free_others();
        if (seen != folders[i].count) {
            fprintf(stderr, "%s: %zu vectors, not %zu\n", folders[i].folder, seen,
                    folders[i].count);
            return 1;
        }
        total += seen;
    }
    for (size_t i = 0; i < aescomb_mode_count(); i++) {
        int has = 0;
        for (size_t j = 0; j < sizeof folders / sizeof *folders; j++)
            has |= strcmp(aescomb_mode_name(i), folders[j].mode) == 0;
        CHECK(has);
    }
    aescomb_comb_free(comb);
    printf("%zu vectors, one of %zu computed with\n", total, stride);
    return 0;
}
