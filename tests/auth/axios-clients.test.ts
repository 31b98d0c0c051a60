import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import axios, { type AxiosInstance, type InternalAxiosRequestConfig } from "axios";
import { addTOTP, addTOTPTo, startLogin } from "../harness/factors.ts";
import { rawSocket } from "../harness/raw-socket.ts";
import { adminPassword, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: clients get the answers of logins, whose tests run on both databases.

const admin = { username: "admin", password: adminPassword };

type Repeated = InternalAxiosRequestConfig & { _retry?: boolean };

/** Gets new tokens for a client. Rejects with the error of Axios if the service refuses. */
type Refresh = () => Promise<void>;

/** Refreshes after each refused request and sends that request again, as most tutorials for Axios do. */
function refreshEach(client: AxiosInstance, refresh: Refresh): void {
  client.interceptors.response.use(undefined, async (error) => {
    const original = error.config as Repeated;
    if (error.response?.status !== 401 || original._retry === true || original.url!.startsWith("/api/token/"))
      throw error;
    original._retry = true;
    await refresh();
    return client(original);
  });
}

/** Refreshes once while the other requests wait in a queue. This is the other common pattern. */
function refreshOnce(client: AxiosInstance, refresh: Refresh): void {
  let isRefreshing = false;
  let queue: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  client.interceptors.response.use(undefined, async (error) => {
    const original = error.config as Repeated;
    const isLogin = original.url!.startsWith("/api/token/");
    if (isLogin || original._retry === true || error.response?.data?.code !== "token_not_valid") throw error;
    original._retry = true;
    if (isRefreshing) {
      await new Promise<void>((resolve, reject) => void queue.push({ resolve, reject }));
      return client(original);
    }
    isRefreshing = true;
    try {
      await refresh();
      for (const { resolve } of queue) resolve();
    } catch (failed) {
      for (const { reject } of queue) reject(failed);
      throw failed;
    } finally {
      isRefreshing = false;
      queue = [];
    }
    return client(original);
  });
}

/** Logs in, keeps the tokens, and sends the access token in a header of each request. */
async function byHeader(client: AxiosInstance, login: object = admin): Promise<Refresh> {
  const tokens = (await client.post("/api/token/", login)).data as { access: string; refresh: string };
  client.interceptors.request.use((config) => {
    if (!config.url!.startsWith("/api/token/")) config.headers.set("Authorization", `Bearer ${tokens.access}`);
    return config;
  });
  return async () =>
    void Object.assign(tokens, (await client.post("/api/token/refresh/", { refresh: tokens.refresh })).data);
}

/** Logs in with tokens in cookies. Stores the cookies as a browser does, because Axios in Node stores none. */
async function byCookie(client: AxiosInstance, login: object = admin): Promise<Refresh> {
  const cookieJar = new Map<string, { readonly pair: string; readonly path: string }>();
  client.interceptors.response.use((response) => {
    for (const cookie of response.headers["set-cookie"] ?? []) {
      const pair = cookie.split(";")[0]!;
      cookieJar.set(pair.split("=")[0]!, { pair, path: /Path=([^;]+)/i.exec(cookie)?.[1] ?? "/" });
    }
    return response;
  });
  client.interceptors.request.use((config) => {
    const sent = [...cookieJar.values()].filter(({ path }) => config.url!.startsWith(path));
    if (sent.length > 0) config.headers.set("Cookie", sent.map(({ pair }) => pair).join("; "));
    return config;
  });
  await client.post("/api/token/", { ...login, cookie: true });
  return async () => void (await client.post("/api/token/refresh/"));
}

async function start(t: TestContext): Promise<{ api: API; client: AxiosInstance }> {
  const { api, listener } = await rawSocket(t);
  return { api, client: axios.create({ baseURL: listener.url }) };
}

/** Returns the number of refresh requests so far. */
function refreshes({ observed }: API): number {
  return observed.filter((each) => each.kind === "request" && each.route === "/api/token/refresh/").length;
}

for (const [way, logIn] of Object.entries({ "a header": byHeader, cookies: byCookie }))
  for (const [kind, intercept] of Object.entries({
    "each refused request refreshes": refreshEach,
    "one request refreshes and the others wait": refreshOnce,
  }))
    test(`keeps axios with tokens in ${way} logged in until the login ends, if ${kind}`, async (t) => {
      const { api, client } = await start(t);
      intercept(client, await logIn(client));
      const ask = (): Promise<number[]> =>
        Promise.all([1, 2, 3, 4, 5].map(async () => (await client.get("/protected/")).status));

      for (let time = 1; time <= 4; time++) {
        api.clock.turn(301);
        const before = refreshes(api);
        assert.deepEqual(await ask(), [200, 200, 200, 200, 200]);
        assert.ok(refreshes(api) > before);
      }

      await api.delete("/users/1/sessions", api.admin);
      const ended = await client.get("/protected/").catch((error: unknown) => error);
      assert.ok(axios.isAxiosError(ended) && ended.response?.status === 401);
    });

/** Returns the problem of a request that fails, and the number of requests that the client sends for it. */
async function failing({ observed }: API, ask: () => Promise<unknown>) {
  const sent = () => observed.filter(({ kind }) => kind === "request").length;
  const before = sent();
  const error = await ask().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(axios.isAxiosError(error) && error.response !== undefined, String(error));
  const { status, data } = error.response as { status: number; data: { code: string; detail: string } };
  return { status, code: data.code, detail: data.detail, requests: sent() - before };
}

for (const [way, logIn] of Object.entries({ "a header": byHeader, cookies: byCookie }))
  for (const [kind, intercept] of Object.entries({
    "each refused request refreshes": refreshEach,
    "one request refreshes and the others wait": refreshOnce,
  })) {
    test(`asks axios with tokens in ${way} for a second factor without a loop, if ${kind}`, async (t) => {
      const { api, client } = await start(t);
      intercept(client, () => Promise.resolve());
      const ann = await addTOTP(api, "Ann");

      const refused = await failing(api, () => logIn(client, { username: ann.email, password: ann.password }));

      assert.deepEqual([refused.status, refused.code, refused.requests], [401, "factor_required", 1]);
      assert.ok(refused.detail.length > 20);
    });

    test(`ends the login of axios with tokens in ${way} without a loop when its user adds a factor, if ${kind}`, async (t) => {
      const { api, client } = await start(t);
      const ann = await api.user("Ann");
      const login = { username: ann.email, password: ann.password };
      intercept(client, await logIn(client, login));
      assert.equal((await client.get("/protected/")).status, 200);
      await addTOTPTo(api, ann);

      const refused = await failing(api, () => client.get("/protected/"));

      assert.deepEqual([refused.status, refused.code], [401, "token_not_valid"]);
      // The request, and one refresh.
      assert.equal(refused.requests, 2);
    });
  }

test("lets an axios client log in with a second factor, refresh and stay logged in", async (t) => {
  const { api, client } = await start(t);
  const ann = await addTOTP(api, "Ann");
  const { pending } = (await startLogin(api, ann)).json.login;
  const { data: tokens } = await client.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  client.interceptors.request.use((config) => {
    if (!config.url!.startsWith("/api/token/")) config.headers.set("Authorization", `Bearer ${tokens.access}`);
    return config;
  });
  refreshEach(client, async () => {
    Object.assign(tokens, (await client.post("/api/token/refresh/", { refresh: tokens.refresh })).data);
  });

  for (let time = 1; time <= 3; time++) {
    api.clock.turn(301);
    assert.equal((await client.get("/protected/")).status, 200);
  }
  assert.equal((await client.get("/api/session/")).data.level, 2);
});
