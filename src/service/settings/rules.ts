import { isIP } from "node:net";
import { checkNewPassword, readSigningKeys, SigningKeysError } from "../../door/auth.ts";
import { serversInPlainText, sqliteFileProblems } from "../../door/stores.ts";
import { checkKeyIsClosed } from "./open-key.ts";
import type { ResolvedSetting, Readings } from "./reading.ts";
import type { SettingName } from "./table.ts";
import { firstEmail, serviceName } from "./values.ts";

/** Returns the mistakes between settings and in the files that they name, each with its fix. */
export function checkTogether(readings: Readings): readonly string[] {
  return [
    ...checkRemoteUser(readings),
    ...checkCustomHeader(readings),
    ...checkLifetimes(readings),
    ...checkDatabase(readings),
    ...checkAdministrator(readings),
    ...checkSigningKeys(readings),
    ...checkPasskeys(readings),
  ];
}

function checkRemoteUser(readings: Readings): readonly string[] {
  const { schemes, trustedProxies, host, remoteUserSecret, remoteUserTrust } = readings;
  if (!schemes.value.includes("remote-user")) {
    const own = [
      "remoteUserHeader",
      "remoteUserSecret",
      "remoteUserTrust",
      "remoteUserCreate",
      "remoteUserLevel",
      "remoteUserTrustEmail",
    ] as const;
    return checkUnused(readings, "remote-user", own);
  }
  const problems: string[] = [];
  if (!trustedProxies.isWrong && (trustedProxies.value ?? []).length === 0) {
    problems.push(
      `${schemes.label} names remote-user, but ${trustedProxies.label} is empty. Set ${trustedProxies.label} to the addresses of your proxies.`,
    );
  }
  if (!isLoopback(host.value) && remoteUserSecret.from === null && remoteUserTrust.from === null) {
    problems.push(
      `${schemes.label} names remote-user, but not only the proxy can reach ${host.value}. Share a secret with the proxy in ${remoteUserSecret.label}, set ${remoteUserTrust.label}=network if only the proxy can reach this network, or listen on 127.0.0.1.`,
    );
  }
  return problems;
}

/**
 * Checks the passkey settings. The origin of a service without a public address is unknown, so its passkeys work on
 * localhost only.
 */
function checkPasskeys({ passkeyRpId, publicURL }: Readings): readonly string[] {
  const { value, label } = passkeyRpId;
  if (value === null || publicURL.isWrong) return [];
  if (publicURL.value === null)
    return value === "localhost"
      ? []
      : [`${label} is ${value}, but the public address is unknown. Set ${publicURL.label}.`];
  const { hostname } = new URL(publicURL.value);
  return hostname === value || hostname.endsWith(`.${value}`)
    ? []
    : [
        `${label} is ${value}, but ${publicURL.label} is not on that host or below it. Use its host, or a domain above it.`,
      ];
}

/**
 * Checks the rule about second factors. The service cannot ask a proxy or an issuer of level 1 for a second factor, so
 * a user who logs in through either could never complete the login.
 */
export function checkSecondFactor(
  { secondFactor, schemes, remoteUserLevel }: Readings,
  issuers: readonly { readonly issuer: string; readonly level?: unknown }[],
): readonly string[] {
  if (secondFactor.value !== "everyone") return [];
  const weak = issuers.filter(({ level = 1 }) => level === 1).map(({ issuer }) => `the issuer ${issuer}`);
  const proxy = schemes.value.includes("remote-user") && remoteUserLevel.value === 1 ? ["the remote user"] : [];
  return [...proxy, ...weak].map(
    (each) =>
      `${secondFactor.label} is everyone, but ${each} is level 1, which cannot ask for a second factor. Set its level to 2 if it checks one, or choose admins.`,
  );
}

function checkCustomHeader(readings: Readings): readonly string[] {
  const { schemes } = readings;
  const own = ["customToken", "customTokenUsername"] as const;
  if (!schemes.value.includes("custom-header")) return checkUnused(readings, "custom-header", own);
  return own
    .map((key) => readings[key])
    .filter(({ from }) => from === null)
    .map(
      ({ label }) =>
        `${schemes.label} names custom-header, which needs ${label}. Set ${label}, or remove custom-header.`,
    );
}

