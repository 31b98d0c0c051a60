import { choice, seconds } from "./values.ts";

const day = 86_400;

/** The longest lifetime that can be set, in seconds. */
export const year = 366 * day;

/** The lifetimes of tokens and sessions: a part of the table of settings. */
export const lifetimeSettings = {
  accessSeconds: {
    name: "LATCHKEY_ACCESS_SECONDS",
    default: "300",
    parse: seconds(1, day),
    meaning: "Lifetime of an access token; at most a day.",
  },
  refreshSeconds: {
    name: "LATCHKEY_REFRESH_SECONDS",
    default: "604800",
    parse: seconds(1, year),
    meaning: "Lifetime of a refresh token; at most 366 days.",
  },
  refreshFamilySeconds: {
    name: "LATCHKEY_REFRESH_FAMILY_SECONDS",
    default: "2592000",
    parse: seconds(1, year),
    meaning: "Maximum lifetime of a token login with all its refreshes; at most 366 days.",
  },
  refreshGraceSeconds: {
    name: "LATCHKEY_REFRESH_GRACE_SECONDS",
    default: "10",
    parse: seconds(1, 300),
    meaning: "Time in which a used refresh token still returns the same successor; at most 300.",
  },
  refreshRotation: {
    name: "LATCHKEY_REFRESH_ROTATION",
    default: "on",
    parse: choice("on", "off"),
    meaning: "`off`: a refresh token stays valid until it expires, for clients that keep their first one.",
  },
  sessionIdleSeconds: {
    name: "LATCHKEY_SESSION_IDLE_SECONDS",
    default: "86400",
    parse: seconds(1, year),
    meaning: "Lifetime of an unused session; at most 366 days.",
  },
  sessionSeconds: {
    name: "LATCHKEY_SESSION_SECONDS",
    default: "1209600",
    parse: seconds(1, year),
    meaning:
      "Maximum lifetime of a session; at most 366 days. The cookie outlives the browser, so users of a shared machine log out.",
  },
} as const;
