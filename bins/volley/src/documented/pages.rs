//! The commands that the pages and the configurations of this repository show, as words.
//!
//! | what stands there | what it is taken for |
//! |---|---|
//! | a line of a block, in running text what is between backquotes | a command, if it begins with the program |
//! | `sudo`, `A=b`, `ip netns exec NAME`, `docker exec NAME` before the program | a command all the same |
//! | a block with lines that begin with `$ ` | those lines are typed; the others are answers |
//! | `\| ; & ( ) < >`, and `#` at the start of a word | the end of a command, as for a shell |
//! | two blanks or more, in a comment of a configuration | its end as well: what follows tells what it does |
//! | `…` | behind an option its value, else: more may follow |
//! | `…` within a word | some letters |
//! | `[optional]` | it is said |
//! | `one\|other` | the command is each of the two |
//! | a word of capitals | what it names: [`STANDS_FOR`], else a name of that spelling |
//!
//! A file below `configs/`, `scenarios/` or `studies/` that a command names must be there.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

/// Where pages are, from the top of the repository; folders with all below them.
const PLACES: [&str; 7] = [
    "README.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs",
    "configs",
    "packaging",
];

/// What speaks of commands that somebody may add.
const NOT_YET: [&str; 2] = ["docs/example", "CONTRIBUTING.md"];

/// What words of capitals stand for, where any word would not do.
const STANDS_FOR: [(&str, &str); 3] =
    [("ADDRESS", "192.0.2.9"), ("PREFIX", "192.0.2.0/24"), ("SECONDS", "2")];

/// Blocks of these languages have commands.
const TYPED: [&str; 4] = ["", "sh", "bash", "console"];

/// A command that a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The page and the line.
    pub(crate) place: String,
    /// The program first.
    pub(crate) words: Vec<String>,
    /// Whether it need not be whole: it is only spoken of, or `…` follows.
    pub(crate) may_lack: bool,
}

impl Shown {
    /// What a grammar's complaint comes to, if it is one.
    pub(crate) fn complaint(&self, error: &clap::Error) -> Option<String> {
        let told = error.to_string();
        let is_fine = match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
            ErrorKind::MissingSubcommand
            | ErrorKind::MissingRequiredArgument
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => self.may_lack,
            ErrorKind::InvalidValue => self.may_lack && told.contains("a value is required"),
            _ => false,
        };
        (!is_fine).then_some(told)
    }
}

/// The commands of a program that are shown anywhere, and what is wrong with them.
pub(crate) fn faults(
    program: &str,
    fault: impl Fn(&Shown) -> Option<String>,
) -> (usize, Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for place in PLACES {
        below(&root.join(place), &mut files);
    }
    files.sort();
    let (mut tried, mut wrong) = (0, Vec::new());
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        if NOT_YET.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        for shown in commands(&name, &text).iter().filter(|shown| shown.words[0] == program) {
            tried += 1;
            let found = missing(&root, shown).or_else(|| fault(shown));
            let told = |why: String| format!("{}: {}\n{why}", shown.place, shown.words.join(" "));
            wrong.extend(found.map(told));
        }
    }
    (tried, wrong)
}

fn below(place: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(place) else {
        out.extend(
            place.extension().filter(|end| *end == "md" || *end == "toml").map(|_| place.into()),
        );
        return;
    };
    for entry in entries.flatten() {
        below(&entry.path(), out);
    }
}

/// A file of this repository that is not there.
fn missing(root: &Path, shown: &Shown) -> Option<String> {
    let ours = |word: &&String| {
        ["configs/", "scenarios/", "studies/"].iter().any(|folder| word.starts_with(folder))
    };
    let gone = shown.words.iter().filter(ours).find(|word| !root.join(word).exists())?;
    Some(format!("there is no file {gone}"))
}

/// The commands of a page.
pub(crate) fn commands(page: &str, text: &str) -> Vec<Shown> {
    let pieces = if page.ends_with(".toml") { of_comments(text) } else { of_markdown(text) };
    let mut all = Vec::new();
    for Piece { line, text, is_spoken_of } in pieces {
        for words in segments(&text).into_iter().filter_map(typed) {
            all.extend(said(words).into_iter().map(|(words, is_cut)| Shown {
                place: format!("{page}:{line}"),
                words,
                may_lack: is_spoken_of || is_cut,
            }));
        }
    }
    all
}

/// A piece of a page that may be a command.
struct Piece {
    line: usize,
    text: String,
    is_spoken_of: bool,
}

fn of_markdown(text: &str) -> Vec<Piece> {
    let mut page = Page::default();
    let mut fence: Option<bool> = None;
    for (index, line) in text.lines().enumerate() {
        let fenced = line.trim_start().strip_prefix("```");
        match (fenced, fence) {
            (Some(language), None) => {
                page.end();
                fence = Some(TYPED.contains(&language.trim()));
            }
            (Some(_), Some(_)) => {
                page.end();
                fence = None;
            }
            (None, Some(true)) => page.block.push((index + 1, line.to_owned())),
            (None, Some(false)) => {}
            (None, None) => page.text(index + 1, line),
        }
    }
    page.end();
    page.pieces
}

