// Batches through Botan's Cipher_Mode, message by message, with one object that keeps the
// key. It works on vectors of its own kind, in and out of which messages are copied.
extern "C" {
#include "peers.h"
}

#include <botan/aead.h>
#include <botan/version.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>

static const std::map<std::string, std::string> algorithms = {
    {"xts", "AES-128/XTS"}, {"ocb", "AES-128/OCB"}, {"siv", "AES-128/SIV"}};

struct peer {
    const task *of;
    std::unique_ptr<Botan::Cipher_Mode> mode;
    bool tag_in_front;
    // Keeps its memory from message to message.
    Botan::secure_vector<uint8_t> buffer;
};

extern "C" {

const char *botan_version(void)
{
    return Botan::short_version_cstr();
}

void botan_free(peer *p)
{
    delete p;
}

peer *botan_new(const task *of)
{
    try {
        auto direction = of->backward ? Botan::DECRYPTION : Botan::ENCRYPTION;
        auto mode = Botan::Cipher_Mode::create(algorithms.at(of->mode), direction);
        if (mode == nullptr)
            return nullptr;
        mode->set_key(of->key, of->key_len);
        return new peer{of, std::move(mode), std::string(of->mode) == "siv", {}};
    } catch (const std::exception &) {
        return nullptr;
    }
}

int botan_run(peer *p, const message *messages, size_t n)
{
    auto *aead = dynamic_cast<Botan::AEAD_Mode *>(p->mode.get());
    const bool backward = p->of->backward != 0;
    const size_t tag_len = aead != nullptr ? TAG : 0;
    int refused = 0;
    try {
        for (size_t i = 0; i < n; i++) {
            const message &m = messages[i];
            // Where they are when sealed.
            const size_t text = p->tag_in_front ? TAG : 0, tag = p->tag_in_front ? 0 : m.len;
            p->buffer.resize(m.len + (backward ? tag_len : 0));
            std::copy_n(m.from, m.len, p->buffer.data() + (backward ? text : 0));
            if (backward)
                std::copy_n(m.tag, tag_len, p->buffer.data() + tag);
            if (aead != nullptr && p->of->data_len > 0)
                aead->set_associated_data(p->of->data, p->of->data_len);
            p->mode->start(m.nonce, p->of->nonce_len);
            try {
                p->mode->finish(p->buffer);
            } catch (const Botan::Invalid_Authentication_Tag &) {
                refused++;
                continue;
            }
            std::copy_n(p->buffer.data() + (backward ? 0 : text), m.len, m.to);
            if (!backward)
                std::copy_n(p->buffer.data() + tag, tag_len, m.tag);
        }
    } catch (const std::exception &) {
        return FAILED;
    }
    return refused;
}
}
