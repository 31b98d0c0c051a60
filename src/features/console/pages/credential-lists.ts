import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { column, table } from "../parts.ts";
import { resolveAddress, type Drawing } from "../site.ts";
import { showValue } from "../values.ts";
import { isRows, findRecord } from "./rows.ts";

/** An element of a list. */
export type Row = Readonly<Record<string, unknown>>;

// The credentials of an account, each with a button that ends it: the user's sessions, the keys of programs, and the
// API token.

/** Lists the sessions of the user, with a button that ends each one and a button that ends all. */
export async function drawSessions(drawing: Drawing, user: string, isOwn: boolean): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/sessions`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const all = (await view.offers(path)).find(({ method }) => method === "DELETE");
  const next = view.call.path;
  const ends: PageContent =
    all === undefined
      ? ""
      : isOwn
        ? writeButton(
            { view, offer: { ...all, path: `${path}?except=current` }, next, does: "End all others" },
            "low bad",
          )
        : writeButton({ view, offer: all, next, does: "End all" }, "low bad");
  const lines = await Promise.all(
    rows.map(async (row) => {
      const isCurrent = row["current"] === true;
      const end = isCurrent ? "" : await drawEndButton(drawing, `${path}/${String(row["id"])}`, "End");
      return html`<tr>
        <th scope="row"><bdi title="${String(row["user_agent"] ?? "")}">${describeAgent(row["user_agent"])}</bdi> ${isCurrent ? html`<span class="tag accent">current</span>` : ""}</th>
        <td>${String(row["kind"])}</td>
        <td class="mono">${String(row["address"])}</td>
        <td class="nw">${shown(drawing, row, "last_seen_at")}</td>
        <td class="nw">${shown(drawing, row, "expires_at")}</td>
        <td>${end}</td>
      </tr> `;
    }),
  );
  const shownRows =
    rows.length === 0
      ? html`<p class="dim">There is no login.</p>`
      : table(linkTo(view, path, "The newest first"), heads("Where", "Kind", "Address", "Last seen", "Ends"), lines);
  return section(
    "logins",
    isOwn ? "Where you are logged in" : "Where this user is logged in",
    rows.length > (isOwn ? 1 : 0) ? ends : "",
    shownRows,
  );
}

/** Lists the keys of programs, with their names and limits. Each key has a button that ends it. */
export async function drawKeys(drawing: Drawing, user: string, isOwn: boolean): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/keys`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const make = (await view.offers(path)).find(({ method }) => method === "POST");
  const lines = await Promise.all(
    rows.map(
      async (row) => html`<tr>
        <th scope="row"><bdi>${String(row["name"])}</bdi></th>
        <td class="mono">${String(row["prefix"])}</td>
        <td>${describeScopes(row["scopes"])}</td>
        <td class="nw">${shown(drawing, row, "last_used_at")}</td>
        <td class="nw">${shown(drawing, row, "expires_at")}</td>
        <td>${await drawEndButton(drawing, `${path}/${String(row["id"])}`, "End")}</td>
      </tr> `,
    ),
  );
  const list =
    rows.length === 0
      ? ""
      : table(linkTo(view, path, "The oldest first"), heads("Name", "Begins with", "May", "Last used", "Ends"), lines);
  const none =
    rows.length === 0
      ? html`<p class="dim">${isOwn ? "You have" : "There is"} none. A key is for one program: it has a name, can be limited, and ends by itself.</p>`
      : "";
  return section("keys", "Keys", "", html`${list}${none}${make === undefined ? "" : newKey(view, make)}`);
}

function newKey(view: View, offer: Offer): Markup {
  const scopes = ["read", "write"].map(
    (each) => html`<label><input type="checkbox" name="scopes" value="${each}" /> ${each}</label>`,
  );
  const more = html`<fieldset class="field" data-several="text"><legend>scopes</legend><div class="row">${scopes}</div><span class="rule">If none is selected: everything that the user may do</span></fieldset>`;
  return html`<details class="more">
    <summary>Make a key</summary>
    ${writeForm({ view, offer, only: ["name", "expires_at", "current_password"], more, does: "Make this key", prefix: "key" })}
  </details>`;
}

/** Shows the API token of the user. A user has at most one, and can display it again. */
export async function drawToken(drawing: Drawing, user: string): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/token`;
  const offers = await view.offers(path);
  const make = offers.find(({ method }) => method === "POST");
  if (offers.length === 0) return "";
  const token = findRecord(await view.ask(path));
  const facts = Object.entries(token ?? {}).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${showValue(drawing, null, value)}</dd></div>`,
  );
  const revoke = token === null ? "" : await drawEndButton(drawing, path, "Revoke", "low bad");
  return section(
    "token",
    "API token",
    revoke,
    html`
    ${token === null ? html`<p class="dim">There is none. An API token may do everything that the user may do, and is valid until it is revoked.</p>` : html`<dl class="facts-list">${facts}</dl>`}
    ${
      make === undefined
        ? ""
        : html`<details class="more"><summary>${token === null ? "Make it" : "Show it again"}</summary>
      ${writeForm({ view, offer: make, does: token === null ? "Make the API token" : "Show the API token", looks: "", prefix: "token" })}</details>`
    }`,
  );
}

/** Writes a section of the account page. */
export function section(id: string, title: string, aside: PageContent, content: PageContent): Markup {
  return html`<section aria-labelledby="${id}">
    <div class="sec"><h2 id="${id}">${title}</h2>${aside}</div>
    <div class="stack">${content}</div>
  </section>`;
}

/** Returns the elements of a list that the caller may read. Returns null if there is no such list. */
export async function rowsAt(view: View, path: string): Promise<readonly Row[] | null> {
  const found = await view.ask(path);
  return found?.body?.kind === "data" && isRows(found.body.value) ? found.body.value : null;
}

/** Writes the button that deletes one element, if the caller may delete it. */
export async function drawEndButton(
  { view }: Drawing,
  path: string,
  does: string,
  classes = "low",
): Promise<PageContent> {
  const offer = (await view.offers(path)).find(({ method }) => method === "DELETE");
  return offer === undefined ? "" : writeButton({ view, offer, next: view.call.path, does }, classes);
}

/** Returns the heads of columns. The last column has the buttons and no head. */
export function heads(...names: readonly string[]): readonly Markup[] {
  return [...names.map((name) => column(name)), html`<td></td>`];
}

/** Writes the caption of a table, with the address of its list. */
export function linkTo(view: View, path: string, words: string): Markup {
  return html`${words}: <a class="mono" href="${resolveAddress(view, path)}">${path}</a>`;
}

/** Writes a time, or "never". */
export function shown(drawing: Drawing, row: Row, name: string): PageContent {
  return row[name] === null ? html`<span class="dim">never</span>` : showValue(drawing, null, row[name]);
}

function describeScopes(scopes: unknown): string {
  return Array.isArray(scopes) ? scopes.join(", ") : "everything that the user may do";
}

const browsers = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;
const systems = [
  [/Windows/, "Windows"],
  [/Android/, "Android"],
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
] as const;

/** Shortens a User-Agent header to the names of the browser and the operating system. */
function describeAgent(agent: unknown): string {
  if (typeof agent !== "string" || agent === "") return "Unknown";
  const [[, browser] = []] = [browsers.find(([pattern]) => pattern.test(agent))];
  const [[, system] = []] = [systems.find(([pattern]) => pattern.test(agent))];
  if (browser === undefined) return agent.split(" ", 1)[0]!.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
