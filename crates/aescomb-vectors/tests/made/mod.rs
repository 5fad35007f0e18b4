//! Files in the forms of NIST's programs, of which the repository has no samples: their answers
//! are the oracle's. Names and layout are those that CAVP and ACVP write.

use std::fmt::Write;

/// A file, and what a reader must find in it.
pub struct Made {
    pub name: String,
    pub text: String,
    /// The answers of a `prompt.json`.
    pub expected: Option<String>,
    pub mode: &'static str,
    pub vectors: usize,
    /// Of these, those that must be refused.
    pub refused: usize,
    /// Of these, chains of Monte Carlo tests.
    pub chains: usize,
    /// Beside these, tests that nothing can be done with.
    pub left_out: usize,
}

impl Made {
    fn new(name: impl Into<String>, mode: &'static str) -> Made {
        Made {
            name: name.into(),
            text: String::new(),
            expected: None,
            mode,
            vectors: 0,
            refused: 0,
            chains: 0,
            left_out: 0,
        }
    }

    fn add(&mut self, text: impl AsRef<str>) {
        self.text += text.as_ref();
        self.text.push('\n');
    }
}

/// Bytes that look random and are always the same.
struct Draw(u64);

impl Draw {
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut byte = || {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 56) as u8
        };
        (0..len).map(|_| byte()).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// As CCM's and CMAC's files write what has no bytes.
fn or_zero(bytes: &[u8]) -> String {
    match bytes.is_empty() {
        true => "00".into(),
        false => hex(bytes),
    }
}

/// Wrong in one bit.
fn flipped(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    bytes
}

pub const KEYS: [usize; 3] = [16, 24, 32];

/// All files.
pub fn files() -> Vec<Made> {
    let mut files = vec![];
    for key in KEYS {
        files.extend(ccm(key));
        files.extend([
            cmac(key, false),
            cmac(key, true),
            gcm(key, false),
            gcm(key, true),
        ]);
        for mode in ["ecb", "cbc", "cfb128", "ofb"] {
            files.push(monte_carlo(mode, key));
        }
        if key != 24 {
            files.push(xts(key));
        }
    }
    for mode in ["ecb", "cbc", "cfb128", "ofb", "ctr", "xts"] {
        files.push(acvp_cipher(mode));
    }
    for mode in ["ccm", "gcm", "gcm-siv", "gmac", "cmac"] {
        files.push(acvp_tags(mode));
    }
    files.push(acvp_prompt());
    files
}

fn seal(
    mode: &str,
    key: &[u8],
    nonce: &[u8],
    data: &[u8],
    text: &[u8],
    tag: usize,
) -> (Vec<u8>, Vec<u8>) {
    let sealed = aescomb_ref::seal(mode, key, nonce, &[data], text, tag).expect("good lengths");
    (sealed.text, sealed.tag)
}

