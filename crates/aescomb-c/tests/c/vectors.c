/* Known answers through the C interface: the vectors that the library itself is tested
 * with, each alone, in place and from one buffer to another, among messages under other
 * keys, with the tag beside and attached, and packed. They are read in their plain form;
 * that it has all of them is asserted where it is made.
 *
 * usage: vectors FOLDER [STRIDE]: the folder "vectors" of the repository; only every
 * STRIDE-th vector is computed with. */
#include "check.h"

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
                    int attached) {
    memset(p, 0, sizeof *p);
    attached = attached && info.kind == AESCOMB_AEAD;
    aescomb_message *m = &p->message;
    const struct bytes *input = back && info.kind != AESCOMB_MAC ? &v->sealed : &v->plain;
    size_t tag = attached ? v->tag.len : 0;
    size_t room = encrypted_len(v->plain.len);
    if (back && v->sealed.len > room) room = v->sealed.len;
    room += tag;
    m->src_len = input->len + (back ? tag : 0);
    p->src = take(in_place && room > m->src_len ? room : m->src_len);
    size_t before = back && info.tag_first ? tag : 0;
    copy(p->src + before, input->at, input->len);
    if (back && tag > 0) copy(p->src + (info.tag_first ? 0 : input->len), v->tag.at, tag);
    m->src = p->src;
    if (info.kind != AESCOMB_MAC) {
        p->dst = in_place ? NULL : take(room);
        m->dst = in_place ? p->src : p->dst;
        m->dst_len = room;
    }
    m->nonce = v->nonce.at;
    m->nonce_len = (uint32_t)v->nonce.len;
    m->tag_len = (uint32_t)v->tag.len;
    m->tag_attached = attached ? 1 : 0;
    if (!attached) {
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
    size_t tag = m->tag_attached && !back ? v->tag.len : 0;
    CHECK(m->written == output->len + tag);
    CHECK(same(m->dst + (info.tag_first ? tag : 0), output->at, output->len));
    if (tag > 0) CHECK(same(m->dst + (info.tag_first ? 0 : output->len), v->tag.at, tag));
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

/* The next field of a line, up to a blank, a comma or the end. */
static struct bytes field(char **at) {
    size_t digits = strcspn(*at, " ,\n");
    struct bytes bytes = {NULL, **at == '-' ? 0 : digits / 2};
    CHECK(**at == '-' ? digits == 1 : digits % 2 == 0);
    bytes.at = take(bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte;
        CHECK(sscanf(*at + 2 * i, "%2x", &byte) == 1);
        bytes.at[i] = (uint8_t)byte;
    }
    *at += digits;
    return bytes;
}

/* The next field, and the blank after it. */
static struct bytes word(char **at) {
    struct bytes bytes = field(at);
    CHECK(*(*at)++ == ' ');
    return bytes;
}

/* KEY NONCE DATA MESSAGE CIPHERTEXT TAG VERDICT: vectors/README.md says more. */
static void read_line(char *at) {
    if (seen++ % stride != 0) return;
    struct vector v = {0};
    v.key = word(&at);
    v.nonce = word(&at);
    /* A comma ends every component. */
    for (; *at != ' ' && *at != '-'; at++) {
        CHECK(v.components < sizeof v.data / sizeof *v.data);
        v.data[v.components++] = field(&at);
        CHECK(*at == ',');
    }
    at += *at == '-';
    CHECK(*at++ == ' ');
    v.plain = word(&at);
    v.sealed = word(&at);
    v.tag = word(&at);
    v.forged = strcmp(at, "refused\n") == 0;
    CHECK(v.forged || strcmp(at, "ok\n") == 0);
    /* Nothing is known of a forgery's message but its length. */
    if (v.forged && info.kind != AESCOMB_MAC) v.plain.len = v.sealed.len;
    run(&v);
    struct bytes *const all[] = {&v.key,  &v.nonce,   &v.plain,   &v.sealed,
                                 &v.tag,  &v.data[0], &v.data[1], &v.data[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    if (argc > 2) stride = strtoul(argv[2], NULL, 10);
    comb = new_comb();
    size_t total = 0;
    static char line[1 << 16];
    for (size_t i = 0; i < aescomb_mode_count(); i++) {
        mode = aescomb_mode_name(i);
        GOOD(aescomb_mode_info(mode, &info, &error));
        make_others();
        char path[1024];
        snprintf(path, sizeof path, "%s/plain/%s.txt", argv[1], mode);
        FILE *in = fopen(path, "r");
        CHECK(in != NULL);
        seen = 0;
        while (fgets(line, sizeof line, in) != NULL)
            if (*line != '#') read_line(line);
        CHECK(!ferror(in) && seen > 0);
        fclose(in);
        free_others();
        total += seen;
    }
    aescomb_comb_free(comb);
    printf("%zu vectors, one of %zu computed with\n", total, stride);
    return 0;
}
