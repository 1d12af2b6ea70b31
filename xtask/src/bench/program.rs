//! Checks the release program's file: small, without symbol names, and loadable at any address.

/// Largest size, bytes.
const BYTES_MAX: usize = BYTES_WITHOUT_OBJECTS_MAX + OBJECTS_BYTES_MAX;

/// Largest size of a program without object stores, bytes: 6.875 MiB. The guard of disks, `openfiles`, the index of saved
/// runs and the identity of device stacks added 0.22 MiB to 6 MiB; `time`, ten findings, passes of phases and the short
/// screens 0.42 MiB; recorded I/O, verdicts of commands and judged phases of many nodes 0.15 MiB.
pub(crate) const BYTES_WITHOUT_OBJECTS_MAX: usize = 55 << 17;

/// What object stores may add, bytes: TLS with its ciphers and its check of certificates, HTTP and signatures.
const OBJECTS_BYTES_MAX: usize = 1_200_000;

/// Offsets in a 64-bit ELF file: of its type, of the tables of segments and sections, and of their numbers of entries.
const TYPE: usize = 16;
const SEGMENTS: usize = 32;
const SECTIONS: usize = 40;
const SEGMENT_BYTES: usize = 54;
const SEGMENT_COUNT: usize = 56;
const SECTION_BYTES: usize = 58;
const SECTION_COUNT: usize = 60;

/// `ET_DYN`, `SHT_SYMTAB` and `PT_INTERP`.
const ANY_ADDRESS: u64 = 3;
const NAMES: u64 = 2;
const LOADER: u64 = 3;

/// The objection to a program that can be loaded at one address only.
pub(crate) const FIXED: &str = "it is not position-independent";

/// What is wrong with the program; a file that is not ELF is judged only by its size.
pub(crate) fn objections(program: &[u8]) -> Vec<&'static str> {
    let number = |at: usize, bytes: usize| number(program, at, bytes);
    // The type of a section follows four bytes of its name.
    let has_names = || entries(program, SECTIONS, SECTION_BYTES, SECTION_COUNT).any(|at| number(at + 4, 4) == NAMES);
    let is_elf = program.starts_with(b"\x7fELF");
    let found = [
        (program.len() > BYTES_MAX, "it is larger than 8,408,960 bytes"),
        (is_elf && number(TYPE, 2) != ANY_ADDRESS, FIXED),
        (is_elf && has_names(), "it is not stripped"),
    ];
    found.into_iter().filter(|(wrong, _)| *wrong).map(|(_, text)| text).collect()
}

/// The objections to a static program, which must need nothing of the machine it runs on: no loader, and so no library.
pub(crate) fn static_objections(program: &[u8]) -> Vec<&'static str> {
    let mut found = objections(program);
    let mut segments = entries(program, SEGMENTS, SEGMENT_BYTES, SEGMENT_COUNT);
    if segments.any(|at| number(program, at, 4) == LOADER) {
        found.push("it is not static");
    }
    found
}

/// The offsets of the entries of a table.
fn entries(program: &[u8], table: usize, bytes: usize, count: usize) -> impl Iterator<Item = usize> {
    let (first, each) = (number(program, table, 8) as usize, number(program, bytes, 2) as usize);
    (0..number(program, count, 2) as usize).map(move |index| first + index * each)
}

fn number(program: &[u8], at: usize, bytes: usize) -> u64 {
    let field = program.get(at..at + bytes).unwrap_or_default();
    field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and one section of this type.
    fn elf(kind: u8, section: u8) -> Vec<u8> {
        let mut program = vec![0; 128];
        program[..4].copy_from_slice(b"\x7fELF");
        (program[TYPE], program[SECTIONS], program[SECTION_BYTES], program[SECTION_COUNT]) = (kind, 64, 64, 1);
        program[64 + 4] = section;
        program
    }

    #[test]
    fn a_program_is_judged_by_its_header() {
        assert!(objections(&elf(3, 3)).is_empty());
        assert_eq!(objections(&elf(2, 2)), ["it is not position-independent", "it is not stripped"]);
        assert_eq!(objections(&vec![0; BYTES_MAX + 1]), ["it is larger than 8,408,960 bytes"]);
    }

    #[test]
    fn these_tests_are_position_independent_and_have_names() {
        let program = std::fs::read(std::env::current_exe().expect("it runs")).expect("it can be read");
        assert!(objections(&program).contains(&"it is not stripped"));
        assert!(!objections(&program).contains(&"it is not position-independent"));
        assert!(static_objections(&program).contains(&"it is not static"));
    }
}
