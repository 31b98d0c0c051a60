-- For psql, as a superuser, on the database of Latchkey. compose.yaml runs it at every start. You may run it again at any time.
--
-- latchkey_owner    owns the tables and changes them: `latchkey db migrate`
-- latchkey_service  reads and writes rows, and nothing else: `latchkey`
\set ON_ERROR_STOP on
\set owner_password `cat /run/secrets/postgres_owner_password`
\set service_password `cat /run/secrets/postgres_service_password`

BEGIN;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'latchkey_owner') THEN
    CREATE ROLE latchkey_owner;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'latchkey_service') THEN
    CREATE ROLE latchkey_service;
  END IF;
END $$;

ALTER ROLE latchkey_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE latchkey_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'service_password';

DO $$
DECLARE
  found record;
BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO latchkey_owner, latchkey_service', current_database());
  -- Tables that a superuser created, in a database that is older than the two roles.
  FOR found IN
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relowner <> 'latchkey_owner'::regrole
    ORDER BY relkind
  LOOP
    EXECUTE format('ALTER TABLE public.%I OWNER TO latchkey_owner', found.relname);
  END LOOP;
  FOR found IN
    SELECT oid::regprocedure AS name FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND proowner <> 'latchkey_owner'::regrole AND starts_with(proname, 'latchkey_')
  LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO latchkey_owner', found.name);
  END LOOP;
END $$;

ALTER SCHEMA public OWNER TO latchkey_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO latchkey_service;

-- Existing tables, and those that the owner will create.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO latchkey_service;
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO latchkey_service;
ALTER DEFAULT PRIVILEGES FOR ROLE latchkey_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO latchkey_service;
ALTER DEFAULT PRIVILEGES FOR ROLE latchkey_owner IN SCHEMA public
  GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO latchkey_service;

COMMIT;
