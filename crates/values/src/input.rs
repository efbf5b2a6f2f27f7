//! What is merged: one layer of one tier each, as plain data or as CUE.

use data::Tree;

use crate::document::Kind;
use crate::tier::Tier;

/// One layer, as it was read.
#[derive(Debug)]
pub struct Input {
    pub tier: Tier,
    pub content: Content,
    /// Taken as a whole as overridable defaults (`--platform-defaults`).
    pub defaults: bool,
}

#[derive(Debug)]
pub enum Content {
    /// YAML, JSON, TOML or the command line.
    Data { tree: Tree, kind: Kind },
    /// A CUE file, or the files of a module's package: the first instance that was loaded, with what it imports.
    Cue(Box<cue::load::Loaded>),
}

impl Input {
    pub fn data(tier: Tier, tree: Tree, kind: Kind) -> Input {
        Input {
            tier,
            content: Content::Data { tree, kind },
            defaults: false,
        }
    }

    pub fn cue(tier: Tier, loaded: cue::load::Loaded) -> Input {
        Input {
            tier,
            content: Content::Cue(Box::new(loaded)),
            defaults: false,
        }
    }

    pub fn is_cue(&self) -> bool {
        matches!(self.content, Content::Cue(_))
    }
}
