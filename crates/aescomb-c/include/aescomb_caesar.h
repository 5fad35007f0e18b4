/* The interface of the CAESAR competition, as SUPERCOP has it, to the authenticated modes
 * of aescomb: one message a call, with the key expanded in it. For many messages at a time
 * there is aescomb.h.
 *
 * MODE is a mode with the bits of its key: gcm_128, siv_256, otr_192, ... (the list is
 * below). Each has the functions aescomb_caesar_MODE_encrypt and aescomb_caesar_MODE_decrypt,
 * and sizes in bytes. Tags have the greatest length that the mode has, nonces the usual
 * one.
 *
 * A harness that wants the names of the interface says which mode it means before it
 * includes this file:
 *
 *     #define AESCOMB_CAESAR_MODE gcm_128
 *     #include <aescomb_caesar.h>
 *
 * That defines CRYPTO_KEYBYTES, CRYPTO_NSECBYTES, CRYPTO_NPUBBYTES and CRYPTO_ABYTES. In one
 * file of the program, with
 *
 *     #define AESCOMB_CAESAR_DEFINE
 *
 * before it, too, it defines the functions crypto_aead_encrypt and crypto_aead_decrypt (or
 * what these names are defined as by then).
 *
 * encrypt writes the ciphertext, its tag at the end, to c, and its length to clen: c needs
 * room for mlen + CRYPTO_ABYTES bytes. decrypt writes the message to m and its length to
 * mlen: m needs room for clen bytes less the tag, of modes whose ciphertext can be longer
 * than the message (mcoe_g, copa, cobra, ...) only for the message. c and m may be the
 * same place; otherwise they must not overlap. nsec is not looked at. They return 0, or -1
 * for a wrong tag, for which what was written to m is wiped, and for what makes no sense
 * (NULL, lengths that the mode does not take).
 *
 * Any thread may call them at any time. "julius" is not here: its ciphertext does not tell
 * how long the message was, and the interface has no way to say it.
 *
 * Made from the list of modes in the sources in Rust. */

#ifndef AESCOMB_CAESAR_H
#define AESCOMB_CAESAR_H

#ifdef __cplusplus
extern "C" {
#endif

#define AESCOMB_CAESAR_DECLARE(MODE)                                                       \
    int aescomb_caesar_##MODE##_encrypt(                                                   \
        unsigned char *c, unsigned long long *clen, const unsigned char *m,                \
        unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,        \
        const unsigned char *nsec, const unsigned char *npub, const unsigned char *k);     \
    int aescomb_caesar_##MODE##_decrypt(                                                   \
        unsigned char *m, unsigned long long *mlen, unsigned char *nsec,                   \
        const unsigned char *c, unsigned long long clen, const unsigned char *ad,          \
        unsigned long long adlen, const unsigned char *npub, const unsigned char *k);

#define AESCOMB_CAESAR_KEYBYTES_ccm_128 16
#define AESCOMB_CAESAR_NPUBBYTES_ccm_128 12
#define AESCOMB_CAESAR_ABYTES_ccm_128 16
AESCOMB_CAESAR_DECLARE(ccm_128)

#define AESCOMB_CAESAR_KEYBYTES_ccm_192 24
#define AESCOMB_CAESAR_NPUBBYTES_ccm_192 12
#define AESCOMB_CAESAR_ABYTES_ccm_192 16
AESCOMB_CAESAR_DECLARE(ccm_192)

#define AESCOMB_CAESAR_KEYBYTES_ccm_256 32
#define AESCOMB_CAESAR_NPUBBYTES_ccm_256 12
#define AESCOMB_CAESAR_ABYTES_ccm_256 16
AESCOMB_CAESAR_DECLARE(ccm_256)

#define AESCOMB_CAESAR_KEYBYTES_gcm_128 16
#define AESCOMB_CAESAR_NPUBBYTES_gcm_128 12
#define AESCOMB_CAESAR_ABYTES_gcm_128 16
AESCOMB_CAESAR_DECLARE(gcm_128)

#define AESCOMB_CAESAR_KEYBYTES_gcm_192 24
#define AESCOMB_CAESAR_NPUBBYTES_gcm_192 12
#define AESCOMB_CAESAR_ABYTES_gcm_192 16
AESCOMB_CAESAR_DECLARE(gcm_192)

#define AESCOMB_CAESAR_KEYBYTES_gcm_256 32
#define AESCOMB_CAESAR_NPUBBYTES_gcm_256 12
#define AESCOMB_CAESAR_ABYTES_gcm_256 16
AESCOMB_CAESAR_DECLARE(gcm_256)

