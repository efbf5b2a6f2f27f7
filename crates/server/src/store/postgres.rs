//! PostgreSQL, or an engine that speaks its protocol: any number of nodes on one database.
//!
//! Every transaction takes on the role `lath_service`, which owns nothing and may neither change nor remove what is
//! in `audit` and `history`, and says whose rows it is about: row-level security hides all others, whatever the SQL
//! says. A commit notifies the channel `lath` of the tenant's name.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use futures_util::future::join_all;
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::url::Url;
use super::{ALL, Batch, Cell, Failure, Row, SOME, Statement, View};
use crate::tls::{self, ForPostgres};

/// How long a line on which nothing is told goes unasked.
const SILENCE: Duration = Duration::from_secs(1);
/// How long a node waits for the database before it says that it is lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// Takes on the role that sees the rows of one tenant.
const ENTER: &str =
    "SELECT set_config('role', 'lath_service', true), set_config('lath.tenant', $1, true)";
/// Tells every node whose rows have changed.
const TELL: &str = "SELECT pg_notify('lath', $1)";
/// How many statements are sent before their outcomes are awaited. They are carried out in the order in which they are
/// sent, and one that fails makes all after it fail. (`join_all` keeps the order of so many.)
const AT_ONCE: usize = 24;

#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    config: Arc<tokio_postgres::Config>,
    tls: ForPostgres,
    /// How often to look for changes, where the engine cannot tell of them.
    poll: Option<Duration>,
}

fn lost(error: tokio_postgres::Error) -> Failure {
    let cause = error.source().map(|cause| format!(": {cause}"));
    Failure::Lost(format!("{error}{}", cause.unwrap_or_default()))
}

