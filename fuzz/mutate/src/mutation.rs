//! Mutations: a text of the corpus, changed a few times.

/// Pieces that make most things that can go wrong likely.
const PIECES: &[&str] = &[
    "{", "}", "[", "]", "(", ")", "\"", "'", "\"\"\"\n", "\n\"\"\"", "#\"", "\"#", "\\(", "\\", "//", "// c\n", "\n", "\n\n",
    "\r\n", "\t", " ", ",", ":", ": ", "...", ".", "?", "!", "=", "~", "@a(b)", "@a(", "&", "|", "*", "_|_", "_", "#D", "_#d",
    "if ", "for x in ", "let X = ", "else ", "try ", "import \"a\"\n", "package p\n", "0x", "1e", "1_0", "9Gi", "null", "é",
    "\u{feff}", "\0", "\u{2028}", "a: ", "x: {", "[string]: ", "(a): ", "X=", "-", "<", ">=", "=~", "==", "/",
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

    pub fn next(&mut self) -> String {
        let mut text = self.pick();
        if self.below(3) == 0 {
            // A short text is searched more thoroughly.
            let (start, end) = self.range(&text, 200);
            text = text.get(start..end).unwrap_or("").to_owned();
        }
        for _ in 0..=self.below(6) {
            match self.below(7) {
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
                _ => {
                    let piece = PIECES.get(self.below(PIECES.len())).copied().unwrap_or("");
                    let times = 1 + self.below(60);
                    let at = self.place(&text);
                    text.insert_str(at, &piece.repeat(times));
                }
            }
        }
        while text.len() > LONGEST {
            text.pop();
        }
        text
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
