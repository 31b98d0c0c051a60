import { html, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { findRecord } from "../replies.ts";
import type { Drawing } from "../site.ts";
import { showAgo, showDay } from "../values.ts";
import { fold, line, lines, removal, rowsAt, settingsSection, type AccountView, type Row } from "./account-parts.ts";
import { keyWords, proofWords } from "./account-words.ts";

// The credentials of an account, each with a button that ends it: the user's sessions, the keys of programs, and the
// API token.

/** Lists where the user is logged in, with a button that ends each login and a button that ends all others. */
export async function drawSessions({ drawing, user, isOwn }: AccountView): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/sessions`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const listed = await Promise.all(rows.map((row) => drawSession(drawing, path, row)));
  const all = (await view.offers(path)).find(({ method }) => method === "DELETE");
  const content = lines(listed.length === 0 ? [line("Nowhere")] : listed);
  const ends = all === undefined || rows.length <= (isOwn ? 1 : 0) ? "" : endAll(drawing, all, path, isOwn);
  return settingsSection(
    "where",
    isOwn ? "Where you are logged in" : "Where this user is logged in",
    isOwn ? "End what you do not know, and change your password." : "End what the user does not know.",
    html`<div class="stack">${content}${ends}</div>`,
  );
}

async function drawSession({ view }: Drawing, path: string, row: Row): Promise<PageContent> {
  const agent = describeAgent(row["user_agent"]);
  const isCurrent = row["current"] === true;
  const seen = isCurrent
    ? "Now"
    : typeof row["last_seen_at"] === "string"
      ? html`Last seen ${showAgo(row["last_seen_at"])}`
      : "";
  const at = row["address"] === null ? "" : html`, from <bdi>${String(row["address"])}</bdi>`;
  const offers = isCurrent ? [] : await view.offers(`${path}/${String(row["id"])}`);
  const offer = offers.find(({ method }) => method === "DELETE");
  const end =
    offer === undefined
      ? ""
      : writeButton({ view, offer, next: view.call.path, does: html`Log out<span class="vh"> ${agent}</span>` }, "low");
  return line(
    html`<b><bdi title="${String(row["user_agent"] ?? "")}">${agent}</bdi></b>${isCurrent ? html` <span class="tag accent">this one</span>` : ""}<br><span class="small dim">${seen}${at}</span>`,
    end,
  );
}

function endAll({ view }: Drawing, all: Offer, path: string, isOwn: boolean): PageContent {
  const offer = isOwn ? { ...all, path: `${path}?except=current` } : all;
  const [title, words, does] = isOwn
    ? ["Log out everywhere else?", "You stay logged in here. All others must log in again.", "Log out the others"]
    : ["Log the user out everywhere?", "The user must log in again.", "Log the user out"];
  const button = writeButton({ view, offer, next: view.call.path, does }, "bad main");
  return html`<div><button class="btn" type="button" popovertarget="all-out">${title.replace("?", "")}</button>
<div class="pop" id="all-out" popover role="dialog" aria-labelledby="all-out-title">
  <h2 id="all-out-title">${title}</h2>
  <p>${words}</p>
  <div class="row">${button}<button class="btn" type="button" popovertarget="all-out" popovertargetaction="hide">Leave them</button></div>
</div></div>`;
}

/** Draws what programs use, in one fold: keys with their names and limits, and the API token. */
export async function drawPrograms(shown: AccountView): Promise<PageContent> {
  const { drawing, user, isOwn, factors } = shown;
  // A confirmation replaces the password of an account with two steps.
  const asksPassword = (factors ?? []).length === 0;
  const keys = await rowsAt(drawing.view, `${user}/keys`);
  const token = await drawToken(drawing, user, asksPassword);
  if (keys === null && token === "") return "";
  const count = keys === null || keys.length === 0 ? "none" : keys.length;
  const content = keys === null ? "" : await drawKeys(drawing, user, { keys, asksPassword });
  return settingsSection(
    "programs",
    "Keys for programs",
    `Only if a program ${isOwn ? "of yours " : ""}works with ${drawing.site.title}.`,
    html`<details class="more panel" data-keep="keys-for-programs"><summary>Keys for programs <span class="dim">${count}</span></summary>
<div class="stack far">${content}${token}</div></details>`,
  );
}

async function drawKeys(
  drawing: Drawing,
  user: string,
  { keys, asksPassword }: { readonly keys: readonly Row[]; readonly asksPassword: boolean },
): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/keys`;
  const listed = keys.map(async (row) => {
    const name = String(row["name"]);
    const ends = typeof row["expires_at"] === "string" ? html` Ends ${showDay(row["expires_at"])}.` : "";
    const used = typeof row["last_used_at"] === "string" ? html` Last used ${showAgo(row["last_used_at"])}.` : "";
    const about = html`${describeScopes(row["scopes"])}, begins with <span class="mono">${String(row["prefix"])}</span>.${ends}${used}`;
    const warning = "The program that uses it stops working at once.";
    return line(
      html`<b><bdi>${name}</bdi></b><br><span class="small dim">${about}</span>`,
      await removal(drawing, {
        path: `${path}/${String(row["id"])}`,
        id: `rm-prog-${String(row["id"])}`,
        name,
        warning,
      }),
    );
  });
  const make = (await view.offers(path)).find(({ method }) => method === "POST");
  return html`${lines(await Promise.all(listed))}${make === undefined ? "" : newKey(drawing, make, asksPassword)}`;
}

