//! A page about one question: the numbers of a device, and what they mean.

use super::Table;

/// A page about one question.
#[derive(Clone, Debug, Default)]
pub struct Page {
    question: String,
    numbers: Vec<String>,
    meaning: Vec<String>,
    files: Vec<(&'static str, String)>,
    notes: Vec<String>,
    wrong: Option<String>,
}

impl Page {
    /// A page that begins with `question`, and what was done to answer it.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }

    /// Adds a table below its title, which may be empty.
    pub fn table(&mut self, title: &str, table: &Table) {
        self.drawing(title, &table.to_string());
    }

    /// Adds a drawing in lines of text below its title, which may be empty.
    pub fn drawing(&mut self, title: &str, lines: &str) {
        let lines = lines.trim_end();
        self.numbers.push(if title.is_empty() {
            lines.to_owned()
        } else {
            format!("{}\n{lines}", wrapped(title))
        });
    }

    /// Adds a paragraph about what the numbers mean.
    pub fn means(&mut self, paragraph: impl Into<String>) {
        self.meaning.push(wrapped(&paragraph.into()));
    }

    /// Adds lines about what the numbers mean, as they are.
    pub fn lists(&mut self, lines: impl Into<String>) {
        self.meaning.push(lines.into());
    }

    /// Adds a file for `--output`, next to the charts.
    pub fn file(&mut self, name: &'static str, content: String) {
        self.files.push((name, content));
    }

    /// Adds a line for standard error, about something that was left out.
    pub fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// The lines for standard error.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Reports that a result is wrong. The first one counts.
    pub fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert(what.into());
    }

    /// The page as text for a terminal of 80 columns; the numbers alone if `is_quiet`.
    #[must_use]
    pub fn text(&self, is_quiet: bool) -> String {
        if is_quiet {
            return self.numbers.join("\n\n");
        }
        let question = Some(wrapped(&self.question)).filter(|question| !question.is_empty());
        let parts = question.iter().chain(&self.numbers).chain(&self.meaning);
        parts.cloned().collect::<Vec<_>>().join("\n\n")
    }

    /// The files, by name and content, and what is wrong, if anything is.
    #[must_use]
    pub fn into_files_and_wrong(self) -> (Vec<(&'static str, String)>, Option<String>) {
        (self.files, self.wrong)
    }
}

/// A paragraph in lines of at most 80 characters.
#[must_use]
pub fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        match last.chars().count() + 1 + word.chars().count() {
            _ if last.is_empty() => *last = word.to_owned(),
            ..=80 => *last += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_fits_in_a_terminal_and_keeps_its_words() {
        let paragraph = "A warp is 32 lanes. ".repeat(20);
        let lines = wrapped(&paragraph);
        assert!(lines.lines().all(|line| line.len() <= 80), "{lines}");
        assert!(lines.split_whitespace().eq(paragraph.split_whitespace()));
    }

    #[test]
    fn a_quiet_page_has_the_numbers_alone() {
        let mut page = Page::new("Why?");
        page.drawing("Cycles", "1 2 3");
        page.means("So.");
        assert_eq!(page.text(false), "Why?\n\nCycles\n1 2 3\n\nSo.");
        assert_eq!(page.text(true), "Cycles\n1 2 3");
    }
}
