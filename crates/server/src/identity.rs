//! Who is asking, and what that lets them see and do.
//!
//! An identity has one role in one scope. What it may do follows from role and scope alone, never from what is
//! stored: a refusal tells nothing about whether something exists. Tokens are random and kept as SHA-256 only.

use apps::layer::{Authority, Scope};
use sha2::{Digest, Sha256};

use crate::audit::hex;
use crate::http::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Host,
    Tenant,
    Workspace,
    User,
    /// Reads what is masked: diagnostics, readiness, audit.
    Support,
}

impl Role {
    pub const ALL: [Role; 5] = [
        Role::Host,
        Role::Tenant,
        Role::Workspace,
        Role::User,
        Role::Support,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Role::Host => "host-admin",
            Role::Tenant => "tenant-admin",
            Role::Workspace => "workspace-admin",
            Role::User => "user",
            Role::Support => "support",
        }
    }

    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name that stands beside what they write.
    pub name: String,
    pub role: Role,
    /// Empty for the host, and for support of all tenants.
    pub tenant: String,
    pub workspace: String,
    pub user: String,
}

impl Identity {
    /// Whether a role's scope is complete: a workspace admin has a workspace, a user is a user.
    pub fn is_sound(&self) -> bool {
        let (tenant, workspace, user) = (
            !self.tenant.is_empty(),
            !self.workspace.is_empty(),
            !self.user.is_empty(),
        );
        match self.role {
            Role::Host => !tenant && !workspace && !user,
            Role::Tenant => tenant && !workspace && !user,
            Role::Workspace => tenant && workspace && !user,
            Role::User => tenant && workspace && user,
            Role::Support => !workspace && !user,
        }
    }

    /// Whether they look after a scope: may change it, approve in it, and clear its orphans.
    pub fn administers(&self, scope: &Scope) -> bool {
        self.role != Role::User && self.uses(scope)
    }

    /// Whether they may read the values of a scope, and write them as far as policy lets them.
    pub fn uses(&self, scope: &Scope) -> bool {
        self.reaches(Place {
            tenant: &scope.tenant,
            workspace: scope.workspace.as_deref(),
            user: scope.user.as_deref(),
        })
    }

    /// The same for a scope as a request names it.
    pub fn reaches(&self, place: Place<'_>) -> bool {
        let tenant = self.tenant == place.tenant;
        let workspace = place.workspace == Some(self.workspace.as_str());
        match self.role {
            Role::Host => true,
            Role::Tenant => tenant,
            Role::Workspace => tenant && workspace,
            Role::User => tenant && workspace && place.user == Some(self.user.as_str()),
            Role::Support => false,
        }
    }

    /// Whether they may read what holds no private values: readiness, diagnostics.
    pub fn inspects(&self, scope: &Scope) -> bool {
        self.uses(scope) || self.supports(&scope.tenant)
    }

    fn supports(&self, tenant: &str) -> bool {
        self.role == Role::Support && (self.tenant.is_empty() || self.tenant == tenant)
    }

    pub fn administers_tenant(&self, tenant: &str) -> bool {
        match self.role {
            Role::Host => true,
            Role::Tenant => self.tenant == tenant,
            _ => false,
        }
    }

    /// Whether they may read a tenant's audit chain; the host's is the empty name.
    pub fn audits(&self, tenant: &str) -> bool {
        self.administers_tenant(tenant) || self.supports(tenant)
    }

    pub fn writes_policy(&self, authority: &Authority) -> bool {
        match authority {
            Authority::Host => self.role == Role::Host,
            Authority::Tenant { tenant } => self.administers_tenant(tenant),
            Authority::Workspace { tenant, workspace } => {
                self.administers(&Scope::workspace(tenant, workspace))
            }
        }
    }

    /// Rules bind those who are told of them: everyone in the tenant may read them.
    pub fn reads_policy(&self, authority: &Authority) -> bool {
        match authority {
            Authority::Host => true,
            Authority::Tenant { tenant } => {
                self.role == Role::Host || self.tenant == *tenant || self.supports(tenant)
            }
            Authority::Workspace { tenant, workspace } => {
                let inside = self.tenant == *tenant
                    && (self.workspace == *workspace || self.role == Role::Tenant);
                self.role == Role::Host || inside || self.supports(tenant)
            }
        }
    }

    /// Whether they may give someone this identity: within their own scope, never above it.
    pub fn may_name(&self, other: &Identity) -> bool {
        match self.role {
            Role::Host => true,
            Role::Tenant => other.role != Role::Host && other.tenant == self.tenant,
            _ => false,
        }
    }
}

/// How a token is looked up; it is kept as this in hexadecimal digits.
pub type TokenHash = [u8; 32];

pub fn token_hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// A new token: 256 random bits.
pub fn new_token() -> std::io::Result<String> {
    Ok(format!("lath_{}", hex(&random::<32>()?)))
}

pub fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    use std::io::Read;
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(role: Role, tenant: &str, workspace: &str, user: &str) -> Identity {
        Identity {
            name: "n".to_owned(),
            role,
            tenant: tenant.to_owned(),
            workspace: workspace.to_owned(),
            user: user.to_owned(),
        }
    }

    #[test]
    fn a_scope_is_used_by_its_owner_and_by_those_above_it_only() {
        let mine = Scope::user("t", "w", "u");
        for (who, uses) in [
            (identity(Role::Host, "", "", ""), true),
            (identity(Role::Tenant, "t", "", ""), true),
            (identity(Role::Tenant, "other", "", ""), false),
            (identity(Role::Workspace, "t", "w", ""), true),
            (identity(Role::Workspace, "t", "x", ""), false),
            (identity(Role::User, "t", "w", "u"), true),
            (identity(Role::User, "t", "w", "v"), false),
            (identity(Role::User, "t", "x", "u"), false),
            (identity(Role::Support, "t", "", ""), false),
        ] {
            assert_eq!(who.uses(&mine), uses, "{who:?}");
            assert!(who.is_sound());
        }
        let user = identity(Role::User, "t", "w", "u");
        assert!(!user.uses(&Scope::tenant("t")) && !user.administers(&mine));
    }

    #[test]
    fn nobody_names_someone_above_themselves() {
        let admin = identity(Role::Tenant, "t", "", "");
        assert!(admin.may_name(&identity(Role::User, "t", "w", "u")));
        assert!(!admin.may_name(&identity(Role::User, "other", "w", "u")));
        assert!(!admin.may_name(&identity(Role::Host, "", "", "")));
        let user = identity(Role::User, "t", "w", "u");
        assert!(!user.may_name(&user));
    }
}
