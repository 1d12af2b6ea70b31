//! What the release program is as a file: small, without names of functions, and loadable at any address.

/// Bytes at most: 6 MiB.
const BYTES_MAX: usize = 6 << 20;

/// Where an ELF file of 64 bits says what it is, where its table of sections begins, and how many there are.
const TYPE: usize = 16;
const SECTIONS: usize = 40;
const SECTION_BYTES: usize = 58;
const SECTION_COUNT: usize = 60;

/// `ET_DYN` and `SHT_SYMTAB`.
const ANY_ADDRESS: u64 = 3;
const NAMES: u64 = 2;

/// What is wrong with it; a file that is no ELF is not judged by what such a file holds.
pub(super) fn objections(program: &[u8]) -> Vec<&'static str> {
    let number = |at: usize, bytes: usize| {
        let field = program.get(at..at + bytes).unwrap_or_default();
        field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let (first, each) = (number(SECTIONS, 8) as usize, number(SECTION_BYTES, 2) as usize);
    // The kind of a section stands after four bytes of its name.
    let has_names = || (0..number(SECTION_COUNT, 2) as usize).any(|index| number(first + index * each + 4, 4) == NAMES);
    let is_elf = program.starts_with(b"\x7fELF");
    let found = [
        (program.len() > BYTES_MAX, "it is larger than 6 MiB"),
        (is_elf && number(TYPE, 2) != ANY_ADDRESS, "it is not position-independent"),
        (is_elf && has_names(), "it is not stripped"),
    ];
    found.into_iter().filter(|(wrong, _)| *wrong).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and one section of this kind.
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
        assert_eq!(objections(&vec![0; BYTES_MAX + 1]), ["it is larger than 6 MiB"]);
    }

    #[test]
    fn these_tests_are_position_independent_and_have_names() {
        let program = std::fs::read(std::env::current_exe().expect("it runs")).expect("it can be read");
        assert!(objections(&program).contains(&"it is not stripped"));
        assert!(!objections(&program).contains(&"it is not position-independent"));
    }
}