#define AESCOMB_CAESAR_KEYBYTES_ocb_128 16
#define AESCOMB_CAESAR_NPUBBYTES_ocb_128 12
#define AESCOMB_CAESAR_ABYTES_ocb_128 16
AESCOMB_CAESAR_DECLARE(ocb_128)

#define AESCOMB_CAESAR_KEYBYTES_ocb_192 24
#define AESCOMB_CAESAR_NPUBBYTES_ocb_192 12
#define AESCOMB_CAESAR_ABYTES_ocb_192 16
AESCOMB_CAESAR_DECLARE(ocb_192)

#define AESCOMB_CAESAR_KEYBYTES_ocb_256 32
#define AESCOMB_CAESAR_NPUBBYTES_ocb_256 12
#define AESCOMB_CAESAR_ABYTES_ocb_256 16
AESCOMB_CAESAR_DECLARE(ocb_256)

#define AESCOMB_CAESAR_KEYBYTES_eax_128 16
#define AESCOMB_CAESAR_NPUBBYTES_eax_128 12
#define AESCOMB_CAESAR_ABYTES_eax_128 16
AESCOMB_CAESAR_DECLARE(eax_128)

#define AESCOMB_CAESAR_KEYBYTES_eax_192 24
#define AESCOMB_CAESAR_NPUBBYTES_eax_192 12
#define AESCOMB_CAESAR_ABYTES_eax_192 16
AESCOMB_CAESAR_DECLARE(eax_192)

#define AESCOMB_CAESAR_KEYBYTES_eax_256 32
#define AESCOMB_CAESAR_NPUBBYTES_eax_256 12
#define AESCOMB_CAESAR_ABYTES_eax_256 16
AESCOMB_CAESAR_DECLARE(eax_256)

#define AESCOMB_CAESAR_KEYBYTES_siv_128 32
#define AESCOMB_CAESAR_NPUBBYTES_siv_128 12
#define AESCOMB_CAESAR_ABYTES_siv_128 16
AESCOMB_CAESAR_DECLARE(siv_128)

#define AESCOMB_CAESAR_KEYBYTES_siv_192 48
#define AESCOMB_CAESAR_NPUBBYTES_siv_192 12
#define AESCOMB_CAESAR_ABYTES_siv_192 16
AESCOMB_CAESAR_DECLARE(siv_192)

#define AESCOMB_CAESAR_KEYBYTES_siv_256 64
#define AESCOMB_CAESAR_NPUBBYTES_siv_256 12
#define AESCOMB_CAESAR_ABYTES_siv_256 16
AESCOMB_CAESAR_DECLARE(siv_256)

#define AESCOMB_CAESAR_KEYBYTES_gcm_siv_128 16
#define AESCOMB_CAESAR_NPUBBYTES_gcm_siv_128 12
#define AESCOMB_CAESAR_ABYTES_gcm_siv_128 16
AESCOMB_CAESAR_DECLARE(gcm_siv_128)

#define AESCOMB_CAESAR_KEYBYTES_gcm_siv_192 24
#define AESCOMB_CAESAR_NPUBBYTES_gcm_siv_192 12
#define AESCOMB_CAESAR_ABYTES_gcm_siv_192 16
AESCOMB_CAESAR_DECLARE(gcm_siv_192)

#define AESCOMB_CAESAR_KEYBYTES_gcm_siv_256 32
#define AESCOMB_CAESAR_NPUBBYTES_gcm_siv_256 12
#define AESCOMB_CAESAR_ABYTES_gcm_siv_256 16
AESCOMB_CAESAR_DECLARE(gcm_siv_256)

#define AESCOMB_CAESAR_KEYBYTES_cloc_128 16
#define AESCOMB_CAESAR_NPUBBYTES_cloc_128 12
#define AESCOMB_CAESAR_ABYTES_cloc_128 8
AESCOMB_CAESAR_DECLARE(cloc_128)

#define AESCOMB_CAESAR_KEYBYTES_silc_128 16
#define AESCOMB_CAESAR_NPUBBYTES_silc_128 12
#define AESCOMB_CAESAR_ABYTES_silc_128 8
AESCOMB_CAESAR_DECLARE(silc_128)

#define AESCOMB_CAESAR_KEYBYTES_jambu_128 16
#define AESCOMB_CAESAR_NPUBBYTES_jambu_128 8
#define AESCOMB_CAESAR_ABYTES_jambu_128 8
AESCOMB_CAESAR_DECLARE(jambu_128)

