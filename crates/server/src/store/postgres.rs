//! PostgreSQL, or an engine that speaks its protocol: any number of nodes on one database.
//!
//! Every transaction takes on the role `lath_service`, which owns nothing and may neither change nor remove what is
//! in `audit` and `history`, and says whose rows it is about: row-level security hides all others, whatever the SQL
//! says. A commit notifies the channel `lath` of the tenant's name.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{AsyncMessage, NoTls};

use super::{Batch, Cell, Failure, Row, View};

/// How long a node waits for the database before it says that it is lost.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    config: Arc<tokio_postgres::Config>,
}

fn lost(error: tokio_postgres::Error) -> Failure {
    let cause = error.source().map(|cause| format!(": {cause}"));
    Failure::Lost(format!("{error}{}", cause.unwrap_or_default()))
}

impl Postgres {
    pub async fn open(url: &str) -> Result<Postgres, String> {
        let mut config: tokio_postgres::Config = url
            .parse()
            .map_err(|e| format!("`--database` is no PostgreSQL URL: {e}"))?;
        config.connect_timeout(PATIENCE);
        migrate(&config).await?;
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let timeouts = Timeouts {
            wait: Some(PATIENCE),
            create: Some(PATIENCE),
            recycle: Some(PATIENCE),
        };
        let pool = Pool::builder(Manager::from_config(config.clone(), NoTls, manager))
            .max_size(16)
            .runtime(Runtime::Tokio1)
            .timeouts(timeouts)
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Postgres {
            pool,
            config: Arc::new(config),
        })
    }

    pub async fn commit(&self, batch: Batch) -> Result<(), Failure> {
        let mut client = self.client().await?;
        let work = async {
            let transaction = client.transaction().await.map_err(lost)?;
            enter(&transaction, &batch.tenant).await?;
            for statement in &batch.statements {
                let prepared = transaction
                    .prepare_cached(statement.sql)
                    .await
                    .map_err(lost)?;
                let changed = transaction
                    .execute_raw(&prepared, &statement.cells)
                    .await
                    .map_err(lost)?;
                if statement.must.is_some_and(|must| must != changed) {
                    transaction.rollback().await.map_err(lost)?;
                    return Err(Failure::Moved);
                }
            }
            let tell = "SELECT pg_notify('lath', $1)";
            transaction
                .execute(tell, &[&batch.tenant])
                .await
                .map_err(lost)?;
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
        let transaction = client.transaction().await.map_err(lost)?;
        enter(&transaction, view.setting()).await?;
        let prepared = transaction.prepare_cached(sql).await.map_err(lost)?;
        let params: Vec<&(dyn ToSql + Sync)> = cells.iter().map(|c| c as _).collect();
        let rows = transaction.query(&prepared, &params).await.map_err(lost)?;
        transaction.commit().await.map_err(lost)?;
        rows.iter().map(cells_of).collect()
    }

    async fn client(&self) -> Result<deadpool_postgres::Object, Failure> {
        let client = self.pool.get().await;
        client.map_err(|error| Failure::Lost(error.to_string()))
    }

    pub async fn listen(&self, mut heard: impl FnMut(String) + Send) -> Result<(), Failure> {
        let (client, mut connection) = self.config.connect(NoTls).await.map_err(lost)?;
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
            heard("*".to_owned());
            while let Some(tenant) = told.recv().await {
                heard(tenant);
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

async fn enter(
    transaction: &deadpool_postgres::Transaction<'_>,
    tenant: &str,
) -> Result<(), Failure> {
    let role = "SET LOCAL ROLE lath_service";
    transaction.batch_execute(role).await.map_err(lost)?;
    let set = "SELECT set_config('lath.tenant', $1, true)";
    let set = transaction.prepare_cached(set).await.map_err(lost)?;
    transaction.execute(&set, &[&tenant]).await.map_err(lost)?;
    Ok(())
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

async fn migrate(config: &tokio_postgres::Config) -> Result<(), String> {
    let told = |error: tokio_postgres::Error| match lost(error) {
        Failure::Lost(why) => format!("cannot use the database: {why}"),
        Failure::Moved => "cannot use the database".to_owned(),
    };
    let (mut client, connection) = config.connect(NoTls).await.map_err(told)?;
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
