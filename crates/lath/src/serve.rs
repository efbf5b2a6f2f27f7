//! `lath serve` runs a node of the service; `lath audit verify` checks its audit chains.
//!
//! Exit status: 0 fine, 1 a chain that does not hold, 2 usage, or a database or address that cannot be used.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use apps::package::File;
use clap::{Args, Subcommand};
use server::audit::{Verified, verify, verify_all};
use server::limits::Rates;
use server::oidc::Oidc;
use server::store::{Failure, Store};
use server::{Demo, Person, Settings};

use crate::{demo, number, report};

const DEFAULT: &str = "127.0.0.1:8420";

#[derive(Args)]
#[command(after_help = "Examples:
  lath serve --demo
  lath serve --listen 0.0.0.0:8420 --data /var/lib/lath
  LATH_ADMIN_TOKEN=… lath serve --database postgres://lath@db.internal/lath")]
pub struct Serve {
    /// The address to listen on
    #[arg(long, default_value = DEFAULT, value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    place: Place,
    /// Fill an empty store with an example, and print tokens that let one look around
    #[arg(long)]
    demo: bool,
    /// Take bearer tokens of this OIDC issuer; its keys are found by its discovery document
    #[arg(long, value_name = "URL", requires = "oidc_audience")]
    oidc_issuer: Option<String>,
    /// The audience that such tokens must name
    #[arg(long, value_name = "AUDIENCE", requires = "oidc_issuer")]
    oidc_audience: Option<String>,
    /// The issuer's keys as a JWKS file, instead of asking the issuer
    #[arg(long, value_name = "FILE", requires = "oidc_issuer")]
    oidc_keys: Option<PathBuf>,
    /// How many requests a second one identity may make on this node
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::positive::<u32>)]
    identity_rate: Option<u32>,
    /// How many requests a second a tenant's people may make together on this node
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::positive::<u32>)]
    tenant_rate: Option<u32>,
    /// Look for changes of other nodes so often, for an engine that has no LISTEN/NOTIFY
    #[arg(long, value_name = "MS", requires = "database", allow_negative_numbers = true,
        value_parser = |text: &str| number::at_least::<u64>(text, 10))]
    poll_changes: Option<u64>,
}

impl Serve {
    /// `lath serve --demo`
    pub fn demo() -> Serve {
        Serve {
            listen: DEFAULT.parse().expect("an address"),
            place: Place {
                data: None,
                database: None,
            },
            demo: true,
            oidc_issuer: None,
            oidc_audience: None,
            oidc_keys: None,
            identity_rate: None,
            tenant_rate: None,
            poll_changes: None,
        }
    }
}

/// Where a store is.
#[derive(Args)]
pub struct Place {
    /// The folder of the embedded database [default: lath-data, or a throw-away folder with --demo]
    #[arg(long, value_name = "DIR", conflicts_with = "database")]
    data: Option<PathBuf>,
    /// A PostgreSQL database for any number of nodes
    #[arg(
        long,
        value_name = "URL",
        env = "LATH_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
}

#[derive(Subcommand)]
pub enum Audit {
    /// Recompute the audit chains of a store
    #[command(after_help = "Example:
  lath audit verify --data /var/lib/lath --tenant acme")]
    Verify {
        #[command(flatten)]
        place: Place,
        /// Only this tenant's chain
        #[arg(long, value_name = "T")]
        tenant: Option<String>,
    },
}

impl Place {
    async fn open(&self, default: &Path, poll: Option<u64>) -> Result<Store, String> {
        if let Some(url) = &self.database {
            return Store::postgres(url, poll.map(Duration::from_millis)).await;
        }
        let folder = self.data.as_deref().unwrap_or(default);
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("cannot use {}: {e}", folder.display()))?;
        Store::sqlite(&folder.join("lath.db"))
    }
}

fn say(text: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

pub fn run(serve: &Serve) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return report::failed(&format!("cannot start: {error}")),
    };
    let thrown_away = std::env::temp_dir().join(format!("lath-serve-demo-{}", std::process::id()));
    let default = match serve.demo {
        true => thrown_away.clone(),
        false => PathBuf::from("lath-data"),
    };
    let outcome = runtime.block_on(node(serve, &default));
    drop(runtime);
    let _ = std::fs::remove_dir_all(&thrown_away);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => report::failed(&message),
    }
}

async fn node(serve: &Serve, default: &Path) -> Result<(), String> {
    let store = serve.place.open(default, serve.poll_changes).await?;
    let oidc = oidc(serve).await?;
    let given = std::env::var("LATH_ADMIN_TOKEN").ok();
    let admin_token = given.filter(|token| !token.is_empty());
    let started = server::start(Settings {
        listen: serve.listen,
        store,
        oidc,
        rates: Rates {
            identity: serve.identity_rate,
            tenant: serve.tenant_rate,
        },
        admin_token,
        demo: serve.demo.then(example),
    })
    .await?;
    say(&format!("listening on http://{}", started.serving.address));
    for (whose, token) in &started.tokens {
        say(&format!("token of {whose}: {token}"));
    }
    ended().await;
    started.serving.end().await;
    Ok(())
}