/// What is being read: a block, or a paragraph.
#[derive(Default)]
struct Page {
    pieces: Vec<Piece>,
    block: Vec<(usize, String)>,
    paragraph: Vec<(usize, String)>,
    is_preformatted: bool,
}

impl Page {
    /// A line outside of fences.
    fn text(&mut self, number: usize, line: &str) {
        if let Some((_, first)) = line.split_once("<pre>") {
            self.end();
            self.is_preformatted = true;
            return self.text(number, first);
        }
        if self.is_preformatted {
            let (inside, is_last) = match line.split_once("</pre>") {
                Some((inside, _)) => (inside, true),
                None => (line, false),
            };
            self.block.push((number, inside.to_owned()));
            if is_last {
                self.is_preformatted = false;
                self.end();
            }
            return;
        }
        // What is indented by four behind an empty line is a block.
        let indented = line.strip_prefix("    ").filter(|_| self.paragraph.is_empty());
        match indented {
            Some(inside) => self.block.push((number, inside.to_owned())),
            None if line.trim().is_empty() => self.end(),
            None => {
                self.end_block();
                // Each row of a table is a paragraph of its own.
                if line.starts_with('|') {
                    self.end();
                }
                self.paragraph.push((number, line.to_owned()));
            }
        }
    }

    fn end(&mut self) {
        self.end_block();
        self.end_paragraph();
    }

    /// Its lines, those joined that a backslash joins; where some have a prompt, those alone.
    fn end_block(&mut self) {
        let mut joined: Vec<(usize, String)> = Vec::new();
        let mut goes_on = false;
        for (number, line) in std::mem::take(&mut self.block) {
            let (line, more) = match line.strip_suffix('\\') {
                Some(line) => (line, true),
                None => (&*line, false),
            };
            match joined.last_mut().filter(|_| goes_on) {
                Some((_, before)) => before.push_str(line),
                None => joined.push((number, line.to_owned())),
            }
            goes_on = more;
        }
        let has_prompts = joined.iter().any(|(_, line)| line.starts_with("$ "));
        for (line, text) in joined {
            let typed = if has_prompts { text.strip_prefix("$ ") } else { Some(&*text) };
            let piece = |text: &str| Piece { line, text: text.to_owned(), is_spoken_of: false };
            self.pieces.extend(typed.map(piece));
        }
    }

    /// What stands between backquotes, on one line or on two.
    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        let Some(mut line) = lines.first().map(|(number, _)| *number) else { return };
        let text: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        for (index, text) in text.join("\n").split('`').enumerate() {
            if index % 2 == 1 {
                let text = text.replace('\n', " ").replace("\\|", "|");
                self.pieces.push(Piece { line, text, is_spoken_of: true });
            }
            line += text.matches('\n').count();
        }
    }
}

/// Comments are text; a line of theirs that is set in is a command with what it does.
fn of_comments(text: &str) -> Vec<Piece> {
    let mut page = Page::default();
    for (index, line) in text.lines().enumerate() {
        let comment = line.split_once('#').map(|(_, comment)| comment);
        let Some(comment) = comment else {
            page.end();
            continue;
        };
        match comment.strip_prefix("   ") {
            Some(inside) => {
                page.end();
                let inside = inside.trim_start().split("  ").next().unwrap_or_default();
                page.block.push((index + 1, inside.to_owned()));
            }
            None => page.text(index + 1, comment.trim_start()),
        }
    }
    page.end();
    page.pieces
}

/// A word, and whether quotes keep it as it is.
type Word = (String, bool);

/// What a shell would start: the words between its signs.
fn segments(line: &str) -> Vec<Vec<Word>> {
    let mut segments = vec![Vec::new()];
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let last = segments.len() - 1;
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().0.push(letter),
            '"' | '\'' => {
                quote = Some(letter);
                word.get_or_insert_default().1 = true;
            }
            '#' if word.is_none() => break,
            // Between two words it is a choice, with blanks around it a pipe.
            '|' if !before.is_whitespace()
                && letters.peek().is_some_and(|next| !next.is_whitespace()) =>
            {
                word.get_or_insert_default().0.push(letter);
            }
            '|' | ';' | '&' | '(' | ')' | '<' | '>' => {
                // The number of a stream stands before its sign.
                let word = word.take().filter(|(word, _)| {
                    letter != '>' || word.is_empty() || !word.chars().all(|it| it.is_ascii_digit())
                });
                segments[last].extend(word);
                segments.push(Vec::new());
            }
            _ if letter.is_whitespace() => segments[last].extend(word.take()),
            _ => word.get_or_insert_default().0.push(letter),
        }
        before = letter;
    }
    let last = segments.len() - 1;
    segments[last].extend(word);
    segments
}