/// CCM's five kinds of file.
fn ccm(key_bytes: usize) -> Vec<Made> {
    let bits = 8 * key_bytes;
    let mut draw = Draw(bits as u64);
    let mut files = vec![];
    // What varies; Alen, Plen, Nlen, Tlen of the others.
    for (kind, lens) in [
        ("VADT", [0, 24, 13, 16]),
        ("VNT", [32, 24, 7, 16]),
        ("VPT", [32, 0, 13, 16]),
        ("VTT", [32, 24, 13, 4]),
        ("DVPT", [0, 0, 7, 4]),
    ] {
        let mut made = Made::new(format!("{kind}{bits}.rsp"), "ccm");
        made.add("#  CAVS 11.0");
        made.add(format!("#  \"CCM-{kind}\" information"));
        made.add(format!("#  AES Keylen: {bits}\n"));
        let names = ["Alen", "Plen", "Nlen", "Tlen"];
        let varies = ["VADT", "VPT", "VNT", "VTT"]
            .iter()
            .position(|k| *k == kind);
        if let Some(varies) = varies {
            for i in (0..4).filter(|i| *i != varies) {
                made.add(format!("{} = {}", names[i], lens[i]));
            }
            made.add("");
        }
        let mut count = 0;
        for step in 0..3 {
            let [alen, plen, nlen, tlen] = match varies {
                Some(varies) => {
                    let mut lens = lens;
                    lens[varies] += [step, step, step, 2 * step][varies];
                    made.add(format!("[{} = {}]\n", names[varies], lens[varies]));
                    lens
                }
                None => {
                    let lens = [16 * step, 8 * step, 7 + step, 4 + 6 * step];
                    let said: Vec<_> = (0..4)
                        .map(|i| format!("{} = {}", names[i], lens[i]))
                        .collect();
                    made.add(format!("[{}]\n", said.join(", ")));
                    lens
                }
            };
            let (key, shared) = (draw.bytes(key_bytes), draw.bytes(nlen));
            made.add(format!("Key = {}", hex(&key)));
            // VADT and VPT have a nonce for all of a section.
            let shares = ["VADT", "VPT", "VTT"].contains(&kind);
            if shares {
                made.add(format!("Nonce = {}", hex(&shared)));
            }
            made.add("");
            for i in 0..4 {
                let nonce = if shares {
                    shared.clone()
                } else {
                    draw.bytes(nlen)
                };
                let (data, text) = (draw.bytes(alen), draw.bytes(plen));
                let (ct, tag) = seal("ccm", &key, &nonce, &data, &text, tlen);
                let forged = kind == "DVPT" && i % 2 == 1;
                let out = [ct, tag].concat();
                let out = if forged { flipped(out) } else { out };
                made.add(format!("Count = {count}"));
                if !shares {
                    made.add(format!("Nonce = {}", hex(&nonce)));
                }
                made.add(format!("Adata = {}", or_zero(&data)));
                if kind == "DVPT" {
                    made.add(format!("CT = {}", hex(&out)));
                    let result = if forged { "Fail" } else { "Pass" };
                    made.add(format!("Result = {result}"));
                }
                if !forged {
                    made.add(format!("Payload = {}", or_zero(&text)));
                }
                if kind != "DVPT" {
                    made.add(format!("CT = {}", hex(&out)));
                }
                made.add("");
                count += 1;
                made.vectors += 1;
                made.refused += usize::from(forged);
            }
        }
        files.push(made);
    }
    files
}

fn cmac(key_bytes: usize, verify: bool) -> Made {
    let bits = 8 * key_bytes;
    let kind = if verify { "Ver" } else { "Gen" };
    let mut draw = Draw(17 + bits as u64);
    let mut made = Made::new(format!("CMAC{kind}AES{bits}.rsp"), "cmac");
    made.add(format!("#  CAVS 11.0\n#  \"CMAC{kind}\" information\n"));
    for (i, (mlen, tlen)) in [(0, 4), (0, 16), (16, 8), (33, 12), (64, 16)]
        .into_iter()
        .enumerate()
    {
        for forged in [false, true] {
            if forged && !verify {
                continue;
            }
            let (key, text) = (draw.bytes(key_bytes), draw.bytes(mlen));
            let mut tag = aescomb_ref::mac("cmac", &key, &[], &text).expect("a good key");
            tag.truncate(tlen);
            let tag = if forged { flipped(tag) } else { tag };
            made.add(format!(
                "Count = {i}\nKlen = {key_bytes}\nMlen = {mlen}\nTlen = {tlen}"
            ));
            made.add(format!(
                "Key = {}\nMsg = {}\nMac = {}",
                hex(&key),
                or_zero(&text),
                hex(&tag)
            ));
            if verify {
                made.add(match forged {
                    true => "Result = F (3 - MAC changed)",
                    false => "Result = P",
                });
            }
            made.add("");
            made.vectors += 1;
            made.refused += usize::from(forged);
        }
    }
    made
}

