//! The words that the draft agent-app standard lists. A word outside its list is a warning.

pub const ENTRY_KINDS: &[&str] = &[
    "page",
    "panel",
    "expert-chat",
    "command",
    "workflow",
    "artifact",
    "background-task",
    "settings",
];
pub const VISIBILITIES: &[&str] = &["default", "hidden", "admin", "workspace", "tenant"];
pub const EVAL_KINDS: &[&str] = &[
    "readiness",
    "quality",
    "regression",
    "safety",
    "human-review",
];
pub const SECRET_SCOPES: &[&str] = &["workspace", "tenant", "user", "app"];
pub const TEMPLATE_SCOPES: &[&str] = &["tenant", "workspace", "user", "customer"];
pub const STATUSES: &[&str] = &["draft", "ready", "needs-review", "deprecated", "archived"];
