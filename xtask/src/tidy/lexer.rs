//! Tells code from comments and literals, line for line.

/// A source text twice, each with blanks in place of the other kind: what was at a place stays at that place.
pub(super) struct Layers {
    /// Without comments and without the insides of strings and characters.
    pub(super) code: String,
    /// Comments alone.
    pub(super) comments: String,
}

/// Separates a Rust source.
pub(super) fn layers(source: &str) -> Layers {
    let characters: Vec<char> = source.chars().collect();
    let mut lexer = Lexer { characters: &characters, at: 0, code: String::new(), comments: String::new() };
    while lexer.at < characters.len() {
        lexer.step();
    }
    Layers { code: lexer.code, comments: lexer.comments }
}

struct Lexer<'source> {
    characters: &'source [char],
    at: usize,
    code: String,
    comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Code,
    Comment,
    Literal,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    /// Moves one character on and puts it into its layer.
    fn take(&mut self, layer: Layer) {
        let Some(character) = self.peek(0) else { return };
        self.at += 1;
        let blank = if character == '\n' { '\n' } else { ' ' };
        self.code.push(if layer == Layer::Code { character } else { blank });
        self.comments.push(if layer == Layer::Comment { character } else { blank });
    }

    fn take_until(&mut self, layer: Layer, over: impl Fn(&Self) -> bool) {
        while self.at < self.characters.len() && !over(self) {
            self.take(layer);
        }
    }

    fn step(&mut self) {
        if self.starts("//") {
            self.take_until(Layer::Comment, |lexer| lexer.starts("\n"));
        } else if self.starts("/*") {
            self.block_comment();
        } else if let Some(hashes) = self.raw_string() {
            self.raw(hashes);
        } else if self.starts("\"") {
            self.quoted('"');
        } else if self.starts("'") && self.is_character() {
            self.quoted('\'');
        } else {
            self.take(Layer::Code);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_u32;
        loop {
            if self.starts("/*") {
                depth += 1;
            } else if self.starts("*/") {
                depth -= 1;
            } else {
                self.take(Layer::Comment);
                if self.at < self.characters.len() {
                    continue;
                }
                return;
            }
            self.take(Layer::Comment);
            self.take(Layer::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    /// The number of hashes if a raw string begins here.
    fn raw_string(&self) -> Option<usize> {
        let in_name = self.at > 0 && is_name(self.characters[self.at - 1]);
        let prefix = if self.starts("br") { 2 } else { 1 };
        if in_name || !(self.starts("r") || self.starts("br")) {
            return None;
        }
        let hashes = self.characters[self.at + prefix..].iter().take_while(|character| **character == '#').count();
        (self.peek(prefix + hashes) == Some('"')).then_some(hashes)
    }

    fn raw(&mut self, hashes: usize) {
        let end = format!("\"{}", "#".repeat(hashes));
        self.take_until(Layer::Code, |lexer| lexer.starts("\""));
        self.take(Layer::Code);
        self.take_until(Layer::Literal, |lexer| lexer.starts(&end));
        (0..=hashes).for_each(|_| self.take(Layer::Code));
    }

    /// A quote may also begin a lifetime: a character literal has its end two places on, or a backslash.
    fn is_character(&self) -> bool {
        self.peek(1) == Some('\\') || self.peek(2) == Some('\'')
    }

    fn quoted(&mut self, quote: char) {
        self.take(Layer::Code);
        while let Some(character) = self.peek(0) {
            if character == quote {
                return self.take(Layer::Code);
            }
            if character == '\\' {
                self.take(Layer::Literal);
            }
            self.take(Layer::Literal);
        }
    }
}

/// Part of a name.
pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether `text` holds `word` with no name character right beside it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code with blanks taken together.
    fn code(source: &str) -> String {
        let layers = layers(source);
        assert_eq!(layers.code.chars().count(), source.chars().count(), "places are kept");
        assert_eq!(layers.code.lines().count(), source.lines().count(), "lines are kept");
        layers.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_told_from_code() {
        let source = "a // b\nc /* d /* e */ f */ g";
        assert_eq!(code(source), "a c g");
        assert_eq!(layers(source).comments.split_whitespace().collect::<String>(), "//b/*d/*e*/f*/");
    }

    #[test]
    fn strings_are_emptied() {
        assert_eq!(code(r#"f("a \" // b", x)"#), r#"f(" ", x)"#);
        assert_eq!(code(r###"f(r#"a " \"#, br"\", x)"###), r###"f(r#" "#, br" ", x)"###);
        assert_eq!(code("\"a\nb\""), "\" \"");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_eq!(code(r#"('"', '\'', b'/', "//")"#), r#"(' ', ' ', b' ', " ")"#);
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn what_has_no_end_ends_with_the_text() {
        assert_eq!(code("a /* b"), "a");
        assert_eq!(code("a \"b"), "a \"");
        assert_eq!(code("r"), "r");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("x unsafe {", "unsafe"));
        assert!(!has_word("unsafe_code, notunsafe", "unsafe"));
    }
}
