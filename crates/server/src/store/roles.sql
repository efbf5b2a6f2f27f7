-- PostgreSQL only: the role that the service works under, and what it may see. Carried out after every migration.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'lath_service') THEN
        CREATE ROLE lath_service NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'lath_service', 'MEMBER') THEN
        EXECUTE format('GRANT lath_service TO %I', current_user);
    END IF;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    tenants, packages, installs, overlays, entries, policies, environments, reviews, tokens, idempotency
TO lath_service;
GRANT SELECT, INSERT ON history, audit TO lath_service;
DO $$
DECLARE name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenants', 'installs', 'overlays', 'entries', 'history', 'policies', 'environments',
        'reviews', 'tokens', 'audit', 'idempotency']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS own_rows ON %I', name);
        EXECUTE format($policy$
            CREATE POLICY own_rows ON %I
            USING (tenant = current_setting('lath.tenant', true) OR current_setting('lath.tenant', true) = '*')
            WITH CHECK (tenant = current_setting('lath.tenant', true))
        $policy$, name);
    END LOOP;
END $$;
