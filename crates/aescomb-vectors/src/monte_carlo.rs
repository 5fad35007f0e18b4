//! Monte Carlo tests (MCT) of ECB, CBC, CFB128 and OFB, as the AESAVS has them, section 6.4,
//! and ACVP after it.
//!
//! Each vector says where a chain of a thousand blocks begins and what the last one becomes.
//! Input and IV of a block are made of the results before it, and from the chain's end key, IV
//! and input of the next vector are made. So a hundred vectors are one chain of a hundred
//! thousand blocks, but as all of them say where they begin, they can be run side by side.

use crate::mode::Mode;
use crate::{Direction, Fault, MonteCarlo, Problem, Vector};

/// Blocks of a chain.
pub const STEPS: usize = 1000;

type Block = [u8; 16];

/// A vector's chain: blocks are asked for and given back one at a time.
#[derive(Clone, Debug)]
pub struct Chain {
    feedback: Feedback,
    key: Vec<u8>,
    /// What stands for the result of the block before the first one.
    iv: Block,
    /// IV of the next block.
    chain: Block,
    input: Block,
    /// The last two results.
    outputs: [Block; 2],
    done: usize,
}

/// What the IV of the next block is.
#[derive(Clone, Copy, Debug)]
enum Feedback {
    /// There is none.
    None,
    /// The block that was put in.
    Input,
    /// The block that came out.
    Output,
    /// Their difference, the key stream.
    Stream,
}

/// How a chain goes on in the next vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What the last block has become.
    pub output: Block,
    /// Key of the next vector.
    pub key: Vec<u8>,
    /// Its IV, empty in a mode that has none.
    pub nonce: Vec<u8>,
    /// Its input.
    pub input: Block,
}

/// Whether there are such tests of a mode.
pub(crate) fn known(mode: &Mode) -> Result<(), Fault> {
    match mode.name {
        "ecb" | "cbc" | "cfb128" | "ofb" => Ok(()),
        name => Err(Problem::Format(format!("there is no Monte Carlo test of {name}")).into()),
    }
}

impl Chain {
    /// The beginning of a vector's chain; `None` if the vector has none, or is not of one block
    /// and an IV of a block.
    pub fn new(vector: &Vector) -> Option<Chain> {
        let MonteCarlo { direction, .. } = vector.monte_carlo?;
        let feedback = match (vector.mode.name, direction) {
            ("ecb", _) => Feedback::None,
            ("cbc" | "cfb128", Direction::Encrypt) => Feedback::Output,
            ("cbc" | "cfb128", Direction::Decrypt) => Feedback::Input,
            ("ofb", _) => Feedback::Stream,
            _ => return None,
        };
        let iv = match feedback {
            Feedback::None if vector.nonce.is_empty() => Block::default(),
            _ => vector.nonce.as_slice().try_into().ok()?,
        };
        Some(Chain {
            feedback,
            key: vector.key.clone(),
            iv,
            chain: iv,
            input: vector.input().try_into().ok()?,
            outputs: Default::default(),
            done: 0,
        })
    }

    /// IV of the next block, empty in a mode that has none.
    pub fn nonce(&self) -> &[u8] {
        match self.feedback {
            Feedback::None => &[],
            _ => &self.chain,
        }
    }

    /// The next block.
    pub fn input(&self) -> &Block {
        &self.input
    }

    /// Takes what the next block has become.
    pub fn push(&mut self, output: Block) {
        let next = match (self.feedback, self.done) {
            (Feedback::None, _) => output,
            (_, 0) => self.iv,
            _ => self.outputs[1],
        };
        self.chain = match self.feedback {
            Feedback::None => self.chain,
            Feedback::Input => self.input,
            Feedback::Output => output,
            Feedback::Stream => std::array::from_fn(|i| self.input[i] ^ output[i]),
        };
        self.input = next;
        self.outputs = [self.outputs[1], output];
        self.done += 1;
    }

    /// The end of the chain, where the next vector begins.
    pub fn end(&self) -> End {
        let [before, output] = self.outputs;
        // The last bytes that came out, as many as the key has.
        let stream = [before, output].concat();
        let stream = &stream[stream.len() - self.key.len().min(stream.len())..];
        End {
            output,
            key: self.key.iter().zip(stream).map(|(k, s)| k ^ s).collect(),
            nonce: match self.feedback {
                Feedback::None => Vec::new(),
                _ => output.to_vec(),
            },
            input: self.input,
        }
    }
}

impl Vector {
    /// What its direction puts in: the message, or the ciphertext in a Monte Carlo test of
    /// decryption.
    pub fn input(&self) -> &[u8] {
        match self.monte_carlo {
            Some(MonteCarlo {
                direction: Direction::Decrypt,
                ..
            }) => &self.ct,
            _ => &self.msg,
        }
    }