fn gcm(key_bytes: usize, decrypt: bool) -> Made {
    let bits = 8 * key_bytes;
    let kind = if decrypt { "Decrypt" } else { "EncryptExtIV" };
    let mut draw = Draw(29 + bits as u64);
    let mut made = Made::new(format!("gcm{kind}{bits}.rsp"), "gcm");
    made.add(format!(
        "# CAVS 14.0\n# GCM {kind} with keysize {bits} test information\n"
    ));
    for (ivlen, ptlen, aadlen, taglen) in [(12, 0, 0, 16), (1, 13, 20, 4), (16, 32, 0, 12)] {
        made.add(format!(
            "[Keylen = {bits}]\n[IVlen = {}]\n[PTlen = {}]",
            8 * ivlen,
            8 * ptlen
        ));
        made.add(format!(
            "[AADlen = {}]\n[Taglen = {}]\n",
            8 * aadlen,
            8 * taglen
        ));
        for i in 0..3 {
            let (key, iv) = (draw.bytes(key_bytes), draw.bytes(ivlen));
            let (text, data) = (draw.bytes(ptlen), draw.bytes(aadlen));
            let (ct, tag) = seal("gcm", &key, &iv, &data, &text, taglen);
            let forged = decrypt && i == 1;
            let tag = if forged { flipped(tag) } else { tag };
            let (key, iv, text) = (hex(&key), hex(&iv), hex(&text));
            let (ct, data, tag) = (hex(&ct), hex(&data), hex(&tag));
            made.add(format!("Count = {i}\nKey = {key}\nIV = {iv}"));
            made.add(match (decrypt, forged) {
                (false, _) => format!("PT = {text}\nAAD = {data}\nCT = {ct}\nTag = {tag}\n"),
                (true, false) => format!("CT = {ct}\nAAD = {data}\nTag = {tag}\nPT = {text}\n"),
                (true, true) => format!("CT = {ct}\nAAD = {data}\nTag = {tag}\nFAIL\n"),
            });
            made.vectors += 1;
            made.refused += usize::from(forged);
        }
    }
    made
}

fn xts(key_bytes: usize) -> Made {
    let bits = 8 * key_bytes;
    let mut draw = Draw(31 + bits as u64);
    let mut made = Made::new(format!("XTSGenAES{bits}.rsp"), "xts");
    made.add(format!("#  CAVS 11.0\n#  XTSGen information\n#  AES{bits}"));
    for heading in ["[ENCRYPT]", "[DECRYPT]"] {
        made.add(format!("\n{heading}\n"));
        for (i, len) in [128, 200, 130].into_iter().enumerate() {
            let (key, tweak) = (draw.bytes(2 * key_bytes), draw.bytes(16));
            let text = draw.bytes(usize::div_ceil(len, 8));
            made.add(format!(
                "COUNT = {i}\nDataUnitLen = {len}\nKey = {}\ni = {}",
                hex(&key),
                hex(&tweak)
            ));
            let ct = aescomb_ref::encrypt("xts", &key, &tweak, &text).expect("good lengths");
            let (pt, ct) = (format!("PT = {}", hex(&text)), format!("CT = {}", hex(&ct)));
            made.add(match heading {
                "[ENCRYPT]" => format!("{pt}\n{ct}\n"),
                _ => format!("{ct}\n{pt}\n"),
            });
            match len % 8 {
                0 => made.vectors += 1,
                _ => made.left_out += 1,
            }
        }
    }
    made
}

/// Keys, IVs, inputs and results of a chain, by the pseudocode of the AESAVS.
pub fn chain(
    mode: &str,
    decrypt: bool,
    results: usize,
    draw_from: u64,
    key: usize,
) -> Vec<[Vec<u8>; 4]> {
    let mut draw = Draw(draw_from);
    let mut key = draw.bytes(key);
    let mut iv = if mode == "ecb" {
        vec![]
    } else {
        draw.bytes(16)
    };
    let mut input = draw.bytes(16);
    let run = if decrypt {
        aescomb_ref::decrypt
    } else {
        aescomb_ref::encrypt
    };
    let mut chain = vec![];
    for _ in 0..results {
        let begin = [key.clone(), iv.clone(), input.clone()];
        let mut feedback = iv.clone();
        let mut outputs: Vec<Vec<u8>> = vec![];
        for j in 0..1000 {
            let output = run(mode, &key, &feedback, &input).expect("good lengths");
            feedback = match (mode, decrypt) {
                ("ecb", _) => vec![],
                ("ofb", _) => input.iter().zip(&output).map(|(a, b)| a ^ b).collect(),
                (_, false) => output.clone(),
                (_, true) => input.clone(),
            };
            input = match (mode, j) {
                ("ecb", _) => output.clone(),
                (_, 0) => iv.clone(),
                _ => outputs[j - 1].clone(),
            };
            outputs.push(output);
        }
        let last = outputs[999].clone();
        let stream = [&outputs[998][..], &last].concat();
        let stream = &stream[32 - key.len()..];
        let [old_key, old_iv, old_input] = begin;
        key = old_key.iter().zip(stream).map(|(a, b)| a ^ b).collect();
        if mode != "ecb" {
            iv = last.clone();
        }
        chain.push([old_key, old_iv, old_input, last]);
    }
    chain
}

