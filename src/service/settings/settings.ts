import { randomBytes } from "node:crypto";
import path from "node:path";
import type { PasswordCost, TrustedIssuer } from "../../door/auth.ts";
import { Secret } from "../../door/index.ts";
import type { ConfigFile } from "../system/config-file.ts";
import { ConfigError } from "./error.ts";
import { readIssuers } from "./issuers.ts";
import { databaseIn, readEach, type Environment, type Readings } from "./reading.ts";
import { checkTogether } from "./rules.ts";
import { makeSecretFile, readSecretFile } from "./secret.ts";
import type { SettingValue } from "./table.ts";
import { readTLS, type TLS } from "./tls.ts";
import type { Database, SchemeName } from "./values.ts";

export { ConfigError } from "./error.ts";
export type { SchemeName } from "./values.ts";

/** How a service is to run. Every value was checked; docs/settings.md says what each means. */
export interface Settings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly database: Database;
  readonly secret: Secret;
  /** The file it stands in; null where it was given itself or drawn for this process. */
  readonly secretFile: string | null;
  /** It was made just now, for a service that starts for the first time. */
  readonly secretIsNew: boolean;
  readonly adminUsername: string;
  /** Null: one is to be drawn. */
  readonly adminPassword: Secret | null;
  readonly schemes: readonly SchemeName[];
  /** There when `custom-header` is one of the schemes, and only then. */
  readonly customToken: { readonly token: Secret; readonly username: string } | null;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** How far HSTS reaches. */
  readonly hsts: "host" | "subdomains";
  readonly remoteUser: { readonly header: string; readonly secret: Secret | null; readonly create: boolean };
  /** 0: none are made. */
  readonly outsideCredentialsSeconds: number;
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
  readonly refreshFamilySeconds: number;
  readonly refreshGraceSeconds: number;
  /** Each refresh gives another refresh token, and the one before ends. */
  readonly rotatesRefreshTokens: boolean;
  readonly sessionIdleSeconds: number;
  readonly sessionSeconds: number;
  /** Null: derived from the secret. */
  readonly signingKeysFile: string | null;
  /** Issuers elsewhere whose tokens are taken too. */
  readonly issuers: readonly TrustedIssuer[];
  readonly workers: number;
  /** PEM texts that belong together. */
  readonly tls: TLS | null;
  /** Whether passwords are taken, and credentials given, from other hosts without TLS. */
  readonly cleartextLogins: SettingValue<"cleartextLogins">;
  /** Without a slash at its end. */
  readonly publicURL: string | null;
  readonly issuer: string;
  /** Without a slash at its end; empty for the root. */
  readonly basePath: string;
  /** Bodies of 1 KiB and more are compressed for whoever asks for it. */
  readonly compression: boolean;
  readonly handlerTimeoutSeconds: number;
  /** 0: any number. */
  readonly connectionsPerAddress: number;
  readonly passwordCost: PasswordCost;
  /** Null: nobody is asked. */
  readonly breachedPasswordsURL: string | null;
  readonly log: SettingValue<"log">;
  readonly registration: "closed" | "open";
}

/**
 * Reads the settings from the environment, which wins, and the config file. Throws `ConfigError` with everything that is wrong.
 *
 * @example
 * ```ts
 * import { readSettings } from "latchkey/service";
 *
 * export const { port } = readSettings(process.env);
 * ```
 */