#define AESCOMB_CAESAR_KEYBYTES_poet_128 16
#define AESCOMB_CAESAR_NPUBBYTES_poet_128 16
#define AESCOMB_CAESAR_ABYTES_poet_128 16
AESCOMB_CAESAR_DECLARE(poet_128)

#define AESCOMB_CAESAR_KEYBYTES_mcoe_g_128 16
#define AESCOMB_CAESAR_NPUBBYTES_mcoe_g_128 12
#define AESCOMB_CAESAR_ABYTES_mcoe_g_128 16
AESCOMB_CAESAR_DECLARE(mcoe_g_128)

#define AESCOMB_CAESAR_KEYBYTES_otr_128 16
#define AESCOMB_CAESAR_NPUBBYTES_otr_128 12
#define AESCOMB_CAESAR_ABYTES_otr_128 16
AESCOMB_CAESAR_DECLARE(otr_128)

#define AESCOMB_CAESAR_KEYBYTES_otr_192 24
#define AESCOMB_CAESAR_NPUBBYTES_otr_192 12
#define AESCOMB_CAESAR_ABYTES_otr_192 16
AESCOMB_CAESAR_DECLARE(otr_192)

#define AESCOMB_CAESAR_KEYBYTES_otr_256 32
#define AESCOMB_CAESAR_NPUBBYTES_otr_256 12
#define AESCOMB_CAESAR_ABYTES_otr_256 16
AESCOMB_CAESAR_DECLARE(otr_256)

#define AESCOMB_CAESAR_KEYBYTES_copa_128 16
#define AESCOMB_CAESAR_NPUBBYTES_copa_128 16
#define AESCOMB_CAESAR_ABYTES_copa_128 33
AESCOMB_CAESAR_DECLARE(copa_128)

#define AESCOMB_CAESAR_KEYBYTES_pmac_ctr_128 16
#define AESCOMB_CAESAR_NPUBBYTES_pmac_ctr_128 16
#define AESCOMB_CAESAR_ABYTES_pmac_ctr_128 16
AESCOMB_CAESAR_DECLARE(pmac_ctr_128)

#define AESCOMB_CAESAR_KEYBYTES_cobra_128 16
#define AESCOMB_CAESAR_NPUBBYTES_cobra_128 16
#define AESCOMB_CAESAR_ABYTES_cobra_128 16
AESCOMB_CAESAR_DECLARE(cobra_128)

#define AESCOMB_CAESAR_KEYBYTES_cpfb_128 16
#define AESCOMB_CAESAR_NPUBBYTES_cpfb_128 12
#define AESCOMB_CAESAR_ABYTES_cpfb_128 16
AESCOMB_CAESAR_DECLARE(cpfb_128)

#define AESCOMB_CAESAR_KEYBYTES_cpfb_256 32
#define AESCOMB_CAESAR_NPUBBYTES_cpfb_256 12
#define AESCOMB_CAESAR_ABYTES_cpfb_256 16
AESCOMB_CAESAR_DECLARE(cpfb_256)

#define AESCOMB_CAESAR_KEYBYTES_silver_128 16
#define AESCOMB_CAESAR_NPUBBYTES_silver_128 16
#define AESCOMB_CAESAR_ABYTES_silver_128 16
AESCOMB_CAESAR_DECLARE(silver_128)

#ifdef AESCOMB_CAESAR_MODE
#define AESCOMB_CAESAR_PASTE_(a, mode, b) a##mode##b
#define AESCOMB_CAESAR_PASTE(a, mode, b) AESCOMB_CAESAR_PASTE_(a, mode, b)
#define CRYPTO_KEYBYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_KEYBYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_NSECBYTES 0
#define CRYPTO_NPUBBYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_NPUBBYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_ABYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_ABYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_NOOVERLAP 1

#ifdef AESCOMB_CAESAR_DEFINE
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k);
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k) {
    return AESCOMB_CAESAR_PASTE(aescomb_caesar_, AESCOMB_CAESAR_MODE, _encrypt)(
        c, clen, m, mlen, ad, adlen, nsec, npub, k);
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k);
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k) {
    return AESCOMB_CAESAR_PASTE(aescomb_caesar_, AESCOMB_CAESAR_MODE, _decrypt)(
        m, mlen, nsec, c, clen, ad, adlen, npub, k);
}
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
