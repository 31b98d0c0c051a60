import assert from "node:assert/strict";
import { test } from "node:test";
import { callOf } from "../../testing/calls.ts";
import { Problem } from "../problem/problem.ts";
import { isUnsafe, requireSameSite } from "./cross-site.ts";

const ours = "http://api.example";
const allowed = "https://app.example";

const rows: { site: string | null; origin: string | null; passes: boolean }[] = [
  { site: null, origin: null, passes: true },
  { site: "same-origin", origin: null, passes: true },
  { site: "none", origin: null, passes: true },
  { site: "same-origin", origin: "https://evil.example", passes: true },
  { site: "same-site", origin: null, passes: false },
  { site: "cross-site", origin: null, passes: false },
  { site: "cross-site", origin: ours, passes: true },
  { site: "cross-site", origin: allowed, passes: true },
  { site: "cross-site", origin: "https://evil.example", passes: false },
  { site: "nonsense", origin: null, passes: false },
  { site: "", origin: null, passes: false },
  { site: null, origin: ours, passes: true },
  { site: null, origin: allowed, passes: true },
  { site: null, origin: "https://api.example", passes: false },
  { site: null, origin: "https://app.example.evil.example", passes: false },
  { site: null, origin: "null", passes: false },
  { site: null, origin: "", passes: false },
];

for (const { site, origin, passes } of rows) {
  test(`${passes ? "accepts" : "refuses"} Sec-Fetch-Site ${site ?? "left out"} with Origin ${origin ?? "left out"}`, () => {
    const headers = {
      host: "api.example",
      ...(site === null ? {} : { "sec-fetch-site": site }),
      ...(origin === null ? {} : { origin }),
    };
    const ask = () => requireSameSite(callOf({ method: "POST", headers }), [allowed]);

    if (passes) assert.doesNotThrow(ask);
    else assert.throws(ask, (error) => error instanceof Problem && error.code === "cross_site" && error.status === 403);
  });
}

test("treats only read methods as safe, and only in their exact spelling", () => {
  assert.deepEqual(["GET", "HEAD", "OPTIONS", "TRACE"].filter(isUnsafe), []);
  assert.deepEqual(
    ["POST", "PUT", "PATCH", "DELETE", "get", "LINK"].filter((each) => !isUnsafe(each)),
    [],
  );
});
