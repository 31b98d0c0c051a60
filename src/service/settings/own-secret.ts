import { randomBytes } from "node:crypto";
import path from "node:path";
import { accountsCollection } from "../../door/auth.ts";
import { Secret } from "../../door/index.ts";
import { sqliteHasRows } from "../../door/stores.ts";
import { databaseIn, type Readings } from "./reading.ts";
import { makeSecretFile, readSecretFile } from "./secret.ts";
import type { Database } from "./values.ts";

/** Finds the server's existing secret. Returns null if none was made yet. Adds mistakes to `problems`. */
export function findSecret(readings: Readings, problems: string[]): Secret | null {
  const place = placeOfSecret(readings, problems);
  if (place === null || "secret" in place) return place?.secret ?? null;
  const read = place.file === null ? null : readSecretFile(place.file);
  if (read === null || "value" in read) return read?.value ?? null;
  problems.push(...named(place, read.wrong));
  return null;
}

/** The server's secret, and its source. */
export interface OwnSecret {
  readonly secret: Secret;
  /** The file of the secret. Null if it was set directly or generated for this process. */
  readonly secretFile: string | null;
  /** True if it was just generated, for a service that starts for the first time. */
  readonly secretIsNew: boolean;
}

/**
 * Reads the server's secret, and generates it if there is none yet. Returns null if this fails, and adds the reason to
 * `problems`.
 */
export function readSecret(readings: Readings, problems: string[]): OwnSecret | null {
  const database = databaseIn(readings);
  const place = placeOfSecret(readings, problems);
  if (place === null) return null;
  if ("secret" in place) return { secret: place.secret, secretFile: null, secretIsNew: false };
  if (place.file !== null) return readOrMakeSecret({ file: place.file, label: place.label }, database, problems);
  // For PostgreSQL, a missing secret is already in the problems.
  return database.kind === "postgres"
    ? null
    : { secret: new Secret(randomBytes(32)), secretFile: null, secretIsNew: true };
}

/**
 * Returns the secret that was set, or its file, if there is one. Returns null if the settings are wrong, and adds the
 * reason to `problems`.
 */
function placeOfSecret(
  { secret, secretFile, database }: Readings,
  problems: string[],
): { readonly secret: Secret } | PlaceOfSecret | null {
  if (secret.from !== null && secret.from === secretFile.from) {
    problems.push(`${secret.label} and ${secretFile.label} are both set. Keep one of them.`);
    return null;
  }
  // The environment has precedence over the file that the config file names.
  const isGiven = secret.from === "environment" || (secret.from === "config" && secretFile.from === null);
  if (isGiven) return secret.value === null ? null : { secret: secret.value };
  if (secretFile.isWrong || database.isWrong) return null;
  return secretFile.value === null
    ? { file: defaultSecretFile(database.value), label: null }
    : { file: secretFile.value, label: secretFile.label };
}

/** The file of the secret, and the setting that names the file. Each is null if there is none. */
interface PlaceOfSecret {
  readonly file: string | null;
  readonly label: string | null;
}

/** Puts the name of the setting before each mistake in the file. */
function named({ label }: PlaceOfSecret, sentences: readonly string[]): readonly string[] {
  return label === null ? sentences : sentences.map((sentence) => `${label}: ${sentence}`);
}

function defaultSecretFile(database: Database): string | null {
  if (database.kind === "postgres" || database.path === ":memory:") return null;
  return path.join(path.dirname(database.path), "latchkey.secret");
}

function readOrMakeSecret(
  place: PlaceOfSecret & { readonly file: string },
  database: Database,
  problems: string[],
): OwnSecret | null {
  const { file } = place;
  const read = readSecretFile(file);
  if (read === null && database.kind === "postgres") {
    const cure = `Copy it from another machine of the service, or create it with: (umask 077; openssl rand -base64 48 > ${file})`;
    problems.push(
      ...named(place, [`${file} does not exist, and with PostgreSQL the service does not create it. ${cure}`]),
    );
  }
  if (read === null && problems.length > 0) return null;
  if (read === null && holdsAccounts(database)) return readLostSecret(place, database, problems);
  const secret = read ?? makeSecretFile(file);
  if ("value" in secret) return { secret: secret.value, secretFile: file, secretIsNew: read === null };
  problems.push(...named(place, secret.wrong));
  return null;
}

/** Returns true if a service with a secret has already used the database. */
function holdsAccounts(database: Database): boolean {
  if (database.kind === "postgres" || database.path === ":memory:") return false;
  return sqliteHasRows(path.resolve(database.path), `${database.tablePrefix ?? ""}${accountsCollection.name}`);
}

/**
 * Reads a secret that must exist, because there are accounts, or reports that it is lost. A new secret would make every
 * token invalid without a message. With two workers, the tokens would be invalid in only one of them. Another process
 * may have made the secret and the first account in the meantime. Then the secret of that process is read.
 */
function readLostSecret(
  place: PlaceOfSecret & { readonly file: string },
  database: Database,
  problems: string[],
): OwnSecret | null {
  const { file } = place;
  const read = readSecretFile(file);
  if (read !== null && "value" in read) return { secret: read.value, secretFile: file, secretIsNew: false };
  const used = database.kind === "sqlite" ? path.resolve(database.path) : "";
  const lost = `${used} holds accounts, but their secret is missing: ${path.resolve(file)}. Restore it from its copy. If it is lost, create another, which makes all their tokens and keys invalid: (umask 077; openssl rand -base64 48 > ${file})`;
  problems.push(...named(place, read?.wrong ?? [lost]));
  return null;
}
