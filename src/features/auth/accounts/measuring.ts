import { gauge, type MetricFamily } from "../../../core/measurement.ts";
import type { AccountsParts } from "../people/parts.ts";

/** Returns the metrics of accounts. */
export function measure({ passwords, revocations }: AccountsParts): readonly MetricFamily[] {
  const age = revocations.ageMs();
  return [
    gauge("latchkey_password_hashes", "Password hashes that are being computed, and those that wait.", {
      ...passwords.load(),
    }),
    {
      ...gauge(
        "latchkey_revocation_feed_age_seconds",
        "Age of the list of revocations; after 5 seconds access tokens are refused.",
        age === null ? {} : { "": age / 1000 },
      ),
      together: "max",
    },
  ];
}
