import { isIP } from "node:net";
import type { PasswordCost, TrustedIssuer } from "../../door/auth.ts";
import type { Secret } from "../../door/index.ts";
import { isObject } from "../objects.ts";
import type { ConfigFile } from "../system/config-file.ts";
import { ConfigError } from "./error.ts";
import { readIssuers } from "./issuers.ts";
import { readSecret, type OwnSecret } from "./own-secret.ts";
import { databaseIn, readEach, type Environment, type Readings } from "./reading.ts";
import { checkSecondFactor, checkTogether } from "./rules.ts";
import type { SettingValue } from "./table.ts";
import { readTLS, type TLS } from "./tls.ts";
import { serviceName, type Database, type SchemeName } from "./values.ts";

export { ConfigError } from "./error.ts";
export type { SchemeName } from "./values.ts";

/** How a service is to run. Every value was checked; docs/settings.md says what each means. */
export interface Settings extends OwnSecret {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly database: Database;
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
  readonly remoteUser: {
    readonly header: string;
    readonly secret: Secret | null;
    readonly create: boolean;
    readonly level: 1 | 2;
  };
  /** The host that passkeys are bound to. Null: passkeys are off, because the service has an address and no host name. */
  readonly passkeyRpId: string | null;
  /** Which users must have a second factor. */
  readonly secondFactor: SettingValue<"secondFactor">;
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
  /** Before the name of every cookie. Empty: nothing. */
  readonly cookiePrefix: string;
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
  const issuer = readings.issuer.value ?? readings.publicURL.value ?? serviceName;
  const issuers = readIssuers(readings, config, issuer, problems);
  problems.push(...checkSecondFactor(readings, issuers));
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
      level: readings.remoteUserLevel.value,
    },
    passkeyRpId: relyingPartyOf(readings),
    secondFactor: readings.secondFactor.value,
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
    cookiePrefix: readings.cookiePrefix.value ?? "",
    compression: readings.compression.value === "on",
    handlerTimeoutSeconds: readings.handlerTimeoutSeconds.value,
    connectionsPerAddress: readings.connectionsPerAddress.value,
    passwordCost: readings.passwordCost.value,
    breachedPasswordsURL: readings.breachedPasswordsURL.value,
    log: readings.log.value,
    registration: config.registration ?? "closed",
  });
}

function relyingPartyOf({ passkeyRpId, publicURL }: Readings): string | null {
  if (passkeyRpId.value !== null) return passkeyRpId.value;
  const hostname = publicURL.value === null ? "localhost" : new URL(publicURL.value).hostname;
  return isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 ? hostname : null;
}

/** What is no object has no members, and would be taken for one that says nothing. */
function requireObjects(given: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(given).filter(([, value]) => !isObject(value));
  if (wrong.length > 0) throw new ConfigError(wrong.map(([name]) => `readSettings: ${name} has to be an object.`));
}
