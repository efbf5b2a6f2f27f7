//! The txtar format: a text, then files, each below a line `-- name --`.

use std::fmt::Write;

#[derive(Debug, PartialEq, Eq)]
pub struct Archive {
    pub comment: String,
    pub files: Vec<(String, String)>,
}

impl Archive {
    pub fn parse(text: &str) -> Archive {
        let mut archive = Archive {
            comment: String::new(),
            files: Vec::new(),
        };
        for line in text.split_inclusive('\n') {
            let marker = line
                .trim_end()
                .strip_prefix("-- ")
                .and_then(|l| l.strip_suffix(" --"));
            match (marker, archive.files.last_mut()) {
                (Some(name), _) => archive.files.push((name.trim().to_owned(), String::new())),
                (None, Some((_, body))) => body.push_str(line),
                (None, None) => archive.comment.push_str(line),
            }
        }
        archive
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, body)| body.as_str())
    }

    pub fn set(&mut self, name: &str, body: String) {
        match self.files.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = body,
            None => self.files.push((name.to_owned(), body)),
        }
    }

    pub fn print(&self) -> String {
        let mut out = self.comment.clone();
        for (name, body) in &self.files {
            let _ = writeln!(out, "-- {name} --");
            out.push_str(body);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn what_is_read_is_printed_back() {
        let text = "A rule.\n\n-- a/b.yaml --\nx: 1\n-- empty --\n-- session --\n$ true\n";
        let archive = Archive::parse(text);
        assert_eq!(archive.get("a/b.yaml"), Some("x: 1\n"));
        assert_eq!(archive.get("empty"), Some(""));
        assert_eq!(archive.print(), text);
    }
}
