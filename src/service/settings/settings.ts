import { isIP } from "node:net";
import type { IdentityProviderDeclaration, PasswordCost, TrustedIssuer } from "../../door/auth.ts";
import type { Secret } from "../../door/index.ts";
import { isObject } from "../objects.ts";
import type { ConfigFile } from "./config-file/config-file.ts";
import { ConfigError } from "./error.ts";
import { readIdentityProviders } from "./identity-providers.ts";
import { readIssuers } from "./issuers.ts";
import { readLook, type LookSettings } from "./look-settings.ts";
import type { MailSettings } from "./mail-settings.ts";
import { readSecret, type OwnSecret } from "./own-secret.ts";
import { readMail } from "./read-mail.ts";
import { databaseIn, readEach, type Environment, type Readings } from "./reading.ts";
import { checkSecondFactor, checkTogether } from "./rules.ts";
import type { SettingValue } from "./table.ts";
import { readTLS, type TLS } from "./tls.ts";
import { serviceName, type Database, type SchemeName } from "./values.ts";

export { ConfigError } from "./error.ts";
export type { SchemeName } from "./values.ts";

/** The settings of a service. Every value was checked. docs/settings.md explains each one. */
export interface Settings extends OwnSecret {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly database: Database;
  readonly adminUsername: string;
  /** Null if the service generates one. */
  readonly adminPassword: Secret | null;
  readonly schemes: readonly SchemeName[];
  /** Set only if `custom-header` is one of the schemes. */
  readonly customToken: { readonly token: Secret; readonly username: string } | null;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** The scope of HSTS. */
  readonly hsts: "host" | "subdomains";
  readonly remoteUser: {
    readonly header: string;
    readonly secret: Secret | null;
    readonly create: boolean;
    readonly level: 1 | 2;
    readonly trustEmail: boolean;
  };
  /**
   * The host that passkeys are bound to. Null if passkeys are off, because the service has an address and no host name.
   */
  readonly passkeyRpId: string | null;
  /** Which users must have a second factor. */
  readonly secondFactor: SettingValue<"secondFactor">;
  /**
   * The lifetime of API tokens and keys that a user of a proxy, an issuer or an identity provider creates. 0: they
   * create none.
   */
  readonly outsideCredentialsSeconds: number;
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
  readonly refreshFamilySeconds: number;
  readonly refreshGraceSeconds: number;
  /** True if each refresh gives a new refresh token and revokes the previous one. */
  readonly rotatesRefreshTokens: boolean;
  readonly sessionIdleSeconds: number;
  readonly sessionSeconds: number;
  /** Null if the keys are derived from the secret. */
  readonly signingKeysFile: string | null;
  /** Outside issuers whose tokens are accepted too. */
  readonly issuers: readonly TrustedIssuer[];
  /** The identity providers at which users log in. */
  readonly identityProviders: readonly IdentityProviderDeclaration[];
  readonly workers: number;
  /** The certificate and its key, as PEM. */
  readonly tls: TLS | null;
  /** Whether passwords are accepted, and credentials issued, from other hosts without TLS. */
  readonly cleartextLogins: SettingValue<"cleartextLogins">;
  /** Without a slash at the end. */
  readonly publicURL: string | null;
  readonly issuer: string;
  /** Without a slash at the end. Empty for the root. */
  readonly basePath: string;
  /** The look of pages: only what is set. */
  readonly look: LookSettings;
  /** The prefix of every cookie's name. Empty for none. */
  readonly cookiePrefix: string;
  /** True to compress bodies of 1 KiB and more for callers that accept it. */
  readonly compression: boolean;
  readonly handlerTimeoutSeconds: number;
  /** 0 for no limit. */
  readonly connectionsPerAddress: number;
  readonly passwordCost: PasswordCost;
  /** Null if no such service is used. */
  readonly breachedPasswordsURL: string | null;
  readonly log: SettingValue<"log">;
  /** How mails are sent. Null if mail is off. */
  readonly mail: MailSettings | null;
  readonly registration: SettingValue<"registration">;
  /** Whether users may log in with a code or a link by mail. */
  readonly loginCodes: SettingValue<"loginCodes">;
}

/**
 * Reads the settings from the environment and the config file. The environment has precedence. Throws `ConfigError`
 * with all mistakes.
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
  const identityProviders = readIdentityProviders(readings, problems);
  const mail = readMail(readings, config.mail ?? {}, problems);
  // Reads the secret last. A start that fails because of another mistake must not create a secret.
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
      trustEmail: readings.remoteUserTrustEmail.value,
    },
    passkeyRpId: resolveRelyingParty(readings),
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
    identityProviders,
    workers: readings.workers.value,
    tls,
    cleartextLogins: readings.cleartextLogins.value,
    publicURL: publicURL.value,
    issuer,
    basePath: readings.basePath.value,
    look: readLook(readings),
    cookiePrefix: readings.cookiePrefix.value ?? "",
    compression: readings.compression.value === "on",
    handlerTimeoutSeconds: readings.handlerTimeoutSeconds.value,
    connectionsPerAddress: readings.connectionsPerAddress.value,
    passwordCost: readings.passwordCost.value,
    breachedPasswordsURL: readings.breachedPasswordsURL.value,
    log: readings.log.value,
    mail,
    registration: readings.registration.value,
    loginCodes: readings.loginCodes.value,
  });
}

function resolveRelyingParty({ passkeyRpId, publicURL }: Readings): string | null {
  if (passkeyRpId.value !== null) return passkeyRpId.value;
  const hostname = publicURL.value === null ? "localhost" : new URL(publicURL.value).hostname;
  return isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 ? hostname : null;
}

/** Throws for values that are not objects. They have no members and would look like an empty configuration. */
function requireObjects(inputs: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(inputs).filter(([, value]) => !isObject(value));
  if (wrong.length > 0) throw new ConfigError(wrong.map(([name]) => `readSettings: ${name} has to be an object.`));
}