export function readSettings(environment: Environment, config: ConfigFile = {}): Settings {
  requireObjects({ environment, config });
  const problems: string[] = [];
  const readings = readEach(environment, config, problems);
  problems.push(...checkTogether(readings));
  const tls = readTLS(readings, problems);
  const issuer = readings.issuer.value ?? readings.publicURL.value ?? "latchkey";
  const issuers = readIssuers(readings, config, issuer, problems);
  // Last, so that a start that something else stops leaves no secret behind.
  const secret = readSecret(readings, problems);
  if (problems.length > 0 || secret === null) throw new ConfigError(problems);

  const { customToken, customTokenUsername, publicURL } = readings;
  return Object.freeze({
    host: readings.host.value,
    port: readings.port.value,
    database: databaseIn(readings),
    ...secret,
    adminUsername: readings.adminUsername.value,
    adminPassword: readings.adminPassword.value,
    schemes: readings.schemes.value,
    customToken:
      customToken.value === null || customTokenUsername.value === null
        ? null
        : { token: customToken.value, username: customTokenUsername.value },
    trustedProxies: readings.trustedProxies.value ?? [],
    allowedOrigins: readings.allowedOrigins.value ?? [],
    hsts: readings.hsts.value,
    remoteUser: {
      header: readings.remoteUserHeader.value,
      secret: readings.remoteUserSecret.value,
      create: readings.remoteUserCreate.value,
    },
    outsideCredentialsSeconds: readings.outsideCredentialsSeconds.value,
    accessSeconds: readings.accessSeconds.value,
    refreshSeconds: readings.refreshSeconds.value,
    refreshFamilySeconds: readings.refreshFamilySeconds.value,
    refreshGraceSeconds: readings.refreshGraceSeconds.value,
    rotatesRefreshTokens: readings.refreshRotation.value === "on",
    sessionIdleSeconds: readings.sessionIdleSeconds.value,
    sessionSeconds: readings.sessionSeconds.value,
    signingKeysFile: readings.signingKeys.value,
    issuers,
    workers: readings.workers.value,
    tls,
    cleartextLogins: readings.cleartextLogins.value,
    publicURL: publicURL.value,
    issuer,
    basePath: readings.basePath.value,
    compression: readings.compression.value === "on",
    handlerTimeoutSeconds: readings.handlerTimeoutSeconds.value,
    connectionsPerAddress: readings.connectionsPerAddress.value,
    passwordCost: readings.passwordCost.value,
    breachedPasswordsURL: readings.breachedPasswordsURL.value,
    log: readings.log.value,
    registration: config.registration ?? "closed",
  });
}

/** The server's own secret where there is one already; null where none was made yet. Adds to `problems` what is wrong with it. */
export function findSecret(readings: Readings, problems: string[]): Secret | null {
  const place = placeOfSecret(readings, problems);
  if (place === null || "secret" in place) return place?.secret ?? null;
  const read = place.file === null ? null : readSecretFile(place.file);
  if (read === null || "value" in read) return read?.value ?? null;
  problems.push(...named(place, read.wrong));
  return null;
}

type OwnSecret = Pick<Settings, "secret" | "secretFile" | "secretIsNew">;

/** The server's own secret; null where it cannot be had, which is in `problems` then. */
function readSecret(readings: Readings, problems: string[]): OwnSecret | null {
  const { value: database } = readings.database;
  const place = placeOfSecret(readings, problems);
  if (place === null) return null;
  if ("secret" in place) return { secret: place.secret, secretFile: null, secretIsNew: false };
  if (place.file !== null) return readOrMakeSecret({ file: place.file, label: place.label }, database, problems);
  // PostgreSQL without a secret is in the problems already.
  return database.kind === "postgres"
    ? null
    : { secret: new Secret(randomBytes(32)), secretFile: null, secretIsNew: true };
}

/** The secret as it was given, or its file, if it has one; null where that cannot be told, which is in `problems` then. */
function placeOfSecret(
  { secret, secretFile, database }: Readings,
  problems: string[],
): { readonly secret: Secret } | PlaceOfSecret | null {
  if (secret.from !== null && secret.from === secretFile.from) {
    problems.push(
      `${secret.label} and ${secretFile.label} are both given. Keep one, so that it is clear which counts.`,
    );
    return null;
  }
  // The environment wins over the file that the config file names.
  const isGiven = secret.from === "environment" || (secret.from === "config" && secretFile.from === null);
  if (isGiven) return secret.value === null ? null : { secret: secret.value };
  if (secretFile.isWrong || database.isWrong) return null;
  return secretFile.value === null
    ? { file: defaultSecretFile(database.value), label: null }
    : { file: secretFile.value, label: secretFile.label };
}

/** The file of the secret, and the setting that names it, if one does. */
interface PlaceOfSecret {
  readonly file: string | null;
  readonly label: string | null;
}

/** What is wrong with the file, with the setting to look at. */
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
    const cure = `Copy it from another machine of the service, or make the first with: (umask 077; openssl rand -base64 48 > ${file})`;
    problems.push(...named(place, [`${file} is not there, and with PostgreSQL it is not made here. ${cure}`]));
  }
  if (read === null && problems.length > 0) return null;
  const secret = read ?? makeSecretFile(file);
  if ("value" in secret) return { secret: secret.value, secretFile: file, secretIsNew: read === null };
  problems.push(...named(place, secret.wrong));
  return null;
}

/** What is no object has no members, and would be taken for one that says nothing. */
function requireObjects(given: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(given).filter(
    ([, value]) => typeof value !== "object" || value === null || Array.isArray(value),
  );
  if (wrong.length > 0) throw new ConfigError(wrong.map(([name]) => `readSettings: ${name} has to be an object.`));
}