impl Postgres {
    pub async fn open(url: &str, poll: Option<Duration>) -> Result<Postgres, String> {
        let Url { mut config, trust } = Url::parse(url)?;
        let tls = ForPostgres(tls::connector(&trust)?);
        config.connect_timeout(PATIENCE);
        migrate(&config, &tls).await?;
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let timeouts = Timeouts {
            wait: Some(PATIENCE),
            create: Some(PATIENCE),
            recycle: Some(PATIENCE),
        };
        let pool = Pool::builder(Manager::from_config(config.clone(), tls.clone(), manager))
            .max_size(16)
            .runtime(Runtime::Tokio1)
            .timeouts(timeouts)
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Postgres {
            pool,
            config: Arc::new(config),
            tls,
            poll,
        })
    }

    pub async fn commit(&self, batch: Batch) -> Result<(), Failure> {
        let mut client = self.client().await?;
        let work = async {
            let transaction = client.transaction().await.map_err(lost)?;
            let enter = Statement::new(ENTER, vec![batch.tenant.as_str().into()]);
            let tell = Statement::new(TELL, vec![batch.tenant.as_str().into()]);
            let mut prepared = Vec::with_capacity(batch.statements.len() + 2);
            let tell = self.poll.is_none().then_some(&tell);
            for statement in [&enter].into_iter().chain(&batch.statements).chain(tell) {
                let text = transaction.prepare_cached(statement.sql).await;
                prepared.push((statement, text.map_err(lost)?));
            }
            for part in prepared.chunks(AT_ONCE) {
                let run = part.iter();
                let run =
                    run.map(|(statement, text)| transaction.execute_raw(text, &statement.cells));
                for ((statement, _), changed) in part.iter().zip(join_all(run).await) {
                    let changed = changed.map_err(moved_or_lost)?;
                    if statement.must.is_some_and(|must| must != changed) {
                        return Err(Failure::Moved);
                    }
                }
            }
            transaction.commit().await.map_err(moved_or_lost)
        };
        timely(work).await
    }

    pub async fn query(
        &self,
        view: View<'_>,
        sql: &'static str,
        cells: Vec<Cell>,
    ) -> Result<Vec<Row>, Failure> {
        let mut client = self.client().await?;
        let work = async {
            let transaction = client.transaction().await.map_err(lost)?;
            let enter = transaction.prepare_cached(ENTER).await.map_err(lost)?;
            let prepared = transaction.prepare_cached(sql).await.map_err(lost)?;
            let params: Vec<&(dyn ToSql + Sync)> = cells.iter().map(|c| c as _).collect();
            let setting: [&(dyn ToSql + Sync); 1] = [&view.setting()];
            let (entered, rows) = tokio::join!(
                biased;
                transaction.execute(&enter, &setting),
                transaction.query(&prepared, &params),
            );
            entered.map_err(lost)?;
            let rows = rows.map_err(lost)?;
            transaction.commit().await.map_err(lost)?;
            rows.iter().map(cells_of).collect()
        };
        timely(work).await
    }

    async fn client(&self) -> Result<deadpool_postgres::Object, Failure> {
        let client = self.pool.get().await;
        client.map_err(|error| Failure::Lost(error.to_string()))
    }

    pub async fn listen(&self, mut heard: impl FnMut(String) + Send) -> Result<(), Failure> {
        if let Some(pause) = self.poll {
            loop {
                tokio::time::sleep(pause).await;
                heard(SOME.to_owned());
            }
        }
        let (client, mut connection) = self.config.connect(self.tls.clone()).await.map_err(lost)?;
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let pump = tokio::spawn(async move {
            while let Some(message) =
                std::future::poll_fn(|context| connection.poll_message(context)).await
            {
                match message {
                    Ok(AsyncMessage::Notification(note)) => {
                        if tell.send(note.payload().to_owned()).is_err() {
                            return;
                        }
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
        let listening = client.batch_execute("LISTEN lath").await.map_err(lost);
        if listening.is_ok() {
            // Whatever was told before we listened is looked up: all tenants may have changed.
            heard(ALL.to_owned());
            loop {
                match tokio::time::timeout(SILENCE, told.recv()).await {
                    Ok(Some(tenant)) => heard(tenant),
                    Ok(None) => break,
                    // Nothing to tell, or nobody there to tell it: a line that is cut says nothing either.
                    Err(_) => {
                        let asked = client.batch_execute("");
                        match tokio::time::timeout(PATIENCE, asked).await {
                            Ok(Ok(())) => {}
                            _ => break,
                        }
                    }
                }
            }
        }
        pump.abort();
        listening
    }
}

/// A database that hangs is as lost as one that is down.
async fn timely<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    match tokio::time::timeout(PATIENCE * 5, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Failure::Lost("the database does not answer".to_owned())),
    }
}

/// Engines that check conflicts only when a transaction ends say so then.
fn moved_or_lost(error: tokio_postgres::Error) -> Failure {
    match error.code() {
        Some(code) if code.code().starts_with("40") => Failure::Moved,
        _ => lost(error),
    }
}

fn cells_of(row: &tokio_postgres::Row) -> Result<Row, Failure> {
    let cells: Result<Vec<Cell>, _> = (0..row.len())
        .map(|at| match row.columns().get(at).map(|c| c.type_()) {
            Some(&Type::INT8) => row
                .try_get::<_, Option<i64>>(at)
                .map(|n| n.map_or(Cell::Null, Cell::Int)),
            _ => row.try_get::<_, Option<String>>(at).map(Cell::opt),
        })
        .collect();
    Ok(Row(cells.map_err(lost)?.into_iter()))
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Cell::Null => Ok(IsNull::Yes),
            Cell::Int(number) => number.to_sql_checked(ty, out),
            Cell::Text(text) => text.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Nodes that start together migrate one after the other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4207849484)";

async fn migrate(config: &tokio_postgres::Config, tls: &ForPostgres) -> Result<(), String> {
    let told = |error: tokio_postgres::Error| match lost(error) {
        Failure::Lost(why) => format!("cannot use the database: {why}"),
        Failure::Moved => "cannot use the database".to_owned(),
    };
    let (mut client, connection) = config.connect(tls.clone()).await.map_err(told)?;
    let pump = tokio::spawn(connection);
    let done = async {
        let transaction = client.transaction().await?;
        transaction.batch_execute(LOCK).await?;
        let table = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY)";
        transaction.batch_execute(table).await?;
        let last = "SELECT COALESCE(MAX(number), 0) FROM migrations";
        let last: i64 = transaction.query_one(last, &[]).await?.get(0);
        let mut behind = false;
        for (number, sql) in super::migrations().filter(|(number, _)| *number > last) {
            transaction.batch_execute(sql).await?;
            let done = "INSERT INTO migrations (number) VALUES ($1)";
            transaction.execute(done, &[&number]).await?;
            behind = true;
        }
        // Only then: the statements lock tables that other nodes may be working on.
        if behind {
            transaction.batch_execute(include_str!("roles.sql")).await?;
        }
        transaction.commit().await
    };
    let done = done.await.map_err(told);
    drop(client);
    pump.abort();
    done
}
