//! The three tiers and their names.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Module,
    Platform,
    User,
}

impl Tier {
    pub const ALL: [Tier; 3] = [Tier::Module, Tier::Platform, Tier::User];

    /// The word in listings, in JSON and after `--only tier=`.
    pub fn word(self) -> &'static str {
        match self {
            Tier::Module => "module",
            Tier::Platform => "platform",
            Tier::User => "user",
        }
    }

    /// Who speaks in this tier.
    pub fn person(self) -> &'static str {
        match self {
            Tier::Module => "module author",
            Tier::Platform => "platform operator",
            Tier::User => "end user",
        }
    }

    /// Who speaks in this tier, as a title.
    pub fn title(self) -> &'static str {
        match self {
            Tier::Module => "Module Author",
            Tier::Platform => "Platform Operator",
            Tier::User => "End User",
        }
    }

    /// Who speaks, with the tier's number: `end user (tier 3)`.
    pub fn role(self) -> String {
        format!("{} (tier {})", self.person(), self.number())
    }

    /// The tier's number, from one.
    pub fn number(self) -> u16 {
        match self {
            Tier::Module => 1,
            Tier::Platform => 2,
            Tier::User => 3,
        }
    }

    pub fn parse(word: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.word() == word)
    }
}