/// The words from the program on, if they begin with one of ours.
fn typed(mut words: Vec<Word>) -> Option<Vec<Word>> {
    loop {
        let first = words.first()?.0.as_str();
        let before = match first {
            "sudo" | "exec" | "time" => 1,
            "ip" if words.get(1)?.0 == "netns" && words.get(2)?.0 == "exec" => 4,
            "docker" if words.get(1)?.0 == "exec" => 3,
            _ if first.contains('=') => 1,
            _ => break,
        };
        if words.len() <= before {
            return None;
        }
        words.drain(..before);
    }
    let program = words[0].0.rsplit('/').next()?.to_owned();
    let is_ours = ["volley", "volleyd", "volley-lab"].contains(&&*program);
    words[0].0 = program;
    (is_ours && words.len() > 1).then_some(words)
}

/// The commands that words with placeholders are, each with whether it is cut off.
fn said(words: Vec<Word>) -> Vec<(Vec<String>, bool)> {
    let mut all = vec![(Vec::new(), false)];
    for (word, is_quoted) in words {
        let is_value = all[0].0.last().is_some_and(|before: &String| before.starts_with("--"));
        if !is_quoted && !is_value && ["…", "..."].contains(&&*word) {
            all.iter_mut().for_each(|(_, is_cut)| *is_cut = true);
            break;
        }
        let choices: Vec<String> = match is_quoted {
            true => vec![word],
            false => unbracketed(&word).split('|').map(filled).collect(),
        };
        let longer = |(words, is_cut): &(Vec<String>, bool)| {
            let one =
                |choice: &String| ([&words[..], std::slice::from_ref(choice)].concat(), *is_cut);
            choices.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// A word without the brackets around what is optional; those of an address have a colon in them.
fn unbracketed(word: &str) -> &str {
    if word.contains(':') {
        return word;
    }
    let word = word.strip_suffix("...").unwrap_or(word);
    word.trim_start_matches('[').trim_end_matches(']')
}

/// What a placeholder stands for.
fn filled(word: &str) -> String {
    let stands = STANDS_FOR.iter().find(|(name, _)| *name == word);
    stands.map_or_else(|| word.replace('…', "x"), |(_, value)| (*value).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(page: &str, text: &str) -> Vec<String> {
        let told = |shown: Shown| {
            let end = if shown.may_lack { " …" } else { "" };
            format!("{} {}{end}", shown.place, shown.words.join(","))
        };
        commands(page, text).into_iter().map(told).collect()
    }

    #[test]
    fn commands_are_found_in_blocks_and_between_backquotes() {
        let page = "Say `volley show\nports`, `no volley`.\n\n```console\n$ volley lookup ADDRESS # why\n\
            volley answers\n$ sudo volley \\\n  top | less\n```\n```toml\nvolley no\n```\n\n    volley a \"b c\"\n\
            and `volley d`\n<pre>volley-lab run x\nx; volleyd --config y &</pre>\n";
        assert_eq!(
            lines("p.md", page),
            [
                "p.md:1 volley,show,ports …",
                "p.md:5 volley,lookup,192.0.2.9",
                "p.md:7 volley,top",
                "p.md:14 volley,a,b c",
                "p.md:15 volley,d …",
                "p.md:16 volley-lab,run,x",
                "p.md:17 volleyd,--config,y",
            ]
        );
    }

    #[test]
    fn comments_of_configurations_have_commands_too() {
        let text = "# `volley show nodes` tells\n#   volley config check f   is it right?\n\
            mtu = 1 # as `volley show x` has it\n#   a ── volleyd ── b\n";
        let wanted = [
            "c.toml:1 volley,show,nodes …",
            "c.toml:2 volley,config,check,f",
            "c.toml:3 volley,show,x …",
        ];
        assert_eq!(lines("c.toml", text), wanted);
    }

    #[test]
    fn placeholders_are_what_they_stand_for() {
        let one = |text: &str| {
            lines("p.md", &format!("```sh\n{text}\n```\n")).join("; ").replace("p.md:2 volley,", "")
        };
        assert_eq!(one("volley show a …"), "show,a …");
        assert_eq!(one("volley run --out … --quick"), "run,--out,x,--quick");
        assert_eq!(one("volley get results/q-…"), "get,results/q-x");
        assert_eq!(one("volley qos show [PORT]"), "qos,show,PORT");
        assert_eq!(one("volley port set p0 up|down"), "port,set,p0,up; port,set,p0,down");
        assert_eq!(one("volley export to [2001:db8::1]:4739"), "export,to,[2001:db8::1]:4739");
        assert_eq!(one("volley a 2>&1 | volley b"), "a; b");
        assert_eq!(one("source <(volley completion bash)"), "completion,bash");
        assert_eq!(one("docker network create -d volley red"), "");
    }
}