function newKey({ view }: Drawing, offer: Offer, asksPassword: boolean): PageContent {
  const scopes = [
    ['["read"]', "read what you may read"],
    ["null", "do all that you may do"],
  ] as const;
  const choices = scopes.map(
    ([value, words], at) =>
      html`<label class="pick"><input type="radio" name="scopes" value="${value}" data-type="json"${at === 0 ? html` checked` : ""}> <span>${words}</span></label>`,
  );
  const more = html`<fieldset class="field"><legend>It may</legend>${choices}</fieldset>
<div class="field"><label for="key-expires_at">Ends on <span class="opt">(optional)</span></label><input id="key-expires_at" class="short" name="expires_at" type="date" data-type="day"></div>`;
  const only = ["name", ...(asksPassword ? ["current_password"] : [])];
  return writeForm({ view, offer, only, more, words: keyWords, does: "Make a key", prefix: "key" });
}

/** Shows the API token of the user. A user has at most one, and can display it again. */
async function drawToken(drawing: Drawing, user: string, asksPassword: boolean): Promise<PageContent> {
  const { view } = drawing;
  const path = `${user}/token`;
  const offers = await view.offers(path);
  const make = offers.find(({ method }) => method === "POST");
  if (offers.length === 0) return "";
  const token = findRecord(await view.ask(path));
  const words = token === null ? "Make it" : "Show it again";
  const does = token === null ? "Make the API token" : "Show the API token";
  const made = typeof token?.["created_at"] === "string" ? html`Made ${showDay(token["created_at"])}. ` : "";
  const warning = "Every program that uses it stops working at once.";
  const revoke =
    token === null
      ? ""
      : await removal(drawing, { path, id: "rm-token", name: "the API token", warning, does: "Revoke" });
  const form =
    make === undefined
      ? ""
      : fold(
          words,
          writeForm({
            view,
            offer: make,
            does,
            looks: "",
            words: proofWords,
            prefix: "token",
            only: asksPassword ? ["current_password"] : [],
          }),
        );
  return lines([
    line(
      html`<b>API token</b><br><span class="small dim">${token === null ? "None. " : made}It may do all that the user may do, until it is revoked.</span>`,
      html`${revoke}${form}`,
    ),
  ]);
}

function describeScopes(scopes: unknown): string {
  if (!Array.isArray(scopes)) return "May do all that the user may do";
  return `May ${scopes.map(String).join(" and ")}`;
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
