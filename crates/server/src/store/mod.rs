//! The store: one schema and one set of SQL texts on SQLite or PostgreSQL.
//!
//! A write is a [`Batch`]: statements that are carried out together or not at all, some of which must
//! change exactly so many rows. That is the whole of concurrency control: a batch that was decided on what has
//! moved since changes no row where it must change one, and comes back as [`Failure::Moved`]; the caller reads
//! anew and decides again. Nothing here knows what the rows mean.

mod postgres;
mod sqlite;
mod url;

use std::path::Path;
use std::time::Duration;

pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// One value of a row or a statement. Both databases hold nothing else for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl Cell {
    pub fn opt(text: Option<impl Into<String>>) -> Cell {
        text.map_or(Cell::Null, |text| Cell::Text(text.into()))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Int(number)
    }
}

/// The cells of one row, taken in order.
#[derive(Debug)]
pub struct Row(pub std::vec::IntoIter<Cell>);

impl Row {
    pub fn text(&mut self) -> String {
        self.maybe().unwrap_or_default()
    }

    pub fn maybe(&mut self) -> Option<String> {
        match self.0.next() {
            Some(Cell::Text(text)) => Some(text),
            Some(Cell::Int(number)) => Some(number.to_string()),
            _ => None,
        }
    }

    pub fn int(&mut self) -> i64 {
        match self.0.next() {
            Some(Cell::Int(number)) => number,
            _ => 0,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub sql: &'static str,
    pub cells: Vec<Cell>,
    /// How many rows it must change; otherwise the batch is void.
    pub must: Option<u64>,
}

impl Statement {
    pub fn new(sql: &'static str, cells: Vec<Cell>) -> Statement {
        let must = None;
        Statement { sql, cells, must }
    }

    pub fn must(self, rows: u64) -> Statement {
        let must = Some(rows);
        Statement { must, ..self }
    }
}

/// Statements that stand or fall together, all about one tenant (the host is the tenant with the empty name).
#[derive(Clone, Debug)]
pub struct Batch {
    pub tenant: String,
    pub statements: Vec<Statement>,
}

/// No tenant's name: anything may have changed before we listened.
pub const ALL: &str = "*";
/// No tenant's name: whoever has moved since is to be found.
pub const SOME: &str = "?";

#[derive(Debug)]
pub enum Failure {
    /// What the batch was decided on has changed.
    Moved,
    /// The database cannot be reached or refuses.
    Lost(String),
}

/// Who may see the rows that a query reads.
#[derive(Clone, Copy, Debug)]
pub enum View<'v> {
    Tenant(&'v str),
    /// The service itself, when it loads.
    All,
}

impl View<'_> {
    /// What row-level security is told.
    fn setting(&self) -> &str {
        match self {
            View::Tenant(tenant) => tenant,
            View::All => "*",
        }
    }
}

#[derive(Clone)]
pub enum Store {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    pub fn sqlite(path: &Path) -> Result<Store, String> {
        Sqlite::open(path).map(Store::Sqlite)
    }

    /// With `poll` the nodes look for each other's changes so often, instead of being told of them.
    pub async fn postgres(url: &str, poll: Option<Duration>) -> Result<Store, String> {
        Postgres::open(url, poll).await.map(Store::Postgres)
    }

    pub async fn commit(&self, batch: Batch) -> Result<(), Failure> {
        match self {
            Store::Sqlite(store) => store.commit(batch).await,
            Store::Postgres(store) => store.commit(batch).await,
        }
    }

    pub async fn query(
        &self,
        view: View<'_>,
        sql: &'static str,
        cells: Vec<Cell>,
    ) -> Result<Vec<Row>, Failure> {
        match self {
            Store::Sqlite(store) => store.query(sql, cells).await,
            Store::Postgres(store) => store.query(view, sql, cells).await,
        }
    }

    /// Hears of tenants that other nodes changed, by name, or [`ALL`] or [`SOME`]; nothing on SQLite, which has one node.
    /// Ends when the connection does.
    pub async fn listen(&self, mut heard: impl FnMut(String) + Send) -> Result<(), Failure> {
        match self {
            Store::Sqlite(_) => {
                heard(ALL.to_owned());
                std::future::pending().await
            }
            Store::Postgres(store) => store.listen(heard).await,
        }
    }
}

/// The migrations in order, with their numbers.
fn migrations() -> impl Iterator<Item = (i64, &'static str)> {
    let parts = include_str!("migrations.sql").split("--! ").skip(1);
    parts.filter_map(|part| {
        let (number, sql) = part.split_once('\n')?;
        Some((number.trim().parse().ok()?, sql))
    })
}
