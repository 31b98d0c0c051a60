// Requests that show whether a hole of the folder `holes` leaks: those whose code is in endpoints, actions, hooks,
// schemes and permissions of the project.

/** A value of Ada that Ben may not see. */
export const SECRET = "the secret of Ada";

export type Ask = (as: number | null, method: string, path: string, body?: object, headers?: object) => Promise<Answer>;
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly id: number;
  readonly headers: Headers;
}

export const [ADMIN, ADA, BEN] = [1, 2, 3] as const;

const noteOfAda = (ask: Ask): Promise<Answer> => ask(ADA, "POST", "/notes", { body: SECRET });

/** Each hole, with requests that return true if it leaks. */
export const leaksOfCode: Readonly<Record<string, (ask: Ask) => Promise<boolean>>> = {
  async "action-list"(ask) {
    const { id } = await noteOfAda(ask);
    return (await ask(BEN, "POST", "/notes/compare", { ids: [id] })).text.includes(SECRET);
  },
  async "action-rule"(ask) {
    const { id } = await ask(BEN, "POST", "/claims", { reason: "a lamp" });
    return (await ask(BEN, "POST", `/claims/${id}/amend`, { reason: "a lamp", amount: 5000 })).text.includes("5000");
  },
  async archive(ask) {
    const { id } = await ask(ADA, "POST", "/articles", { title: "of Ada" });
    return (await ask(BEN, "POST", `/articles/${id}/archive`)).status === 204;
  },
  async assigned(ask) {
    await ask(ADMIN, "PATCH", `/users/${ADA}`, { tenant: 7 });
    const { id } = await noteOfAda(ask);
    await ask(BEN, "PATCH", "/profile", { tenant: 7 });
    return (await ask(BEN, "GET", `/notes/${id}`)).text.includes(SECRET);
  },
  async "below-user"(ask) {
    const { id } = await ask(ADA, "POST", "/notes", { title: "of Ada" });
    await ask(BEN, "PUT", `/users/${ADA}/titles`, { prefix: "by Ben", day: "2026-01-01" });
    return (await ask(ADA, "GET", `/notes/${id}`)).text.includes("by Ben");
  },
  async "body-ids"(ask) {
    const { id } = await noteOfAda(ask);
    return (await ask(BEN, "POST", "/batch", { ids: [id], title: "a batch" })).text.includes(SECRET);
  },
  async "bulk-changes"(ask) {
    const { id } = await ask(ADA, "POST", "/articles", { title: "of Ada" });
    await ask(BEN, "PATCH", "/renamed-articles", { changes: [{ id, title: "of Ben" }] });
    return (await ask(ADA, "GET", `/articles/${id}`)).text.includes("of Ben");
  },
  async "conflict-detail"(ask) {
    const room = await ask(ADA, "POST", "/rooms", { title: "Hall" });
    const booking = { room_id: room.id, day: "2026-05-01" };
    await ask(ADA, "POST", "/bookings", { ...booking, purpose: SECRET });
    return (await ask(BEN, "POST", "/bookings", { ...booking, purpose: "tea" })).text.includes(SECRET);
  },
  async cookie(ask) {
    await noteOfAda(ask);
    return decodeURIComponent((await ask(BEN, "GET", "/welcome")).headers.get("set-cookie")!).includes(SECRET);
  },
  async encoded(ask) {
    await noteOfAda(ask);
    return Buffer.from((await ask(BEN, "GET", "/backup")).text, "base64").includes(SECRET);
  },
  async existence(ask) {
    const { id } = await ask(ADA, "POST", "/patients", { name: SECRET });
    return (await ask(BEN, "GET", `/cards/${id}`)).status !== (await ask(BEN, "GET", `/cards/${id + 1}`)).status;
  },
  async feed(ask) {
    const { id } = await noteOfAda(ask);
    await ask(ADA, "PATCH", `/notes/${id}`, { body: `${SECRET} again` });
    return (await ask(BEN, "GET", "/events")).text.includes(SECRET);
  },
  async "forgotten-read"(ask) {
    const { id } = await noteOfAda(ask);
    return (await ask(BEN, "GET", `/notes/${id}`)).text.includes(SECRET);
  },
  async "forgotten-replace"(ask) {
    const { id } = await ask(ADA, "POST", "/articles", { body: SECRET });
    return (await ask(BEN, "PUT", `/articles/${id}`, { body: "by Ben", owner_id: ADA })).status === 200;
  },
  async "header-user"(ask) {
    await noteOfAda(ask);
    return (await ask(BEN, "GET", "/widget", undefined, { "x-user-id": String(ADA) })).text.includes(SECRET);
  },
  async "kept-answer"(ask) {
    await noteOfAda(ask);
    await ask(ADA, "GET", "/my-notes");
    return (await ask(BEN, "GET", "/my-notes")).text.includes(SECRET);
  },
  async "key-for-others"(ask) {
    const { id } = await noteOfAda(ask);
    const issued = await ask(BEN, "POST", "/passes/issue", { user_id: ADA });
    const { pass } = JSON.parse(issued.text) as { readonly pass: string };
    return (await ask(null, "GET", `/notes/${id}`, undefined, { "x-pass": pass })).text.includes(SECRET);
  },
  async "open-join"(ask) {
    const { id } = await ask(ADA, "POST", "/clubs", { title: "of Ada" });
    await ask(BEN, "POST", "/memberships", { user_id: BEN, club_id: id, role: "owner" });
    return (await ask(BEN, "PATCH", `/clubs/${id}`, { title: "of Ben" })).status === 200;
  },
  async prepared(ask) {
    await noteOfAda(ask);
    const { name } = JSON.parse((await ask(ADA, "POST", "/exports")).text) as { readonly name: string };
    return (await ask(BEN, "GET", `/exports/${name}`)).text.includes(SECRET);
  },
  async purge(ask) {
    const { id } = await noteOfAda(ask);
    await ask(BEN, "POST", "/notes/purge");
    return (await ask(ADA, "GET", `/notes/${id}`)).status === 404;
  },
  async query(ask) {
    await noteOfAda(ask);
    return (await ask(BEN, "GET", `/printed-notes?owner_id=${ADA}`)).text.includes(SECRET);
  },
  async "role-header"(ask) {
    await ask(ADMIN, "POST", "/reports", { body: SECRET });
    const headers = { "x-partner": "anyone", "x-role": "admin" };
    return (await ask(null, "GET", "/reports", undefined, headers)).text.includes(SECRET);
  },
};
