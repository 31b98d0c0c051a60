import { randomBytes } from "node:crypto";
import { optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { makeSealing, type Sealing } from "../../../core/crypto/sealing.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { FactorKind, StoredFactor } from "../gate/contract.ts";
import type { AccountsFeature } from "../people/people.ts";
import { normalizeCode } from "../requests/codes.ts";
import { findStep, formatBase32 } from "./codes.ts";

/** Options of `totp()`. */
export interface TOTPOptions {
  /**
   * Name of the service in the user's authenticator app, which shows it without colons. Default: the name of the
   * service.
   */
  readonly issuer?: string;
}

const checks: ChecksOf<TOTPOptions> = { issuer: optional(text) };

/** The length of a secret for SHA-1, as RFC 4226 §4 recommends. */
const SECRET_BYTES = 20;

/**
 * Codes of an authenticator app as a second factor (RFC 6238: SHA-1, 6 digits, 30 seconds). A code works once. Needs
 * the service's secret, under which the secrets of the factors are encrypted.
 *
 * @example
 * ```ts
 * import { accounts, sessionLogin } from "latchkey";
 * import { totp } from "latchkey/auth";
 *
 * const people = accounts();
 * export const features = [people, sessionLogin(people), totp(people)];
 * ```
 */
export function totp(people: AccountsFeature, options: TOTPOptions = {}): Feature {
  return defineFeature({
    name: "totp",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const sealing = makeSealing(host.secret.deriveEach("totp"));
      host.use(people).factors.registerFactorKind(totpKind(sealing, options.issuer ?? host.name));
      return { offer: null };
    },
  });
}

/** The stored data of a factor: the encrypted secret, and the last step whose code was used. */
type StoredTOTP = { readonly secret: string; readonly step: number };

function totpKind(sealing: Sealing, issuer: string): FactorKind<StoredTOTP> {
  const check = (userId: number, { data: { secret, step } }: StoredFactor<StoredTOTP>, code: string, now: number) => {
    const opened = sealing.open(secret, formatContext(userId));
    const used = opened === null ? null : findStep(opened, normalizeCode(code), now, step);
    return used === null ? null : { proof: { method: "otp" as const }, data: { secret, step: used } };
  };

  return {
    name: "totp",
    method: "otp",
    answeredBy: "code",
    enrol(_call, { id, username }) {
      const secret = randomBytes(SECRET_BYTES);
      const text = formatBase32(secret);
      return {
        data: { secret: sealing.seal(secret, formatContext(id)), step: 0 },
        shown: { secret: text, uri: formatURI({ issuer, username, secret: text }) },
      };
    },
    confirm: ({ now }, { id }, factor, { code }) => check(id, factor, code ?? "", now),
    check: ({ now }, { id }, factor, { code }) => check(id, factor, code ?? "", now),
  };
}

/** Returns the context of the encryption. A row that was copied to another account cannot be decrypted there. */
function formatContext(userId: number): string {
  return `totp ${userId}`;
}

/**
 * The maximum lengths of the names in the URL, in percent-encoding. With them, every URL fits into a QR code of version
 * 25 that corrects errors at level M (997 octets, ISO/IEC 18004), which telephones read from a screen.
 */
const MOST_ISSUER = 270;
const MOST_USERNAME = 360;

/**
 * Returns the URL for authenticator apps, which read it from a QR code. A colon separates the issuer from the username,
 * so neither may have one, also not in percent-encoding (Key URI Format).
 */
function formatURI(key: { readonly issuer: string; readonly username: string; readonly secret: string }): string {
  const issuer = encodeName(key.issuer, MOST_ISSUER);
  return `otpauth://totp/${issuer}:${encodeName(key.username, MOST_USERNAME)}?secret=${key.secret}&issuer=${issuer}`;
}

const ELLIPSIS = encodeURIComponent("…");

/** Returns a name in percent-encoding, without colons. Cuts a long name after a character, and adds an ellipsis. */
function encodeName(name: string, most: number): string {
  const shown = name.replaceAll(":", "");
  const whole = encodeURIComponent(shown);
  if (whole.length <= most) return whole;
  let cut = "";
  for (const { segment } of new Intl.Segmenter().segment(shown)) {
    const longer = cut + encodeURIComponent(segment);
    if (longer.length > most - ELLIPSIS.length) break;
    cut = longer;
  }
  return cut + ELLIPSIS;
}
