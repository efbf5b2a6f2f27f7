//! SQLite: one file, one thread that owns the connection.
//!
//! Batches that wait while another commits are carried out in one transaction, each in a savepoint of its own:
//! a disk is flushed once for all of them. An answer is given only after the flush.

use std::path::Path;
use std::sync::mpsc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use tokio::sync::oneshot;

use super::{Batch, Cell, Failure, Row, Statement};

/// How many batches are flushed together at most.
const TOGETHER: usize = 64;

enum Job {
    Commit(Batch, oneshot::Sender<Result<(), Failure>>),
    Query(
        &'static str,
        Vec<Cell>,
        oneshot::Sender<Result<Vec<Row>, Failure>>,
    ),
}

#[derive(Clone)]
pub struct Sqlite {
    jobs: mpsc::Sender<Job>,
}

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, String> {
        let told = |e: rusqlite::Error| format!("cannot use {}: {e}", path.display());
        let mut connection = Connection::open(path).map_err(told)?;
        let set = |name: &str, value: &str| connection.pragma_update(None, name, value);
        set("journal_mode", "WAL").map_err(told)?;
        set("synchronous", "FULL").map_err(told)?;
        set("busy_timeout", "5000").map_err(told)?;
        migrate(&mut connection).map_err(told)?;
        connection.set_prepared_statement_cache_capacity(64);
        let (jobs, work) = mpsc::channel();
        std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(connection, &work))
            .map_err(|e| format!("cannot start the store's thread: {e}"))?;
        Ok(Sqlite { jobs })
    }

    pub async fn commit(&self, batch: Batch) -> Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Commit(batch, reply))?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    pub async fn query(&self, sql: &'static str, cells: Vec<Cell>) -> Result<Vec<Row>, Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Query(sql, cells, reply))?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    fn send(&self, job: Job) -> Result<(), Failure> {
        self.jobs.send(job).map_err(|_| gone())
    }
}

fn gone() -> Failure {
    Failure::Lost("the store's thread has ended".to_owned())
}

fn lost(error: rusqlite::Error) -> Failure {
    Failure::Lost(error.to_string())
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction
        .execute_batch("CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY)")?;
    let last: i64 = transaction.query_row(
        "SELECT COALESCE(MAX(number), 0) FROM migrations",
        [],
        |row| row.get(0),
    )?;
    for (number, sql) in super::migrations().filter(|(number, _)| *number > last) {
        transaction.execute_batch(sql)?;
        transaction.execute("INSERT INTO migrations (number) VALUES (?1)", [number])?;
    }
    transaction.commit()
}

fn serve(mut connection: Connection, work: &mpsc::Receiver<Job>) {
    let mut next = work.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Query(sql, cells, reply) => {
                // Nobody may be waiting any more: a client that went away.
                let _ = reply.send(query(&connection, sql, &cells).map_err(lost));
            }
            Job::Commit(batch, reply) => {
                let mut waiting = vec![(batch, reply)];
                while waiting.len() < TOGETHER {
                    match work.try_recv() {
                        Ok(Job::Commit(batch, reply)) => waiting.push((batch, reply)),
                        Ok(job) => {
                            next = Some(job);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                commit(&mut connection, waiting);
            }
        }
        if next.is_none() {
            next = work.recv().ok();
        }
    }
}

type Waiting = (Batch, oneshot::Sender<Result<(), Failure>>);

fn commit(connection: &mut Connection, waiting: Vec<Waiting>) {
    let mut replies = Vec::with_capacity(waiting.len());
    let flushed = (|| {
        let mut transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for (batch, reply) in waiting {
            let savepoint = transaction.savepoint()?;
            let outcome = run(&savepoint, &batch.statements);
            match &outcome {
                Ok(()) => savepoint.commit()?,
                // Dropping a savepoint undoes it.
                Err(_) => drop(savepoint),
            }
            replies.push((outcome, reply));
        }
        transaction.commit()
    })();
    for (outcome, reply) in replies {
        let outcome = match &flushed {
            Ok(()) => outcome,
            Err(error) => Err(Failure::Lost(error.to_string())),
        };
        let _ = reply.send(outcome);
    }
}

fn run(connection: &Connection, statements: &[Statement]) -> Result<(), Failure> {
    for statement in statements {
        let mut prepared = connection.prepare_cached(statement.sql).map_err(lost)?;
        let changed = prepared
            .execute(params_from_iter(&statement.cells))
            .map_err(lost)?;
        if statement.must.is_some_and(|must| must != changed as u64) {
            return Err(Failure::Moved);
        }
    }
    Ok(())
}

fn query(connection: &Connection, sql: &str, cells: &[Cell]) -> rusqlite::Result<Vec<Row>> {
    let mut prepared = connection.prepare_cached(sql)?;
    let width = prepared.column_count();
    let rows = prepared.query_map(params_from_iter(cells), |row| {
        let cells: rusqlite::Result<Vec<Cell>> = (0..width)
            .map(|at| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Integer(number) => Cell::Int(number),
                    ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
                    _ => Cell::Null,
                })
            })
            .collect();
        Ok(Row(cells?.into_iter()))
    })?;
    rows.collect()
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Int(number) => ValueRef::Integer(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