async fn oidc(serve: &Serve) -> Result<Option<Oidc>, String> {
    let (Some(issuer), Some(audience)) = (&serve.oidc_issuer, &serve.oidc_audience) else {
        return Ok(None);
    };
    let (issuer, audience) = (issuer.clone(), audience.clone());
    if let Some(keys) = &serve.oidc_keys {
        return Oidc::with_file(issuer, audience, keys.clone())
            .await
            .map(Some);
    }
    let (oidc, found) = Oidc::discover(issuer, audience).await;
    // An issuer that is away must not keep the node from serving those who have tokens of its own.
    if let Err(why) = found {
        report::warn(&format!("{why}; it is asked again when a token comes"));
    }
    Ok(Some(oidc))
}

/// Returns when the process is asked to end.
async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(interrupt.await),
    }
}

const APP: &str = "content-factory-app";

/// The app of the examples in two versions, two tenants, and people to be.
fn example() -> Demo {
    let package = |folder: &str| -> Vec<File> {
        let prefix = format!("apps/{folder}/");
        let files = demo::Examples::iter().filter_map(|name| {
            let path = name.strip_prefix(&prefix)?.to_owned();
            let bytes = demo::Examples::get(&name)?.data.into_owned();
            Some(File { path, bytes })
        });
        files.collect()
    };
    let text = |name: &str| {
        let file = demo::Examples::get(&format!("apps/{name}"));
        file.map_or_else(String::new, |file| {
            String::from_utf8_lossy(&file.data).into_owned()
        })
    };
    // Values before rules: some were there when a rule came, and are shown as suppressed.
    let mut documents = vec![("admin".to_owned(), text("environment.yaml"))];
    let overlays = text("overlays.yaml");
    documents.extend(overlays.split("\n---\n").map(|document| {
        let actor = document
            .lines()
            .find_map(|line| line.strip_prefix("actor: "));
        (actor.unwrap_or("admin").to_owned(), document.to_owned())
    }));
    documents.push(("admin".to_owned(), text("policies.yaml")));
    documents.push(("admin".to_owned(), text("service/reviews.yaml")));
    let installs = ["acme", "globex"].map(|tenant| (tenant, APP.to_owned(), "1.4.0".to_owned()));
    let person = |token, name, role, tenant, workspace, user| Person {
        token,
        name,
        role,
        tenant,
        workspace,
        user,
    };
    let people = vec![
        person("demo-host", "host", "host-admin", "", "", ""),
        person("demo-acme", "u9", "tenant-admin", "acme", "", ""),
        person(
            "demo-marketing",
            "mia",
            "workspace-admin",
            "acme",
            "marketing",
            "",
        ),
        person("demo-u4", "u4", "user", "acme", "marketing", "u4"),
        person(
            "demo-globex",
            "admin@globex",
            "tenant-admin",
            "globex",
            "",
            "",
        ),
        person("demo-support", "sam", "support", "", "", ""),
    ];
    let write = |token, workspace, user, key, value| server::DemoWrite {
        token,
        app: APP,
        workspace,
        user,
        key,
        value,
    };
    Demo {
        packages: vec![package("content-factory-1"), package("content-factory-2")],
        documents,
        installs: installs.into(),
        people,
        writes: vec![
            write("demo-u4", "marketing", "u4", "model.cost_cap", "4"),
            write(
                "demo-marketing",
                "marketing",
                "",
                "export.retention_days",
                "90",
            ),
        ],
    }
}

pub fn audit(command: &Audit) -> ExitCode {
    let Audit::Verify { place, tenant } = command;
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return report::failed(&format!("cannot start: {error}")),
    };
    let verified = runtime.block_on(async {
        let store = existing(place).await?;
        let told = |failure| match failure {
            Failure::Lost(why) => format!("cannot read the database: {why}"),
            Failure::Moved => "the database changes too fast to be read".to_owned(),
        };
        match tenant {
            Some(tenant) => Ok(vec![verify(&store, tenant).await.map_err(told)?]),
            None => verify_all(&store).await.map_err(told),
        }
    });
    match verified {
        Ok(verified) => tell(&verified),
        Err(message) => report::failed(&message),
    }
}

/// A store that is there: checking must not make one.
async fn existing(place: &Place) -> Result<Store, String> {
    let folder = place.data.clone().unwrap_or_else(|| "lath-data".into());
    let file = folder.join("lath.db");
    if place.database.is_none() && !file.is_file() {
        return Err(format!("cannot open {}: there is no store", file.display()));
    }
    place.open(&folder, None).await
}

fn tell(verified: &[Verified]) -> ExitCode {
    let mut broken = 0;
    for chain in verified {
        let whose = match chain.tenant.as_str() {
            "" => "the host".to_owned(),
            tenant => format!("tenant {tenant}"),
        };
        match &chain.broken {
            None => say(&format!(
                "{whose}: {} records, intact, head {}",
                chain.records, chain.head
            )),
            Some((seq, why)) => {
                broken += 1;
                say(&format!("{whose}: BROKEN at record {seq}: {why}"));
            }
        }
    }
    ExitCode::from(u8::from(broken > 0))
}