/// Results of a chain that files of these tests have here; NIST's have 100.
const RESULTS: usize = 3;

fn monte_carlo(mode: &'static str, key: usize) -> Made {
    let name = mode.to_uppercase();
    let mut made = Made::new(format!("{name}MCT{}.rsp", 8 * key), mode);
    made.add("# CAVS 11.1\n# Config info for aes_values");
    made.add(format!("# AESVS MCT test data for {name}"));
    made.add(format!(
        "# State : Encrypt and Decrypt\n# Key Length : {}",
        8 * key
    ));
    for decrypt in [false, true] {
        made.add(format!(
            "\n[{}]\n",
            if decrypt { "DECRYPT" } else { "ENCRYPT" }
        ));
        for (i, link) in chain(mode, decrypt, RESULTS, key as u64, key)
            .iter()
            .enumerate()
        {
            let [key, iv, input, output] = link.each_ref().map(|bytes| hex(bytes));
            made.add(format!("COUNT = {i}\nKEY = {key}"));
            if mode != "ecb" {
                made.add(format!("IV = {iv}"));
            }
            made.add(match decrypt {
                false => format!("PLAINTEXT = {input}\nCIPHERTEXT = {output}\n"),
                true => format!("CIPHERTEXT = {input}\nPLAINTEXT = {output}\n"),
            });
            made.vectors += 1;
            made.chains += 1;
        }
    }
    made
}

/// A member of JSON.
fn member(name: &str, bytes: &[u8]) -> String {
    format!("\"{name}\": \"{}\"", hex(bytes).to_uppercase())
}

/// A group's head: all but its tests.
fn group(made: &mut Made, id: usize, members: &str) {
    let comma = if id > 1 { "]},\n" } else { "" };
    let _ = writeln!(
        made.text,
        "{comma}{{\"tgId\": {id}, {members}, \"tests\": ["
    );
}

fn test(made: &mut Made, members: &[String]) {
    let id = made.text.matches("tcId").count() + 1;
    let comma = if made.text.ends_with("}\n") {
        ",\n"
    } else {
        ""
    };
    let _ = writeln!(
        made.text,
        "{comma}{{\"tcId\": {id},\n{}}}",
        members.join(",\n")
    );
}

