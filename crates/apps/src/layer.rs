//! The six layers, the scopes that own overlays, and the authorities that write policy.
//!
//! Layers are ordered low to high and always shown in that order. A scope is *whose* overlay it
//! is; a context is *for whom* something is resolved. Neither knows what is stored.

use std::fmt;

/// One of the six layers, low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    Host,
    App,
    Tenant,
    Workspace,
    User,
    Runtime,
}

impl Layer {
    pub const ALL: [Layer; 6] = [
        Layer::Host,
        Layer::App,
        Layer::Tenant,
        Layer::Workspace,
        Layer::User,
        Layer::Runtime,
    ];

    /// The layers that people and programs set values in.
    pub const SET: [Layer; 4] = [Layer::Tenant, Layer::Workspace, Layer::User, Layer::Runtime];

    pub fn word(self) -> &'static str {
        match self {
            Layer::Host => "host",
            Layer::App => "app",
            Layer::Tenant => "tenant",
            Layer::Workspace => "workspace",
            Layer::User => "user",
            Layer::Runtime => "runtime",
        }
    }

    /// Who can change what this layer says.
    pub fn keeper(self) -> &'static str {
        match self {
            Layer::Host => "host admin",
            Layer::App => "app vendor",
            Layer::Tenant => "tenant admin",
            Layer::Workspace => "workspace admin",
            Layer::User => "user",
            Layer::Runtime => "caller",
        }
    }

    /// Whether values of this layer are kept in overlays or passed in: neither the package's
    /// defaults nor the host's.
    pub fn is_set(self) -> bool {
        self >= Layer::Tenant
    }
}

/// Whose overlay: a tenant's, a workspace's or a user's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    pub tenant: String,
    pub workspace: Option<String>,
    /// Only within a workspace.
    pub user: Option<String>,
}

impl Scope {
    pub fn tenant(tenant: impl Into<String>) -> Scope {
        Scope {
            tenant: tenant.into(),
            workspace: None,
            user: None,
        }
    }

    pub fn workspace(tenant: impl Into<String>, workspace: impl Into<String>) -> Scope {
        Scope {
            workspace: Some(workspace.into()),
            ..Scope::tenant(tenant)
        }
    }

    pub fn user(
        tenant: impl Into<String>,
        workspace: impl Into<String>,
        user: impl Into<String>,
    ) -> Scope {
        Scope {
            user: Some(user.into()),
            ..Scope::workspace(tenant, workspace)
        }
    }

    pub fn layer(&self) -> Layer {
        match (&self.workspace, &self.user) {
            (Some(_), Some(_)) => Layer::User,
            (Some(_), None) => Layer::Workspace,
            _ => Layer::Tenant,
        }
    }

    /// The last part: the name that stands beside a value of this scope.
    pub fn name(&self) -> &str {
        let user = self.workspace.as_ref().and(self.user.as_ref());
        user.or(self.workspace.as_ref()).unwrap_or(&self.tenant)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tenant)?;
        if let Some(workspace) = &self.workspace {
            write!(f, "/{workspace}")?;
            if let Some(user) = &self.user {
                write!(f, "/{user}")?;
            }
        }
        Ok(())
    }
}

/// Who writes a policy. The order is the order of power turned around: the host binds the tenant,
/// the tenant binds the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    Host,
    Tenant { tenant: String },
    Workspace { tenant: String, workspace: String },
}

impl Authority {
    /// The layer that the authority stands at; its rules bind the layers above.
    pub fn layer(&self) -> Layer {
        match self {
            Authority::Host => Layer::Host,
            Authority::Tenant { .. } => Layer::Tenant,
            Authority::Workspace { .. } => Layer::Workspace,
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authority::Host => f.write_str("the host"),
            Authority::Tenant { tenant } => write!(f, "tenant {tenant}"),
            Authority::Workspace { tenant, workspace } => {
                write!(f, "workspace {tenant}/{workspace}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_ordered_low_to_high() {
        assert!(Layer::ALL.is_sorted());
        assert_eq!(Scope::user("t", "w", "u").layer(), Layer::User);
        assert_eq!(Scope::user("t", "w", "u").to_string(), "t/w/u");
        assert_eq!(Scope::workspace("t", "w").name(), "w");
    }
}
