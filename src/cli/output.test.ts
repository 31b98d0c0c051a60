import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTable, showList } from "./output.ts";

// An xterm takes parts of this text for commands: red text, and a new window title.
const agent = "Agent \u009b31m\u001b]0;\u0007\u007f é";
const seen = String.raw`Agent \u009b31m\u001b]0;\u0007\u007f é`;

test("escapes control characters in the texts of callers, so that they cannot control a terminal or end a line", async (t) => {
  const [, row] = formatTable([{ user_agent: agent, more: { note: "a\u0085\n" } }], ["user_agent", "more"]);

  assert.equal(row, String.raw`${seen}  {"note":"a\u0085\n"}`);
  const write = t.mock.method(process.stdout, "write", () => true);
  await showList(true, [[{ user_agent: agent }]], []);
  const written = write.mock.calls.map((call) => String(call.arguments[0])).join("");
  write.mock.restore();
  assert.ok(written.includes(seen), written);
  assert.deepEqual(JSON.parse(written), [{ user_agent: agent }]);
});
