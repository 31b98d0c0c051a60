import assert from "node:assert/strict";
import {
  anyone,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
  type Service,
} from "../../src/door/index.ts";
import type { Mount } from "../../src/door/resources.ts";

/** The title and the version of the service. */
export const shop = { title: "Many", version: "1" };

/** Returns mounts of resources that each refer to the previous one. */
export function buildMounts(count: number, permission = anyone): Mount[] {
  const mounts: Mount[] = [];
  for (let at = 0; at < count; at++) {
    const before = mounts.at(-1)?.resource;
    const resource = defineResource({
      name: `thing${at}`,
      fields: {
        title: text({ maxLength: 200, unique: true }),
        note: text({ optional: true }),
        count: integer({ minimum: 0 }),
        state: enumeration(["open", "paid", "sent"]),
        ...(before === undefined ? {} : { other_id: reference(before) }),
      },
      filters: { title: ["eq"], count: ["gte", "lte"], state: ["eq"] },
      sorts: ["title", "count"],
    });
    mounts.push(mount(resource, { permission }));
  }
  return mounts;
}

/** Asks the service without a binding, because the test must not measure how a binding copies megabytes. */
export async function askService(
  service: Service,
  target: string,
): Promise<{ readonly tag: string; readonly text: string }> {
  const facts = { method: "GET", rawHeaders: ["Host", "127.0.0.1"], peer: "127.0.0.1", encrypted: false };
  const answer = await service.respond({ ...facts, target, readBody: async () => new Uint8Array() });
  assert.equal(answer.status, 200);
  return { tag: answer.headers[answer.headers.indexOf("ETag") + 1]!, text: Buffer.from(answer.content!).toString() };
}