    /// What comes out: the other one.
    pub fn output(&self) -> &[u8] {
        match self.monte_carlo {
            Some(MonteCarlo {
                direction: Direction::Decrypt,
                ..
            }) => &self.msg,
            _ => &self.ct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, IV, plaintext and ciphertext.
    type Line = [&'static str; 4];

    fn vector(mode: &str, direction: Direction, line: Line) -> Vector {
        let [key, nonce, msg, ct] = line.map(|digits| hex::decode(digits).unwrap());
        Vector {
            id: String::new(),
            line: None,
            mode: Mode::named(mode).unwrap(),
            key,
            nonce,
            data: Vec::new(),
            msg,
            ct,
            tag: Vec::new(),
            refused: false,
            monte_carlo: Some(MonteCarlo {
                direction,
                follows: false,
            }),
        }
    }

    fn run(vector: &Vector) -> End {
        let mut chain = Chain::new(vector).unwrap();
        let run = match vector.monte_carlo.unwrap().direction {
            Direction::Encrypt => aescomb_ref::encrypt,
            Direction::Decrypt => aescomb_ref::decrypt,
        };
        for _ in 0..STEPS {
            let output = run(vector.mode.name, &vector.key, chain.nonce(), chain.input());
            chain.push(output.unwrap().try_into().unwrap());
        }
        chain.end()
    }

    /// Neighbouring results of NIST's samples, `gen-val/json-files/ACVP-AES-*-1.0` of
    /// <https://github.com/usnistgov/ACVP-Server>.
    #[test]
    fn published_chains() {
        use Direction::{Decrypt, Encrypt};
        let lines: &[(&str, Direction, Line, Line)] = &[
            (
                "cbc",
                Encrypt,
                [
                    "8EF1539EDF496E11260ADE49A9652004",
                    "7F99870BE17CCB06AC611AFE7676056B",
                    "DA97D5EC7C0F1B7477F20ABF45C0E0A0",
                    "6FFAC6E18E418D569E2DB7B36B46A9A9",
                ],
                [
                    "E10B957F5108E347B82769FAC22389AD",
                    "6FFAC6E18E418D569E2DB7B36B46A9A9",
                    "035677BBE20BAFC4366FB5F9FC5FDAC8",
                    "B56204321AB128CF60B2C2C55197CFAC",
                ],
            ),
            (
                "cbc",
                Encrypt,
                [
                    "037303AD6A716308D5624490880BB686C54B66007A03598A",
                    "3CD16382B8604839753B7545B33B2A18",
                    "F89A4A77E61944042A0545356337B231",
                    "AC967ED9C4C8A4B95628391C106CA983",
                ],
                [
                    "36E7A606B47E724479F43A494CC3123F93635F1C6A6FF009",
                    "AC967ED9C4C8A4B95628391C106CA983",
                    "0440D31CBBF57EC53594A5ABDE0F114C",
                    "F19601359504A624D966446D1648EF74",
                ],
            ),
            (
                "cbc",
                Decrypt,
                [
                    "BD1615EA6DD815316DE89966FB6485922AAC6D6EFA6448B96412D2734195DF02",
                    "85D99429F5B4E067BEE4AE6DC3C2A461",
                    "071BCC62F7449E8F206600F615E7B5B2",
                    "7428C70F7F073A511987B92627E8D640",
                ],
                [
                    "F22C753D5D1E5BBBEAAA5E310E3AFCF02DB7A10C0D20D6364474D28554726AB0",
                    "071BCC62F7449E8F206600F615E7B5B2",
                    "526FCD5A8C3C81233721389C3D9D57CA",
                    "4F3A60D730C64E8A8742C757F55E7962",
                ],
            ),
            (
                "ofb",
                Decrypt,
                [
                    "DF2BADF4965B5CADD35E40BF7E0F766A50C1833AFDDDF31023F12275B3297B66",
                    "F68003C0D617B90894D949254FD1DBFB",
                    "81801432127A2A03C5B063381DF802CF",
                    "22C8D6AB399149B7E6297C953983027D",
                ],
                [
                    "152329AE085BA0FC0409FA5B963A2E00D1419708EFA7D913E641414DAED179A9",
                    "81801432127A2A03C5B063381DF802CF",
                    "874078FF69DA619DF25AB9EE8B16FCEF",
                    "CA08845A9E00FC51D757BAE4E835586A",
                ],
            ),
            (
                "cfb128",
                Decrypt,
                [
                    "02503E1B9FAE23D8DA1E2CDE70EA837B74974129D2053449F4692E4784378840",
                    "296B31105DB513B03C57F2BA7D618B61",
                    "A960923E310810BC5B9B76E9443D0735",
                    "209BBED6D4A70BF106FF725777B75D52",
                ],
                [
                    "49D1257F2DECD32DE9517808C8E487F0DDF7D317E30D24F5AFF258AEC00A8F75",
                    "A960923E310810BC5B9B76E9443D0735",
                    "214CC581EE474E5AD708D1F96B8F3857",
                    "4B811B64B242F0F5334F54D6B80E048B",
                ],
            ),
            (
                "ecb",
                Decrypt,
                [
                    "3E264AC76C47D4DEFA5E3445D8EEFFE1EF9865746D0C45960FCF5CFFB5C187A2",
                    "",
                    "C69F3040F646873B6CF2694AAF2000EA",
                    "D33E3F7FB8C9B4FBC89C075BA5CE65FE",
                ],
                [
                    "5646E711055E81127F34D4B433262129290755349B4AC2AD633D35B51AE18748",
                    "",
                    "36DBEF5B390FE6981297A4A064898E73",
                    "C69F3040F646873B6CF2694AAF2000EA",
                ],
            ),
        ];
        for (mode, direction, first, second) in lines {
            let first = vector(mode, *direction, *first);
            let second = vector(mode, *direction, *second);
            let end = run(&first);
            assert_eq!(end.output, first.output(), "{mode}");
            assert_eq!(end.key, second.key, "{mode}");
            assert_eq!(end.nonce, second.nonce, "{mode}");
            assert_eq!(end.input, second.input(), "{mode}");
            assert_eq!(run(&second).output, second.output(), "{mode}");
        }
    }

    #[test]
    fn what_has_no_chain() {
        let line = ["00", "", "00", "00"];
        let mut vector = vector("ecb", Direction::Encrypt, line);
        assert!(Chain::new(&vector).is_none());
        vector.msg = vec![0; 16];
        assert!(Chain::new(&vector).is_some());
        vector.mode = Mode::named("cbc").unwrap();
        assert!(Chain::new(&vector).is_none());
        vector.monte_carlo = None;
        assert!(Chain::new(&vector).is_none());
    }
}