fn acvp_cipher(mode: &'static str) -> Made {
    let name = format!("ACVP-AES-{}", mode.to_uppercase());
    let mut made = Made::new(format!("{name}-1.0/internalProjection.json"), mode);
    made.add(format!(
        "{{\"vsId\": 42, \"algorithm\": \"{name}\", \"revision\": \"1.0\", \"testGroups\": ["
    ));
    let mut draw = Draw(47);
    let mut id = 0;
    for decrypt in [false, true] {
        let direction = if decrypt { "decrypt" } else { "encrypt" };
        for key_bytes in KEYS {
            let bits = 8 * key_bytes;
            if mode == "xts" && key_bytes == 24 {
                continue;
            }
            id += 1;
            let head = format!("\"direction\": \"{direction}\", \"keyLen\": {bits}");
            group(&mut made, id, &format!("\"testType\": \"AFT\", {head}"));
            for len in [16, 48, 160] {
                let key = draw.bytes(if mode == "xts" {
                    2 * key_bytes
                } else {
                    key_bytes
                });
                let text = draw.bytes(len);
                let number = 1000 * id + len;
                let iv = match mode {
                    "ecb" => vec![],
                    "xts" => (number as u128).to_le_bytes().to_vec(),
                    _ => draw.bytes(16),
                };
                let ct = aescomb_ref::encrypt(mode, &key, &iv, &text).expect("good lengths");
                let mut members = vec![member("pt", &text), member("ct", &ct), member("key", &key)];
                match mode {
                    "ecb" => {}
                    "xts" if len == 16 => members.push(member("tweakValue", &iv)),
                    "xts" => members.push(format!("\"sequenceNumber\": {number}")),
                    _ => members.push(member("iv", &iv)),
                }
                if ["ctr", "xts"].contains(&mode) {
                    members.push(format!("\"payloadLen\": {}", 8 * len));
                }
                test(&mut made, &members);
                made.vectors += 1;
            }
            if ["ctr", "xts"].contains(&mode) {
                // No whole bytes.
                let block = member("pt", &draw.bytes(16));
                let key = member("key", &draw.bytes(key_bytes));
                test(&mut made, &[block, key, "\"payloadLen\": 125".into()]);
                made.left_out += 1;
            }
            id += 1;
            if mode == "ctr" {
                group(
                    &mut made,
                    id,
                    &format!("\"testType\": \"CTR\", {head}, \"incremental\": true"),
                );
                test(
                    &mut made,
                    &[member("pt", &draw.bytes(64)), "\"payloadLen\": 512".into()],
                );
                made.left_out += 1;
            } else if mode == "xts" {
                // Three data units of 32 bytes, and a piece.
                group(
                    &mut made,
                    id,
                    &format!("\"testType\": \"AFT\", {head}, \"dataUnitLen\": 256"),
                );
                let (key, text) = (draw.bytes(2 * key_bytes), draw.bytes(112));
                let mut ct = vec![];
                for (i, unit) in text.chunks(32).enumerate() {
                    let tweak = (255 + i as u128).to_le_bytes();
                    ct.extend(
                        aescomb_ref::encrypt(mode, &key, &tweak, unit).expect("good lengths"),
                    );
                }
                let members = [member("pt", &text), member("ct", &ct), member("key", &key)];
                let number = ["\"sequenceNumber\": 255, \"payloadLen\": 896".into()];
                test(&mut made, &[&members[..], &number[..]].concat());
                made.vectors += 4;
            } else {
                group(&mut made, id, &format!("\"testType\": \"MCT\", {head}"));
                let results: Vec<String> = chain(mode, decrypt, RESULTS, id as u64, key_bytes)
                    .iter()
                    .map(|[key, iv, input, output]| {
                        let (pt, ct) = if decrypt {
                            (output, input)
                        } else {
                            (input, output)
                        };
                        let mut members =
                            vec![member("key", key), member("pt", pt), member("ct", ct)];
                        if mode != "ecb" {
                            members.push(member("iv", iv));
                        }
                        format!("{{{}}}", members.join(", "))
                    })
                    .collect();
                test(
                    &mut made,
                    &[format!("\"resultsArray\": [{}]", results.join(", "))],
                );
                made.vectors += RESULTS;
                made.chains += RESULTS;
            }
        }
    }
    made.add("]}]}");
    made
}

