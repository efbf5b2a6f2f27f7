//! Mutations: a text of the corpus, changed a few times.

/// Pieces that make most things that can go wrong likely.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\"\"\"\n",
    "\n\"\"\"",
    "#\"",
    "\"#",
    "\\(",
    "\\",
    "//",
    "// c\n",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    ",",
    ":",
    ": ",
    "...",
    ".",
    "?",
    "!",
    "=",
    "~",
    "@a(b)",
    "@a(",
    "&",
    "|",
    "*",
    "_|_",
    "_",
    "#D",
    "_#d",
    "if ",
    "for x in ",
    "let X = ",
    "else ",
    "try ",
    "import \"a\"\n",
    "package p\n",
    "0x",
    "1e",
    "1_0",
    "9Gi",
    "null",
    "é",
    "\u{feff}",
    "\0",
    "\u{2028}",
    "a: ",
    "x: {",
    "[string]: ",
    "(a): ",
    "X=",
    "-",
    "<",
    ">=",
    "=~",
    "==",
    "/",
];
/// Texts do not grow beyond this.
const LONGEST: usize = 1 << 14;
/// The corpus does not grow beyond this.
const KEPT: usize = 4096;

pub struct Mutator {
    corpus: Vec<String>,
    state: u64,
}

impl Mutator {
    pub fn new(mut corpus: Vec<String>, seed: u64) -> Mutator {
        corpus.push("a: 1\n".to_owned());
        Mutator {
            corpus,
            state: seed,
        }
    }

    /// A number below `n`, by xorshift.
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % n.max(1) as u64) as usize
    }

    fn pick(&mut self) -> String {
        let at = self.below(self.corpus.len());
        self.corpus.get(at).cloned().unwrap_or_default()
    }

    /// A place in a text where a character begins.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn range(&mut self, text: &str, longest: usize) -> (usize, usize) {
        let start = self.place(text);
        let mut end = (start + self.below(longest)).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        (start, end.max(start))
    }

    pub fn mutated(&mut self) -> String {
        let mut text = self.pick();
        if self.below(3) == 0 {
            // A short text is searched more thoroughly.
            let (start, end) = self.range(&text, 200);
            text = text.get(start..end).unwrap_or("").to_owned();
        }
        if self.below(2) == 0 {
            // What is mostly still of the language.
            for _ in 0..=self.below(3) {
                match self.below(3) {
                    0 => self.insert_lines(&mut text),
                    _ => self.replace_word(&mut text),
                }
            }
            return shortened(text);
        }
        for _ in 0..=self.below(6) {
            match self.below(10) {
                0 | 1 => {
                    let at = self.place(&text);
                    let piece = PIECES.get(self.below(PIECES.len())).copied();
                    text.insert_str(at, piece.unwrap_or(""));
                }
                2 => {
                    let (start, end) = self.range(&text, 16);
                    text.replace_range(start..end, "");
                }
                3 => {
                    let (start, end) = self.range(&text, 64);
                    let copy = text.get(start..end).unwrap_or("").to_owned();
                    let at = self.place(&text);
                    text.insert_str(at, &copy);
                }
                4 => {
                    let other = self.pick();
                    let (start, end) = self.range(&other, 300);
                    let at = self.place(&text);
                    text.insert_str(at, other.get(start..end).unwrap_or(""));
                }
                5 => {
                    let c = char::from_u32(self.below(0x250) as u32).unwrap_or('x');
                    let at = self.place(&text);
                    text.insert(at, c);
                }
                6 | 7 => self.insert_lines(&mut text),
                8 => self.replace_word(&mut text),
                _ => {
                    let piece = PIECES.get(self.below(PIECES.len())).copied().unwrap_or("");
                    let times = 1 + self.below(60);
                    let at = self.place(&text);
                    text.insert_str(at, &piece.repeat(times));
                }
            }
        }
        shortened(text)
    }

    /// Whole lines of another text, before some line of this one.
    fn insert_lines(&mut self, text: &mut String) {
        let other = self.pick();
        let lines: Vec<&str> = other.split_inclusive('\n').collect();
        let start = self.below(lines.len());
        let end = (start + 1 + self.below(8)).min(lines.len());
        let block = lines.get(start..end).unwrap_or_default().concat();
        let at = self.place(text);
        let line = text.get(..at).and_then(|t| t.rfind('\n'));
        text.insert_str(line.map_or(0, |n| n + 1), &block);
    }

    /// A name, a number or an operator's neighbour for another one of this text or of another.
    fn replace_word(&mut self, text: &mut String) {
        let other = if self.below(2) == 0 {
            text.clone()
        } else {
            self.pick()
        };
        let new = self.word(&other);
        let word = other.get(new).unwrap_or("").to_owned();
        let old = self.word(text);
        text.replace_range(old, &word);
    }

    /// The letters and digits around some place.
    fn word(&mut self, text: &str) -> std::ops::Range<usize> {
        let at = self.place(text);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '.');
        let (before, after) = text.split_at(at);
        let start = before.trim_end_matches(is_part).len();
        let end = at + after.len() - after.trim_start_matches(is_part).len();
        start..end
    }

    /// Adds a text to the corpus now and then, so that changes add up.
    pub fn keep(&mut self, text: &str) {
        if self.below(64) != 0 || text.is_empty() {
            return;
        }
        if self.corpus.len() < KEPT {
            self.corpus.push(text.to_owned());
        } else {
            let at = self.below(self.corpus.len());
            if let Some(slot) = self.corpus.get_mut(at) {
                text.clone_into(slot);
            }
        }
    }
}

fn shortened(mut text: String) -> String {
    while text.len() > LONGEST {
        text.pop();
    }
    text
}
