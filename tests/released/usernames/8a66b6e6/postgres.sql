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


--
-- Name: words of orders_items(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public."words of orders_items"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM "_orders_items_words" WHERE "id" = OLD."id" AND "word" = ANY(ARRAY(SELECT '' UNION ALL SELECT json_array_elements_text(OLD."_product_words"::json)));
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO "_orders_items_words" VALUES ('', NEW."id") ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$;


--
-- Name: words of users(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public."words of users"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM "_users_words" WHERE "id" = OLD."id" AND "word" = ANY(ARRAY(SELECT '' UNION ALL SELECT json_array_elements_text(OLD."_name_words"::json) UNION ALL SELECT json_array_elements_text(OLD."_email_words"::json)));
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO "_users_words" VALUES ('', NEW."id") ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: _orders_items_words; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._orders_items_words (
    word text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL
);


--
-- Name: _users_words; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._users_words (
    word text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL
);


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
    kept_family text COLLATE pg_catalog."C",
    role_changes bigint DEFAULT 0 NOT NULL,
    username_origin text COLLATE pg_catalog."C",
    password_until text COLLATE pg_catalog."C",
    password_once text COLLATE pg_catalog."C",
    factors bigint DEFAULT 0 NOT NULL,
    email_verified_at text COLLATE pg_catalog."C",
    email_origin text COLLATE pg_catalog."C",
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
    last_used_at text COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C"
);


--
-- Name: bindings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bindings (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C"
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
-- Name: factor_tries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.factor_tries (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    times json NOT NULL,
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: factors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.factors (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    active boolean NOT NULL,
    data json NOT NULL,
    handle text COLLATE pg_catalog."C",
    pending text COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    last_used_at text COLLATE pg_catalog."C"
);


--
-- Name: factors(id) next; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."factors(id) next"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: families; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.families (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    uses bigint NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C",
    last_seen_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C",
    idle_until text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    user_agent text COLLATE pg_catalog."C"
);


--
-- Name: guess_streaks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.guess_streaks (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    count bigint NOT NULL,
    at bigint NOT NULL,
    since bigint
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
-- Name: known_addresses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.known_addresses (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    at bigint NOT NULL
);


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
    unit_price numeric(19,2) NOT NULL,
    _product_words text COLLATE pg_catalog."C"
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
-- Name: pending_logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pending_logins (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    user_id bigint NOT NULL,
    generation bigint NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    proofs json NOT NULL,
    beginning text NOT NULL COLLATE pg_catalog."C",
    options json NOT NULL,
    holder text COLLATE pg_catalog."C",
    tries bigint NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


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
-- Name: repeat_counts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repeat_counts (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    caller text NOT NULL COLLATE pg_catalog."C",
    writes bigint NOT NULL,
    octets bigint DEFAULT 0 NOT NULL,
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
    role_changes bigint,
    kept_family text COLLATE pg_catalog."C",
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
    user_agent text COLLATE pg_catalog."C",
    proofs json
);


--
-- Name: unfinished_imports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.unfinished_imports (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    line bigint NOT NULL
);


--
-- Name: used_passkey_challenges; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.used_passkey_challenges (
    id text NOT NULL COLLATE pg_catalog."C",
    _revision bigint NOT NULL,
    expires_at text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    _revision bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    _name_folded text COLLATE pg_catalog."C",
    _email_folded text COLLATE pg_catalog."C",
    _name_words text COLLATE pg_catalog."C",
    _email_words text COLLATE pg_catalog."C"
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
-- Data for Name: _orders_items_words; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._orders_items_words VALUES ('=2', 0);


--
-- Data for Name: _users_words; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._users_words VALUES ('=2', 0);
INSERT INTO public._users_words VALUES ('admin', 1);
INSERT INTO public._users_words VALUES ('administrator', 1);
INSERT INTO public._users_words VALUES ('example', 1);
INSERT INTO public._users_words VALUES ('invalid', 1);
INSERT INTO public._users_words VALUES ('1', 2);
INSERT INTO public._users_words VALUES ('com', 2);
INSERT INTO public._users_words VALUES ('example', 2);
INSERT INTO public._users_words VALUES ('number', 2);
INSERT INTO public._users_words VALUES ('number1', 2);
INSERT INTO public._users_words VALUES ('2', 3);
INSERT INTO public._users_words VALUES ('com', 3);
INSERT INTO public._users_words VALUES ('example', 3);
INSERT INTO public._users_words VALUES ('number', 3);
INSERT INTO public._users_words VALUES ('number2', 3);
INSERT INTO public._users_words VALUES ('3', 4);
INSERT INTO public._users_words VALUES ('4', 5);
INSERT INTO public._users_words VALUES ('com', 4);
INSERT INTO public._users_words VALUES ('com', 5);
INSERT INTO public._users_words VALUES ('example', 4);
INSERT INTO public._users_words VALUES ('example', 5);
INSERT INTO public._users_words VALUES ('number', 4);
INSERT INTO public._users_words VALUES ('number', 5);
INSERT INTO public._users_words VALUES ('number3', 4);
INSERT INTO public._users_words VALUES ('number4', 5);
INSERT INTO public._users_words VALUES ('5', 6);
INSERT INTO public._users_words VALUES ('6', 7);
INSERT INTO public._users_words VALUES ('com', 6);
INSERT INTO public._users_words VALUES ('com', 7);
INSERT INTO public._users_words VALUES ('example', 6);
INSERT INTO public._users_words VALUES ('example', 7);
INSERT INTO public._users_words VALUES ('number', 6);
INSERT INTO public._users_words VALUES ('number', 7);
INSERT INTO public._users_words VALUES ('number5', 6);
INSERT INTO public._users_words VALUES ('number6', 7);
INSERT INTO public._users_words VALUES ('7', 8);
INSERT INTO public._users_words VALUES ('com', 8);
INSERT INTO public._users_words VALUES ('example', 8);
INSERT INTO public._users_words VALUES ('number', 8);
INSERT INTO public._users_words VALUES ('number7', 8);
INSERT INTO public._users_words VALUES ('8', 9);
INSERT INTO public._users_words VALUES ('com', 9);
INSERT INTO public._users_words VALUES ('example', 9);
INSERT INTO public._users_words VALUES ('number', 9);
INSERT INTO public._users_words VALUES ('number8', 9);
INSERT INTO public._users_words VALUES ('', 10);
INSERT INTO public._users_words VALUES ('', 11);


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.accounts VALUES (1, 2, 'admin', false, 'admin', true, '$argon2id$v=19$m=19456,t=2,p=1$mUg/FrBZHMpOS+B5P0TT5A$if4Oy3g1v2B87d995Mioab7qJy+ot9gFF5C8yKjhEU0', 1769850000000, '2026-01-31T09:00:00.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'admin');
INSERT INTO public.accounts VALUES (2, 6, 'ΑΣ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$eVIQXe8BYfpEmJxE6WYU2w$i0kZ+ziCij9VGgE5rc/1w/LNFf5M1IIYK/hsunkUtsc', 1769850001000, '2026-01-31T09:00:01.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'ας');
INSERT INTO public.accounts VALUES (3, 8, 'ασ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$Pk2Q8BAfGR/2Lf+9EwkQIw$/3cige9ods3xLzoprxu2NYHNKTyLiuoPWNqb7CYR6Z0', 1769850002000, '2026-01-31T09:00:02.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'ασ');
INSERT INTO public.accounts VALUES (4, 10, 'ſ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$esSgbXVcly4VbnYb+uHKiA$6VTqnEbtM101jsT5SW0SnLxyosYTITgCwJ9HP5N4yzs', 1769850003000, '2026-01-31T09:00:03.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'ſ');
INSERT INTO public.accounts VALUES (5, 12, 's', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$EE37iMjbjptX7l69SPJJTQ$84cRb3uXx+hxhw00FDbX8yDp5TWGD2ygdJhgI+fZGFw', 1769850004000, '2026-01-31T09:00:04.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 's');
INSERT INTO public.accounts VALUES (7, 16, 'μ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$UgA4aPfdxST4e2ZMzIV4Vw$kU440NZAstU3iEnlY2cWe40H3Vxy86U3SIHUKdqAn7A', 1769850006000, '2026-01-31T09:00:06.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'μ');
INSERT INTO public.accounts VALUES (8, 18, 'ϐοϐ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$bhQRXiejamiZDfUr/l4QFQ$q8SUTgAymVYf6+2vo0WwviXVq9+B+8Ep6hXjaFHma0Y', 1769850007000, '2026-01-31T09:00:07.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'ϐοϐ');
INSERT INTO public.accounts VALUES (9, 20, 'second ſpelling', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$CJziAr6pozN9Jalzfk3q0A$gAXK1Uw5JAToVGe3M3aakl+vf3oz4i2GBturosdfkuE', 1769850008000, '2026-01-31T09:00:08.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'second ſpelling');
INSERT INTO public.accounts VALUES (6, 30, 'µ', false, 'user', true, '$argon2id$v=19$m=19456,t=2,p=1$Mj03j8NWtIvesKdOV2/6LA$sV3DRLofHfQzyNoq06GCaZqp+X/X+ugF3DEYdWmNlyQ', 1769850005001, '2026-01-31T09:00:05.000Z', '2026-01-31T09:00:09.000Z', NULL, 0, 'given', NULL, NULL, 1, NULL, 'given', 'µ');
INSERT INTO public.accounts VALUES (10, 35, 'ſmith', false, 'user', true, NULL, 1769850012000, '2026-01-31T09:00:12.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'ſmith');
INSERT INTO public.accounts VALUES (11, 38, 'smith', false, 'user', true, NULL, 1769850013000, '2026-01-31T09:00:13.000Z', NULL, NULL, 0, 'given', NULL, NULL, 0, NULL, 'given', 'smith');


--
-- Data for Name: api_tokens; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bindings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bindings VALUES ('["","ſmith"]', 36, 10, '2026-01-31T09:00:12.000Z');
INSERT INTO public.bindings VALUES ('["","smith"]', 39, 11, '2026-01-31T09:00:13.000Z');


--
-- Data for Name: dead_families; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: factor_tries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.factor_tries VALUES ('rjAlcCZCwSfxWtnq0Fvw4y3-JCffQf2nbh8boYtlW9w', 27, '[]', '2026-02-01T09:00:11.000Z');


--
-- Data for Name: factors; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.factors VALUES (1, 29, 6, 'totp', 'Phone', true, '{"secret":"OgCLsqdV_-cvBdi_EbI3I4nu5QYtHdOdohkUZAe1ox3BQGd1GqGvqFHkgb6xDp3m","step":58995000}', NULL, NULL, '2026-01-31T09:00:10.000Z', '2026-01-31T09:00:11.000Z');
INSERT INTO public.factors VALUES (2, 32, 6, 'recovery', 'Recovery code', true, '["HTz6bxTVfUsV7Hi5hMWINOEildaEJ08qDrXfK5wXZdQ","BIf9QerkjV48NtAt2oBeXaSaJRs4XmawvYSwUXyn8to","pNZhANg3pqt5eWoWEZwkJks3tO-LpVGm31_kgKOKySs","fvW3_L8c3zAa5CArQIxp_xcSHC6cIsdzMfhbxjIbUSw","mh_ZY5QAKIgU2bx12kQz3IuWDSnIGIoSNXxsXkXVnRw","jyjejY-5wB1IsPXdzw1dyEPU1La-zb30ejeBR67REh4","NS92FMsDZGduUkvvA8IUVpzVqFOVM2kHM_2Z7H8wPdI","qvSI1QXnif0BR-q35IzWTX_5cXHBAkZYn8ysN0e_AKg","o2TPgGoAvE5f8QXREE3jCns9OutOP_AQpztFhSRWnHM","Jtk8aoIh7CYOaPYNAFWW3CCXIT_GzVBBhBg8_1BICJg"]', NULL, NULL, '2026-01-31T09:00:11.000Z', NULL);


--
-- Data for Name: families; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: guess_streaks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: guesses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: known_addresses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.known_addresses VALUES ('account LaLBJBSQ2upYjvH3jgrls8kMzzQzRZ2p2cENMYtqo6M r7FwLhRLf0EfwEaqWnJJLcyylu-w-6ujboAzAWjxeXM', 4, 'account LaLBJBSQ2upYjvH3jgrls8kMzzQzRZ2p2cENMYtqo6M', 1, 1769850001000);
INSERT INTO public.known_addresses VALUES ('account -kAdJy2iQuJMHvxLIlFTG_dT23hEXhBC4enwfF8AYXE 71z5ikpy6ZNrbHrDUZZ7JXKM71-U2o8yM9AweRUThxw', 23, 'account -kAdJy2iQuJMHvxLIlFTG_dT23hEXhBC4enwfF8AYXE', 1, 1769850009000);


--
-- Data for Name: latchkey_idempotency; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: latchkey_schema; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_schema VALUES ('users', '{"name":"users","key":"integer","columns":[{"name":"name","type":"text","folded":true,"searched":true,"rule":{"kind":"text","type":"string","minLength":1,"maxLength":200,"multiline":false,"trim":true}},{"name":"email","type":"text","searched":true,"unique":"folded","rule":{"kind":"e-mail","type":"string","format":"email","maxLength":254}}],"indexes":[["name","id"],["email","id"]]}', '{"name":"text","email":"text"}', false);
INSERT INTO public.latchkey_schema VALUES ('orders_items', '{"name":"orders_items","key":"integer","columns":[{"name":"order_id","type":"integer","references":{"collection":"orders","onDelete":"cascade"}},{"name":"product","type":"text","searched":true,"rule":{"kind":"text","type":"string","minLength":1,"maxLength":200,"multiline":false,"trim":true}},{"name":"quantity","type":"integer","rule":{"kind":"integer","type":"integer","minimum":1,"maximum":1000000}},{"name":"unit_price","type":"decimal","scale":2,"rule":{"kind":"decimal","type":"string","pattern":"^-?(0|[1-9]\\d*)(\\.\\d{1,2})?$","least":0,"most":9999999999.99}}],"indexes":[["order_id","id"],["order_id","product","id"],["order_id","quantity","id"],["order_id","unit_price","id"]]}', '{"order_id":"integer","product":"text","quantity":"integer","unit_price":"decimal(2)"}', false);
INSERT INTO public.latchkey_schema VALUES ('unfinished_imports', '{"name":"unfinished_imports","key":"text","columns":[{"name":"line","type":"integer"}]}', '{"line":"integer"}', false);
INSERT INTO public.latchkey_schema VALUES ('accounts', '{"name":"accounts","key":"integer","columns":[{"name":"username","type":"text","unique":"folded"},{"name":"username_follows_email","type":"boolean"},{"name":"role","type":"text"},{"name":"active","type":"boolean"},{"name":"password_hash","type":"text","nullable":true},{"name":"generation","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"last_login_at","type":"date-time","nullable":true},{"name":"kept_family","type":"text","nullable":true},{"name":"role_changes","type":"integer","default":0},{"name":"username_origin","type":"text","nullable":true},{"name":"password_until","type":"date-time","nullable":true},{"name":"password_once","type":"text","nullable":true},{"name":"factors","type":"integer","default":0},{"name":"email_verified_at","type":"date-time","nullable":true},{"name":"email_origin","type":"text","nullable":true}],"indexes":[["role","active"]]}', '{"username":"text","username_follows_email":"boolean","role":"text","active":"boolean","password_hash":"text","generation":"integer","created_at":"date-time","last_login_at":"date-time","kept_family":"text","role_changes":"integer","username_origin":"text","password_until":"date-time","password_once":"text","factors":"integer","email_verified_at":"date-time","email_origin":"text"}', false);
INSERT INTO public.latchkey_schema VALUES ('bindings', '{"name":"bindings","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"created_at","type":"date-time"}],"indexes":[["user_id"]]}', '{"user_id":"integer","created_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('pending_logins', '{"name":"pending_logins","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"generation","type":"integer"},{"name":"purpose","type":"text"},{"name":"proofs","type":"json"},{"name":"beginning","type":"text"},{"name":"options","type":"json"},{"name":"holder","type":"text","nullable":true},{"name":"tries","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"expires_at","type":"date-time"}],"indexes":[["user_id","created_at"],["expires_at"]]}', '{"user_id":"integer","generation":"integer","purpose":"text","proofs":"json","beginning":"text","options":"json","holder":"text","tries":"integer","created_at":"date-time","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('factors', '{"name":"factors","key":"integer","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"kind","type":"text"},{"name":"label","type":"text"},{"name":"active","type":"boolean"},{"name":"data","type":"json"},{"name":"handle","type":"text","nullable":true,"unique":true},{"name":"pending","type":"text","nullable":true},{"name":"created_at","type":"date-time"},{"name":"last_used_at","type":"date-time","nullable":true}],"indexes":[["user_id","id"],["created_at"]]}', '{"user_id":"integer","kind":"text","label":"text","active":"boolean","data":"json","handle":"text","pending":"text","created_at":"date-time","last_used_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('factor_tries', '{"name":"factor_tries","key":"text","columns":[{"name":"times","type":"json"},{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"times":"json","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('sessions', '{"name":"sessions","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"public_id","type":"text","unique":true},{"name":"generation","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"last_seen_at","type":"date-time"},{"name":"expires_at","type":"date-time"},{"name":"address","type":"text"},{"name":"user_agent","type":"text","nullable":true},{"name":"proofs","type":"json","nullable":true}],"indexes":[["user_id","created_at"],["expires_at"],["last_seen_at"]]}', '{"user_id":"integer","public_id":"text","generation":"integer","created_at":"date-time","last_seen_at":"date-time","expires_at":"date-time","address":"text","user_agent":"text","proofs":"json"}', false);
INSERT INTO public.latchkey_schema VALUES ('api_tokens', '{"name":"api_tokens","key":"text","columns":[{"name":"user_id","type":"integer","unique":true,"references":{"collection":"accounts","onDelete":"cascade"}},{"name":"nonce","type":"text"},{"name":"created_at","type":"date-time"},{"name":"last_used_at","type":"date-time","nullable":true},{"name":"expires_at","type":"date-time","nullable":true}]}', '{"user_id":"integer","nonce":"text","created_at":"date-time","last_used_at":"date-time","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('refresh_uses', '{"name":"refresh_uses","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"family","type":"text"},{"name":"nonce","type":"text","nullable":true},{"name":"used_at","type":"date-time"},{"name":"expires_at","type":"date-time"}],"indexes":[["user_id"],["family"],["nonce","used_at"],["expires_at"]]}', '{"user_id":"integer","family":"text","nonce":"text","used_at":"date-time","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('dead_families', '{"name":"dead_families","key":"text","columns":[{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('families', '{"name":"families","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"uses","type":"integer"},{"name":"created_at","type":"date-time"},{"name":"last_seen_at","type":"date-time"},{"name":"expires_at","type":"date-time"},{"name":"idle_until","type":"date-time"},{"name":"address","type":"text"},{"name":"user_agent","type":"text","nullable":true}],"indexes":[["user_id","created_at"],["idle_until"]]}', '{"user_id":"integer","uses":"integer","created_at":"date-time","last_seen_at":"date-time","expires_at":"date-time","idle_until":"date-time","address":"text","user_agent":"text"}', false);
INSERT INTO public.latchkey_schema VALUES ('named_keys', '{"name":"named_keys","key":"text","columns":[{"name":"user_id","type":"integer","references":{"collection":"accounts","onDelete":"cascade"}},{"name":"name","type":"text"},{"name":"digest","type":"text"},{"name":"scopes","type":"json","nullable":true},{"name":"created_at","type":"date-time"},{"name":"expires_at","type":"date-time","nullable":true},{"name":"last_used_at","type":"date-time","nullable":true}],"indexes":[["user_id","created_at"]]}', '{"user_id":"integer","name":"text","digest":"text","scopes":"json","created_at":"date-time","expires_at":"date-time","last_used_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('used_passkey_challenges', '{"name":"used_passkey_challenges","key":"text","columns":[{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('guesses', '{"name":"guesses","key":"integer","columns":[{"name":"subject","type":"text"},{"name":"at","type":"integer"}],"indexes":[["subject","at"],["at"]]}', '{"subject":"text","at":"integer"}', false);
INSERT INTO public.latchkey_schema VALUES ('guess_streaks', '{"name":"guess_streaks","key":"text","columns":[{"name":"count","type":"integer"},{"name":"at","type":"integer"},{"name":"since","type":"integer","nullable":true}],"indexes":[["at"]]}', '{"count":"integer","at":"integer","since":"integer"}', false);
INSERT INTO public.latchkey_schema VALUES ('known_addresses', '{"name":"known_addresses","key":"text","columns":[{"name":"account","type":"text"},{"name":"count","type":"integer"},{"name":"at","type":"integer"}],"indexes":[["account","at"],["at"]]}', '{"account":"text","count":"integer","at":"integer"}', false);
INSERT INTO public.latchkey_schema VALUES ('repeat_counts', '{"name":"repeat_counts","key":"text","columns":[{"name":"caller","type":"text"},{"name":"writes","type":"integer"},{"name":"octets","type":"integer","default":0},{"name":"expires_at","type":"date-time"}],"indexes":[["caller"]]}', '{"caller":"text","writes":"integer","octets":"integer","expires_at":"date-time"}', false);
INSERT INTO public.latchkey_schema VALUES ('revocations', '{"name":"revocations","key":"integer","columns":[{"name":"user_id","type":"integer","nullable":true},{"name":"generation","type":"integer","nullable":true},{"name":"role","type":"text","nullable":true},{"name":"family","type":"text","nullable":true},{"name":"role_changes","type":"integer","nullable":true},{"name":"kept_family","type":"text","nullable":true},{"name":"expires_at","type":"date-time"}],"indexes":[["expires_at"]]}', '{"user_id":"integer","generation":"integer","role":"text","family":"text","role_changes":"integer","kept_family":"text","expires_at":"date-time"}', true);


--
-- Data for Name: latchkey_taken_keys; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: latchkey_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.latchkey_version VALUES (1);


--
-- Data for Name: named_keys; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: orders; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: orders_items; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: pending_logins; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: refresh_uses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: repeat_counts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: revocations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.revocations VALUES (1, 31, 6, 1769850005001, NULL, NULL, NULL, NULL, '2026-01-31T09:16:11.000Z');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('jIpHrg7C9llPeFkBCFqK8RdlRNR4GVd8H_AOgRX3Q50', 33, 6, 'v91FoMkohb72wmV2', 1769850005001, '2026-01-31T09:00:11.000Z', '2026-01-31T09:00:11.000Z', '2026-02-14T09:00:11.000Z', '127.0.0.1', NULL, '[["pwd",1769850009000],["otp",1769850011000,"1"]]');


--
-- Data for Name: unfinished_imports; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: used_passkey_challenges; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users VALUES (1, 1, 'Administrator', 'admin@example.invalid', 'administrator', 'admin@example.invalid', '["administrator"]', '["admin","example","invalid"]');
INSERT INTO public.users VALUES (2, 5, 'Number 1', 'number1@example.com', 'number 1', 'number1@example.com', '["number","1"]', '["number1","example","com"]');
INSERT INTO public.users VALUES (3, 7, 'Number 2', 'number2@example.com', 'number 2', 'number2@example.com', '["number","2"]', '["number2","example","com"]');
INSERT INTO public.users VALUES (4, 9, 'Number 3', 'number3@example.com', 'number 3', 'number3@example.com', '["number","3"]', '["number3","example","com"]');
INSERT INTO public.users VALUES (5, 11, 'Number 4', 'number4@example.com', 'number 4', 'number4@example.com', '["number","4"]', '["number4","example","com"]');
INSERT INTO public.users VALUES (6, 13, 'Number 5', 'number5@example.com', 'number 5', 'number5@example.com', '["number","5"]', '["number5","example","com"]');
INSERT INTO public.users VALUES (7, 15, 'Number 6', 'number6@example.com', 'number 6', 'number6@example.com', '["number","6"]', '["number6","example","com"]');
INSERT INTO public.users VALUES (8, 17, 'Number 7', 'number7@example.com', 'number 7', 'number7@example.com', '["number","7"]', '["number7","example","com"]');
INSERT INTO public.users VALUES (9, 19, 'Number 8', 'number8@example.com', 'number 8', 'number8@example.com', '["number","8"]', '["number8","example","com"]');
INSERT INTO public.users VALUES (10, 34, 'ſmith', 'proxied1@example.com', 'ſmith', 'proxied1@example.com', '["smith"]', '["proxied1","example","com"]');
INSERT INTO public.users VALUES (11, 37, 'smith', 'proxied2@example.com', 'smith', 'proxied2@example.com', '["smith"]', '["proxied2","example","com"]');


--
-- Name: accounts(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."accounts(id) next"', 11, true);


--
-- Name: factors(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."factors(id) next"', 2, true);


--
-- Name: guesses(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."guesses(id) next"', 1, false);


--
-- Name: latchkey_revision; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.latchkey_revision', 39, true);


--
-- Name: orders(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."orders(id) next"', 1, false);


--
-- Name: orders_items(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."orders_items(id) next"', 1, false);


--
-- Name: revocations(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."revocations(id) next"', 1, true);


--
-- Name: users(id) next; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."users(id) next"', 11, true);


--
-- Name: _orders_items_words _orders_items_words_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._orders_items_words
    ADD CONSTRAINT _orders_items_words_pkey PRIMARY KEY (word, id);


--
-- Name: _users_words _users_words_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._users_words
    ADD CONSTRAINT _users_words_pkey PRIMARY KEY (word, id);


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
-- Name: bindings key bindings; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bindings
    ADD CONSTRAINT "key bindings" PRIMARY KEY (id);


--
-- Name: dead_families key dead_families; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dead_families
    ADD CONSTRAINT "key dead_families" PRIMARY KEY (id);


--
-- Name: factor_tries key factor_tries; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.factor_tries
    ADD CONSTRAINT "key factor_tries" PRIMARY KEY (id);


--
-- Name: factors key factors; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.factors
    ADD CONSTRAINT "key factors" PRIMARY KEY (id);


--
-- Name: families key families; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.families
    ADD CONSTRAINT "key families" PRIMARY KEY (id);


--
-- Name: guess_streaks key guess_streaks; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guess_streaks
    ADD CONSTRAINT "key guess_streaks" PRIMARY KEY (id);


--
-- Name: guesses key guesses; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guesses
    ADD CONSTRAINT "key guesses" PRIMARY KEY (id);


--
-- Name: known_addresses key known_addresses; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.known_addresses
    ADD CONSTRAINT "key known_addresses" PRIMARY KEY (id);


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
-- Name: pending_logins key pending_logins; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT "key pending_logins" PRIMARY KEY (id);


--
-- Name: refresh_uses key refresh_uses; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refresh_uses
    ADD CONSTRAINT "key refresh_uses" PRIMARY KEY (id);


--
-- Name: repeat_counts key repeat_counts; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repeat_counts
    ADD CONSTRAINT "key repeat_counts" PRIMARY KEY (id);


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
-- Name: unfinished_imports key unfinished_imports; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.unfinished_imports
    ADD CONSTRAINT "key unfinished_imports" PRIMARY KEY (id);


--
-- Name: used_passkey_challenges key used_passkey_challenges; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.used_passkey_challenges
    ADD CONSTRAINT "key used_passkey_challenges" PRIMARY KEY (id);


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
-- Name: accounts(role, active); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "accounts(role, active)" ON public.accounts USING btree (role, active);


--
-- Name: bindings(user_id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "bindings(user_id)" ON public.bindings USING btree (user_id);


--
-- Name: dead_families(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "dead_families(expires_at)" ON public.dead_families USING btree (expires_at);


--
-- Name: factor_tries(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "factor_tries(expires_at)" ON public.factor_tries USING btree (expires_at);


--
-- Name: factors(created_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "factors(created_at)" ON public.factors USING btree (created_at);


--
-- Name: factors(user_id, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "factors(user_id, id)" ON public.factors USING btree (user_id, id);


--
-- Name: families(idle_until); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "families(idle_until)" ON public.families USING btree (idle_until);


--
-- Name: families(user_id, created_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "families(user_id, created_at)" ON public.families USING btree (user_id, created_at);


--
-- Name: guess_streaks(at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "guess_streaks(at)" ON public.guess_streaks USING btree (at);


--
-- Name: guesses(at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "guesses(at)" ON public.guesses USING btree (at);


--
-- Name: guesses(subject, at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "guesses(subject, at)" ON public.guesses USING btree (subject, at);


--
-- Name: known_addresses(account, at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "known_addresses(account, at)" ON public.known_addresses USING btree (account, at);


--
-- Name: known_addresses(at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "known_addresses(at)" ON public.known_addresses USING btree (at);


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
-- Name: orders(status, created_at, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(status, created_at, id)" ON public.orders USING btree (status, created_at, id);


--
-- Name: orders(status, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(status, id)" ON public.orders USING btree (status, id);


--
-- Name: orders(user_id, created_at, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(user_id, created_at, id)" ON public.orders USING btree (user_id, created_at, id);


--
-- Name: orders(user_id, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(user_id, id)" ON public.orders USING btree (user_id, id);


--
-- Name: orders(user_id, status, created_at, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(user_id, status, created_at, id)" ON public.orders USING btree (user_id, status, created_at, id);


--
-- Name: orders(user_id, status, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "orders(user_id, status, id)" ON public.orders USING btree (user_id, status, id);


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
-- Name: pending_logins(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "pending_logins(expires_at)" ON public.pending_logins USING btree (expires_at);


--
-- Name: pending_logins(user_id, created_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "pending_logins(user_id, created_at)" ON public.pending_logins USING btree (user_id, created_at);


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
-- Name: repeat_counts(caller); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "repeat_counts(caller)" ON public.repeat_counts USING btree (caller);


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
-- Name: unique factors(handle); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique factors(handle)" ON public.factors USING btree (handle);


--
-- Name: unique sessions(public_id); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique sessions(public_id)" ON public.sessions USING btree (public_id);


--
-- Name: unique users(_email_folded); Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "unique users(_email_folded)" ON public.users USING btree (_email_folded);


--
-- Name: used_passkey_challenges(expires_at); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "used_passkey_challenges(expires_at)" ON public.used_passkey_challenges USING btree (expires_at);


--
-- Name: users(_name_folded, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "users(_name_folded, id)" ON public.users USING btree (_name_folded, id);


--
-- Name: users(email, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "users(email, id)" ON public.users USING btree (email, id);


--
-- Name: users(name, id); Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "users(name, id)" ON public.users USING btree (name, id);


--
-- Name: orders_items words of changed orders_items(product); Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "words of changed orders_items(product)" AFTER UPDATE OF product, _product_words ON public.orders_items FOR EACH ROW WHEN (((old.product IS DISTINCT FROM new.product) OR (old._product_words IS DISTINCT FROM new._product_words))) EXECUTE FUNCTION public."words of orders_items"();


--
-- Name: users words of changed users(name, email); Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "words of changed users(name, email)" AFTER UPDATE OF name, _name_words, email, _email_words ON public.users FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old._name_words IS DISTINCT FROM new._name_words) OR (old.email IS DISTINCT FROM new.email) OR (old._email_words IS DISTINCT FROM new._email_words))) EXECUTE FUNCTION public."words of users"();


--
-- Name: orders_items words of written orders_items(product); Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "words of written orders_items(product)" AFTER INSERT OR DELETE ON public.orders_items FOR EACH ROW EXECUTE FUNCTION public."words of orders_items"();


--
-- Name: users words of written users(name, email); Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER "words of written users(name, email)" AFTER INSERT OR DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public."words of users"();


--
-- Name: api_tokens reference api_tokens(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT "reference api_tokens(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: bindings reference bindings(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bindings
    ADD CONSTRAINT "reference bindings(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: factors reference factors(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.factors
    ADD CONSTRAINT "reference factors(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


--
-- Name: families reference families(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.families
    ADD CONSTRAINT "reference families(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


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
-- Name: pending_logins reference pending_logins(user_id); Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT "reference pending_logins(user_id)" FOREIGN KEY (user_id) REFERENCES public.accounts(id) ON DELETE CASCADE;


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