fn acvp_tags(mode: &'static str) -> Made {
    let name = match mode {
        "cmac" => "CMAC-AES".to_owned(),
        mode => format!("ACVP-AES-{}", mode.to_uppercase()),
    };
    let mut made = Made::new(format!("{name}-1.0/internalProjection.json"), mode);
    // As the protocol sends it, with its version in front.
    made.add("[{\"acvVersion\": \"1.0\"},");
    made.add(format!(
        "{{\"vsId\": 42, \"algorithm\": \"{name}\", \"revision\": \"1.0\", \"testGroups\": ["
    ));
    let mut draw = Draw(53);
    let mut id = 0;
    for open in [false, true] {
        let direction = match (mode, open) {
            ("cmac", false) => "gen",
            ("cmac", true) => "ver",
            (_, false) => "encrypt",
            (_, true) => "decrypt",
        };
        for (i, key_bytes) in KEYS.into_iter().enumerate() {
            if mode == "gcm-siv" && key_bytes == 24 {
                continue;
            }
            id += 1;
            let iv_len = [12, 12, 12][i];
            let tag_len = if mode == "gcm-siv" {
                16
            } else {
                [8, 12, 16][i]
            };
            // GMAC has no text, CMAC no associated data.
            let text_len = if mode == "gmac" { 0 } else { [0, 31, 120][i] };
            let data_len = if mode == "cmac" { 0 } else { [0, 15, 65][i] };
            let bits = 8 * key_bytes;
            let lens = match mode {
                "cmac" => format!("\"msgLen\": {}, \"macLen\": {}", 8 * text_len, 8 * tag_len),
                _ => format!(
                    "\"ivLen\": {}, \"payloadLen\": {}, \"aadLen\": {}, \"tagLen\": {}",
                    8 * iv_len,
                    8 * text_len,
                    8 * data_len,
                    8 * tag_len
                ),
            };
            let iv_gen = if i == 2 && !open {
                "internal"
            } else {
                "external"
            };
            let head = format!(
                "\"direction\": \"{direction}\", \"ivGen\": \"{iv_gen}\", \"keyLen\": {bits}"
            );
            group(
                &mut made,
                id,
                &format!("\"testType\": \"AFT\", {head}, {lens}"),
            );
            for forged in [false, true] {
                if forged && !open {
                    continue;
                }
                let (key, iv) = (draw.bytes(key_bytes), draw.bytes(iv_len));
                let (text, data) = (draw.bytes(text_len), draw.bytes(data_len));
                let (ct, tag) = match mode {
                    "cmac" => (
                        vec![],
                        aescomb_ref::mac(mode, &key, &[], &text).expect("a good key"),
                    ),
                    "gmac" => (
                        vec![],
                        aescomb_ref::mac(mode, &key, &iv, &data).expect("good lengths"),
                    ),
                    _ => seal(mode, &key, &iv, &data, &text, tag_len),
                };
                let tag = tag[..tag_len].to_vec();
                let tag = if forged { flipped(tag) } else { tag };
                let mut members = vec![member("key", &key)];
                members.extend(match mode {
                    "cmac" => vec![member("message", &text), member("mac", &tag)],
                    "ccm" | "gcm-siv" => vec![
                        member("iv", &iv),
                        member("aad", &data),
                        member("pt", &text),
                        member("ct", &[ct, tag].concat()),
                    ],
                    _ => vec![
                        member("iv", &iv),
                        member("aad", &data),
                        member("pt", &text),
                        member("ct", &ct),
                        member("tag", &tag),
                    ],
                });
                if open {
                    members.push(format!("\"testPassed\": {}", !forged));
                }
                test(&mut made, &members);
                made.vectors += 1;
                made.refused += usize::from(forged);
            }
            if iv_gen == "internal" && mode == "gcm" {
                // Whose nonce is not known before.
                let members = [
                    member("key", &draw.bytes(key_bytes)),
                    member("pt", &draw.bytes(text_len)),
                ];
                test(&mut made, &members);
                made.left_out += 1;
            }
        }
    }
    made.add("]}]}]");
    made
}

/// Questions and answers apart.
fn acvp_prompt() -> Made {
    let mut made = Made::new("ACVP-AES-GCM-1.0/prompt.json", "gcm");
    let head =
        "{\"vsId\": 42, \"algorithm\": \"ACVP-AES-GCM\", \"revision\": \"1.0\", \"testGroups\": [";
    made.add(head);
    let mut expected = head.to_owned() + "{\"tgId\": 1, \"tests\": [";
    let mut draw = Draw(59);
    group(
        &mut made,
        1,
        "\"testType\": \"AFT\", \"direction\": \"decrypt\", \"keyLen\": 128, \"tagLen\": 128",
    );
    for forged in [false, true] {
        let (key, iv, text) = (draw.bytes(16), draw.bytes(12), draw.bytes(40));
        let (ct, tag) = seal("gcm", &key, &iv, &[], &text, 16);
        let tag = if forged { flipped(tag) } else { tag };
        let members = [
            member("key", &key),
            member("iv", &iv),
            member("ct", &ct),
            member("tag", &tag),
        ];
        test(&mut made, &members);
        expected += &match forged {
            false => format!("{{\"tcId\": 1, {}}},", member("pt", &text)),
            true => "{\"tcId\": 2, \"testPassed\": false}]}]}".into(),
        };
        made.vectors += 1;
        made.refused += usize::from(forged);
    }
    made.add("]}]}");
    made.expected = Some(expected);
    made
}
