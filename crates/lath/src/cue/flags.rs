//! The flags that the commands share. They are those of the reference implementation, and bounds.

use crate::number;

#[derive(clap::Args, Debug, Default)]
pub struct Flags {
    /// Packages and files: `.`, `./...`, `.:name`, `example.com/path`, `a.cue`, `json:`, `-`
    pub inputs: Vec<String>,
    /// Evaluate this expression only
    #[arg(short = 'e', long = "expression")]
    pub expressions: Vec<String>,
    /// Check data against this part of the schema
    #[arg(short = 'd', long = "schema")]
    pub schemas: Vec<String>,
    /// Place data at a path: labels, or expressions on the data
    #[arg(short = 'l', long)]
    pub path: Vec<String>,
    /// Collect documents in a list
    #[arg(long)]
    pub list: bool,
    /// Labels see `data`, `filename`, `index` and `recordCount`
    #[arg(long)]
    pub with_context: bool,
    /// Unify data files with the rest
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub merge: Option<bool>,
    /// The form of the output
    #[arg(long)]
    pub out: Option<String>,
    /// Where to write; `-` is standard output
    #[arg(short = 'o', long)]
    pub outfile: Option<String>,
    /// Overwrite files
    #[arg(short, long)]
    pub force: bool,
    /// Set a tag: `name` or `name=value`
    #[arg(short = 't', long = "inject")]
    pub tags: Vec<String>,
    /// Set tags that ask for a variable of the system
    #[arg(short = 'T', long)]
    pub inject_vars: bool,
    /// The package's name
    #[arg(short, long)]
    pub package: Option<String>,
    /// Only files whose name matches
    #[arg(short = 'n', long)]
    pub name: Option<String>,
    /// Report all errors; they are reported with and without it
    #[arg(short = 'E', long)]
    pub all_errors: bool,
    /// Go on in spite of errors
    #[arg(short, long)]
    pub ignore: bool,
    /// Simplify the output
    #[arg(short, long)]
    pub simplify: bool,
    /// Refuse keywords of JSON Schema and OpenAPI that are unknown or not converted
    #[arg(long)]
    pub strict: bool,
    /// How many steps the evaluation may take
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::positive::<u64>)]
    pub max_steps: Option<u64>,
    /// How many fields and elements the evaluation may make, with those in between
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::positive::<u64>)]
    pub max_fields: Option<u64>,
}