/**
 * Reports settings without effect. Such a setting hides a mistake: the operator believes that it protects something.
 */
function checkUnused(readings: Readings, scheme: string, own: readonly SettingName[]): readonly string[] {
  const { schemes } = readings;
  // The setting may belong to a scheme whose name is misspelled.
  if (schemes.isWrong) return [];
  return own
    .map((key) => readings[key])
    .filter(({ from }) => from !== null)
    .map(
      ({ label }) =>
        `${label} is set, but ${schemes.label} does not contain ${scheme}. Add ${scheme} there, or remove this setting.`,
    );
}

function checkLifetimes(readings: Readings): readonly string[] {
  const { accessSeconds, refreshSeconds, refreshFamilySeconds, sessionIdleSeconds, sessionSeconds } = readings;
  const pairs: readonly (readonly [ResolvedSetting<number>, ResolvedSetting<number>])[] = [
    [accessSeconds, refreshSeconds],
    [refreshSeconds, refreshFamilySeconds],
    [sessionIdleSeconds, sessionSeconds],
  ];
  return (
    pairs
      // Only a setting that was set can be a mistake. If the operator shortens only the outer lifetime, a longer
      // default of the inner one is not a mistake.
      .filter(([inner, outer]) => inner.from !== null && !inner.isWrong && !outer.isWrong && inner.value > outer.value)
      .map(
        ([inner, outer]) =>
          `${inner.label} is ${inner.value}, longer than its limit ${outer.label}, which is ${outer.value}. Shorten the first, or lengthen the second.`,
      )
  );
}

function checkDatabase({ database, workers, secret, secretFile }: Readings): readonly string[] {
  if (database.isWrong) return [];
  if (database.value.kind === "postgres") {
    const plain = serversInPlainText(database.value.url);
    const unsaid =
      plain.length === 0
        ? []
        : [
            `${database.label} connects to ${plain.join(", ")} without sslmode: add sslmode=verify-full and sslrootcert=FILE (or sslmode=require) to its query, or sslmode=disable to connect in cleartext.`,
          ];
    if (secret.from !== null || secretFile.from !== null) return unsaid;
    return [
      ...unsaid,
      `${database.label} is PostgreSQL, which several machines may share, so the service does not create the secret. Give all of them the same ${secret.label} (make it with: openssl rand -base64 48) or ${secretFile.label}.`,
    ];
  }
  const file = database.value.path;
  if (file === ":memory:") {
    if (workers.value === 1) return [];
    return [
      `${workers.label} is ${workers.value}, and processes cannot share sqlite::memory:. Set it to 1, or name a file in ${database.label}.`,
    ];
  }
  return sqliteFileProblems(file, true).map((problem) => `${database.label}: ${problem}`);
}

function checkAdministrator({ adminUsername, adminPassword, issuer, publicURL }: Readings): readonly string[] {
  if (adminPassword.value === null) return [];
  const password = adminPassword.value.reveal().toString("utf8");
  const hostname = publicURL.value === null ? [] : [new URL(publicURL.value).hostname];
  const names = [serviceName, ...(issuer.value === null ? [] : [issuer.value]), ...hostname];
  const issue = checkNewPassword(password, { username: adminUsername.value, email: firstEmail }, names);
  if (issue === null) return [];
  return [
    `${adminPassword.label} cannot be used. ${issue.detail} Choose another, or leave it out to get a random one.`,
  ];
}

function checkSigningKeys({ signingKeys }: Readings): readonly string[] {
  if (signingKeys.value === null) return [];
  const open = checkKeyIsClosed(signingKeys);
  try {
    readSigningKeys(signingKeys.value);
    return open;
  } catch (error) {
    if (!(error instanceof SigningKeysError)) throw error;
    return [...open, ...error.problems.map((problem) => `${signingKeys.label}: ${problem}`)];
  }
}

/** Returns true if only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
