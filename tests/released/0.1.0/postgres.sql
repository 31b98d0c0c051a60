--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: latchkey_next_key(text, regclass, regclass); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.latchkey_next_key(name text, in_table regclass, in_sequence regclass) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
  DECLARE
    upcoming bigint;
  BEGIN
    IF (SELECT followed FROM latchkey_schema WHERE collection = name) THEN
      PERFORM pg_advisory_xact_lock(1818323051, in_table::oid::integer);
      PERFORM pg_notify('latchkey', name);
    ELSE
      PERFORM pg_advisory_xact_lock_shared(1818323051, in_table::oid::integer);
    END IF;
    LOOP
      upcoming := nextval(in_sequence);
      DELETE FROM latchkey_taken_keys AS taken WHERE taken.collection = name AND taken.key = upcoming;
      IF NOT FOUND THEN
        RETURN upcoming;
      END IF;
    END LOOP;
  END $$;


--
-- Name: latchkey_refuse(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.latchkey_refuse(reason text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
  BEGIN
    RAISE EXCEPTION USING ERRCODE = 'LK001', MESSAGE = reason;
  END $$;


--
-- Name: latchkey_take_key(text, regclass, regclass, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.latchkey_take_key(name text, in_table regclass, in_sequence regclass, wanted bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
  DECLARE
    upcoming bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(1818323051, in_table::oid::integer);
    EXECUTE format('SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM %s', in_sequence) INTO upcoming;
    IF wanted = upcoming THEN
      -- Rows that come with their keys in order (an import) need no memory but the counter.
      PERFORM setval(in_sequence, wanted);
    ELSIF wanted > upcoming THEN
      INSERT INTO latchkey_taken_keys (collection, key) VALUES (name, wanted) ON CONFLICT DO NOTHING;
    END IF;
    RETURN wanted;
  END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: accounts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.accounts (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    username text NOT NULL COLLATE pg_catalog."C",
    username_follows_email boolean NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    active boolean NOT NULL,
    password_hash text COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C",
    last_login_at text COLLATE pg_catalog."C",
    _username_folded text COLLATE pg_catalog."C"
);


--
-- Name: accounts(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."accounts(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: api_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    nonce text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    last_used_at text COLLATE pg_catalog."C"
);


--
-- Name: dead_families; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.dead_families (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: guesses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.guesses (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);


--
-- Name: guesses(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."guesses(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: latchkey_idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.latchkey_idempotency (
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL,
    rows text,
    expires_at bigint NOT NULL
);


--
-- Name: latchkey_revision; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.latchkey_revision
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: latchkey_schema; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.latchkey_schema (
    collection text NOT NULL COLLATE pg_catalog."C",
    declaration text NOT NULL,
    types json NOT NULL,
    followed boolean DEFAULT false NOT NULL
);


--
-- Name: latchkey_taken_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.latchkey_taken_keys (
    collection text NOT NULL COLLATE pg_catalog."C",
    key bigint NOT NULL
);


--
-- Name: latchkey_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.latchkey_version (
    version integer NOT NULL
);


--
-- Name: named_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.named_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    scopes json,
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C",
    last_used_at text COLLATE pg_catalog."C"
);


--
-- Name: orders; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.orders (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    status text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: orders(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."orders(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: orders_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.orders_items (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    order_id bigint NOT NULL,
    product text NOT NULL COLLATE pg_catalog."C",
    quantity bigint NOT NULL,
    unit_price numeric(19,2) NOT NULL
);


--
-- Name: orders_items(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."orders_items(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: refresh_uses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.refresh_uses (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    family text NOT NULL COLLATE pg_catalog."C",
    nonce text COLLATE pg_catalog."C",
    used_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: revocations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.revocations (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    user_id bigint,
    generation bigint,
    role text COLLATE pg_catalog."C",
    family text COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: revocations(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."revocations(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    public_id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C",
    last_seen_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    user_agent text COLLATE pg_catalog."C"
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    _email_folded text COLLATE pg_catalog."C"
);


--
-- Name: users(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."users(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.accounts VALUES (1, 2, 'admin', false, 'admin', true, '$argon2id$v=19$m=19456,t=2,p=1$u8arS/fR29yWzzLmjVAMLg$yudKlcXuU/SOgrz1ZMVJedWSjn2UVIsujACSg/A3vx0', 1769850000000, '2026-01-31T09:00:00.000Z', NULL, 'admin');
INSERT INTO public.accounts VALUES (3, 6, 'c48c656ec49b6b@example.com', true, 'user', true, NULL, 1769850002000, '2026-01-31T09:00:02.000Z', NULL, 'c48c656ec49b6b@example.com');
INSERT INTO public.accounts VALUES (4, 8, '4f274e65696c205c202271756f74656422@example.com', true, 'user', true, NULL, 1769850003000, '2026-01-31T09:00:03.000Z', NULL, '4f274e65696c205c202271756f74656422@example.com');
INSERT INTO public.accounts VALUES (6, 12, '5a6fc3ab@example.com', true, 'user', true, NULL, 1769850005000, '2026-01-31T09:00:05.000Z', NULL, '5a6fc3ab@example.com');
INSERT INTO public.accounts VALUES (8, 15, 'named@example.com', true, 'user', true, NULL, 1769850007000, '2026-01-31T09:00:07.000Z', NULL, 'named@example.com');
INSERT INTO public.accounts VALUES (2, 29, 'Ada', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$L8As+RfWqvrI+cVl/TTp/g$wqTcghm1i30X2+sNHY/cX+mMJNsqNVr+igXP/oeibQ0', 1769850001000, '2026-01-31T09:00:01.000Z', '2026-01-31T09:00:19.000Z', 'ada');


--
-- Data for Name: api_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_tokens VALUES ('9lvbAG3BwE6piB', 30, 2, 'nm0oWl3DpP0A1b1iNM7AOQ', '2026-01-31T09:00:19.000Z', NULL);


--
-- Data for Name: dead_families; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.dead_families VALUES ('-A3zdHjBkLh9NrcEfdS_9w', 27, '2026-03-02T10:00:17.000Z');


--
-- Data for Name: guesses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: latchkey_idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_idempotency VALUES ('1 a-user-with-a-password', 'sW2xYoSQpjr52kET-AlqPkNN9yGtHgU139BEFwuaRKM', '[{"revision":3,"record":{"id":2,"name":"Ada","email":"Ada@Example.com"}},{"revision":4,"record":{"id":2,"username":"Ada","username_follows_email":false,"role":"user","active":true,"password_hash":"$argon2id$v=19$m=19456,t=2,p=1$L8As+RfWqvrI+cVl/TTp/g$wqTcghm1i30X2+sNHY/cX+mMJNsqNVr+igXP/oeibQ0","generation":1769850001000,"created_at":"2026-01-31T09:00:01.000Z","last_login_at":null}}]', 1769936401000);
INSERT INTO public.latchkey_idempotency VALUES ('2 order-number-1', 'pieojYYtDk4ltyLqsuSVmlT8iv1uYgFKxZC3GyHSacU', '[{"revision":16,"record":{"id":1,"user_id":2,"status":"open","created_at":"2026-01-31T09:00:08.000Z"}}]', 1769936408000);
INSERT INTO public.latchkey_idempotency VALUES ('2 order-number-1-is-paid', 'DJAh4oZhhFhaESchhtZNLT6QN7m306G8wEHnx8clcbg', '[{"revision":18,"record":{"id":1,"user_id":2,"status":"paid","created_at":"2026-01-31T09:00:08.000Z"}}]', 1769936410000);


--
-- Data for Name: latchkey_schema; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_schema VALUES ('users', '{"name":"users","key":"integer","columns":[{"name":"name","type":"text"},{"name":"email","type":"text","unique":"folded"}],"indexes":[["name","id"],["email","id"]]}', '{"name":"text","email":"text"}', false);
INSERT INTO public.latchkey_schema VALUES ('orders', '{"name":"orders","key":"integer","columns":[{"name":"user_id","type":"integer","references":{"collection":"users","onDelete":"restrict"}},{"name":"status","type":"text","default":"open"},{"name":"created_at","type":"date-time"}],"indexes":[["user_id","id"],["status","id"],["created_at","id"]]}', '{"user_id":"integer","status":"text","created_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('orders_items', '{"name":"orders_items","key":"integer","columns":[{"name":"order_id","type":"integer","references":{"collection":"orders","onDelete":"cascade"}},{"name":"product","type":"text"},{"name":"quantity","type":"integer"},{"name":"unit_price","type":"decimal","scale":2}],"indexes":[["order_id","id"],["order_id","product","id"],["order_id","quantity","id"],["order_id","unit_price","id"]]}', '{"order_id":"integer","product":"text","quantity":"integer","unit_price":"decimal(2)"}', false);
INSERT INTO public.latchkey_schema VALUES ('accounts', '{"name":"accounts","key":"integer","columns":[{"name":"username","type":"text","unique":"folded"},{"name":"username_follows_email","type":"boolean"},{"name":"role","type":"text"},{"name":"active","type":"boolean"},{"name":"password_hash","type":"text","nullable":true},{"name":"generation","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"last_login_at","type":"date-time","nullable":true}]}', '{"username":"text","username_follows_email":"boolean","role":"text","active":"boolean","password_hash":"text","generation":"integer","created_at":"date-time","last_login_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('sessions', '{"name":"sessions","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"public_id","type":"text","unique":true},{"name":"generation","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"last_seen_at","type":"date-time"},{"name":"expires_at","type":"date-time"},{"name":"address","type":"text"},{"name":"user_agent","type":"text","nullable":true}],"indexes":[["user_id","created_at"],["expires_at"],["last_seen_at"]]}', '{"user_id":"integer","public_id":"text","generation":"integer","created_at":"date-time","last_seen_at":"date-time","expires_at":"date-time","address":"text","user_agent":"text"}', false);
INSERT INTO public.latchkey_schema VALUES ('api_tokens', '{"name":"api_tokens","key":"text","columns":[{"name":"user_id","type":"integer","unique":true,"references":{"collection":"accounts","onDelete":"cascade"}},{"name":"nonce","type":"text"},{"name":"created_at","type":"date-time"},{"name":"last_used_at","type":"date-time","nullable":true}]}', '{"user_id":"integer","nonce":"text","created_at":"date-time","last_used_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('named_keys', '{"name":"named_keys","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"name","type":"text"},{"name":"digest","type":"text"},{"name":"scopes","type":"json","nullable":true},{"name":"created_at","type":"date-time"},{"name":"expires_at","type":"date-time","nullable":true},{"name":"last_used_at","type":"date-time","nullable":true}],"indexes":[["user_id","created_at"]]}', '{"user_id":"integer","name":"text","digest":"text","scopes":"json","created_at":"date-time","expires_at":"date-time","last_used_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('refresh_uses', '{"name":"refresh_uses","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"family","type":"text"},{"name":"nonce","type":"text","nullable":true},{"name":"used_at","type":"date-time"},{"name":"expires_at","type":"date-time"}],"indexes":[["user_id"],["family"],["nonce","used_at"],["expires_at"]]}', '{"user_id":"integer","family":"text","nonce":"text","used_at":"date-time","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('dead_families', '{"name":"dead_families","key":"text","columns":[{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('guesses', '{"name":"guesses","key":"integer","columns":[{"name":"subject","type":"text"},{"name":"at","type":"integer"}],"indexes":[["subject","at"],["at"]]}', '{"subject":"text","at":"integer"}', false);
INSERT INTO public.latchkey_schema VALUES ('revocations', '{"name":"revocations","key":"integer","columns":[{"name":"user_id","type":"integer","nullable":true},{"name":"generation","type":"integer","nullable":true},{"name":"role","type":"text","nullable":true},{"name":"family","type":"text","nullable":true},{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"user_id":"integer","generation":"integer","role":"text","family":"text","expires_at":"date-time"}', true);


--
-- Data for Name: latchkey_taken_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_taken_keys VALUES ('users', 8);
INSERT INTO public.latchkey_taken_keys VALUES ('accounts', 8);


--
-- Data for Name: latchkey_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_version VALUES (1);


--
-- Data for Name: named_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.named_keys VALUES ('2Mher5B0N3iqnF', 31, 2, 'kept', 'OzsaN6_FN5qxXNKUMwljILGjIwhNMQCo6IuwmgPhk9E', NULL, '2026-01-31T09:00:20.000Z', NULL, NULL);


--
-- Data for Name: orders; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.orders VALUES (2, 17, 2, 'open', '2026-01-31T09:00:09.000Z');
INSERT INTO public.orders VALUES (1, 18, 2, 'paid', '2026-01-31T09:00:08.000Z');


--
-- Data for Name: orders_items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.orders_items VALUES (1, 19, 1, 'Difference engine', 3, 9999999999.99);
INSERT INTO public.orders_items VALUES (2, 20, 1, 'Karten', 3, 0.05);


--
-- Data for Name: refresh_uses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.refresh_uses VALUES ('qfZQPqJ-cSE7xOXjYwChTTYoSPUwPKaczU3LUmOQGoM', 25, 2, 'kERGfXibPmfGBGZS1BHASg', 'MKzA5i4rFjUmsq8Sgw-CFQ', '2026-01-31T09:00:16.000Z', '2026-02-07T10:00:15.000Z');


--
-- Data for Name: revocations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.revocations VALUES (1, 13, 5, 1769850006000, NULL, NULL, '2026-01-31T09:06:06.000Z');
INSERT INTO public.revocations VALUES (2, 28, NULL, NULL, NULL, '-A3zdHjBkLh9NrcEfdS_9w', '2026-01-31T09:06:18.000Z');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('nmq38SOcRYrz5fIZRxwIQOuFoA1OavVBF89lZM0amGg', 22, 2, '64nvZeAeDV-mIh1Q', 1769850001000, '2026-01-31T09:00:13.000Z', '2026-01-31T09:00:13.000Z', '2026-02-14T09:00:13.000Z', '127.0.0.1', NULL);


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users VALUES (1, 1, 'Administrator', 'admin@localhost', 'admin@localhost');
INSERT INTO public.users VALUES (2, 3, 'Ada', 'Ada@Example.com', 'ada@example.com');
INSERT INTO public.users VALUES (3, 5, 'Čeněk', 'c48c656ec49b6b@example.com', 'c48c656ec49b6b@example.com');
INSERT INTO public.users VALUES (4, 7, 'O''Neil \ "quoted"', '4f274e65696c205c202271756f74656422@example.com', '4f274e65696c205c202271756f74656422@example.com');
INSERT INTO public.users VALUES (6, 11, 'Zoë', '5a6fc3ab@example.com', '5a6fc3ab@example.com');
INSERT INTO public.users VALUES (8, 14, 'Named', 'named@example.com', 'named@example.com');


--
-- Name: accounts(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."accounts(id) next"', 6, true);


--
-- Name: guesses(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."guesses(id) next"', 1, false);


--
-- Name: latchkey_revision; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.latchkey_revision', 32, true);


--
-- Name: orders(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."orders(id) next"', 2, true);


--
-- Name: orders_items(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."orders_items(id) next"', 2, true);


--
-- Name: revocations(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."revocations(id) next"', 2, true);


--
-- Name: users(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."users(id) next"', 6, true);


--
-- Name: accounts key accounts; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT "key accounts" PRIMARY KEY (id);


--
-- Name: api_tokens key api_tokens; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT "key api_tokens" PRIMARY KEY (id);


--
-- Name: dead_families key dead_families; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dead_families
    ADD CONSTRAINT "key dead_families" PRIMARY KEY (id);


--
-- Name: guesses key guesses; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guesses
    ADD CONSTRAINT "key guesses" PRIMARY KEY (id);


--
-- Name: named_keys key named_keys; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.named_keys
    ADD CONSTRAINT "key named_keys" PRIMARY KEY (id);


--
-- Name: orders key orders; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT "key orders" PRIMARY KEY (id);


--
-- Name: orders_items key orders_items; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders_items
    ADD CONSTRAINT "key orders_items" PRIMARY KEY (id);


--
-- Name: refresh_uses key refresh_uses; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refresh_uses
    ADD CONSTRAINT "key refresh_uses" PRIMARY KEY (id);


--
-- Name: revocations key revocations; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.revocations
    ADD CONSTRAINT "key revocations" PRIMARY KEY (id);


--
-- Name: sessions key sessions; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT "key sessions" PRIMARY KEY (id);


--
-- Name: users key users; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT "key users" PRIMARY KEY (id);


--
-- Name: latchkey_idempotency latchkey_idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.latchkey_idempotency
    ADD CONSTRAINT latchkey_idempotency_pkey PRIMARY KEY (key);


--
-- Name: latchkey_schema latchkey_schema_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.latchkey_schema
    ADD CONSTRAINT latchkey_schema_pkey PRIMARY KEY (collection);


--
-- Name: latchkey_taken_keys latchkey_taken_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.latchkey_taken_keys
    ADD CONSTRAINT latchkey_taken_keys_pkey PRIMARY KEY (collection, key);


--
-- Name: dead_families(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "dead_families(expires_at)" ON public.dead_families USING btree (expires_at);


--
-- Name: guesses(at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "guesses(at)" ON public.guesses USING btree (at);


--
-- Name: guesses(subject, at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "guesses(subject, at)" ON public.guesses USING btree (subject, at);


--
-- Name: latchkey_idempotency_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX latchkey_idempotency_expiry ON public.latchkey_idempotency USING btree (expires_at);


--
-- Name: named_keys(user_id, created_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "named_keys(user_id, created_at)" ON public.named_keys USING btree (user_id, created_at);


--
-- Name: orders(created_at, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(created_at, id)" ON public.orders USING btree (created_at, id);


--
-- Name: orders(status, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(status, id)" ON public.orders USING btree (status, id);


--
-- Name: orders(user_id, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(user_id, id)" ON public.orders USING btree (user_id, id);


--
-- Name: orders_items(order_id, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders_items(order_id, id)" ON public.orders_items USING btree (order_id, id);


--
-- Name: orders_items(order_id, product, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders_items(order_id, product, id)" ON public.orders_items USING btree (order_id, product, id);


--
-- Name: orders_items(order_id, quantity, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders_items(order_id, quantity, id)" ON public.orders_items USING btree (order_id, quantity, id);


--
-- Name: orders_items(order_id, unit_price, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders_items(order_id, unit_price, id)" ON public.orders_items USING btree (order_id, unit_price, id);


--
-- Name: refresh_uses(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "refresh_uses(expires_at)" ON public.refresh_uses USING btree (expires_at);


--
-- Name: refresh_uses(family); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "refresh_uses(family)" ON public.refresh_uses USING btree (family);


--
-- Name: refresh_uses(nonce, used_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "refresh_uses(nonce, used_at)" ON public.refresh_uses USING btree (nonce, used_at);


--
-- Name: refresh_uses(user_id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "refresh_uses(user_id)" ON public.refresh_uses USING btree (user_id);


--
-- Name: revocations(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "revocations(expires_at)" ON public.revocations USING btree (expires_at);


--
-- Name: sessions(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "sessions(expires_at)" ON public.sessions USING btree (expires_at);


--
-- Name: sessions(last_seen_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "sessions(last_seen_at)" ON public.sessions USING btree (last_seen_at);


--
-- Name: sessions(user_id, created_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "sessions(user_id, created_at)" ON public.sessions USING btree (user_id, created_at);


--
-- Name: unique accounts(_username_folded); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique accounts(_username_folded)" ON public.accounts USING btree (_username_folded);


--
-- Name: unique api_tokens(user_id); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique api_tokens(user_id)" ON public.api_tokens USING btree (user_id);


--
-- Name: unique sessions(public_id); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique sessions(public_id)" ON public.sessions USING btree (public_id);


--
-- Name: unique users(_email_folded); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique users(_email_folded)" ON public.users USING btree (_email_folded);


--
-- Name: users(email, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "users(email, id)" ON public.users USING btree (email, id);


--
-- Name: users(name, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "users(name, id)" ON public.users USING btree (name, id);


--
-- Name: api_tokens reference api_tokens(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT "reference api_tokens(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: named_keys reference named_keys(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.named_keys
    ADD CONSTRAINT "reference named_keys(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: orders reference orders(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT "reference orders(user_id)" FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE RESTRICT;


--
-- Name: orders_items reference orders_items(order_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders_items
    ADD CONSTRAINT "reference orders_items(order_id)" FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;


--
-- Name: refresh_uses reference refresh_uses(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refresh_uses
    ADD CONSTRAINT "reference refresh_uses(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: sessions reference sessions(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT "reference sessions(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


