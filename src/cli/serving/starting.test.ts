import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { createLatchkey } from "../../service/latchkey.ts";
import { readSettings } from "../../service/settings/settings.ts";
import { explainStart, listenOrClose, formatStack } from "./starting.ts";

test("reports how to fix a first start that cannot listen, and shows the password of its administrator", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const rows = [
    [
      { LATCHKEY_PORT: String(port) },
      new RegExp(`Another program listens on 127\\.0\\.0\\.1:${port}\\. .* --port ${port + 1},`),
    ],
    [
      { LATCHKEY_HOST: "192.0.2.7", LATCHKEY_PORT: "0" },
      /This machine does not have the address 192\.0\.2\.7\. .*LATCHKEY_HOST/,
    ],
  ] as const;

  for (const [environment, cure] of rows) {
    const settings = readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment });
    const latchkey = await createLatchkey({ settings, config: {}, observe: null });
    const failed = await listenOrClose(latchkey, settings).catch((error: unknown) => error);

    const explanation = explainStart(failed, formatStack);
    assert.match(explanation, cure);
    assert.match(explanation, /first administrator: admin, password: \S+ \(shown only now;/);
    assert.doesNotMatch(explanation, /\n\s+at /);
  }
  other.close();
});

test("shows each cause of a fault once, also if the causes form a circle", () => {
  const inner = new Error("inner");
  const outer = new AggregateError([inner, "no error"], "outer", { cause: inner });
  inner.cause = outer;

  const stack = formatStack(outer);

  assert.deepEqual(stack.match(/^(?:caused by )?\w*Error: \w+|^caused by no error/gm), [
    "AggregateError: outer",
    "caused by Error: inner",
    "caused by no error",
  ]);
});
