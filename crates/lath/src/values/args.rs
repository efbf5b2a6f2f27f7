//! The arguments of `lath values`. Layers are collected in the order of the command line, whatever
//! flag they come with: a later overlay wins over an earlier one.

use base::Path;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use crate::report;

/// A format of a file, or of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Json,
    Yaml,
    Cue,
    Toml,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Report {
    /// Excerpts of every file that takes part, with carets
    Text,
    /// One line a finding
    Short,
    /// The block form of the values document for locked values, text for the rest
    Document,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl Report {
    pub fn format(self) -> report::Format {
        match self {
            Report::Text | Report::Document => report::Format::Text,
            Report::Short => report::Format::Short,
            Report::Json => report::Format::Json,
            Report::Sarif => report::Format::Sarif,
        }
    }
}

/// What all commands take.
#[derive(Args, Clone, Debug)]
pub struct Common {
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Check the values after each tier against this JSON Schema (as JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub schema: Option<String>,
    /// Read values at this path in the files that have it; '' takes files whole
    #[arg(long, value_name = "PATH", value_parser = Path::parse)]
    pub at: Option<Path>,
    /// The format of standard input (`-`), and of files whose name does not tell
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Let an end user's `null` remove an overridable value, as Helm does
    #[arg(long)]
    pub null_deletes: bool,
    /// Print the values themselves, not under `values`
    #[arg(long)]
    pub bare: bool,
    /// Run again whenever a file changes
    #[arg(long)]
    pub watch: bool,
    /// How findings are printed, on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub report: Report,
}

/// What a layer on the command line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    Platform,
    PlatformDefaults,
    User,
    Overlay,
    Set,
    SetString,
}

/// One layer on the command line.
#[derive(Clone, Debug)]
pub struct LayerArg {
    pub kind: LayerKind,
    pub value: String,
}

/// The layers in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct LayerArgs(pub Vec<LayerArg>);

const FLAGS: [(&str, LayerKind, &str, &str); 6] = [
    (
        "platform",
        LayerKind::Platform,
        "FILE",
        "A platform operator's overlay: its concrete values are locked. A file, a directory, or `-`",
    ),
    (
        "platform-defaults",
        LayerKind::PlatformDefaults,
        "FILE",
        "A platform operator's overlay, all of it overridable defaults",
    ),
    (
        "user",
        LayerKind::User,
        "FILE",
        "An end user's values. A file, a directory, or `-`",
    ),
    (
        "overlay",
        LayerKind::Overlay,
        "FILE",
        "An overlay: one alone is the platform's; of several the last is the end user's",
    ),
    (
        "set",
        LayerKind::Set,
        "PATH=VALUE",
        "An end user's value, read as YAML: `replicas=5`, `env={A: b}`",
    ),
    (
        "set-string",
        LayerKind::SetString,
        "PATH=TEXT",
        "An end user's value, taken as a string",
    ),
];

impl Args for LayerArgs {
    fn augment_args(command: Command) -> Command {
        let command = FLAGS
            .iter()
            .fold(command, |command, (name, kind, value, help)| {
                let arg = Arg::new(*name)
                    .long(*name)
                    .value_name(*value)
                    .help(*help)
                    .help_heading("Layers, low to high in the order given")
                    .action(ArgAction::Append);
                command.arg(match kind {
                    LayerKind::Overlay => {
                        arg.conflicts_with_all(["platform", "platform-defaults", "user"])
                    }
                    _ => arg,
                })
            });
        command.arg(
            Arg::new("files")
                .value_name("USER-FILE")
                .help("More end users' values")
                .action(ArgAction::Append)
                .num_args(0..),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        LayerArgs::augment_args(command)
    }
}

impl FromArgMatches for LayerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LayerArgs, clap::Error> {
        let mut found: Vec<(usize, LayerArg)> = Vec::new();
        let files = ("files", LayerKind::User);
        let flags = FLAGS.iter().map(|(name, kind, ..)| (*name, *kind));
        for (name, kind) in flags.chain([files]) {
            let indices = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            found.extend(
                indices
                    .zip(values.cloned())
                    .map(|(at, value)| (at, LayerArg { kind, value })),
            );
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(LayerArgs(
            found.into_iter().map(|(_, layer)| layer).collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = LayerArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
