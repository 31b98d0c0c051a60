import { listen } from "../../src/door/index.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

/** The service, and its responses to all callers, including those that a page could not see. */
export interface ObservedService extends AsyncDisposable {
  readonly address: string;
  /** The password of its administrator, `admin`. */
  readonly password: string;
  /** `POST /orders 403 cross_site` for each request. The last part is present only for a refusal. */
  readonly answers: string[];
  /** Moves the clock of the service forward. */
  turn(seconds: number): void;
}

/** Starts the service. Its port is a free one, unless the service has to know its own address. */
export async function startObservedService(
  settings: Readonly<Record<string, string>> = {},
  config: ConfigFile = {},
  port = 0,
): Promise<ObservedService> {
  const password = "first-administrator";
  const answers: string[] = [];
  let aheadMs = 0;
  const read = readSettings(
    { LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_ADMIN_PASSWORD: password, ...settings },
    config,
  );
  const service = await createLatchkey({
    settings: read,
    config,
    now: () => Date.now() + aheadMs,
    observe(observation) {
      if (observation.kind !== "request") return;
      const { method, path, status, code } = observation;
      answers.push([method, path, status, ...(code === null ? [] : [code])].join(" "));
    },
  });
  const listener = await listen(service, {
    port,
    ...(read.tls === null ? {} : { tls: { cert: read.tls.cert, key: read.tls.key } }),
  });
  return {
    address: listener.url,
    password,
    answers,
    turn: (seconds) => void (aheadMs += seconds * 1000),
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      await service.close();
    },
  };
}
