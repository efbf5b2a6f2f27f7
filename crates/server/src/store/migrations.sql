-- One schema for both databases. A migration is never edited, only followed by another: each stands under a line
-- `--! number`, and the table `migrations` holds the numbers that were carried out.
-- Absent workspaces, users and apps are empty texts; the host is the tenant with the empty name; times are RFC 3339.
--! 1
CREATE TABLE tenants (
    tenant TEXT PRIMARY KEY,
    revision BIGINT NOT NULL,
    audit_seq BIGINT NOT NULL,
    audit_hash TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE packages (
    app TEXT NOT NULL,
    version TEXT NOT NULL,
    hash TEXT NOT NULL,
    files TEXT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (app, version)
);
CREATE TABLE installs (
    tenant TEXT NOT NULL,
    app TEXT NOT NULL,
    version TEXT NOT NULL,
    revision BIGINT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, app)
);
CREATE TABLE overlays (
    tenant TEXT NOT NULL,
    app TEXT NOT NULL,
    workspace TEXT NOT NULL,
    member TEXT NOT NULL,
    revision BIGINT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, app, workspace, member)
);
CREATE TABLE entries (
    tenant TEXT NOT NULL,
    app TEXT NOT NULL,
    workspace TEXT NOT NULL,
    member TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    revision BIGINT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    approved_by TEXT,
    version TEXT NOT NULL,
    PRIMARY KEY (tenant, app, workspace, member, key)
);
CREATE TABLE history (
    tenant TEXT NOT NULL,
    revision BIGINT NOT NULL,
    position BIGINT NOT NULL,
    kind TEXT NOT NULL,
    app TEXT NOT NULL,
    workspace TEXT NOT NULL,
    member TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    approved_by TEXT,
    version TEXT NOT NULL,
    PRIMARY KEY (tenant, revision, position)
);
CREATE INDEX history_by_overlay ON history (tenant, app, workspace, member, revision);
CREATE TABLE policies (
    tenant TEXT NOT NULL,
    workspace TEXT NOT NULL,
    app TEXT NOT NULL,
    rules TEXT NOT NULL,
    revision BIGINT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, workspace, app)
);
CREATE TABLE environments (
    tenant TEXT PRIMARY KEY,
    document TEXT NOT NULL,
    revision BIGINT NOT NULL,
    actor TEXT NOT NULL,
    time TEXT NOT NULL
);
CREATE TABLE reviews (
    tenant TEXT NOT NULL,
    id BIGINT NOT NULL,
    app TEXT NOT NULL,
    workspace TEXT NOT NULL,
    member TEXT NOT NULL,
    changes TEXT NOT NULL,
    base BIGINT NOT NULL,
    author TEXT NOT NULL,
    time TEXT NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT,
    decided_at TEXT,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    workspace TEXT NOT NULL,
    member TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    expires TEXT,
    created TEXT NOT NULL,
    created_by TEXT NOT NULL
);
CREATE TABLE audit (
    tenant TEXT NOT NULL,
    seq BIGINT NOT NULL,
    record TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, seq)
);
CREATE TABLE idempotency (
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, actor, key)
);
