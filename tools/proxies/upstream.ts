import type { TestContext } from "node:test";
import {
  caller,
  anyone,
  administrator,
  anyOf,
  defineEndpoint,
  defineResource,
  listen,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

export const adminPassword = "first-administrator";

/** The service behind nginx, with custom resources. */
export interface Upstream {
  readonly url: string;
  /** Sends a request to it without nginx. */
  ask(target: string, headers?: Headers): Promise<Response>;
  /** Sends a POST. Throws if it does not succeed. */
  post(target: string, body: unknown, headers?: Headers): Promise<Response>;
  /** Makes a user as the administrator. */
  user(name: string): Promise<{ readonly id: number; readonly email: string; readonly password: string }>;
}

type Headers = Readonly<Record<string, string>>;

const notices = defineResource({ name: "notice", fields: { title: text({ maxLength: 200 }) } });
const notes = defineResource({
  name: "note",
  fields: { user_id: reference("users", { default: caller }), title: text({ maxLength: 200 }) },
});
const ownNotes = anyOf(administrator, owner("user_id"));

/** Both resources declare public responses. For notes that is a mistake, because they depend on the caller. */
const config: ConfigFile = {
  mounts: [
    mount(notices, { cache: "public", permission: { list: anyone, read: anyone, create: administrator } }),
    mount(notes, { cache: "public", permission: ownNotes }),
  ],
  endpoints: [
    defineEndpoint({
      method: "GET",
      path: "/motto",
      access: "open",
      handle: () => ({
        status: 200,
        cache: "public",
        maxAgeSeconds: 60,
        body: { kind: "data", value: { motto: "one key" }, element: "motto" },
      }),
    }),
  ],
};

export async function startUpstream(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
  { mounts = [] }: Pick<ConfigFile, "mounts"> = {},
): Promise<Upstream> {
  const environment = {
    LATCHKEY_DATABASE: "sqlite::memory:",
    LATCHKEY_ADMIN_PASSWORD: adminPassword,
    LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
    ...settings,
  };
  const whole = { ...config, mounts: [...config.mounts!, ...mounts] };
  const service = await createLatchkey({ settings: readSettings(environment, whole), config: whole });
  const listener = await listen(service, { port: 0 });
  t.after(async () => {
    await listener.close(0);
    await service.close();
  });
  const { url } = listener;
  async function post(target: string, body: unknown, headers: Headers = {}): Promise<Response> {
    const all = { "content-type": "application/json", ...headers };
    const response = await fetch(url + target, { method: "POST", headers: all, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${target}: ${await response.text()}`);
    return response;
  }
  return {
    url,
    post,
    ask: (target, headers = {}) => fetch(url + target, { headers, redirect: "manual" }),
    async user(name) {
      const email = `${name.toLowerCase()}@example.com`;
      const password = `password of ${name}`;
      const login = await post("/api/token/", { username: "admin", password: adminPassword });
      const { access } = (await login.json()) as { access: string };
      const made = await post("/users", { name, email, password }, { authorization: `Bearer ${access}` });
      return { id: ((await made.json()) as { id: number }).id, email, password };
    },
  };
}

/** Returns the header field of RFC 7617. */
export function basicHeader(username: string, password: string): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}
