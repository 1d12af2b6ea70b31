//! Tests that every kind of check finds every kind of damage.

use super::*;
use crate::op::OpKind;

const KINDS: [VerifyKind; 15] = [
    VerifyKind::Crc7,
    VerifyKind::Crc16,
    VerifyKind::Crc32,
    VerifyKind::Crc32c,
    VerifyKind::Crc64,
    VerifyKind::Xxhash,
    VerifyKind::Md5,
    VerifyKind::Sha1,
    VerifyKind::Sha256,
    VerifyKind::Sha512,
    VerifyKind::Sha3Of224,
    VerifyKind::Sha3Of256,
    VerifyKind::Sha3Of384,
    VerifyKind::Sha3Of512,
    VerifyKind::Meta,
];

fn verify(kind: VerifyKind) -> Verify {
    Verify { kind, ..fsdyno_job::draft::Draft::default().written.verify }
}

fn seal(verify: &Verify) -> Seal {
    Seal::new(verify, &Content::default(), None, 1, 77)
}

/// A content that leaves the data as they are.
const KEPT: Content =
    Content { zero: true, refill: false, scramble: false, pattern: None, compress: None, dedupe: None };

fn content() -> Vec<u8> {
    (0..4096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn words(seal: &mut Seal, buffer: &[u8], expected: Expected) -> String {
    let request = Op { offset: 8192, length: 4096, file: 0, kind: OpKind::Read, priority: 0 };
    match seal.check(&mut buffer.to_vec(), 8192, expected) {
        Ok(()) => String::new(),
        Err(mismatch) => mismatch.sentences("f", &request, 8),
    }
}

#[test]
fn what_was_written_passes_and_each_changed_byte_is_found() {
    for kind in KINDS {
        let mut seal = seal(&verify(kind));
        let mut block = content();
        seal.seal(&mut block, 8192, 3);
        assert_eq!(words(&mut seal, &block, Expected::WriteOfThisRun(3)), "", "{kind:?}");
        // Every byte of the header and the digest, and some of the data; `meta` does not check data.
        let last = if kind == VerifyKind::Meta { 40 } else { 400 };
        for at in 0..last {
            let mut damaged = block.clone();
            damaged[at] ^= 0x10;
            assert_ne!(words(&mut seal, &damaged, Expected::Anybody), "", "{kind:?}, byte {at}");
        }
    }
}

#[test]
fn blocks_of_other_runs_and_of_earlier_writes_are_found() {
    let mut ours = seal(&verify(VerifyKind::Crc32c));
    let mut block = content();
    Seal::new(&verify(VerifyKind::Crc32c), &Content::default(), None, 1, 78).seal(&mut block, 8192, 3);
    assert_eq!(words(&mut ours, &block, Expected::Anybody), "");
    assert!(words(&mut ours, &block, Expected::WriteOfThisRun(3)).contains("a block of an earlier run"));

    ours.seal(&mut block, 8192, 3);
    assert!(words(&mut ours, &block, Expected::WriteOfThisRun(4)).contains("an earlier write of this run"));
    assert_eq!(words(&mut ours, &block, Expected::WriteOfThisRun(2)), "", "it was written over since");

    Seal::new(&verify(VerifyKind::Crc32c), &Content::default(), None, 2, 77).seal(&mut block, 8192, 0);
    assert_eq!(words(&mut ours, &block, Expected::WriteOfThisRun(4)), "", "another worker of this run wrote it");
}

#[test]
fn the_sentences_are_fio_s() {
    let mut seal = seal(&verify(VerifyKind::Crc32c));
    let mut block = content();
    seal.seal(&mut block, 8192, 3);
    let place = "at file f offset 8192, length 4096 (requested block: offset=8192, length=4096";
    let mut damaged = block.clone();
    damaged[100] ^= 1;
    let message = words(&mut seal, &damaged, Expected::Anybody);
    assert!(
        message.starts_with(&format!("crc32c: verify failed {place}, flags=8)\n       Expected CRC: ")),
        "{message}"
    );
    assert!(message.contains("\n       Received CRC: "), "{message}");
    damaged[0] = 0xcb;
    assert_eq!(
        words(&mut seal, &damaged, Expected::Anybody),
        format!("verify: bad magic header accb, wanted acca {place})")
    );
}

#[test]
fn headers_come_each_interval_and_move_to_their_offset() {
    let spread = Verify { interval: Some(512), header_offset: 64, ..verify(VerifyKind::Crc32c) };
    let mut seal = Seal::new(&spread, &KEPT, None, 1, 77);
    let mut block = content();
    seal.seal(&mut block, 8192, 0);
    for (number, part) in block.chunks(512).enumerate() {
        assert_eq!(part[64..66], [0xca, 0xac], "interval {number}");
        assert_eq!(part[..44], content()[number * 512 + 64..][..44], "the data of this place were moved");
    }
    assert_eq!(words(&mut seal, &block, Expected::WriteOfThisRun(0)), "");
    block[700] ^= 1;
    assert!(words(&mut seal, &block, Expected::Anybody).contains("offset 8704, length 512 "));
    // If the interval does not divide the request, the request is one interval.
    let odd = super::Seal::new(
        &Verify { interval: Some(3000), ..verify(VerifyKind::Crc32c) },
        &Content::default(),
        None,
        1,
        77,
    );
    let mut block = content();
    odd.seal(&mut block, 8192, 0);
    assert_eq!(block[4..8], [0, 0x10, 0, 0]);
}

#[test]
fn a_pattern_is_compared_from_the_first_byte_to_the_last() {
    let mut seal = seal(&Verify {
        pattern: Some(fsdyno_job::value::buffer_pattern("\"abc\"").unwrap()),
        ..verify(VerifyKind::Pattern)
    });
    let mut block: Vec<u8> = b"abc".iter().copied().cycle().take(4096).collect();
    let before = block.clone();
    seal.seal(&mut block, 8192, 0);
    assert_eq!(block, before, "no header");
    assert_eq!(words(&mut seal, &block, Expected::WriteOfThisRun(0)), "");
    block[4095] ^= 3;
    let message = words(&mut seal, &block, Expected::Anybody);
    assert!(
        message.starts_with("fio: got pattern '62', wanted '61'. Bad bits 2\nfio: bad pattern block offset 4095\n"),
        "{message}"
    );
}

#[test]
fn headers_of_a_pattern_leave_it_in_its_place() {
    let pattern = Some(fsdyno_job::value::verify_pattern("0x01020304%o").unwrap());
    let asked = Verify { interval: Some(1024), header_offset: 100, pattern, ..verify(VerifyKind::PatternHeader) };
    let mut seal = seal(&asked);
    let mut block = vec![0; 4096];
    seal.seal(&mut block, 8192, 0);
    assert_eq!(block[..16], [0, 0x20, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0x20, 0, 0], "the data of offset 100");
    assert_eq!(block[1124..1126], [0xca, 0xac], "the header of the second interval");
    assert_eq!(words(&mut seal, &block, Expected::WriteOfThisRun(0)), "");
    // The bytes in place of the header also belong to the pattern.
    for at in [0, 1024, 1123, 1164, 4095] {
        let mut damaged = block.clone();
        damaged[at] ^= 3;
        let message = words(&mut seal, &damaged, Expected::Anybody);
        let within = at % 1024;
        let within = if within < 40 { within + 100 } else { within };
        assert!(message.contains(&format!("fio: bad pattern block offset {within}\n")), "byte {at}: {message}");
    }
}

/// The expected content of a block is computed from its header or from the pattern.
#[test]
fn the_expected_block_is_made_again() {
    let pattern = || Some(fsdyno_job::value::verify_pattern("\"abc\"%o").unwrap());
    let request = Op { offset: 8192, length: 4096, file: 0, kind: OpKind::Read, priority: 0 };
    let places = Verify { interval: Some(1024), header_offset: 100, ..verify(VerifyKind::Md5) };
    let asked = [
        verify(VerifyKind::Crc32c),
        Verify { pattern: pattern(), ..verify(VerifyKind::Pattern) },
        Verify { pattern: pattern(), ..verify(VerifyKind::PatternHeader) },
        Verify { pattern: pattern(), ..places.clone() },
        places,
    ];
    for verify in asked {
        let mut block = content();
        seal(&verify).seal(&mut block, 8192, 5);
        let mut read = block.clone();
        read[1700] ^= 1;
        // Another run reads the blocks.
        let mut reader = Seal::new(&verify, &Content::default(), None, 1, 99);
        let damaged = read.clone();
        let mismatch = reader.check(&mut read, 8192, Expected::Anybody).unwrap_err();
        let (from, length) = ((mismatch.offset - 8192) as usize, mismatch.length as usize);
        let received = &read[from..][..length];
        assert!(!mismatch.is_of_header());
        assert_eq!(reader.as_read(received, &mismatch), &damaged[from..][..length], "{verify:?}");
        let expected = reader.expected(received, &mismatch, &request).unwrap();
        assert_eq!(expected, &block[from..][..length], "{verify:?}");
    }
}

/// The second block of 128 bytes that fio 3.42 wrote with `--verify=md5 --verify_pattern=%o --bs=128`, and with
/// pattern_hdr.
#[test]
fn blocks_of_fio_3_42_are_checked() {
    let pattern = "80000000000000008000000000000000";
    let md5 = "caac8102800000000000000000000000800000000000000000000000 3d7cd106 0100000000000000 01000000 7c0b8438
               a6714df4696e1dc34e0abed095a1be41";
    let header = "caac8111800000000000000000000000800000000000000000000000 e6d87206 0100000000000000 01000000 796e1797
                  80000000000000008000000000000000";
    for (kind, head) in [(VerifyKind::Md5, md5), (VerifyKind::PatternHeader, header)] {
        let digits: Vec<char> = [head, &pattern.repeat(4)].concat().chars().filter(|c| !c.is_whitespace()).collect();
        let block: Vec<u8> =
            digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect();
        assert_eq!(block.len(), 128);
        let of_offset = Some(fsdyno_job::value::verify_pattern("%o").unwrap());
        let mut seal = seal(&Verify { pattern: of_offset, ..verify(kind) });
        assert_eq!(seal.check(&mut block.clone(), 128, Expected::Anybody), Ok(()), "{kind:?}");
        for at in 0..128 {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            assert!(seal.check(&mut damaged, 128, Expected::Anybody).is_err(), "{kind:?}, byte {at}");
        }
    }
}
