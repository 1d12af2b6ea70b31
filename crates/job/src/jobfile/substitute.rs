//! Replaces `${VARIABLE}`, `$pagesize`, `$mb_memory` and `$ncpus` in values of job files.

use crate::Sources;

/// Replaces variables (an unset one by nothing) and keywords. Simple arithmetic, as in `8*$pagesize`, is done only
/// where a keyword was replaced.
pub(super) fn substitute(text: &str, sources: &dyn Sources) -> Result<String, String> {
    let text = variables(text, sources)?;
    let machine = sources.machine();
    let keywords = [
        ("$pagesize", machine.page_bytes),
        ("$mb_memory", machine.memory_mib),
        ("$ncpus", u64::from(machine.processors)),
    ];
    let mut replaced = text.clone();
    for (keyword, number) in keywords {
        replaced = replaced.replace(keyword, &number.to_string());
    }
    if replaced == text || !replaced.contains(['+', '-', '*', '/', '%']) {
        return Ok(replaced);
    }
    let compact: Vec<char> = replaced.chars().filter(|c| !c.is_whitespace()).collect();
    let mut calculator = Calculator { text: &compact, next: 0 };
    match calculator.sum() {
        Ok(value) if calculator.next == compact.len() => Ok(value.to_string()),
        // A path such as /dev/shm/$ncpus is not arithmetic.
        Ok(_) | Err(Problem::Syntax) => Ok(replaced),
        Err(Problem::Value) => Err(format!("{replaced} has no value of 64 bits")),
    }
}

fn variables(text: &str, sources: &dyn Sources) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let before = &rest[..start];
        if let Some(kept) = before.strip_suffix('\\') {
            result.push_str(kept);
            result.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        let Some(length) = rest[start..].find('}') else {
            return Err(format!("the closing brace of {} is missing", &rest[start..]));
        };
        result.push_str(before);
        result.push_str(&sources.variable(&rest[start + 2..start + length]).unwrap_or_default());
        rest = &rest[start + length + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

enum Problem {
    Syntax,
    Value,
}

/// Integers with + - * / % and parentheses.
struct Calculator<'t> {
    text: &'t [char],
    next: usize,
}

impl Calculator<'_> {
    fn sum(&mut self) -> Result<i64, Problem> {
        let mut value = self.product()?;
        while let Some(operator @ ('+' | '-')) = self.text.get(self.next) {
            self.next += 1;
            let right = self.product()?;
            let result = if *operator == '+' { value.checked_add(right) } else { value.checked_sub(right) };
            value = result.ok_or(Problem::Value)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i64, Problem> {
        let mut value = self.number()?;
        while let Some(operator @ ('*' | '/' | '%')) = self.text.get(self.next) {
            self.next += 1;
            let right = self.number()?;
            let result = match operator {
                '*' => value.checked_mul(right),
                '/' => value.checked_div(right),
                _ => value.checked_rem(right),
            };
            value = result.ok_or(Problem::Value)?;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<i64, Problem> {
        if self.text.get(self.next) == Some(&'(') {
            self.next += 1;
            let value = self.sum()?;
            if self.text.get(self.next) != Some(&')') {
                return Err(Problem::Syntax);
            }
            self.next += 1;
            return Ok(value);
        }
        let digits: String = self.text[self.next..].iter().take_while(|c| c.is_ascii_digit()).collect();
        self.next += digits.len();
        if digits.is_empty() {
            return Err(Problem::Syntax);
        }
        digits.parse().map_err(|_| Problem::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;

    fn replaced(text: &str) -> String {
        substitute(text, &Fake::default().variable("SIZE", "64m")).unwrap()
    }

    #[test]
    fn variables_and_keywords() {
        assert_eq!(replaced("${SIZE}"), "64m");
        assert_eq!(replaced("a${UNSET}b"), "ab");
        assert_eq!(replaced(r"\${SIZE}"), "${SIZE}");
        assert_eq!(replaced("$ncpus"), "2");
        assert_eq!(replaced("8*$pagesize"), "32768");
        assert_eq!(replaced("($pagesize + 4) / 2"), "2050");
        assert_eq!(replaced("/dev/shm/$ncpus"), "/dev/shm/2");
        assert_eq!(replaced("8*4"), "8*4");
        assert!(substitute("${SIZE", &Fake::default()).is_err());
        assert!(substitute("$pagesize/0", &Fake::default()).is_err());
    }
}
